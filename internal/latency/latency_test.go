package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Quantiles are those of the sorted durations, at most 1/32 above, and the longest is exact.
func TestQuantiles(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		var h, all Histogram
		var list []time.Duration
		for range 1 + random.IntN(1000) {
			d := time.Duration(math.Exp(random.Float64() * 40))
			list = append(list, d)
			h.Add(d)
			if random.IntN(10) == 0 {
				all.Merge(h)
				h.Reset()
			}
		}
		all.Merge(h)
		slices.Sort(list)
		if n := all.Total(); n != uint64(len(list)) {
			t.Fatalf("seed %d: %d in all, expected %d", seed, n, len(list))
		}
		for _, share := range []float64{0, 0.01, 0.5, 0.9, 0.999, 1} {
			want := list[max(int(math.Ceil(share*float64(len(list)))), 1)-1]
			if got := all.Quantile(share); got < want || float64(got) > float64(want)*(1+1./32) {
				t.Errorf("seed %d: the quantile of %v is %v, expected %v", seed, share, got, want)
			}
		}
		if got := all.Quantile(1); got != list[len(list)-1] {
			t.Errorf("seed %d: the longest is %v, expected %v", seed, got, list[len(list)-1])
		}
		last := time.Duration(-1)
		for d, share := range all.Tail() {
			longer := 0
			for _, x := range list {
				if x > d {
					longer++
				}
			}
			if want := float64(longer) / float64(len(list)); share != want || d <= last {
				t.Errorf("seed %d: %v took longer than %v, which comes after %v, expected %v", seed, share, d, last, want)
			}
			last = d
		}
	}
}

func TestExtremes(t *testing.T) {
	var h Histogram
	if got := h.Quantile(0.5); got != 0 {
		t.Errorf("the median of nothing is %v", got)
	}
	for range h.Tail() {
		t.Error("nothing has a tail")
	}
	for _, d := range []time.Duration{-1, 0, 63, 64, 127, 128, math.MaxInt64} {
		h.Add(d)
		if got := h.Quantile(1); got != max(d, 0) {
			t.Errorf("the longest is %v, expected %v", got, d)
		}
	}
}
