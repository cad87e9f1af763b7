package arena_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"weir/series/arena"
)

func TestClass(t *testing.T) {
	for n := 1; n <= 64<<10; n++ {
		c := arena.Class(n)
		if arena.Size(c) < n || c > 0 && arena.Size(c-1) >= n {
			t.Fatalf("class %d of %d bytes for %d", c, arena.Size(c), n)
		}
	}
	if got := arena.Class(64 << 10); got != arena.Classes-1 {
		t.Fatalf("the largest class is %d, want %d", got, arena.Classes-1)
	}
}

// Blocks in use never share a byte, whatever is taken and given back in between.
func TestBlocksAreApart(t *testing.T) {
	type block struct {
		handle arena.Handle
		class  int
		fill   byte
	}
	rapid.Check(t, func(t *rapid.T) {
		var a arena.Arena
		defer a.Release()
		var live []block
		size := 0
		for i := range rapid.IntRange(1, 300).Draw(t, "steps") {
			if len(live) > 0 && rapid.IntRange(0, 2).Draw(t, "free") == 0 {
				k := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				b := live[k]
				if got := a.Get(b.handle, b.class); !bytes.Equal(got, bytes.Repeat([]byte{b.fill}, len(got))) {
					t.Fatalf("a block of class %d was written to by others", b.class)
				}
				a.Free(b.handle, b.class)
				size -= arena.Size(b.class)
				live = append(live[:k], live[k+1:]...)
				continue
			}
			class := rapid.IntRange(0, arena.Classes-1).Draw(t, "class")
			h, err := a.Alloc(class)
			if err != nil {
				t.Fatal(err)
			}
			b := block{h, class, byte(i)}
			got := a.Get(h, class)
			for j := range got {
				got[j] = b.fill
			}
			live = append(live, b)
			size += len(got)
			if a.Bytes() != size || a.Mapped() < size {
				t.Fatalf("%d bytes of %d mapped, want %d", a.Bytes(), a.Mapped(), size)
			}
		}
	})
}

func TestFreedMemoryIsUsedAgain(t *testing.T) {
	var a arena.Arena
	defer a.Release()
	for range 100 {
		var handles []arena.Handle
		for range 1000 {
			h, err := a.Alloc(3)
			if err != nil {
				t.Fatal(err)
			}
			handles = append(handles, h)
		}
		for _, h := range handles {
			a.Free(h, 3)
		}
	}
	if got := a.Mapped(); got != 1<<20 {
		t.Fatalf("%d bytes mapped, want one MiB", got)
	}
	if v := arena.View[int64](&a, 1, arena.Class(512)); len(v) != 64 {
		t.Fatalf("%d elements in 512 bytes, want 64", len(v))
	}
}

// Blocks that grow together through all classes leave no memory behind in those that they grew out of.
func TestGrowingBlocksTakeWhatTheyNeed(t *testing.T) {
	var a arena.Arena
	defer a.Release()
	const blocks = 4000
	handles := make([]arena.Handle, blocks)
	last := arena.Class(1024)
	for class := range last + 1 {
		for i, old := range handles {
			h, err := a.Alloc(class)
			if err != nil {
				t.Fatal(err)
			}
			a.Free(old, max(class-1, 0))
			handles[i] = h
		}
	}
	if got, limit := a.Mapped(), blocks*1024*5/4; got > limit {
		t.Fatalf("%d bytes mapped for %d in use, want at most %d", got, a.Bytes(), limit)
	}
}

func TestKeep(t *testing.T) {
	var a arena.Arena
	b, err := a.Keep()
	if err != nil || len(b) != 1<<20 || a.Mapped() != 1<<20 || a.Bytes() != 0 {
		t.Fatalf("%d bytes, %d mapped, %d in blocks, %v", len(b), a.Mapped(), a.Bytes(), err)
	}
	for i := range b {
		if b[i] != 0 {
			t.Fatalf("byte %d is %d", i, b[i])
		}
		b[i] = 1
	}
	if _, err := a.Alloc(0); err != nil || a.Mapped() != 2<<20 {
		t.Fatalf("%d mapped, %v", a.Mapped(), err)
	}
	if err := a.Release(); err != nil || a.Mapped() != 0 {
		t.Fatalf("%d mapped, %v", a.Mapped(), err)
	}
}
