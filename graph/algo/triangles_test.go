package algo

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

// modelLinks answers from a matrix: for each vertex the ordered pairs of
// neighbours with an edge, the number of neighbours; and all triangles.
func modelLinks(n int, edges []travEdge) (links, degree []int64, triangles int64) {
	has := make([]bool, n*n)
	for _, e := range edges {
		if e.from != e.to {
			has[int(e.from)*n+int(e.to)] = true
		}
	}
	links, degree = make([]int64, n), make([]int64, n)
	for v := range n {
		var near []int
		for u := range n {
			if has[v*n+u] || has[u*n+v] {
				near = append(near, u)
			}
		}
		degree[v] = int64(len(near))
		for _, a := range near {
			for _, b := range near {
				if has[a*n+b] {
					links[v]++
				}
				if v < a && a < b && (has[a*n+b] || has[b*n+a]) {
					triangles++
				}
			}
		}
	}
	return links, degree, triangles
}

func triangleVariants(t fataler, n int, edges []travEdge) {
	t.Helper()
	out, in := travGraph(n, edges, false)
	both, _ := travGraph(n, travBoth(edges), false)
	for _, c := range []struct {
		name    string
		out, in *order.CSR
		edges   []travEdge
	}{
		{"directed", out, in, edges},
		{"undirected", both, both, travBoth(edges)},
	} {
		links, degree, triangles := modelLinks(n, c.edges)
		var wedges, simple int64
		var average float64
		for v, d := range degree {
			wedges += d * (d - 1) / 2
			simple += d
			if d > 1 {
				average += float64(links[v]) / float64(d*(d-1)) / float64(n)
			}
		}
		for _, threads := range []int{1, 2, 5} {
			got, err := Triangles(context.Background(), c.out, c.in, TriangleOptions{Threads: threads})
			if err != nil || got.Triangles != triangles || got.Wedges != wedges || got.Edges != simple/2 {
				t.Fatalf("%s, %d threads: %+v, %v; want %d triangles, %d wedges, %d edges", c.name, threads, got, err, triangles, wedges, simple/2)
			}
			local, err := LCC(context.Background(), c.out, c.in, LCCOptions{Threads: threads})
			if err != nil {
				t.Fatalf("%s, %d threads: %v", c.name, threads, err)
			}
			for v := range n {
				want := 0.0
				if d := degree[v]; d > 1 {
					want = float64(links[v]) / float64(d*(d-1))
				}
				if local.Links[v] != uint64(links[v]) || local.Neighbours[v] != uint32(degree[v]) || local.Coefficients[v] != want {
					t.Fatalf("%s, %d threads: vertex %d has %d links between %d neighbours (%v), want %d between %d (%v)", c.name, threads,
						v, local.Links[v], local.Neighbours[v], local.Coefficients[v], links[v], degree[v], want)
				}
			}
			if math.Abs(local.Average-average) > 1e-12 {
				t.Fatalf("%s: average %v, want %v", c.name, local.Average, average)
			}
		}
	}
}

func TestTriangleShapes(t *testing.T) {
	for _, s := range travShapes() {
		if s.n > 3000 {
			continue // the model keeps a matrix
		}
		t.Run(s.name, func(t *testing.T) { triangleVariants(t, s.n, s.edges) })
	}
	triangleVariants(t, 0, nil)
}

func TestTriangleRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := travDraw(t)
		n = min(n, 60)
		for i := range edges {
			edges[i].from %= uint32(n)
			edges[i].to %= uint32(n)
		}
		triangleVariants(t, n, edges)
	})
}

// A graph with known numbers: a complete one of 90 vertices beside a path.
func TestTransitivity(t *testing.T) {
	for _, c := range []struct {
		edges []travEdge
		want  float64
	}{
		{nil, 0},
		{[]travEdge{{0, 1, 0}, {1, 2, 0}}, 0},
		{[]travEdge{{0, 1, 0}, {1, 2, 0}, {2, 0, 0}}, 1},
		{[]travEdge{{0, 1, 0}, {1, 2, 0}, {2, 0, 0}, {0, 3, 0}}, 0.6},
	} {
		out, in := travGraph(4, c.edges, false)
		r, err := Triangles(context.Background(), out, in, TriangleOptions{})
		if err != nil || r.Transitivity() != c.want {
			t.Errorf("%v: transitivity %v, want %v, %v", c.edges, r.Transitivity(), c.want, err)
		}
	}
}

// Rows of hubs are bitmaps only where there are vertices beyond them: large
// enough a graph has both kinds. The sum over vertices is the model.
func TestTriangleLarge(t *testing.T) {
	const n = 1 << 15
	edges := travBoth(travRMAT(15, 8, 21))
	both, _ := travGraph(n, edges, false)
	ctx := context.Background()
	o, err := orient(ctx, both, both, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if h := newHubs(o); h.count == 0 || int(h.count) >= n/2 {
		t.Fatalf("%d of %d vertices have bitmaps: want some", h.count, n)
	}
	// For each edge, merge the two rows.
	var model int64
	for v := range uint32(n) {
		for i, u := range both.Neighbours(v) {
			if row := both.Neighbours(v); u <= v || i > 0 && row[i-1] == u {
				continue
			}
			model += common(both.Neighbours(v), both.Neighbours(u), u)
		}
	}
	for _, threads := range []int{1, 2, 7} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			r, err := Triangles(ctx, both, both, TriangleOptions{Threads: threads})
			if err != nil || r.Triangles != model {
				t.Fatalf("%d triangles, want %d, %v", r.Triangles, model, err)
			}
			local, err := LCC(ctx, both, both, LCCOptions{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			var sum uint64
			for _, x := range local.Links {
				sum += x
			}
			if sum != 6*uint64(model) {
				t.Fatalf("links sum to %d, want %d", sum, 6*model)
			}
		})
	}
}

// common counts the different elements above least that both rows hold.
func common(a, b []uint32, least uint32) (n int64) {
	before := least
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			if a[0] > before {
				n++
				before = a[0]
			}
			a, b = a[1:], b[1:]
		}
	}
	return n
}

func TestTriangleErrors(t *testing.T) {
	out, in := travGraph(4, []travEdge{{0, 1, 1}}, false)
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		in   *order.CSR
		want string
	}{
		{context.Background(), nil, "no transposed rows"},
		{stopped, in, "canceled"},
	} {
		if _, err := Triangles(c.ctx, out, c.in, TriangleOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("triangles: error %v, want one with %q", err, c.want)
		}
		if _, err := LCC(c.ctx, out, c.in, LCCOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("coefficients: error %v, want one with %q", err, c.want)
		}
	}
}
