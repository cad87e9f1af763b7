package ladder

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/generate"
	"weir/graph/order"
)

// build holds the edges in both orders.
func build(t interface {
	Helper()
	Fatal(...any)
}, n int, edges []uint64) Graph {
	t.Helper()
	ctx := context.Background()
	rows, _, err := order.Build(ctx, n, [][]uint64{slices.Clone(edges)}, nil, order.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hilbert, err := order.BuildHilbert(ctx, rows, 1)
	if err != nil {
		t.Fatal(err)
	}
	in, err := order.Transpose(ctx, rows, 1)
	if err != nil {
		t.Fatal(err)
	}
	compressed, err := order.Compress(ctx, hilbert, 1)
	if err != nil {
		t.Fatal(err)
	}
	return Graph{Rows: rows, Hilbert: hilbert, In: in, Compressed: compressed}
}

// naive counts components by painting.
func naive(n int, edges []uint64) (labels []uint32, components int) {
	labels = make([]uint32, n)
	for v := range labels {
		labels[v] = uint32(v)
	}
	for changed := true; changed; {
		changed = false
		for _, e := range edges {
			v, u := e>>32, uint64(uint32(e))
			if l := min(labels[v], labels[u]); labels[v] != l || labels[u] != l {
				labels[v], labels[u], changed = l, l, true
			}
		}
	}
	for v, l := range labels {
		if uint32(v) == l {
			components++
		}
	}
	return labels, components
}

func TestRungsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "vertices")
		end := rapid.Uint64Range(0, uint64(n-1))
		edges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) uint64 {
			return end.Draw(t, "source")<<32 | end.Draw(t, "target")
		}), 0, 400).Draw(t, "edges")
		g := build(t, n, edges)
		want, count := naive(n, edges)
		for _, s := range components {
			labels, err := s.run(context.Background(), g)
			if err != nil {
				t.Fatal(err)
			}
			if got := smallest(labels); got != count || !slices.Equal(labels, want) {
				t.Fatalf("%s: %d components %v, want %d %v", s.name, got, labels, count, want)
			}
		}
	})
}

// graphOf makes a graph whose vertices fill several squares.
func graphOf(t *testing.T) Graph {
	var edges []uint64
	spec := generate.Spec{Kind: generate.RMAT, Scale: 17, EdgeFactor: 1, Seed: 3}
	err := generate.Generate(t.Context(), spec, 1, func(e []uint64, _ []float32) error {
		edges = append(edges, e...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return build(t, 1<<17, edges)
}

func TestClimb(t *testing.T) {
	g := graphOf(t)
	rungs, err := Climb(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if len(rungs) != len(components) {
		t.Errorf("%d rungs, want %d", len(rungs), len(components))
	}
	for _, r := range rungs {
		if r.Components != rungs[0].Components || r.Runs < 1 || r.Seconds <= 0 || r.EdgesPerSecond <= 0 {
			t.Errorf("%+v", r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Climb(ctx, g); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	g.Hilbert = &order.Hilbert{N: 3, Starts: []uint64{0}}
	if _, err := Climb(t.Context(), g); err == nil {
		t.Error("two different graphs were accepted as one")
	}
}

func TestRank(t *testing.T) {
	g := graphOf(t)
	rungs, err := Rank(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if len(rungs) != 5 || rungs[4].Name != "compressed" {
		t.Errorf("rungs %+v", rungs)
	}
	for _, r := range rungs {
		if edges := float64(g.Rows.Edges()) * Iterations; r.Seconds <= 0 || math.Abs(r.EdgesPerSecond*r.Seconds-edges) > 1e-6*edges {
			t.Errorf("%+v", r)
		}
	}
	g.In = nil
	if _, err := Rank(t.Context(), g); err == nil {
		t.Error("no error without transposed rows")
	}
	// A way that finds something else is named.
	g = build(t, 4, []uint64{order.Pack(0, 1), order.Pack(1, 2)})
	g.In = build(t, 4, []uint64{order.Pack(0, 1), order.Pack(2, 3)}).In
	if _, err := Rank(t.Context(), g); err == nil || !strings.Contains(err.Error(), "by target: it ranks vertex") {
		t.Errorf("wrong transposed rows: %v", err)
	}
}

func TestPublished(t *testing.T) {
	for _, task := range []string{PageRank, Components} {
		rows := Systems(task)
		for i, p := range rows {
			if p.Task != task || p.Rate(0) <= 0 || p.Single() != (i >= len(rows)-2) {
				t.Errorf("%s: row %d is %+v", task, i, p)
			}
		}
	}
	spark := Systems(Components)[2]
	if !spark.Bounded(1) || spark.Bounded(0) || Systems(Components)[0].Rate(1) != 0 {
		t.Errorf("%+v", spark)
	}
}

func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	g := graphOf(t)
	ways, err := Measure(t.Context(), g, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range ways {
		if !slices.Equal(w.Threads, []int{1, 2, 3}) || len(w.Seconds) != 3 {
			t.Errorf("%s, %s: threads %v, seconds %v", w.Task, w.Name, w.Threads, w.Seconds)
		}
	}
	for _, task := range []string{PageRank, Components} {
		if best := Best(ways, task); best.Cost != 1 {
			t.Errorf("%s: the best way of one thread is %+v, want a cost of 1", task, best)
		}
	}
}

func TestCost(t *testing.T) {
	ways := []Way{
		{Task: "a", Name: "slow", Threads: []int{1, 2, 4}, Seconds: []float64{8, 4, 2}},
		{Task: "a", Name: "good", Threads: []int{1, 2, 4}, Seconds: []float64{3, 3, 3}},
		{Task: "a", Name: "never", Threads: []int{1, 2, 4}, Seconds: []float64{9, 5, 3}},
		{Task: "b", Name: "other", Threads: []int{1}, Seconds: []float64{1}},
	}
	settle(ways)
	for i, want := range []int{4, 1, 0, 1} {
		if ways[i].Cost != want {
			t.Errorf("%s: cost %d, want %d", ways[i].Name, ways[i].Cost, want)
		}
	}
	p := Published{"GraphX", 128, PageRank, [2]float64{419, 462}, false}
	if got := p.Match(2 * p.Rate(0)); math.Abs(got-256) > 1e-9 {
		t.Errorf("twice the rate of 128 cores is matched by %v", got)
	}
	if rate := p.Rate(0); rate < 70e6 || rate > 71e6 {
		t.Errorf("rate %v", rate)
	}
}
