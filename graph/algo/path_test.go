package algo

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

// checkPath checks that a path is one and has the right length.
func checkPath(t fataler, out, in *order.CSR, from, to uint32, want float64, opt PathOptions) {
	t.Helper()
	got, err := Path(context.Background(), out, in, from, to, opt)
	if err != nil {
		t.Fatalf("%d to %d: %v", from, to, err)
	}
	// Sums from both ends may be rounded differently.
	if got.Length != want && !(math.Abs(got.Length-want) <= 1e-12*want) {
		t.Fatalf("%d to %d: length %v, want %v (%v)", from, to, got.Length, want, got.Vertices)
	}
	if math.IsInf(want, 1) {
		if got.Vertices != nil {
			t.Fatalf("%d to %d: path %v where there is none", from, to, got.Vertices)
		}
		return
	}
	way := got.Vertices
	if way[0] != from || way[len(way)-1] != to {
		t.Fatalf("%d to %d: path %v", from, to, way)
	}
	sum := 0.0
	for i, v := range way[1:] {
		if !slices.Contains(out.Neighbours(way[i]), v) {
			t.Fatalf("%d to %d: no edge from %d to %d in path %v", from, to, way[i], v, way)
		}
		if out.Weights != nil && !opt.Unweighted {
			sum += lightest(out, way[i], v)
		} else {
			sum++
		}
	}
	if sum != got.Length {
		t.Fatalf("%d to %d: edges of %v sum to %v, length says %v", from, to, way, sum, got.Length)
	}
}

func pathVariants(t fataler, n int, edges []travEdge, from uint32) {
	t.Helper()
	out, in := travGraph(n, edges, true)
	depth := modelBFS(out, from)
	dist := modelDijkstra(out, from)
	for to := 0; to < n; to += n/50 + 1 {
		hops := float64(depth[to])
		if depth[to] < 0 {
			hops = math.Inf(1)
		}
		for _, rows := range []*order.CSR{nil, in} {
			checkPath(t, out, rows, from, uint32(to), dist[to], PathOptions{})
			checkPath(t, out, rows, from, uint32(to), hops, PathOptions{Unweighted: true})
		}
	}
}

func TestPathShapes(t *testing.T) {
	for _, s := range travShapes() {
		t.Run(s.name, func(t *testing.T) {
			pathVariants(t, s.n, s.edges, 0)
			pathVariants(t, s.n, fractions(s.edges), uint32(s.n/3))
		})
	}
}

func TestPathRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := travDraw(t)
		if rapid.Bool().Draw(t, "fractions") {
			edges = fractions(edges)
		}
		pathVariants(t, n, edges, uint32(rapid.IntRange(0, n-1).Draw(t, "from")))
	})
}

func TestPathErrors(t *testing.T) {
	ctx := context.Background()
	out, in := travGraph(3, []travEdge{{0, 1, 1}, {1, 2, -2}}, true)
	bare, _ := travGraph(3, []travEdge{{0, 1, 1}, {1, 2, -2}}, false)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		name     string
		ctx      context.Context
		in       *order.CSR
		from, to uint32
		want     string
	}{
		{"start", ctx, in, 3, 0, "start vertex 3 is out of range"},
		{"end", ctx, in, 0, 9, "end vertex 9 is out of range"},
		{"negative", ctx, nil, 0, 2, "edge from 1 to 2 has weight -2"},
		{"negative from the end", ctx, in, 0, 2, "edge from 1 to 2 has weight -2"},
		{"unlike rows", ctx, bare, 0, 2, "transposed rows have none"},
		{"cancelled", stopped, in, 0, 2, "canceled"},
	} {
		if _, err := Path(c.ctx, out, c.in, c.from, c.to, PathOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// The search from both ends must not look at more than a corner of a grid whose
// ends are close.
func TestPathStaysNear(t *testing.T) {
	for _, s := range travShapes() {
		if s.name != "grid both ways" {
			continue
		}
		out, in := travGraph(s.n, s.edges, true)
		r, err := Path(context.Background(), out, in, 1435, 1440, PathOptions{})
		if err != nil || r.Edges > 800 {
			t.Errorf("a way of %d vertices took %d of %d edges, %v", len(r.Vertices), r.Edges, out.Edges(), err)
		}
	}
}
