package query

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSorter has keys that are spread, in clusters of clusters, equal, and far apart, against a stable sort.
func TestSorter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sorter
		for range 2 { // what the first leaves does not matter to the second
			s.entries = s.entries[:0]
			scale := rapid.Uint64().Draw(t, "scale")
			steps := rapid.Uint64Range(1, 50).Draw(t, "steps")
			jitter := rapid.Uint64Range(1, 1<<20).Draw(t, "jitter")
			seed := rapid.Uint64().Draw(t, "seed")
			for i := range rapid.IntRange(0, 5000).Draw(t, "entries") {
				seed = seed*6364136223846793005 + 1442695040888963407
				key := int64(seed>>33%steps*scale + seed>>40%jitter)
				if seed>>60 == 0 {
					key = math.MaxInt64 // beside
				} else if seed>>60 == 1 {
					key = math.MinInt64
				}
				s.entries = append(s.entries, entry{key, uint32(i), uint32(seed)})
			}
			want := slices.Clone(s.entries)
			slices.SortStableFunc(want, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
			var got []entry
			if err := s.sort(func(some []entry) error { got = append(got, some...); return nil }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d entries are not in order", len(want))
			}
		}
	})
}
