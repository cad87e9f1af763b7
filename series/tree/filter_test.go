package tree_test

import (
	"testing"

	"weir/series/aggregate"
	"weir/series/disk/faulty"
	"weir/series/tree"
	"weir/series/volume"
)

// A search for outliers reads the leaves that have one, and the inner nodes above them.
func TestFilterReadsWhatItMust(t *testing.T) {
	v, err := volume.Open(faulty.New(), "v", volume.Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	f := tree.New(v, 0, 1, tree.DefaultLimits)
	defer f.Release()
	const n = 1_000_000
	outliers := map[int64]bool{5: true, 400_000: true, 400_001: true, 999_000: true}
	for i := range int64(n) {
		value := float64(i*7919%10007) / 100
		if outliers[i] {
			value = 1e6
		}
		if _, err := f.Append(0, i*1e9, value, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(0); err != nil {
		t.Fatal(err)
	}
	before := v.Stats()
	all, err := f.View(0, 0, n*1e9).Aggregate()
	if err != nil || all.Count != n || all.Max != 1e6 || all.MaxTime != 5e9 {
		t.Fatalf("%+v, %v", all, err)
	}
	if reads := v.Stats().Reads - before.Reads; reads > 1 {
		t.Errorf("an aggregate of everything read %d nodes, want at most the root", reads)
	}
	keep := aggregate.Everything()
	keep.Low = 1000
	for _, backward := range []bool{false, true} {
		before = v.Stats()
		c := f.View(0, 0, n*1e9).Points(backward, &keep)
		times, values := make([]int64, 1000), make([]float64, 1000)
		found := 0
		for {
			k, err := c.Next(times, values)
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				break
			}
			for i, value := range values[:k] {
				if keep.Contains(value) {
					if !outliers[times[i]/1e9] {
						t.Errorf("an outlier at %d", times[i])
					}
					found++
				}
			}
		}
		// Three leaves have outliers; above each of them are at most three levels.
		if reads := v.Stats().Reads - before.Reads; found != len(outliers) || reads > 3*4 {
			t.Errorf("backward %v: %d outliers, want %d; %d of %d nodes read, want at most 12", backward, found, len(outliers), reads, v.Stats().Appends)
		}
	}
}
