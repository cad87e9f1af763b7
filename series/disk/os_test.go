package disk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOS(t *testing.T) {
	o, dir := OS(), filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := o.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "f")
	if _, err := o.OpenFile(name, os.O_RDWR); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a file that is missing: %v", err)
	}
	f, err := o.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Allocate(0, 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("hello"), 3); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Size(); n != 8 || err != nil {
		t.Fatalf("size %d (%v), want 8", n, err)
	}
	if err := errors.Join(f.Sync(), f.Truncate(7), o.SyncDir(dir), o.Rename(name, name+"2")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 9)
	if n, err := f.ReadAt(got, 0); err != io.EOF || !bytes.Equal(got[:n], []byte("\x00\x00\x00hell")) {
		t.Fatalf("read %q (%v)", got[:n], err)
	}
	if list, err := o.ReadDir(dir); err != nil || len(list) != 1 || list[0] != (Entry{"f2", false, 7}) {
		t.Fatalf("listed %v (%v)", list, err)
	}
	if n, err := o.Size(name + "2"); n != 7 || err != nil {
		t.Fatalf("size %d (%v)", n, err)
	}
	if n, err := o.Free(dir); n <= 0 || err != nil {
		t.Fatalf("%d bytes free (%v)", n, err)
	}
	if err := errors.Join(o.Remove(name+"2"), f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("sync after close: %v", err)
	}
	if _, err := f.ReadAt(got, 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
}

func TestLock(t *testing.T) {
	o, name := OS(), filepath.Join(t.TempDir(), "lock")
	first, err := o.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Lock(name); !errors.Is(err, ErrLocked) {
		t.Fatalf("a second lock: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := o.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
