package tree_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"weir/internal/seriesgen"
	"weir/series/disk"
	"weir/series/names"
	"weir/series/tree"
	"weir/series/volume"
)

// stored is series in files, of which all that is to be read is in memory of the system.
func stored(b *testing.B, set seriesgen.Set, kind seriesgen.Kind, series, points int) *tree.Forest {
	v, err := volume.Open(disk.OS(), b.TempDir(), volume.Options{Size: 64 << 20, Reserve: -1})
	if err != nil {
		b.Fatal(err)
	}
	f := tree.New(v, 0, 1, tree.DefaultLimits)
	for s := range series {
		g := set.Only(kind, s)
		if kind == seriesgen.Kinds {
			g = set.Series(s)
		}
		for range points {
			t, value := g.Next()
			if _, err := f.Append(names.ID(s), t, value, 1); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := f.CloseAll(); err != nil {
		b.Fatal(err)
	}
	if err := v.Flush(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := f.Release(); err != nil {
			b.Error(err)
		}
		if err := v.Close(); err != nil {
			b.Error(err)
		}
	})
	return f
}

// BenchmarkDecode reads the points of series by kind from files.
func BenchmarkDecode(b *testing.B) {
	for kind := range seriesgen.Kinds + 1 {
		what := kind.String()
		if kind == seriesgen.Kinds {
			what = "mixed"
		}
		b.Run(what, func(b *testing.B) {
			decodeAll(b, seriesgen.Set{Seed: 1, Jitter: 5 * time.Millisecond}, kind, 25, 20_000)
		})
	}
	b.Run("seconds", func(b *testing.B) {
		decodeAll(b, seriesgen.Set{Seed: 1, Step: time.Second, Jitter: 5 * time.Millisecond}, seriesgen.Walk, 1, 1_000_000)
	})
}

func decodeAll(b *testing.B, set seriesgen.Set, kind seriesgen.Kind, series, points int) {
	f := stored(b, set, kind, series, points)
	times, values := make([]int64, 4096), make([]float64, 4096)
	n := 0
	for b.Loop() {
		for id := range series {
			c := f.View(names.ID(id), math.MinInt64, math.MaxInt64).Points(false, nil)
			for {
				k, err := c.Next(times, values)
				if err != nil {
					b.Fatal(err)
				}
				if n += k; k < len(times) {
					break
				}
			}
		}
	}
	if n != b.N*series*points {
		b.Fatalf("%d points, want %d", n, b.N*series*points)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
}

// BenchmarkSpans asks for the spans of a picture of one long series.
func BenchmarkSpans(b *testing.B) {
	const points, spans = 4_000_000, 400
	f := stored(b, seriesgen.Set{Seed: 1, Step: time.Second, Jitter: 5 * time.Millisecond}, seriesgen.Walk, 1, points)
	total, _ := f.Total(0)
	for b.Loop() {
		g := f.View(0, total.FirstTime, total.LastTime).Groups(points / spans * int64(time.Second))
		n := uint64(0)
		for {
			group, ok, err := g.Next()
			if err != nil {
				b.Fatal(err)
			}
			if !ok {
				break
			}
			n += group.Count
		}
		if n != points {
			b.Fatal(fmt.Sprint(n, " points in groups"))
		}
	}
}
