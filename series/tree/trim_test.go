package tree_test

import (
	"math"
	"testing"

	"weir/series/tree"
)

// After Trim the points from a time on are there, and of those before it no more than are in a leaf.
func TestTrim(t *testing.T) {
	limits := tree.Limits{Tail: 8, Leaf: 100, Late: 16}
	f, v := fill(t, 1, 0, limits)
	const n = 20_000
	for i := range int64(n) {
		if _, err := f.Append(0, i, float64(i*i%1013), 1); err != nil {
			t.Fatal(err)
		}
		if i%50 == 49 {
			if _, err := f.Append(0, i-45, -1, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, _, err := f.Delete(0, 100, 200); err != nil {
		t.Fatal(err)
	}
	count := func(from int64) (n int) {
		t.Helper()
		a, err := f.View(0, from, math.MaxInt64).Aggregate()
		if err != nil {
			t.Fatal(err)
		}
		return int(a.Count)
	}
	last := f.OldestNode()
	for before := int64(1000); before <= n; before += 1700 {
		kept := count(before)
		if before%2 == 0 {
			if err := f.Close(0); err != nil {
				t.Fatal(err)
			}
		}
		if trimmed, err := f.Trim(0, before); err != nil || !trimmed {
			t.Fatalf("before %d: trimmed %v, %v", before, trimmed, err)
		}
		if trimmed, err := f.Trim(0, before); err != nil || trimmed {
			t.Fatalf("before %d, again: trimmed %v, %v", before, trimmed, err)
		}
		if got := count(before); got != kept {
			t.Fatalf("before %d: %d points are left, want %d", before, got, kept)
		}
		if older := count(math.MinInt64) - kept; older > 1000 {
			t.Fatalf("before %d: %d older points are left", before, older)
		}
		oldest := f.OldestNode()
		if oldest <= last {
			t.Fatalf("before %d: the oldest node is %#x, and was %#x", before, oldest, last)
		}
		last = oldest
		page := f.AppendPage(nil, 0)
		g := tree.New(v, 0, 1, limits)
		if _, _, err := g.LoadPage(page); err != nil {
			t.Fatal(err)
		}
		a, err := g.View(0, before, math.MaxInt64).Aggregate()
		if err != nil || int(a.Count) > kept {
			t.Fatalf("loaded: %d points, %v", a.Count, err)
		}
		if err := g.Release(); err != nil {
			t.Fatal(err)
		}
	}
	// All nodes of before are still there, and restored they are trimmed again.
	g := tree.New(v, 0, 1, limits)
	if _, err := v.Scan(0, g.Restore, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Trim(0, n-500); err != nil {
		t.Fatal(err)
	}
	a, err := g.View(0, n-500, math.MaxInt64).Aggregate()
	if err != nil || a.Count == 0 {
		t.Fatalf("restored: %d points, %v", a.Count, err)
	}
	if _, err := f.Trim(0, math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	if f.Fragmented(0).Deletions != 0 {
		t.Error("a deletion that is older than all nodes is kept")
	}
	if _, err := f.Append(0, n+1, 1, 1); err != nil {
		t.Fatal(err)
	}
	if got := count(math.MinInt64); got == 0 || got > 100 {
		t.Errorf("%d points after all was trimmed and one came", got)
	}
	for _, forest := range []*tree.Forest{f, g} {
		if err := forest.Release(); err != nil {
			t.Fatal(err)
		}
	}
}
