package huge

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func TestMake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 1000, 1 << 18, 1<<19 - 1, 1 << 19, 1<<19 + 1, 3<<19 + 12345}).Draw(t, "n")
		s := Make[float32](n)
		if len(s) != n || cap(s) != n {
			t.Fatalf("length %d and capacity %d, want %d", len(s), cap(s), n)
		}
		for i, x := range s {
			if x != 0 {
				t.Fatalf("element %d is %v before anything was written", i, x)
			}
			s[i] = 1
		}
		if n*4 >= pageSize && uintptr(unsafe.Pointer(&s[0]))%pageSize != 0 {
			t.Fatalf("a slice of %d bytes begins at %p, not at a huge page", n*4, &s[0])
		}
	})
}

func TestMakeOddSize(t *testing.T) {
	type triple [3]uint32 // no whole number of them fills a page
	if s := Make[triple](1 << 20); len(s) != 1<<20 {
		t.Fatalf("length %d", len(s))
	}
}

// TestBacked checks that the kernel really gives huge pages where it offers
// them on request.
func TestBacked(t *testing.T) {
	mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || strings.Contains(string(mode), "[never]") {
		t.Skip("this kernel gives no huge pages on request")
	}
	before := hugeKiB(t)
	s := Make[uint64](64 << 20 / 8)
	for i := 0; i < len(s); i += 512 {
		s[i] = 1
	}
	if got := hugeKiB(t) - before; got < 32<<10 {
		t.Errorf("only %d KiB of 64 MiB are on huge pages", got)
	}
	runtime.KeepAlive(s)
}

// hugeKiB is how much of this process is on huge pages.
func hugeKiB(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		t.Skipf("no way to ask: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "AnonHugePages:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kib
		}
	}
	t.Skip("the kernel does not report AnonHugePages")
	return 0
}
