package order

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// edge is the model's edge.
type edge struct {
	source, target uint32
	weight         float32
}

// drawGraph draws a number of vertices and edges between them: uniform ones, ones
// that repeat, loops, and hubs.
func drawGraph(t *rapid.T) (n int, edges []edge) {
	n = rapid.OneOf(rapid.IntRange(0, 4), rapid.IntRange(1, 100), rapid.IntRange(1, 200_000)).Draw(t, "vertices")
	m := rapid.OneOf(rapid.IntRange(0, 4), rapid.IntRange(0, 300), rapid.IntRange(0, 20_000)).Draw(t, "edges")
	if n == 0 {
		m = 0
	}
	hubs := rapid.IntRange(1, 4).Draw(t, "hubs of 4")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for range m {
		e := edge{uint32(rng.IntN(n)), uint32(rng.IntN(n)), float32(rng.IntN(8))}
		if rng.IntN(4) >= hubs {
			e.source = uint32(n / 2)
		}
		if rng.IntN(8) == 0 {
			e.target = e.source
		}
		edges = append(edges, e)
		if rng.IntN(8) == 0 {
			edges = append(edges, e, edge{e.source, e.target, float32(rng.IntN(8))})
		}
	}
	return n, edges
}

// smallSizes makes the builders use several tiles and buckets, and their path for
// giants, until the test ends.
func smallSizes(t testing.TB) {
	tile, bucket, giant := tileEdges, bucketEdges, giantEdges
	tileEdges, bucketEdges, giantEdges = 1<<8, 1<<7, 1<<11
	t.Cleanup(func() { tileEdges, bucketEdges, giantEdges = tile, bucket, giant })
}

// chunked packs edges in chunks of random lengths.
func chunked(t *rapid.T, edges []edge, weighed bool) (chunks [][]uint64, weights [][]float32) {
	most := rapid.SampledFrom([]int{1, 100, 1000, 1 << 20}).Draw(t, "chunk")
	for part := range slices.Chunk(edges, most) {
		chunk, w := make([]uint64, len(part)), make([]float32, len(part))
		for i, e := range part {
			chunk[i], w[i] = Pack(e.source, e.target), e.weight
		}
		chunks = append(chunks, chunk)
		weights = append(weights, w)
	}
	if !weighed {
		return chunks, nil
	}
	if weights == nil {
		weights = [][]float32{}
	}
	return chunks, weights
}

// model is the dumbest builder.
func model(n int, edges []edge, opt BuildOptions) (*CSR, Stats) {
	sorted := slices.Clone(edges)
	if opt.Reversed {
		for i, e := range sorted {
			sorted[i].source, sorted[i].target = e.target, e.source
		}
	}
	slices.SortStableFunc(sorted, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.target, b.target))
	})
	c := &CSR{Offsets: make([]uint64, n+1), Reversed: opt.Reversed, Weights: []float32{}}
	var stats Stats
	for i, e := range sorted {
		if e.source == e.target {
			stats.SelfLoops++
		}
		if i > 0 && sorted[i-1].source == e.source && sorted[i-1].target == e.target {
			stats.Duplicates++
			if last := len(c.Weights) - 1; opt.Dedup {
				c.Weights[last] = min(c.Weights[last], e.weight)
				continue
			}
		}
		c.Targets, c.Weights = append(c.Targets, e.target), append(c.Weights, e.weight)
		c.Offsets[e.source+1]++
	}
	for v := range n {
		c.Offsets[v+1] += c.Offsets[v]
	}
	stats.Edges = int64(len(c.Targets))
	return c, stats
}

func sameCSR(t interface{ Fatalf(string, ...any) }, got, want *CSR, weighed bool) {
	if !slices.Equal(got.Offsets, want.Offsets) {
		t.Fatalf("offsets differ")
	}
	if !slices.Equal(got.Targets, want.Targets) {
		t.Fatalf("targets differ")
	}
	if weighed && !slices.Equal(got.Weights, want.Weights) {
		t.Fatalf("weights differ")
	}
	if !weighed && got.Weights != nil {
		t.Fatalf("there are weights")
	}
	if got.Reversed != want.Reversed {
		t.Fatalf("reversed is %v, expected %v", got.Reversed, want.Reversed)
	}
}

