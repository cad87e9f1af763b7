package algo

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestDistributionModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		degree := rapid.OneOf(rapid.Uint32Range(0, 6), rapid.Uint32Range(0, 5000), rapid.Uint32())
		degrees := rapid.SliceOfN(degree, 1, 250).Draw(t, "degrees")
		got := DegreeDistribution(degrees)

		sorted := slices.Sorted(slices.Values(degrees))
		n := len(sorted)
		var counts []DegreeCount
		log2 := make([]int64, 33)
		var sum, differences, top float64
		for i, d := range sorted {
			if k := len(counts); k > 0 && counts[k-1].Degree == d {
				counts[k-1].Vertices++
			} else {
				counts = append(counts, DegreeCount{d, 1})
			}
			class := 0
			for ; d>>class != 0; class++ {
			}
			log2[class]++
			sum += float64(d)
			if n-i <= int(math.Ceil(float64(n)/100)) {
				top += float64(d)
			}
			for _, e := range sorted {
				differences += math.Abs(float64(d) - float64(e))
			}
		}
		for log2[len(log2)-1] == 0 {
			log2 = log2[:len(log2)-1]
		}
		if !slices.Equal(got.Counts, counts) {
			t.Fatalf("counts %v, want %v", got.Counts, counts)
		}
		if !slices.Equal(got.Log2, log2) {
			t.Fatalf("log2 %v, want %v", got.Log2, log2)
		}
		want := Distribution{
			Min: sorted[0], Max: sorted[n-1], Median: sorted[(n-1)/2], P99: sorted[int(math.Ceil(float64(n)*99/100))-1],
			Mean: sum / float64(n),
		}
		if sum > 0 {
			want.Gini, want.TopShare = differences/(2*float64(n)*sum), top/sum
		}
		if got.Min != want.Min || got.Max != want.Max || got.Median != want.Median || got.P99 != want.P99 {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if !near(got.Mean, want.Mean, 1e-9) || math.Abs(got.Gini-want.Gini) > 1e-9 || !near(got.TopShare, want.TopShare, 1e-9) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func TestDistributionOfNothing(t *testing.T) {
	if d := DegreeDistribution(nil); d.Counts != nil || d.Mean != 0 {
		t.Errorf("got %+v, want nothing", d)
	}
	d := DegreeDistribution(make([]uint32, 3))
	if d.Gini != 0 || d.TopShare != 0 || !slices.Equal(d.Log2, []int64{3}) {
		t.Errorf("got %+v for a graph without edges", d)
	}
}
