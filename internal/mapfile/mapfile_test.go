package mapfile

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func write(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 4097, 1 << 20} {
		want := bytes.Repeat([]byte{1, 2, 3}, size)[:size]
		m, err := Open(write(t, want))
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if !bytes.Equal(m.Data(), want) {
			t.Errorf("%d bytes: content differs", size)
		}
		for range 2 {
			if err := m.Close(); err != nil {
				t.Errorf("%d bytes: close: %v", size, err)
			}
		}
	}
}

// TestRead checks the stand-in for platforms without mappings on every platform.
func TestRead(t *testing.T) {
	f, err := os.Open(write(t, []byte("twelve bytes")))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, release, err := readBytes(f, 12)
	if err != nil || string(b) != "twelve bytes" || release() != nil {
		t.Errorf("read %q, %v", b, err)
	}
	if _, _, err := readBytes(f, 1); err == nil || !strings.Contains(err.Error(), "0 of 1 bytes") {
		t.Errorf("read behind the end: %v", err)
	}
}

func TestOf(t *testing.T) {
	m := Of("a name", []byte("content"))
	if m.Path() != "a name" || string(m.Data()) != "content" || m.Close() != nil {
		t.Errorf("%q holds %q", m.Path(), m.Data())
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "a directory") {
		t.Errorf("directory: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("absent: %v", err)
	}
}

func TestView(t *testing.T) {
	b := Bytes([]uint64{0x0807060504030201, 0x100f0e0d0c0b0a09})
	if v, err := View[uint32](b[4:]); err != nil || len(v) != 3 || v[0] != 0x08070605 {
		t.Errorf("uint32: %x, %v", v, err)
	}
	type pair struct{ X, Y uint16 }
	if v, err := View[pair](b[2:6]); err != nil || len(v) != 1 || v[0] != (pair{0x0403, 0x0605}) {
		t.Errorf("pair: %x, %v", v, err)
	}
	if v, err := View[uint64](nil); err != nil || len(v) != 0 {
		t.Errorf("empty: %x, %v", v, err)
	}
	if _, err := View[uint64](b[:12]); err == nil || !strings.Contains(err.Error(), "4 bytes are left over") {
		t.Errorf("length: %v", err)
	}
	if _, err := View[uint32](b[2:10]); err == nil || !strings.Contains(err.Error(), "2 bytes off") {
		t.Errorf("alignment: %v", err)
	}
}

func TestProtectTruncated(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("how a truncated mapping behaves differs by system; checked on linux")
	}
	path := write(t, make([]byte, 1<<20))
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	sum := 0
	err = m.Protect(func() error {
		for _, b := range m.Data() {
			sum += int(b)
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "byte 4096 is no longer there") {
		t.Errorf("got %v (sum %d)", err, sum)
	}
}

func TestProtectPassesOthers(t *testing.T) {
	m, err := Open(write(t, []byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	defer func() {
		if r := recover(); r != "mine" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = m.Protect(func() error { panic("mine") })
}
