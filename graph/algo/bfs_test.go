package algo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"weir/graph/order"
)

// travEdge is an edge of a test graph.
type travEdge struct {
	from, to uint32
	weight   float32
}

// travRows builds rows by sorting: the dumbest correct builder.
func travRows(n int, edges []travEdge, weighted bool) *order.CSR {
	edges = slices.Clone(edges)
	slices.SortFunc(edges, func(a, b travEdge) int {
		if a.from != b.from {
			return int(int64(a.from) - int64(b.from))
		}
		if a.to != b.to {
			return int(int64(a.to) - int64(b.to))
		}
		return int(a.weight - b.weight)
	})
	c := &order.CSR{Offsets: make([]uint64, n+1), Targets: make([]uint32, len(edges))}
	if weighted {
		c.Weights = make([]float32, len(edges))
	}
	for i, e := range edges {
		c.Offsets[e.from+1]++
		c.Targets[i] = e.to
		if weighted {
			c.Weights[i] = e.weight
		}
	}
	for v := range n {
		c.Offsets[v+1] += c.Offsets[v]
	}
	return c
}

// travGraph builds both directions.
func travGraph(n int, edges []travEdge, weighted bool) (out, in *order.CSR) {
	turned := make([]travEdge, len(edges))
	for i, e := range edges {
		turned[i] = travEdge{e.to, e.from, e.weight}
	}
	in = travRows(n, turned, weighted)
	in.Reversed = true
	return travRows(n, edges, weighted), in
}

// travBoth adds every edge turned round, but for loops.
func travBoth(edges []travEdge) []travEdge {
	both := slices.Clone(edges)
	for _, e := range edges {
		if e.from != e.to {
			both = append(both, travEdge{e.to, e.from, e.weight})
		}
	}
	return both
}

// travShape is a graph with a name.
type travShape struct {
	name  string
	n     int
	edges []travEdge // directed
}

// travShapes are the graphs with a structure that breaks things.
func travShapes() []travShape {
	var shapes []travShape
	add := func(name string, n int, edges []travEdge) { shapes = append(shapes, travShape{name, n, edges}) }
	add("single", 1, nil)
	add("isolated", 130, nil)
	add("loop", 1, []travEdge{{0, 0, 3}})
	add("duplicates", 3, []travEdge{{0, 1, 2}, {0, 1, 1}, {0, 1, 2}, {1, 2, 4}, {1, 2, 4}, {2, 2, 1}, {2, 2, 1}})
	var chain, ring, star, complete, grid []travEdge
	for v := range uint32(999) {
		chain = append(chain, travEdge{v, v + 1, 2})
	}
	for v := range uint32(100) {
		ring = append(ring, travEdge{v, (v + 1) % 100, 1})
	}
	for v := range uint32(5000) {
		star = append(star, travEdge{0, v + 1, float32(v % 7)})
	}
	for u := range uint32(90) {
		for v := range uint32(90) {
			if u != v {
				complete = append(complete, travEdge{u, v, float32((u*v)%11 + 1)})
			}
		}
	}
	for y := range uint32(40) {
		for x := range uint32(70) {
			v := y*70 + x
			if x > 0 {
				grid = append(grid, travEdge{v - 1, v, float32(v%5 + 1)})
			}
			if y > 0 {
				grid = append(grid, travEdge{v - 70, v, float32(v%3 + 1)})
			}
		}
	}
	add("chain", 1000, chain)
	add("chain both ways", 1000, travBoth(chain))
	add("ring", 100, ring)
	add("star", 5001, star)
	add("star both ways", 5001, travBoth(star))
	add("complete", 90, complete)
	add("grid", 2800, grid)
	add("grid both ways", 2800, travBoth(grid))
	add("rmat", 1<<12, travRMAT(12, 8, 1))
	add("rmat both ways", 1<<12, travBoth(travRMAT(12, 8, 2)))
	return shapes
}

// travRMAT draws an RMAT graph with the parameters of Graph500.
func travRMAT(scale, factor int, seed uint64) []travEdge {
	r := rand.New(rand.NewPCG(seed, 1))
	perm := r.Perm(1 << scale)
	edges := make([]travEdge, factor<<scale)
	for i := range edges {
		var x, y uint32
		for range scale {
			p := r.Float64()
			x, y = x<<1, y<<1
			switch {
			case p < .57:
			case p < .76:
				y |= 1
			case p < .95:
				x |= 1
			default:
				x |= 1
				y |= 1
			}
		}
		edges[i] = travEdge{uint32(perm[x]), uint32(perm[y]), float32(1 + r.IntN(255))}
	}
	return edges
}

// travDraw draws a graph: few vertices and many edges, or the other way round,
// with loops, duplicates and isolated vertices.
func travDraw(t *rapid.T) (n int, edges []travEdge) {
	n = rapid.IntRange(1, 200).Draw(t, "vertices")
	m := rapid.IntRange(0, 3*n).Draw(t, "edges")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for range m {
		edges = append(edges, travEdge{uint32(r.IntN(n)), uint32(r.IntN(n)), float32(r.IntN(20))})
	}
	if rapid.Bool().Draw(t, "both ways") {
		edges = travBoth(edges)
	}
	return n, edges
}

// modelBFS is the dumbest breadth-first search.
func modelBFS(out *order.CSR, source uint32) []int32 {
	depth := slices.Repeat([]int32{-1}, out.Vertices())
	depth[source] = 0
	queue := []uint32{source}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, v := range out.Neighbours(u) {
			if depth[v] < 0 {
				depth[v] = depth[u] + 1
				queue = append(queue, v)
			}
		}
	}
	return depth
}

