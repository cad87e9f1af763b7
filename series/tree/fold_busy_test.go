package tree_test

import (
	"context"
	"slices"
	"testing"

	"weir/series/tree"
)

// A series is added to, closed and read while it is folded, again and again.
func TestFoldWhileWriting(t *testing.T) {
	v, _ := openVolumes(t)
	f := tree.New(v, 0, 1, tree.Limits{Tail: 16, Leaf: 100, Late: 10})
	defer f.Release()
	var want []int64
	add := func(time int64) {
		if _, err := f.Append(0, time, float64(time), 1); err != nil {
			t.Fatal(err)
		}
		want = append(want, time)
	}
	for i := range int64(2000) {
		add(3 * i)
		add(2 * i)
	}
	next := int64(2000)
	for range 5 {
		x, err := f.BeginFold(0, tree.FoldOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ran := make(chan error, 1)
		go func() { ran <- x.Run(context.Background()) }()
		for ; err == nil && next%1000 != 999; next++ {
			add(3 * next)
			add(2 * next)
			if next%100 == 0 {
				err = f.Close(0)
			}
			if next%250 == 0 {
				_, err = f.View(0, next, 2*next).Aggregate()
			}
		}
		next++
		if e := <-ran; e != nil || err != nil {
			t.Fatal(e, err)
		}
		if ok, err := f.EndFold(x); !ok || err != nil {
			t.Fatalf("ended %v, %v", ok, err)
		}
		got, _ := all(t, f, 0)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%d points, want %d", len(got), len(want))
		}
	}
}
