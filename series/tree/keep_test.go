package tree_test

import (
	"testing"

	"weir/series/tree"
	"weir/series/volume"
)

// A fold that keeps what is in order writes little, however long the series is.
func TestFoldKeeps(t *testing.T) {
	v, _ := openVolumes(t)
	f := tree.New(v, 0, 1, tree.DefaultLimits)
	defer f.Release()
	add := func(time int64) {
		if _, err := f.Append(0, time, float64(time*7919%10007), 1); err != nil {
			t.Fatal(err)
		}
	}
	n := int64(1_000_000)
	if testing.Short() {
		n = 400_000 // one goroutine has nothing for the race detector, with which more take long
	}
	for i := range n {
		add(2 * i)
	}
	whole := v.Stats().AppendBytes
	for round := range int64(5) {
		for i := range int64(100) {
			add(2*n - 2000 + 20*i + 2*round + 1)
		}
		if err := f.Flush(0); err != nil {
			t.Fatal(err)
		}
		times, values := all(t, f, 0)
		before := v.Stats().AppendBytes
		foldAll(t, f, 0, tree.FoldOptions{Keep: true})
		if got := v.Stats().AppendBytes - before; got > whole/5 {
			t.Errorf("round %d: %d bytes were written, and %d for all points", round, got, whole)
		}
		same(t, f, 0, times, values)
		if x := f.Fragmented(0); x.Lanes != 0 || x.Points != uint64(len(times)) {
			t.Errorf("round %d: folded, it is %+v", round, x)
		}
	}
	// Nodes in old volumes do not stay.
	times, values := all(t, f, 0)
	middle := v.End() / 2
	middle += f.OldestNode() / 2
	foldAll(t, f, 0, tree.FoldOptions{Keep: true, From: middle})
	same(t, f, 0, times, values)
	if oldest := f.OldestNode(); oldest < middle {
		t.Errorf("the oldest node is at %#x, want %#x or above", oldest, middle)
	}
}

// Between nodes that stay are many that do not: of all of them becomes a tree that is not deep.
func TestFoldKeepsHereAndThere(t *testing.T) {
	v, _ := openVolumes(t)
	limits := tree.Limits{Tail: 4, Leaf: 1, Late: 4096}
	f := tree.New(v, 0, 1, limits)
	defer f.Release()
	n := int64(200_000) // in leaves of 4, and 1562 nodes above these
	if testing.Short() {
		n = 26_000 // one goroutine has nothing for the race detector, with which more take long
	}
	for i := range n {
		if _, err := f.Append(0, 4*i, float64(i%11), 1); err != nil {
			t.Fatal(err)
		}
	}
	for round := range int64(3) {
		for i := range n / 260 {
			if _, err := f.Append(0, 4*260*i+round+1, -1, 1); err != nil {
				t.Fatal(err)
			}
		}
		times, values := all(t, f, 0)
		foldAll(t, f, 0, tree.FoldOptions{Keep: true})
		same(t, f, 0, times, values)
		reads := v.Stats().Reads
		for i := range int64(100) {
			at := i*(n/100)*4 + 1000
			if a, err := f.View(0, at, at).Aggregate(); err != nil || a.Count != 1 {
				t.Fatalf("%+v, %v", a, err)
			}
		}
		if got := v.Stats().Reads - reads; got > 100*7 {
			t.Errorf("round %d: %d nodes are read for 100 points", round, got)
		}
		g := tree.New(v, 0, 1, limits)
		if _, err := v.Scan(0, g.Restore, func(err *volume.CorruptError) { t.Fatal(err) }); err != nil {
			t.Fatal(err)
		}
		same(t, g, 0, times, values)
		if got, want := g.Fragmented(0), f.Fragmented(0); got != want {
			t.Errorf("round %d: restored, it is %+v, want %+v", round, got, want)
		}
		if err := g.Release(); err != nil {
			t.Fatal(err)
		}
	}
}