func TestBuild(t *testing.T) {
	smallSizes(t)
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t)
		weighed := rapid.Bool().Draw(t, "weighed")
		opt := BuildOptions{
			Threads:  rapid.IntRange(1, 3).Draw(t, "threads"),
			Reversed: rapid.Bool().Draw(t, "reversed"),
			Dedup:    rapid.Bool().Draw(t, "dedup"),
		}
		chunks, weights := chunked(t, edges, weighed)
		got, stats, err := Build(context.Background(), n, chunks, weights, opt)
		if err != nil {
			t.Fatal(err)
		}
		want, wantStats := model(n, edges, opt)
		sameCSR(t, got, want, weighed)
		if stats != wantStats {
			t.Fatalf("stats are %+v, expected %+v", stats, wantStats)
		}
	})
}

func TestBuildRefuses(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name    string
		n       int
		chunks  [][]uint64
		weights [][]float32
		opt     BuildOptions
		want    string
	}{
		{"target", 3, [][]uint64{{Pack(1, 2), Pack(2, 3)}}, nil, BuildOptions{}, "edge from vertex 2 to 3, expected vertices below 3"},
		{"source", 3, [][]uint64{{Pack(7, 2)}}, nil, BuildOptions{}, "edge from vertex 7 to 2, expected vertices below 3"},
		{"reversed", 3, [][]uint64{{Pack(7, 2)}}, nil, BuildOptions{Reversed: true}, "edge from vertex 7 to 2, expected vertices below 3"},
		{"none", 0, [][]uint64{{Pack(0, 0)}}, nil, BuildOptions{}, "edge from vertex 0 to 0, expected vertices below 0"},
		{"largest", 5, [][]uint64{{^uint64(0)}}, nil, BuildOptions{}, "edge from vertex 4294967295 to 4294967295, expected vertices below 5"},
		{"vertices", -1, nil, nil, BuildOptions{}, "-1 vertices, expected 0 to 4294967295"},
		{"chunks of weights", 1, [][]uint64{{0}}, [][]float32{}, BuildOptions{}, "weights for 0 chunks, expected 1"},
		{"weights", 1, [][]uint64{{0}}, [][]float32{{1, 2}}, BuildOptions{}, "chunk 0 has 2 weights, expected 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Build(ctx, c.n, c.chunks, c.weights, c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, expected %q", err, c.want)
			}
		})
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := Build(done, 1, [][]uint64{{0}}, nil, BuildOptions{}); err != context.Canceled {
		t.Fatalf("error is %v, expected %v", err, context.Canceled)
	}
}

// rmatChunks makes edges of the Graph500 generator's shape, with ids shuffled by
// a multiplication.
func rmatChunks(scale int) (n int, chunks [][]uint64) {
	n = 1 << scale
	rng := rand.New(rand.NewPCG(1, 2))
	for left := n * 16; left > 0; left -= 1 << 20 {
		chunk := make([]uint64, min(left, 1<<20))
		for i := range chunk {
			x, y := uint32(0), uint32(0)
			for range scale {
				r := rng.Uint32N(100)
				x, y = x<<1, y<<1
				switch {
				case r < 57:
				case r < 76:
					y |= 1
				case r < 95:
					x |= 1
				default:
					x, y = x|1, y|1
				}
			}
			mask := uint32(n - 1)
			chunk[i] = Pack(x*0x9E3779B1&mask, y*0x9E3779B1&mask)
		}
		chunks = append(chunks, chunk)
	}
	return n, chunks
}

func cloneChunks(chunks [][]uint64) [][]uint64 {
	out := make([][]uint64, len(chunks))
	for i := range chunks {
		out[i] = slices.Clone(chunks[i])
	}
	return out
}

func perEdge(b *testing.B, edges int64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(edges), "ns/edge")
}

func BenchmarkBuild(b *testing.B) {
	n, chunks := rmatChunks(20)
	for _, threads := range []int{1, 2} {
		b.Run("threads="+string(rune('0'+threads)), func(b *testing.B) {
			var edges int64
			for b.Loop() {
				b.StopTimer()
				own := cloneChunks(chunks)
				b.StartTimer()
				c, _, err := Build(context.Background(), n, own, nil, BuildOptions{Threads: threads})
				if err != nil {
					b.Fatal(err)
				}
				edges = c.Edges()
			}
			perEdge(b, edges)
		})
	}
}
