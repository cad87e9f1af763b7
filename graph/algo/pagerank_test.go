package algo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir/graph/order"
)

// rankModel is the definition, word for word.
func rankModel(g edgeList, opt PageRankOptions) (ranks []float64, delta float64, iterations int) {
	n := float64(g.n)
	outdeg := make([]float64, g.n)
	for _, e := range g.edges {
		outdeg[e[0]]++
	}
	rank, each := make([]float64, g.n), 1-opt.Damping
	if opt.Normalised {
		each /= n
		for v := range rank {
			rank[v] = 1 / n
		}
	}
	for iterations < opt.Iterations {
		next := make([]float64, g.n)
		for v := range next {
			next[v] = each
			if opt.Dangling == RedistributeDangling {
				for u, d := range outdeg {
					if d == 0 {
						next[v] += opt.Damping * rank[u] / n
					}
				}
			}
		}
		for _, e := range g.edges {
			next[e[1]] += opt.Damping * rank[e[0]] / outdeg[e[0]]
		}
		delta = 0
		for v := range next {
			delta += math.Abs(next[v] - rank[v])
		}
		rank = next
		iterations++
		if delta < opt.Tolerance {
			break
		}
	}
	return rank, delta, iterations
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b), 1e-9)
}

func TestPageRankModel(t *testing.T) {
	defer goleak.VerifyNone(t)
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		opt := PageRankOptions{
			Iterations: rapid.IntRange(1, 12).Draw(t, "iterations"),
			Damping:    rapid.Float64Range(0.05, 0.95).Draw(t, "damping"),
			Tolerance:  rapid.SampledFrom([]float64{0, 1e-3}).Draw(t, "tolerance"),
			Normalised: rapid.Bool().Draw(t, "normalised"),
		}
		// The model is quadratic in dangling vertices.
		if g.n <= 40 && rapid.Bool().Draw(t, "redistribute") {
			opt.Dangling = RedistributeDangling
		}
		want, delta, iterations := rankModel(g, opt)
		for _, o := range g.orders() {
			for _, opt.Threads = range []int{1, 3} {
				got, err := PageRank[float64](context.Background(), o.edges, opt)
				if err != nil {
					t.Fatal(err)
				}
				if got.Iterations != iterations || len(got.Times) != iterations || len(got.Ranks) != g.n {
					t.Fatalf("%s, %d threads: %d iterations, %d times, %d ranks; want %d iterations, %d ranks",
						o.name, opt.Threads, got.Iterations, len(got.Times), len(got.Ranks), iterations, g.n)
				}
				if math.Abs(got.Delta-delta) > 1e-9*float64(max(g.n, 1)) {
					t.Fatalf("%s, %d threads: delta %v, want %v", o.name, opt.Threads, got.Delta, delta)
				}
				for v, x := range got.Ranks {
					if !near(x, want[v], 1e-6) {
						t.Fatalf("%s, %d threads: rank of %d is %v, want %v", o.name, opt.Threads, v, x, want[v])
					}
				}
			}
		}
	})
}

// The reference of example-* is that of the iterations in its properties; the
// benchmark accepts 1e-4. That of test-pr-directed is the limit, that of
// test-pr-undirected close to both.
func TestPageRankGraphalytics(t *testing.T) {
	for _, c := range []struct {
		name       string
		iterations int // 0 means those of the properties
		tolerance  float64
	}{
		{"example-directed", 0, 1e-12},
		{"example-undirected", 0, 1e-12},
		{"test-pr-directed", 0, 1e-5},
		{"test-pr-directed", 200, 1e-12},
		{"test-pr-undirected", 0, 1e-6},
	} {
		g, ids, want, properties := graphalytics(t, c.name, "PR")
		opt := PageRankOptions{
			Iterations: c.iterations,
			Damping:    parseFloat(t, properties["pr.damping-factor"]),
			Dangling:   RedistributeDangling,
			Normalised: true,
		}
		if opt.Iterations == 0 {
			opt.Iterations = int(parseFloat(t, properties["pr.num-iterations"]))
		}
		for _, o := range g.orders() {
			got, err := PageRank[float64](t.Context(), o.edges, opt)
			if err != nil {
				t.Fatal(err)
			}
			for v, w := range want {
				if !near(got.Ranks[v], parseFloat(t, w), c.tolerance) {
					t.Errorf("%s, %s, %d iterations: rank of %s is %v, want %s", c.name, o.name, opt.Iterations, ids[v], got.Ranks[v], w)
				}
			}
		}
	}
}

