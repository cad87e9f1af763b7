package algo

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

// Rows that are no transpose of one another, as a damaged file or one that calls
// itself undirected may hold, make wrong answers or errors, but no panic.
func TestRowsThatDoNotFit(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		n, edges := travDraw(t)
		out, in := travGraph(n, edges, false)
		other := make([]travEdge, len(edges))
		for i := range other {
			other[i] = travEdge{rapid.Uint32Range(0, uint32(n-1)).Draw(t, "from"), rapid.Uint32Range(0, uint32(n-1)).Draw(t, "to"), 1}
		}
		wrong, _ := travGraph(n, other, false)
		threads := rapid.IntRange(1, 3).Draw(t, "threads")
		for _, in := range []*order.CSR{out, wrong, in} {
			_, _ = BFS(ctx, out, in, 0, BFSOptions{Threads: threads, Parents: true, Alpha: 1 << 20})
			_, _ = SCC(ctx, out, in, SCCOptions{Threads: threads})
			_, _ = KCore(ctx, out, in, KCoreOptions{Threads: threads})
			_, _ = Triangles(ctx, out, in, TriangleOptions{Threads: threads})
			_, _ = LCC(ctx, out, in, LCCOptions{Threads: threads})
			_, _ = Afforest(ctx, out, in, ComponentsOptions{Threads: threads})
			_, _ = Path(ctx, out, in, 0, uint32(n-1), PathOptions{})
		}
	})
}

func TestOneWayEdgesOfUndirectedGraph(t *testing.T) {
	rows, _ := travGraph(4, []travEdge{{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {1, 2, 1}}, false)
	if _, err := Triangles(t.Context(), rows, rows, TriangleOptions{Threads: 1}); err == nil || !strings.Contains(err.Error(), "only one direction") {
		t.Errorf("error is %v, want one that names the direction", err)
	}
	if _, err := LCC(t.Context(), rows, rows, LCCOptions{Threads: 1}); err == nil || !strings.Contains(err.Error(), "only one direction") {
		t.Errorf("error is %v, want one that names the direction", err)
	}
}

// Algorithms that read rows by vertex need all of them; those that walk blocks take
// any part of an order.
func TestPartsOfRows(t *testing.T) {
	g := rmatList(8)
	out, in := g.rows(false), g.rows(true)
	part := out.Split(3)[1].(*order.CSR)
	if _, err := BFS(t.Context(), part, nil, 0, BFSOptions{}); err == nil || !strings.Contains(err.Error(), "expected those of all") {
		t.Errorf("breadth-first over a part: %v", err)
	}
	if _, err := Afforest(t.Context(), out, in.Split(3)[1].(*order.CSR), ComponentsOptions{}); err == nil || !strings.Contains(err.Error(), "expected those of all") {
		t.Errorf("components over a part: %v", err)
	}
	one := PageRankOptions{Iterations: 1, Threads: 2}
	ranks, err := PageRank[float64](t.Context(), in.Split(3)[1], one)
	if err != nil {
		t.Fatal(err)
	}
	for v, x := range ranks.Ranks {
		if x < 0.15-1e-9 {
			t.Fatalf("vertex %d, of another part, has rank %v", v, x)
		}
	}
}
