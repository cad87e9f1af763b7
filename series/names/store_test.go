package names

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"weir/series/disk"
)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), disk.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStoreModel changes, flushes, compacts, closes and opens a store, and tears its tail off.
func TestStoreModel(t *testing.T) {
	base := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		dir := filepath.Join(base, fmt.Sprint(run))
		reopen := func() *Store {
			s, err := Open(t.Context(), disk.OS(), dir)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s, m := reopen(), new(model)
		for range rapid.IntRange(1, 8).Draw(t, "rounds") {
			for range rapid.IntRange(0, 40).Draw(t, "changes") {
				m.change(t, s.Index)
			}
			var err error
			switch action := rapid.IntRange(0, 5).Draw(t, "action"); action {
			case 0:
				err = s.Flush()
			case 1:
				err = s.Sync()
			case 2:
				err = s.Compact(t.Context())
			case 3:
				err = s.Close()
				if n, e := Verify(t.Context(), disk.OS(), dir); e != nil || n != s.Len() {
					t.Fatalf("verify found %d names (%v), want %d", n, e, s.Len())
				}
				s = reopen()
			case 4: // what was flushed outlives the program
				err = errors.Join(s.Flush(), s.file.Close())
				s = reopen()
				if s.Recovery().Cut != 0 {
					t.Fatalf("%d bytes were cut off a whole file", s.Recovery().Cut)
				}
			case 5: // a write that did not come to its end
				if err = s.Flush(); err != nil {
					break
				}
				keep, end := slices.Clone(m.names), s.end
				for range 5 {
					m.change(t, s.Index)
				}
				err = errors.Join(s.Flush(), s.file.Close())
				if s.end > end {
					m.names = keep
					cut := rapid.Int64Range(end, s.end-1).Draw(t, "torn at")
					err = errors.Join(err, os.Truncate(fileName(dir, s.generation), cut))
					s = reopen()
					if s.Recovery().Offset != end || s.Recovery().Cut != cut-end {
						t.Fatalf("torn at %d behind %d: %+v", cut, end, s.Recovery())
					}
				} else {
					s = reopen()
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			m.check(t, s.Index)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// fill makes a closed store of a few records and returns its file.
func fill(t testing.TB, dir string) (path string, names []string) {
	s := open(t, dir)
	for i := range 45 {
		name := fmt.Sprintf("m%d a=%d b=x", i%5, i)
		names = append(names, name)
		if _, _, err := s.Add([]byte(name)); err != nil {
			t.Fatal(err)
		}
		if i%15 == 14 {
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Delete(3, 4, 40); err != nil {
		t.Fatal(err)
	}
	names[3], names[4], names[40] = "", "", ""
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return fileName(dir, 1), names
}

func hold(t *testing.T, what string, s *Store, names []string) {
	t.Helper()
	for i, want := range names {
		if got := s.Name(ID(i)); got != want {
			t.Fatalf("%s: series %d is called %q, want %q", what, i, got, want)
		}
	}
}

// TestFlips changes each byte of a closed store: that is found and named, unless it
// is in the last record, which holds no names.
func TestFlips(t *testing.T) {
	dir := t.TempDir()
	path, names := fill(t, dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, flipped, 0o666); err != nil {
			t.Fatal(err)
		}
		e := (*CorruptError)(nil)
		if _, err := Verify(t.Context(), disk.OS(), dir); !errors.As(err, &e) || e.Path != path || e.Offset > int64(i) || !strings.Contains(e.Error(), path) {
			t.Fatalf("byte %d changed, and verify says %v", i, err)
		}
		s, err := Open(t.Context(), disk.OS(), dir)
		if i >= len(whole)-recordHeader {
			if err != nil || s.Recovery().Cut != recordHeader {
				t.Fatalf("byte %d of %d changed, in the last record: %v", i, len(whole), err)
			}
			hold(t, "last record changed", s, names)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !errors.As(err, &e) {
			t.Fatalf("byte %d of %d changed, and the store opens: %v", i, len(whole), err)
		}
	}
}

// TestTruncations cuts a closed store at each length: names may be missing at the end,
// which Recovery tells, but none is wrong.
func TestTruncations(t *testing.T) {
	dir := t.TempDir()
	path, names := fill(t, dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), disk.OS(), dir)
		if n < headerSize {
			if e := (*CorruptError)(nil); !errors.As(err, &e) {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if r := s.Recovery(); r.Offset+r.Cut != int64(n) || (r.Cut > 0) != (r.Reason != nil) {
			t.Fatalf("cut at %d: %+v", n, r)
		}
		next := int(s.Next())
		if next < last {
			t.Fatalf("cut at %d shows %d names, fewer than the %d of less", n, next, last)
		}
		last = next
		for i := range next {
			if got := s.Name(ID(i)); got != names[i] && names[i] != "" {
				t.Fatalf("cut at %d: series %d is called %q, want %q", n, i, got, names[i])
			}
		}
		if err := s.file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// badFile is a file that fails on request, with some of the bytes written.
type badFile struct {
	disk.File
	full, noSync bool
}

var errInjected = errors.New("no space left")

func (f *badFile) WriteAt(p []byte, at int64) (int, error) {
	if f.full {
		n, _ := f.File.WriteAt(p[:len(p)/2], at)
		return n, errInjected
	}
	return f.File.WriteAt(p, at)
}

func (f *badFile) Sync() error {
	if f.noSync {
		return errInjected
	}
	return f.File.Sync()
}

// TestDiskFull: while the disk is full changes are refused and reading goes on; when there
// is room again, so do changes, and nothing that was accepted is lost.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	bad := &badFile{File: s.file}
	s.file = bad
	var names []string
	add := func() error {
		name := fmt.Sprintf("m a=%s-%d", strings.Repeat("x", 1000), len(names))
		_, _, err := s.Add([]byte(name))
		if err == nil {
			names = append(names, name)
		}
		return err
	}
	bad.full = true
	var err error
	for i := 0; i < 2*flushSize/1000 && err == nil; i++ {
		err = add()
	}
	if !errors.Is(err, errInjected) || !errors.Is(s.Flush(), errInjected) {
		t.Fatalf("a full disk: %v", err)
	}
	hold(t, "full", s, names)
	bad.full = false
	if err := add(); err != nil {
		t.Fatalf("a disk with room again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Add([]byte("new a=1")); !errors.Is(err, ErrClosed) {
		t.Errorf("adding to a closed store: %v", err)
	}
	s = open(t, dir)
	hold(t, "opened again", s, names)

	bad = &badFile{File: s.file, noSync: true}
	s.file = bad
	if err := add(); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); !errors.Is(err, errInjected) {
		t.Errorf("sync of a failing disk: %v", err)
	}
	bad.noSync = false
	if err := s.Sync(); !errors.Is(err, errInjected) {
		t.Errorf("sync after one that failed: %v", err)
	}
	if err := s.Compact(t.Context()); err != nil { // writes all of it anew
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	hold(t, "after a failed sync", s, names)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRace reads in every way while names come, go, and are compacted.
func TestRace(t *testing.T) {
	s := open(t, t.TempDir())
	var done atomic.Bool
	var wg sync.WaitGroup
	n := 20000
	if testing.Short() {
		n = 6000
	}
	for r := range 3 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(r), 5))
			for !done.Load() {
				id := ID(rnd.IntN(n))
				name := s.Name(id)
				if name != "" && !strings.Contains(name, fmt.Sprintf("host=h%d ", id)) {
					t.Errorf("series %d is called %q", id, name)
				}
				if got, ok, err := s.Lookup([]byte(name)); name != "" && (err != nil || ok && got != id) {
					t.Errorf("%q has number %d (%v), want %d", name, got, err, id)
				}
				set, err := s.Find(t.Context(), []Match{Metric("m1"), TagPrefix("host", "h1"), Tag("zone", "0").Not()})
				if err != nil {
					t.Error(err)
				}
				for id := range set.All() {
					if name := s.Name(id); name != "" && (!strings.HasPrefix(name, "m1 host=h1") || strings.HasSuffix(name, "zone=0")) {
						t.Errorf("search found %q", name)
					}
				}
				if _, err := s.Values(t.Context(), "m1", "host", "h2", 3); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		if _, _, err := s.Add(fmt.Appendf(nil, "m%d zone=%d host=h%d", i%3, i%7, i)); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case i%50 == 49:
			_, err = s.Delete(ID(i / 2))
		case i%3000 == 2998:
			err = s.Compact(t.Context())
		case i%1000 == 998:
			err = s.Sync()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	done.Store(true)
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// FuzzEntries: entries from anywhere are applied or refused, and what was
// applied comes out again as it went in.
func FuzzEntries(f *testing.F) {
	ix := New()
	ix.room = func() error { return nil }
	for _, name := range []string{"cpu host=a dc=x", "mem host=b", `!e\ v a= b=c\=d`, "cpu host=b dc=x"} {
		if _, _, err := ix.Add([]byte(name)); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := ix.Delete(1); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(ix.pending))
	f.Add([]byte(entries(nil).skip(3).remove(1)))
	f.Fuzz(func(t *testing.T, e []byte) {
		if bytes.Count(e, []byte{skipEntry}) > 4 {
			return // each may ask for megabytes
		}
		a, b := New(), New()
		if err := a.apply(e); err != nil {
			return
		}
		if err := a.export(100, len(e)%2 == 0, b.apply); err != nil {
			t.Fatalf("what was applied is refused when it comes again: %v", err)
		}
		if a.Len() != b.Len() || a.Next() != b.Next() {
			t.Fatalf("%d names up to %d became %d up to %d", a.Len(), a.Next(), b.Len(), b.Next())
		}
		set, err := a.Find(t.Context(), nil)
		if err != nil || set.Len() != a.Len() {
			t.Fatalf("all names are %d, want %d (%v)", set.Len(), a.Len(), err)
		}
		for id := range set.All() {
			name := a.Name(id)
			if again, err := Canonical(nil, []byte(name)); err != nil || string(again) != name {
				t.Fatalf("%q is not canonical: %q (%v)", name, again, err)
			}
			if got, ok, err := b.Lookup([]byte(name)); got != id || !ok || err != nil {
				t.Fatalf("%q has number %d %v (%v), want %d", name, got, ok, err, id)
			}
		}
	})
}

// FuzzFile: a file of any bytes is read or refused.
func FuzzFile(f *testing.F) {
	dir := f.TempDir()
	path, _ := fill(f, dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:headerSize+7])
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := readFile(t.Context(), "names", bytes.NewReader(file), int64(len(file)), 1, New())
		if e := (*CorruptError)(nil); err != nil && (!errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(file))) {
			t.Fatalf("error %v for %d bytes", err, len(file))
		}
		if err == nil && (c.end < headerSize || c.end > c.size) {
			t.Fatalf("a file of %d bytes ends at %d", c.size, c.end)
		}
	})
}
