package wal

import (
	"errors"
	"testing"
	"time"

	"weir/series/disk/faulty"
)

// TestMark: what was written while an fsync went on is not durable by it, and so it is cut if it is bad, mark or no mark.
func TestMark(t *testing.T) {
	d := faulty.New()
	o := Options{Sync: Interval, Interval: time.Hour}
	l, _, _ := reopen(t, d, o)
	put := func(id int) {
		lsn, err := l.Append(stream(id), payload(id))
		if err == nil {
			err = l.Commit(ctx, lsn)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(0) // makes the file
	first := l.off
	d.SetHook(func(op faulty.Op, _ string) error {
		if op == faulty.Sync {
			put(1)
		}
		return nil
	})
	if err := l.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	d.SetHook(nil)
	put(2)
	if l.marked != first {
		t.Fatalf("the mark is of byte %d, want %d", l.marked, first)
	}
	bad := d.Kill()
	if err := errors.Join(bad.Flip(l.path(1), first, 1), l.Close()); err != nil {
		t.Fatal(err)
	}
	l, all, rec := reopen(t, bad, o)
	if len(all) != 1 || rec.Path != l.path(1) || rec.Offset != first {
		t.Fatalf("%d frames, %+v; want 1, and a cut at %d", len(all), rec, first)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReleaseInOrder loses power at every step of Release: there is never a gap between segments.
func TestReleaseInOrder(t *testing.T) {
	d := faulty.New()
	o := Options{SegmentSize: minSegmentSize}
	l, _, _ := reopen(t, d, o)
	for n := range 300 {
		if _, err := l.Append(stream(n), payload(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	steps := 0
	crash := func() {
		for seed := range uint64(20) {
			other, all, _ := reopen(t, d.Crash(seed), o)
			if n := len(all); n == 0 || all[n-1].id != 299 || all[0].segment > l.Segment() {
				t.Fatalf("step %d, seed %d: %d frames", steps, seed, n)
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
		}
		steps++
	}
	d.SetHook(func(faulty.Op, string) error { crash(); return nil })
	if err := l.Release(l.Segment()); err != nil {
		t.Fatal(err)
	}
	d.SetHook(nil)
	crash()
	if want := 2*(int(l.Segment())-1) + 1; steps != want || want < 5 {
		t.Fatalf("%d steps, want %d", steps, want)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
