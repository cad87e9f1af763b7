package tree_test

import (
	"fmt"
	"testing"

	"weir/series/disk/faulty"
	"weir/series/names"
	"weir/series/tree"
	"weir/series/volume"
)

// Some series of the many that the limits are for take their share of the budget at most, and with more of it they take
// more.
func TestLimitsForKeepsWithinTheBudget(t *testing.T) {
	const some, points = 512, 2500
	times, values := rows(some, points)
	cases := []struct {
		series int
		each   int64
	}{{1000, 50_000}, {20_000, 4400}, {100_000, 2500}, {100_000, 1700}}
	if testing.Short() {
		// The small budgets take a minute with the race detector, which finds nothing in one goroutine.
		cases = cases[:1]
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("series=%d/each=%d", c.series, c.each), func(t *testing.T) {
			v, err := volume.Open(faulty.New(), "v", volume.Options{Reserve: -1})
			if err != nil {
				t.Fatal(err)
			}
			f := tree.New(v, 0, 1, tree.LimitsFor(c.each*int64(c.series), c.series))
			defer f.Release()
			for i := range points {
				for s := range some {
					if _, err := f.Append(names.ID(s), times[i*some+s], values[i*some+s], 1); err != nil {
						t.Fatal(err)
					}
				}
				if got := int64(f.Memory()); got > c.each*some {
					t.Fatalf("%d bytes a series after %d points, want at most %d", got/some, i+1, c.each)
				}
			}
		})
	}
	least := tree.LimitsFor(0, 0)
	if got := tree.LimitsFor(1000, 1_000_000); got != least || got.Tail < 4 || got.Leaf == 0 || got.Late == 0 {
		t.Fatalf("the limits for next to nothing are %+v, want %+v", got, least)
	}
}
