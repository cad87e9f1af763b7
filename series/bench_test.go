package series

import (
	"context"
	"fmt"
	"testing"
	"time"

	"weir/internal/seriesgen"
	"weir/series/names"
)

// BenchmarkWrite adds rows of points, one for each series, and commits each row.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		for _, noLog := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d series, log %v", n, !noLog), func(b *testing.B) { benchWrite(b, n, noLog) })
		}
	}
}

func benchWrite(b *testing.B, n int, noLog bool) {
	ctx := context.Background()
	s := mustOpen(b, b.TempDir(), Options{NoLog: noLog})
	w := s.Writer()
	ids := make([]names.ID, n)
	for i := range ids {
		var err error
		if ids[i], err = w.Series(fmt.Sprintf("cpu host=%d dc=%d", i, i%10)); err != nil {
			b.Fatal(err)
		}
	}
	set := seriesgen.Set{Seed: 1, Start: 1.7e18, Step: 10 * time.Second, Jitter: 5 * time.Millisecond}
	const length = 500
	times, values := make([][]int64, min(n, 1000)), make([][]float64, min(n, 1000))
	for i := range times {
		times[i], values[i] = make([]int64, length), make([]float64, length)
		set.Series(i).Fill(times[i], values[i])
	}
	row := 0
	b.ResetTimer()
	points := 0
	for b.Loop() {
		if row == length {
			b.StopTimer()
			row = 0
			for i := range times {
				for j := range times[i] {
					times[i][j] += length * 10e9
				}
			}
			b.StartTimer()
		}
		for i, id := range ids {
			k := i % len(times)
			if err := w.Add(id, times[k][row], values[k][row]); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Commit(ctx); err != nil {
			b.Fatal(err)
		}
		row++
		points += n
	}
	b.ReportMetric(float64(points)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
	b.StopTimer()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(s.volumes.Stats().AppendBytes)/float64(points), "B/point")
}
