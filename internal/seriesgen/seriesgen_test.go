package seriesgen

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestSeries(t *testing.T) {
	const n = 5000
	names := map[string]bool{}
	for i := range 20 {
		for _, jitter := range []time.Duration{0, 5 * time.Millisecond} {
			set := Set{Seed: 3, Jitter: jitter}
			times, values := make([]int64, n), make([]float64, n)
			s := set.Series(i)
			names[s.Name] = true
			if got := s.Fill(times[:n/2], values) + s.Fill(times[n/2:], values[n/2:]); got != n {
				t.Fatalf("%d points", got)
			}
			again := set.Series(i)
			exact := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
			for k := range n {
				if at, v := again.Next(); at != times[k] || v != values[k] {
					t.Fatalf("%s, point %d: %d %v, then %d %v", s.Name, k, times[k], values[k], at, v)
				}
				if off := times[k] - exact - int64(k)*10e9; off < -int64(jitter) || off > int64(jitter) {
					t.Fatalf("%s, point %d is off by %d ns", s.Name, k, off)
				}
			}
			whole := !slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) })
			hundredths := !slices.ContainsFunc(values, func(v float64) bool { return math.Round(v*100)/100 != v })
			same := slices.Min(values) == slices.Max(values)
			want := map[Kind][3]bool{Walk: {false, true, false}, Counter: {true, true, false}, Constant: {true, true, true}, Integers: {true, true, false}, Sine: {false, false, false}}
			if got := [3]bool{whole, hundredths, same}; got != want[Kind(i%5)] {
				t.Errorf("%s: whole, hundredths, same: %v", s.Name, got)
			}
			if s.Kind == Counter && !slices.IsSorted(values) {
				t.Error("a counter falls")
			}
		}
	}
	if len(names) != 20 {
		t.Errorf("%d names of 20 series", len(names))
	}
	if a, b := (Set{Seed: 1}).Series(0), (Set{Seed: 2}).Series(0); a.state == b.state && a.phase == b.phase {
		t.Error("seeds do not matter")
	}
}

func BenchmarkNext(b *testing.B) {
	s := Set{Jitter: 5 * time.Millisecond}.Series(0)
	for b.Loop() {
		s.Next()
	}
}
