package aggregate_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"weir/series/aggregate"
)

// naive is the aggregate of points as its definition says it, a point at a time.
func naive(times []int64, values []float64) aggregate.Aggregate {
	if len(times) == 0 {
		return aggregate.Aggregate{}
	}
	n := len(times) - 1
	a := aggregate.Aggregate{
		Count: uint64(len(times)), FirstTime: times[0], LastTime: times[n], First: values[0], Last: values[n],
		Min: math.NaN(), Max: math.NaN(),
	}
	for i, v := range values {
		if i > 0 && v < values[i-1] {
			a.Drops += values[i-1]
		}
		if math.IsNaN(v) {
			a.NaNs++
			continue
		}
		a.Sum += v
		if math.IsNaN(a.Min) || v < a.Min {
			a.Min, a.MinTime = v, times[i]
		}
		if math.IsNaN(a.Max) || v > a.Max {
			a.Max, a.MaxTime = v, times[i]
		}
	}
	return a
}

// text makes NaN equal to itself.
func text(a aggregate.Aggregate) string { return fmt.Sprintf("%+v", a) }

func points(t *rapid.T) ([]int64, []float64) {
	// Whole numbers, so that sums do not depend on their order.
	value := rapid.OneOf(rapid.Map(rapid.IntRange(-5, 5), func(i int) float64 { return float64(i) }), rapid.Just(math.NaN()))
	values := rapid.SliceOfN(value, 0, 12).Draw(t, "values")
	times := make([]int64, len(values))
	now := rapid.Int64Range(-10, 10).Draw(t, "start")
	for i := range times {
		times[i] = now
		now += rapid.Int64Range(0, 3).Draw(t, "step")
	}
	return times, values
}

func TestAnyCutGivesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times, values := points(t)
		want := text(naive(times, values))
		cut := rapid.IntRange(0, len(times)).Draw(t, "cut")
		var added, merged, later aggregate.Aggregate
		added.Add(times[:cut], values[:cut])
		merged.Add(times[:cut], values[:cut])
		for i := cut; i < len(times); i++ {
			added.AddPoint(times[i], values[i])
		}
		later.Add(times[cut:], values[cut:])
		merged.Merge(&later)
		if got := text(added); got != want {
			t.Fatalf("added: %s, want %s", got, want)
		}
		if got := text(merged); got != want {
			t.Fatalf("merged: %s, want %s", got, want)
		}
	})
}

func TestJoinTakesEarliestAndLatest(t *testing.T) {
	var a, b aggregate.Aggregate
	a.Add([]int64{10, 20}, []float64{1, 5})
	b.Add([]int64{5, 20, 30}, []float64{5, math.NaN(), 1})
	a.Join(&b)
	want := aggregate.Aggregate{
		Count: 5, NaNs: 1, FirstTime: 5, LastTime: 30, First: 5, Last: 1, Min: 1, MinTime: 10, Max: 5, MaxTime: 5,
		Sum: 12, Drops: math.NaN(),
	}
	if text(a) != text(want) {
		t.Fatalf("got %+v, want %+v", a, want)
	}
}

func TestMeanAndIncrease(t *testing.T) {
	var a aggregate.Aggregate
	if !math.IsNaN(a.Mean()) {
		t.Errorf("mean of nothing is %v, want NaN", a.Mean())
	}
	a.Add([]int64{1, 2, 3, 4, 5}, []float64{10, 14, 3, 9, 2})
	if got := a.Mean(); got != 38./5 {
		t.Errorf("mean %v, want 7.6", got)
	}
	if got := a.Increase(); got != 4+3+6+2 {
		t.Errorf("increase %v, want 15: two resets", got)
	}
}

func BenchmarkAdd(b *testing.B) {
	times, values := make([]int64, 512), make([]float64, 512)
	for i := range times {
		times[i], values[i] = int64(i), float64(i%97)
	}
	for b.Loop() {
		var a aggregate.Aggregate
		a.Add(times, values)
	}
	b.ReportMetric(float64(b.N)*512/b.Elapsed().Seconds()/1e6, "Mpoints/s")
}
