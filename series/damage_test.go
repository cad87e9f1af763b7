package series

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/series/disk/faulty"
	"weir/series/names"
)

// The store that is damaged has some series, of which much is in volumes and a part, if it was not closed, in the log.
func storeToDamage(t *testing.T, closed bool) (*faulty.Disk, map[string][]float64) {
	t.Helper()
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20}
	s := mustOpen(t, "db", o)
	want := map[string][]float64{}
	write := func(from, to int) {
		w := s.Writer()
		for i := from; i < to; i++ {
			for k := range 6 {
				name := fmt.Sprintf("m host=%d", k)
				id, err := w.Series(name)
				if err != nil {
					t.Fatal(err)
				}
				v := math.Sqrt(float64(i * k))
				if err := w.Add(id, int64(i), v); err != nil {
					t.Fatal(err)
				}
				want[name] = append(want[name], v)
			}
		}
		if err := w.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	write(0, 2000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, "db", o)
	write(2000, 3000)
	if !closed {
		if err := s.Sync(ctx); err != nil {
			t.Fatal(err)
		}
		killed := d.Kill()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return killed, want
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return d, want
}

// filesOf lists the files of a store.
func filesOf(t *testing.T, d *faulty.Disk) (paths []string) {
	t.Helper()
	for _, dir := range []string{"db", "db/names", "db/volumes", "db/log"} {
		entries, err := d.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.Dir && e.Name != "lock" {
				paths = append(paths, filepath.Join(dir, e.Name))
			}
		}
	}
	return paths
}

// examine verifies and opens a damaged store, reads all that can be read, and returns all that is said of damage, and how
// many points are missing without that anything was said of their series.
func examine(t *testing.T, d *faulty.Disk, want map[string][]float64) (said []string, missing int) {
	t.Helper()
	ctx := context.Background()
	r, err := Verify(ctx, "db", VerifyOptions{FS: d})
	if err != nil {
		said = append(said, err.Error())
	} else {
		for _, e := range r.Damage {
			said = append(said, e.Error())
		}
		for _, l := range r.Lost {
			said = append(said, l.String())
		}
		for _, c := range r.Cut {
			said = append(said, c.Path)
		}
	}
	s, err := Open(ctx, "db", Options{FS: d, Reserve: -1, OnProblem: func(err error) { said = append(said, err.Error()) }})
	if err != nil {
		return append(said, err.Error()), 0
	}
	for _, e := range s.Recovery().Damage {
		said = append(said, e.Error())
	}
	for _, c := range s.Recovery().Cut {
		said = append(said, c.Path)
	}
	for name, values := range want {
		id, ok, err := s.Names().Lookup([]byte(name))
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		if ok {
			got, err = numbersOf(ctx, s, id)
		}
		if err != nil {
			said = append(said, err.Error())
			continue
		}
		for _, v := range got {
			if !slices.Contains(values, v) {
				t.Fatalf("%s has %v, which was never written", name, v)
			}
		}
		missing += len(values) - len(got)
	}
	if err := s.Close(); err != nil {
		said = append(said, err.Error())
	}
	return said, missing
}

func TestAnyByte(t *testing.T) {
	for _, closed := range []bool{true, false} {
		d, want := storeToDamage(t, closed)
		for _, path := range filesOf(t, d) {
			size, err := d.Size(path)
			if err != nil {
				t.Fatal(err)
			}
			step := max(1, size/40)
			if testing.Short() {
				step = max(1, size/8)
			}
			for off := int64(0); off < size; off += step {
				c := d.Kill()
				if err := c.Flip(path, off, byte(1<<(off%8))); err != nil {
					t.Fatal(err)
				}
				said, missing := examine(t, c, want)
				if !strings.Contains(strings.Join(said, "\n"), path) {
					t.Errorf("byte %d of %s (of %d): nobody says so, but %q", off, path, size, said)
				}
				// The end of the log, which nothing behind it says to be durable, is cut off as one that is torn.
				if inLog := strings.HasSuffix(path, ".wsl"); missing > 0 && !inLog || missing > 6000 {
					t.Errorf("byte %d of %s: %d points are missing without an error", off, path, missing)
				}
			}
		}
	}
}

// Files that are cut, emptied or gone are named, and what is not in them is there.
func TestCutFiles(t *testing.T) {
	for _, closed := range []bool{true, false} {
		d, want := storeToDamage(t, closed)
		for _, path := range filesOf(t, d) {
			size, err := d.Size(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range []int64{-1, 0, size / 2, size - 1} {
				c := d.Kill()
				if to < 0 {
					err = c.Remove(path)
				} else {
					var f interface {
						Truncate(int64) error
						Close() error
					}
					if f, err = c.OpenFile(path, os.O_RDWR); err == nil {
						err = errors.Join(f.Truncate(to), f.Close())
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				said, missing := examine(t, c, want)
				if !strings.Contains(strings.Join(said, "\n"), path) && !strings.Contains(path, "checkpoint") && !strings.Contains(path, ".wsl") {
					t.Errorf("%s cut to %d of %d: nobody says so, but %q", path, to, size, said)
				}
				if missing > 0 && !strings.HasSuffix(path, ".wsl") && !strings.HasSuffix(path, ".wsv") {
					t.Errorf("%s cut to %d of %d: %d points are missing", path, to, size, missing)
				}
			}
		}
	}
}

// What was written to a store after it was repaired is kept as well.
func TestRepairedNames(t *testing.T) {
	d, want := storeToDamage(t, true)
	for _, path := range filesOf(t, d) {
		if !strings.HasSuffix(path, ".wsn") {
			continue
		}
		if err := d.Flip(path, 60, 1); err != nil {
			t.Fatal(err)
		}
	}
	s := mustOpen(t, "db", Options{FS: d, Reserve: -1})
	if len(s.Recovery().Damage) != 1 {
		t.Fatalf("%+v", s.Recovery())
	}
	w := s.Writer()
	id, err := w.Series("new host=9")
	if err != nil || id != names.ID(len(want)) {
		t.Fatalf("the new series is %d, %v", id, err)
	}
	if err := errors.Join(w.Add(id, 1, 1), w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	want["new host=9"] = []float64{1}
	if said, missing := examine(t, d, want); len(said) > 0 || missing > 0 {
		t.Fatalf("%q, %d points are missing", said, missing)
	}
}
