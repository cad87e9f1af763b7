package tree_test

import (
	"fmt"
	"testing"

	"weir/internal/seriesgen"
	"weir/series/disk/faulty"
	"weir/series/names"
	"weir/series/tree"
	"weir/series/volume"
)

// mixed is points of the kinds of package seriesgen, a row of all series after the other, as scrapes come.
func mixed(series, points int) (times [][]int64, values [][]float64) {
	set := seriesgen.Set{Seed: 1, Start: 1_700_000_000_000_000_000, Step: 10_000_000_000, Jitter: 5_000_000}
	for i := range series {
		t, v := make([]int64, points), make([]float64, points)
		set.Series(i).Fill(t, v)
		times, values = append(times, t), append(values, v)
	}
	return times, values
}

// rows is the same in the order in which the points are added.
func rows(series, points int) (times []int64, values []float64) {
	times, values = make([]int64, series*points), make([]float64, series*points)
	t, v := mixed(series, points)
	for s := range series {
		for i := range points {
			times[i*series+s], values[i*series+s] = t[s][i], v[s][i]
		}
	}
	return times, values
}

func fill(tb testing.TB, series, points int, limits tree.Limits) (*tree.Forest, *volume.Volumes) {
	v, err := volume.Open(faulty.New(), "v", volume.Options{Reserve: -1})
	if err != nil {
		tb.Fatal(err)
	}
	f := tree.New(v, 0, 1, limits)
	times, values := mixed(series, points)
	for i := range points {
		for s := range series {
			if _, err := f.Append(names.ID(s), times[s][i], values[s][i], 1); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return f, v
}

// BenchmarkAppend adds points alone, without a log, and then closes the series. What it reports beside the rate is of
// the nodes, and of the memory where it was the most.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []struct {
		series, points int
		limits         tree.Limits
	}{
		{1000, 2000, tree.DefaultLimits},
		{20_000, 200, tree.DefaultLimits},
		{100_000, 200, tree.LimitsFor(2400*100_000, 100_000)},
	} {
		b.Run(fmt.Sprintf("series=%d", size.series), func(b *testing.B) {
			times, values := rows(size.series, size.points)
			bytes, leaves, memory, n := 0, 0, 0, 0
			for b.Loop() {
				b.StopTimer()
				v, err := volume.Open(faulty.New(), "v", volume.Options{Reserve: -1})
				if err != nil {
					b.Fatal(err)
				}
				f := tree.New(v, 0, 1, size.limits)
				b.StartTimer()
				for i := range size.points {
					begin := i * size.series
					for s := range size.series {
						if _, err := f.Append(names.ID(s), times[begin+s], values[begin+s], 1); err != nil {
							b.Fatal(err)
						}
					}
					memory = max(memory, f.Memory())
				}
				b.StopTimer()
				if err := f.CloseAll(); err != nil {
					b.Fatal(err)
				}
				bytes, n = int(v.Stats().AppendBytes), n+size.series*size.points
				leaves = 0
				for s := range size.series {
					leaves += f.Fragmented(names.ID(s)).Leaves
				}
				if err := f.Release(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
			b.ReportMetric(float64(bytes)/float64(size.series*size.points), "bytes/point")
			b.ReportMetric(float64(memory)/float64(size.series), "memory/series")
			b.ReportMetric(float64(leaves)/float64(size.series), "leaves/series")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	f, _ := fill(b, 5, 200_000, tree.DefaultLimits)
	defer f.Release()
	const all = 1<<63 - 1
	times, values := make([]int64, 1024), make([]float64, 1024)
	for _, backward := range []bool{false, true} {
		b.Run(fmt.Sprintf("points/backward=%v", backward), func(b *testing.B) {
			n := 0
			for b.Loop() {
				for id := range names.ID(5) {
					c := f.View(id, -all, all).Points(backward, nil)
					for {
						k, err := c.Next(times, values)
						if err != nil {
							b.Fatal(err)
						}
						if k == 0 {
							break
						}
						n += k
					}
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
		})
	}
	b.Run("groups=400", func(b *testing.B) {
		for b.Loop() {
			g := f.View(0, 1_700_000_000_000_000_000, 1_702_000_000_000_000_000).Groups(5_000_000_000_000)
			n := 0
			for {
				_, ok, err := g.Next()
				if err != nil {
					b.Fatal(err)
				}
				if !ok {
					break
				}
				n++
			}
			if n != 400 {
				b.Fatalf("%d groups, want 400", n)
			}
		}
	})
	b.Run("total", func(b *testing.B) {
		for b.Loop() {
			if total, ok := f.Total(0); !ok || total.Count != 200_000 {
				b.Fatalf("%+v, %v", total, ok)
			}
		}
	})
}
