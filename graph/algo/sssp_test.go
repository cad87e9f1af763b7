package algo

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

// modelDijkstra is Dijkstra's algorithm with a linear search for the nearest
// vertex.
func modelDijkstra(out *order.CSR, source uint32) []float64 {
	n := out.Vertices()
	dist := slices.Repeat([]float64{math.Inf(1)}, n)
	done := make([]bool, n)
	dist[source] = 0
	for {
		at, best := -1, math.Inf(1)
		for v := range n {
			if !done[v] && dist[v] < best {
				at, best = v, dist[v]
			}
		}
		if at < 0 {
			return dist
		}
		done[at] = true
		for i := out.Offsets[at]; i < out.Offsets[at+1]; i++ {
			w := 1.0
			if out.Weights != nil {
				w = float64(out.Weights[i])
			}
			dist[out.Targets[i]] = min(dist[out.Targets[i]], best+w)
		}
	}
}

func checkSSSP(t fataler, out *order.CSR, source uint32, want []float64, opt SSSPOptions) {
	t.Helper()
	got, err := SSSP(context.Background(), out, source, opt)
	if err != nil {
		t.Fatalf("%+v: %v", opt, err)
	}
	if !slices.Equal(got.Dist, want) {
		t.Fatalf("%+v from %d: distances %v, want %v", opt, source, got.Dist, want)
	}
	reached := 0
	for _, d := range want {
		if !math.IsInf(d, 1) {
			reached++
		}
	}
	if got.Reached != reached {
		t.Fatalf("%+v from %d: reached %d, want %d", opt, source, got.Reached, reached)
	}
}

func ssspVariants(t fataler, out *order.CSR, source uint32) {
	t.Helper()
	want := modelDijkstra(out, source)
	for _, threads := range []int{1, 2, 5} {
		for _, delta := range []float64{0, 1e-30, 0.01, 1, 3, 1000, math.Inf(1)} {
			checkSSSP(t, out, source, want, SSSPOptions{Threads: threads, Delta: delta})
		}
	}
}

// fractions makes weights that integers cannot hold.
func fractions(edges []travEdge) []travEdge {
	edges = slices.Clone(edges)
	for i := range edges {
		edges[i].weight = edges[i].weight/7 + 0.1
	}
	return edges
}

func TestSSSPShapes(t *testing.T) {
	for _, s := range travShapes() {
		t.Run(s.name, func(t *testing.T) {
			whole, _ := travGraph(s.n, s.edges, true)
			parts, _ := travGraph(s.n, fractions(s.edges), true)
			unit, _ := travGraph(s.n, s.edges, false)
			ssspVariants(t, whole, 0)
			ssspVariants(t, parts, uint32(s.n/2))
			checkSSSP(t, unit, 0, modelDijkstra(unit, 0), SSSPOptions{})
		})
	}
}

func TestSSSPRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := travDraw(t)
		source := uint32(rapid.IntRange(0, n-1).Draw(t, "source"))
		switch rapid.IntRange(0, 3).Draw(t, "weights") {
		case 1:
			edges = fractions(edges)
		case 2: // orders of magnitude
			for i := range edges {
				edges[i].weight = float32(math.Exp2(float64(i*7%60) - 20))
			}
		case 3: // integers whose sums overflow 32 bits, on some ways only
			for i := range edges {
				edges[i].weight = maxIntegral - float32(i%5)
			}
		}
		out, _ := travGraph(n, edges, true)
		ssspVariants(t, out, source)
	})
}

// A chain of heavy integers overflows 32 bits and goes on in float64.
func TestSSSPOverflow(t *testing.T) {
	const n = 2000
	var edges []travEdge
	for v := range uint32(n - 1) {
		edges = append(edges, travEdge{v, v + 1, maxIntegral})
	}
	out, _ := travGraph(n, edges, true)
	for _, threads := range []int{1, 3} {
		r, err := SSSP(context.Background(), out, 0, SSSPOptions{Threads: threads})
		if err != nil || r.Dist[n-1] != maxIntegral*(n-1) {
			t.Fatalf("end of the chain is at %v, %v; want %d", r.Dist[n-1], err, int64(maxIntegral*(n-1)))
		}
	}
}

