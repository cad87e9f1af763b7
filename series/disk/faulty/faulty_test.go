package faulty

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"weir/series/disk"
)

func create(t *testing.T, d *Disk, name string) disk.File {
	t.Helper()
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func put(t *testing.T, f disk.File, p []byte, off int64) {
	t.Helper()
	if _, err := f.WriteAt(p, off); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, d *Disk, name string) (p []byte, ok bool) {
	t.Helper()
	size, err := d.Size(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	f, err := d.OpenFile(name, os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	p = make([]byte, size)
	if _, err := f.ReadAt(p, 0); err != nil {
		t.Fatal(err)
	}
	return p, true
}

// TestCrash: what was synced is there after a loss of power, and of what was not, any sectors are.
func TestCrash(t *testing.T) {
	d := New()
	f := create(t, d, "f")
	old, fresh := bytes.Repeat([]byte{1}, 4*Sector), bytes.Repeat([]byte{2}, 4*Sector)
	put(t, f, old, 0)
	if err := errors.Join(f.Sync(), d.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	put(t, f, fresh, Sector)
	create(t, d, "new")
	if err := d.Rename("f", "g"); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for seed := range uint64(400) {
		after := d.Crash(seed)
		p, ok := contents(t, after, "f")
		q, renamed := contents(t, after, "g")
		if ok == renamed {
			t.Fatalf("seed %d: the file is there %v under its old name, %v under its new", seed, ok, renamed)
		}
		if renamed {
			seen["renamed"]++
			p = q
		}
		if _, err := after.Size("new"); err == nil {
			seen["created"]++
		}
		if len(p) < 4*Sector || len(p) > 5*Sector || !bytes.Equal(p[:Sector], old[:Sector]) {
			t.Fatalf("seed %d: what was synced is gone: %d bytes", seed, len(p))
		}
		kept := 0
		for s := Sector; s < 4*Sector; s += Sector {
			switch sector := p[s : s+Sector]; {
			case bytes.Equal(sector, fresh[:Sector]):
				kept++
			case !bytes.Equal(sector, old[:Sector]):
				t.Fatalf("seed %d: half a sector", seed)
			}
		}
		seen[[]string{"none", "one", "two", "all"}[kept]]++
		again, _ := contents(t, d.Crash(seed), map[bool]string{true: "g", false: "f"}[renamed])
		if !bytes.Equal(again, p) {
			t.Fatalf("seed %d means two things", seed)
		}
	}
	for _, what := range []string{"none", "one", "two", "all", "renamed", "created"} {
		if seen[what] == 0 || seen[what] == 400 {
			t.Errorf("%s: %d of 400", what, seen[what])
		}
	}
	if p, ok := contents(t, d.Kill(), "g"); !ok || len(p) != 5*Sector || p[5*Sector-1] != 2 {
		t.Errorf("after a kill there are %d bytes", len(p))
	}
}

func TestFailures(t *testing.T) {
	d := New()
	f := create(t, d, "f")
	d.SetBudget(1000)
	if n, err := f.WriteAt(make([]byte, 1500), 0); n != 1000 || !disk.IsFull(err) {
		t.Fatalf("wrote %d of 1500 to a disk of 1000: %v", n, err)
	}
	if free, err := d.Free("."); free != 0 || err != nil {
		t.Fatalf("%d free (%v)", free, err)
	}
	d.SetBudget(2000)
	put(t, f, make([]byte, 1500), 0)
	if err := f.Truncate(100); err != nil {
		t.Fatal(err)
	}
	if err := f.Allocate(0, 1900); err != nil {
		t.Fatal(err)
	}
	if free, err := d.Free("."); free != 100 || err != nil {
		t.Fatalf("%d free (%v)", free, err)
	}
	d.FailAt(Sync, 2, syscall.EIO)
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	put(t, f, []byte("lost"), 0)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("sync: %v", err)
	}
	if err := errors.Join(f.Sync(), d.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	if p, _ := contents(t, d, "f"); string(p[:4]) != "lost" {
		t.Errorf("read %q", p[:4])
	}
	d.SetHook(func(op Op, name string) error {
		if op == Remove {
			return syscall.EPERM
		}
		return nil
	})
	if err := d.Remove("f"); !errors.Is(err, syscall.EPERM) {
		t.Errorf("remove: %v", err)
	}
	if err := d.Flip("f", 1, 1); err != nil {
		t.Fatal(err)
	}
	if p, _ := contents(t, d, "f"); string(p[:4]) != "lnst" {
		t.Errorf("read %q after a flip", p[:4])
	}
	l, err := d.Lock("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock("x"); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if err := errors.Join(l.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	if c := d.Counts(); c.Ops[Sync] != 3 || c.BytesWritten != 1000+1500+4 {
		t.Errorf("counts %+v", c)
	}
}
