package tree_test

import (
	"errors"
	"math"
	"testing"

	"weir/series/disk/faulty"
	"weir/series/names"
	"weir/series/tree"
	"weir/series/volume"
)

// While the disk is full points are refused once there is no room for them in memory. Nothing that was accepted is
// lost, and it goes on by itself when there is room again.
func TestDiskFull(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills a disk by one goroutine, which takes minutes with the race detector, and has nothing for it to find")
	}
	d := faulty.New()
	v, err := volume.Open(d, "v", volume.Options{Size: volume.MinSize, Buffer: 1 << 17, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	f := tree.New(v, 0, 1, tree.Limits{Tail: 16, Leaf: 64, Late: 16})
	defer f.Release()
	var want [2]int // points accepted, of a series in order and of one that is late
	next := int64(1_000_000)
	add := func() error {
		next++
		if _, err := f.Append(0, next, float64(next%89), 1); err != nil {
			return err
		}
		want[0]++
		for _, time := range []int64{next, 1_000_000 - next} {
			if _, err := f.Append(1, time, float64(next%97), 1); err != nil {
				return err
			}
			want[1]++
		}
		return nil
	}
	check := func(when string) {
		t.Helper()
		for id := range names.ID(2) {
			a, err := f.View(id, -1<<62, 1<<62).Aggregate()
			if err != nil || int(a.Count) != want[id] {
				t.Fatalf("%s: series %d has %d points, %v; want %d", when, id, a.Count, err, want[id])
			}
		}
	}
	for range 2000 {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	check("before")
	for range 3 {
		free, err := d.Free("")
		if err != nil {
			t.Fatal(err)
		}
		d.SetBudget(math.MaxInt64 - free + 2000)
		refused := 0
		for range 100_000 {
			if err := add(); err != nil {
				if !errors.Is(err, volume.ErrFull) {
					t.Fatalf("refused with %v, want %v", err, volume.ErrFull)
				}
				refused++
			}
		}
		if refused == 0 {
			t.Fatal("the disk is full, and no point was refused")
		}
		check("while the disk is full")
		d.SetBudget(math.MaxInt64)
		for range 2000 {
			if err := add(); err != nil {
				t.Fatalf("there is room again, but: %v", err)
			}
		}
		check("with room again")
	}
	if err := f.CloseAll(); err != nil {
		t.Fatal(err)
	}
	check("closed")
}