// Heavy and light weights by turns must not move the window once a vertex.
func TestSSSPSpread(t *testing.T) {
	const n = 60000
	r := rand.New(rand.NewPCG(5, 6))
	edges := make([]travEdge, 0, n)
	for v := range uint32(n - 1) {
		edges = append(edges, travEdge{0, v + 1, float32(math.Exp2(r.Float64() * 80))})
	}
	out, _ := travGraph(n, edges, true)
	got, err := SSSP(context.Background(), out, 0, SSSPOptions{Delta: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out.Targets {
		if got.Dist[v] != float64(out.Weights[i]) {
			t.Fatalf("vertex %d is at %v, want %v", v, got.Dist[v], out.Weights[i])
		}
	}
}

func TestSSSPErrors(t *testing.T) {
	ctx := context.Background()
	good, _ := travGraph(3, []travEdge{{0, 1, 1}, {1, 2, 1}}, true)
	negative, _ := travGraph(3, []travEdge{{0, 1, 1}, {1, 2, -2.5}, {2, 0, -3}}, true)
	missing, _ := travGraph(3, []travEdge{{0, 1, 1}, {2, 2, float32(math.NaN())}}, true)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		out   *order.CSR
		from  uint32
		delta float64
		want  string
	}{
		{"negative", ctx, negative, 0, 0, "edge from 1 to 2 has weight -2.5"},
		{"not a number", ctx, missing, 2, 0, "edge from 2 to 2 has weight NaN"},
		{"source", ctx, good, 7, 0, "source vertex 7 is out of range: the graph has 3 vertices"},
		{"delta", ctx, good, 0, -1, "delta is -1"},
		{"cancelled", stopped, good, 0, 0, "canceled"},
	} {
		_, err := SSSP(c.ctx, c.out, c.from, SSSPOptions{Delta: c.delta})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	if _, err := SSSP(ctx, missing, 0, SSSPOptions{}); err != nil {
		t.Errorf("a bad edge out of reach: %v", err)
	}
	zero, _ := travGraph(2, []travEdge{{0, 1, float32(math.Copysign(0, -1))}}, true)
	if r, err := SSSP(ctx, zero, 0, SSSPOptions{}); err != nil || r.Dist[1] != 0 {
		t.Errorf("weight -0: %v, %v", r, err)
	}
}

func TestSSSPLargeDelta(t *testing.T) {
	edges := travBoth(travRMAT(10, 8, 3))
	for i := range edges {
		edges[i].weight = float32(math.Ldexp(float64(edges[i].weight), i%3*30))
	}
	out, _ := travGraph(1<<10, edges, true)
	want := modelDijkstra(out, 1)
	for _, delta := range []float64{1e-300, 1, 1e300} {
		t.Run(fmt.Sprint(delta), func(t *testing.T) { checkSSSP(t, out, 1, want, SSSPOptions{Delta: delta}) })
	}
}

// Stale entries are dropped when there are too many; the others stay where they
// are.
func TestBucketsPurge(t *testing.T) {
	var b buckets[uint32]
	b.move(0, 1)
	const n = 3 * bucketChunk
	dist := make([]uint32, n)
	for v := range uint32(n) {
		dist[v] = v % 5
		if v%3 == 0 {
			dist[v] = 1 << 20 // beyond the window
		}
		b.push(dist[v]+1, v)
		b.push(dist[v], v)
	}
	b.purge(dist)
	if b.count != n {
		t.Errorf("%d entries are left, want %d", b.count, n)
	}
	left := 0
	for i := range len(b.slots) + 1 {
		from := &b.far
		if i < len(b.slots) {
			from = &b.slots[i]
		}
		for _, chunk := range b.take(from, nil) {
			for _, e := range chunk {
				if e.d != dist[e.v] || i < len(b.slots) && e.d != uint32(i) {
					t.Fatalf("bucket %d holds vertex %d at %d, which is at %d", i, e.v, e.d, dist[e.v])
				}
				left++
			}
		}
	}
	if left != n || b.count != 0 {
		t.Errorf("took %d entries, want %d; %d said to be left", left, n, b.count)
	}
}