// On a graph of several squares all ways agree; and what is promised to be the same
// bits is.
func TestPageRankOrdersAgree(t *testing.T) {
	g := squaresList()
	opt := PageRankOptions{Threads: 1}
	base, err := PageRank[float64](t.Context(), g.rows(true), opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range g.orders() {
		var one []float64
		for _, threads := range []int{1, 2, 5} {
			opt.Threads = threads
			got, err := PageRank[float64](t.Context(), o.edges, opt)
			if err != nil {
				t.Fatal(err)
			}
			half, err := PageRank[float32](t.Context(), o.edges, opt)
			if err != nil {
				t.Fatal(err)
			}
			for v, x := range got.Ranks {
				if !near(x, base.Ranks[v], 1e-6) {
					t.Fatalf("%s, %d threads: rank of %d is %v, want %v", o.name, threads, v, x, base.Ranks[v])
				}
				if !near(float64(half.Ranks[v]), x, 1e-4) {
					t.Fatalf("%s, %d threads: rank of %d is %v in float32, %v in float64", o.name, threads, v, half.Ranks[v], x)
				}
			}
			again, err := PageRank[float64](t.Context(), o.edges, opt)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Ranks, again.Ranks) {
				t.Errorf("%s, %d threads: other bits at a second run", o.name, threads)
			}
			if one == nil {
				one = got.Ranks
			}
			if o.name == "in" && !slices.Equal(one, got.Ranks) {
				t.Errorf("%s: other bits on %d threads than on one", o.name, threads)
			}
		}
	}
}

// The first three iterations of the published program on a path of three vertices.
func TestPageRankTextbook(t *testing.T) {
	g := edgeList{3, [][2]uint32{{0, 1}, {1, 2}}}
	for iterations, want := range [][]float64{1: {.15, .15, .15}, 2: {.15, .2775, .2775}, 3: {.15, .2775, .385875}} {
		if want == nil {
			continue
		}
		got, err := PageRank[float64](t.Context(), g.rows(false), PageRankOptions{Iterations: iterations})
		if err != nil {
			t.Fatal(err)
		}
		for v, x := range got.Ranks {
			if !near(x, want[v], 1e-12) {
				t.Errorf("rank of %d after %d iterations is %v, want %v", v, iterations, x, want[v])
			}
		}
	}
	got, err := PageRank[float32](t.Context(), g.rows(false), PageRankOptions{})
	if err != nil || got.Iterations != 20 {
		t.Errorf("%d iterations, %v; want 20 and no error", got.Iterations, err)
	}
}

func TestPageRankBadOptions(t *testing.T) {
	g := edgeList{2, [][2]uint32{{0, 1}}}
	for _, opt := range []PageRankOptions{
		{Iterations: -1}, {Damping: 1}, {Damping: -0.1}, {Damping: math.NaN()},
		{Tolerance: -1}, {Tolerance: math.NaN()}, {Dangling: 7}, {OutDegrees: []uint32{1}},
	} {
		if _, err := PageRank[float32](t.Context(), g.rows(false), opt); err == nil {
			t.Errorf("no error for %+v", opt)
		}
	}
}

func TestPageRankStops(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := rmatList(8)
	for _, threads := range []int{1, 3} {
		for i, o := range g.orders() {
			ctx, cancel := context.WithCancel(t.Context())
			edges := g.guarded(cancel, 5000)[i].edges
			_, err := PageRank[float32](ctx, edges, PageRankOptions{Iterations: math.MaxInt, Threads: threads})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %d threads: error is %v, want %v", o.name, threads, err, context.Canceled)
			}
			cancel()
		}
	}
}

// A damaged block ends the run with its error, on whichever path it is met.
func TestPageRankDamage(t *testing.T) {
	damage := errors.New("damage")
	g := rmatList(6)
	in, hilbert := g.rows(true), g.hilbert()
	in.Guard, hilbert.Guard = damaged{damage}, damaged{damage}
	for _, edges := range []order.EdgeMap{in, hilbert, blocks{in}} {
		for _, known := range []bool{false, true} {
			var opt PageRankOptions
			if known {
				opt.OutDegrees = make([]uint32, g.n)
			}
			if _, err := PageRank[float32](t.Context(), edges, opt); !errors.Is(err, damage) {
				t.Errorf("%T: error is %v, want %v", edges, err, damage)
			}
		}
	}
}

type damaged struct{ error }

func (d damaged) Check(uint64, uint64) error { return d.error }

func BenchmarkPageRank(b *testing.B) {
	g := rmatList(16)
	for _, o := range g.orders()[:3] {
		for _, threads := range []int{1, 0} {
			b.Run(fmt.Sprintf("%s/threads=%d", o.name, threads), func(b *testing.B) {
				for b.Loop() {
					if _, err := PageRank[float32](b.Context(), o.edges, PageRankOptions{Threads: threads}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(g.edges))*20*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
			})
		}
	}
}