// fataler is what testing.T and rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkBFS compares a result with the model's depths.
func checkBFS(t fataler, out *order.CSR, source uint32, want []int32, got *BFSResult) {
	t.Helper()
	if !slices.Equal(got.Depth, want) {
		t.Fatalf("from %d: depths %v, want %v", source, got.Depth, want)
	}
	reached, levels := 0, 0
	for v, d := range want {
		p := got.Parent[v]
		switch {
		case d < 0:
			if p != NoVertex {
				t.Fatalf("from %d: unreached vertex %d has parent %d", source, v, p)
			}
			continue
		case d == 0:
			if p != source {
				t.Fatalf("parent of the source %d is %d", source, p)
			}
		case want[p] != d-1 || !slices.Contains(out.Neighbours(p), uint32(v)):
			t.Fatalf("from %d: parent %d of %d is not one level up along an edge", source, p, v)
		}
		reached++
		levels = max(levels, int(d)+1)
	}
	if got.Reached != reached || got.Levels != levels {
		t.Fatalf("from %d: reached %d in %d levels, want %d in %d", source, got.Reached, got.Levels, reached, levels)
	}
}

// bfsVariants runs a search in every way there is.
func bfsVariants(t fataler, out, in *order.CSR, source uint32) {
	t.Helper()
	want := modelBFS(out, source)
	for _, threads := range []int{1, 2, 5} {
		for _, rows := range []*order.CSR{nil, in} {
			// An enormous alpha goes bottom-up whenever the frontier is not tiny.
			for _, alpha := range []int{0, 1 << 30} {
				got, err := BFS(context.Background(), out, rows, source, BFSOptions{Threads: threads, Parents: true, Alpha: alpha, Beta: 1 + alpha})
				if err != nil {
					t.Fatalf("search: %v", err)
				}
				checkBFS(t, out, source, want, got)
			}
		}
	}
}

func TestBFSShapes(t *testing.T) {
	for _, s := range travShapes() {
		t.Run(s.name, func(t *testing.T) {
			out, in := travGraph(s.n, s.edges, false)
			for _, source := range []uint32{0, uint32(s.n / 2), uint32(s.n - 1)} {
				bfsVariants(t, out, in, source)
			}
		})
	}
}

func TestBFSRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := travDraw(t)
		out, in := travGraph(n, edges, false)
		bfsVariants(t, out, in, uint32(rapid.IntRange(0, n-1).Draw(t, "source")))
	})
}

func TestBFSOptions(t *testing.T) {
	out, _ := travGraph(3, []travEdge{{0, 1, 1}, {1, 2, 1}}, false)
	r, err := BFS(context.Background(), out, nil, 0, BFSOptions{NoDepths: true})
	if err != nil || r.Depth != nil || r.Parent != nil || r.Reached != 3 || r.Edges != 2 {
		t.Fatalf("search without results: %+v, %v", r, err)
	}
}

func TestBFSErrors(t *testing.T) {
	ctx := context.Background()
	out, in := travGraph(3, []travEdge{{0, 1, 1}}, false)
	other, _ := travGraph(4, nil, false)
	empty, _ := travGraph(0, nil, false)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		out  *order.CSR
		in   *order.CSR
		from uint32
		want string
	}{
		{"no rows", ctx, nil, nil, 0, "nil"},
		{"source beyond", ctx, out, in, 3, "source vertex 3 is out of range: the graph has 3 vertices"},
		{"empty graph", ctx, empty, empty, 0, "the graph has 0 vertices"},
		{"foreign rows", ctx, out, other, 0, "do not belong"},
		{"cancelled", stopped, out, in, 0, "canceled"},
	} {
		if _, err := BFS(c.ctx, c.out, c.in, c.from, BFSOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	damaged := *out
	damaged.Guard = failingGuard{}
	if _, err := BFS(ctx, &damaged, nil, 0, BFSOptions{}); !errors.Is(err, errDamaged) {
		t.Errorf("damaged rows: error %v", err)
	}
}

var errDamaged = errors.New("damaged")

type failingGuard struct{}

func (failingGuard) Check(lo, hi uint64) error {
	return fmt.Errorf("elements %d to %d: %w", lo, hi, errDamaged)
}

// A chain of a million vertices has a million levels: a search that scans a
// bitmap in each would take hours.
func TestBFSLongChain(t *testing.T) {
	if testing.Short() {
		t.Skip("long chain in short mode")
	}
	n := 1 << 20
	out := &order.CSR{Offsets: make([]uint64, n+1), Targets: make([]uint32, n-1)}
	for v := range n {
		out.Offsets[v] = uint64(v)
		if v < n-1 {
			out.Targets[v] = uint32(v + 1)
		}
	}
	out.Offsets[n] = uint64(n - 1)
	in := &order.CSR{Offsets: make([]uint64, n+1), Targets: make([]uint32, n-1)}
	for v := range n {
		in.Offsets[v+1] = uint64(v)
		if v < n-1 {
			in.Targets[v] = uint32(v)
		}
	}
	for _, threads := range []int{1, 2} {
		r, err := BFS(context.Background(), out, in, 0, BFSOptions{Threads: threads})
		if err != nil || r.Reached != n || r.Levels != n || r.Depth[n-1] != int32(n-1) {
			t.Fatalf("chain: reached %d in %d levels, %v", r.Reached, r.Levels, err)
		}
	}
}
