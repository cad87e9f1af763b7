package algo

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

// modelCore removes vertices of too few edges again and again, for every k.
func modelCore(n int, edges []travEdge, directed bool) []uint32 {
	type pair struct{ u, v uint32 }
	seen := map[pair]bool{}
	for _, e := range edges {
		if e.from == e.to {
			continue
		}
		p := pair{e.from, e.to}
		if !directed {
			p = pair{min(e.from, e.to), max(e.from, e.to)}
		}
		seen[p] = true
	}
	core := make([]uint32, n)
	gone := make([]bool, n)
	for k := 1; len(seen) > 0; k++ {
		for changed := true; changed; {
			changed = false
			degree := make([]int, n)
			for p := range seen {
				degree[p.u]++
				degree[p.v]++
			}
			for v := range n {
				if !gone[v] && degree[v] < k {
					gone[v], changed = true, true
				}
			}
			for p := range seen {
				if gone[p.u] || gone[p.v] {
					delete(seen, p)
				}
			}
		}
		for v := range n {
			if !gone[v] {
				core[v] = uint32(k)
			}
		}
	}
	return core
}

func kcoreVariants(t fataler, n int, edges []travEdge) {
	t.Helper()
	out, in := travGraph(n, edges, false)
	both, _ := travGraph(n, travBoth(edges), false)
	for _, c := range []struct {
		name    string
		out, in *order.CSR
		want    []uint32
	}{
		{"directed", out, in, modelCore(n, edges, true)},
		{"undirected", both, both, modelCore(n, edges, false)},
	} {
		for _, threads := range []int{1, 2, 5} {
			got, err := KCore(context.Background(), c.out, c.in, KCoreOptions{Threads: threads})
			if err != nil {
				t.Fatalf("%s, %d threads: %v", c.name, threads, err)
			}
			if !slices.Equal(got.Core, c.want) {
				t.Fatalf("%s, %d threads: cores %v, want %v", c.name, threads, got.Core, c.want)
			}
			top, count := 0, 0
			if n > 0 {
				top = int(slices.Max(c.want))
			}
			for _, k := range c.want {
				if int(k) == top {
					count++
				}
			}
			if got.Max != top || got.Innermost != count {
				t.Fatalf("%s: largest core %d of %d vertices, want %d of %d", c.name, got.Max, got.Innermost, top, count)
			}
		}
	}
}

func TestKCoreShapes(t *testing.T) {
	for _, s := range travShapes() {
		t.Run(s.name, func(t *testing.T) { kcoreVariants(t, s.n, s.edges) })
	}
	kcoreVariants(t, 0, nil)
}

func TestKCoreRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := travDraw(t)
		kcoreVariants(t, n, edges)
	})
}

// Large enough for every step to be shared out; one thread is the model.
func TestKCoreLarge(t *testing.T) {
	const n = 1 << 17
	both, _ := travGraph(n, travBoth(travRMAT(17, 4, 11)), false)
	want, err := KCore(context.Background(), both, both, KCoreOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{2, 7} {
		got, err := KCore(context.Background(), both, both, KCoreOptions{Threads: threads})
		if err != nil || !slices.Equal(got.Core, want.Core) {
			t.Fatalf("%d threads: cores differ from those on one thread, %v", threads, err)
		}
	}
}

func TestKCoreErrors(t *testing.T) {
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
		if _, err := KCore(c.ctx, out, c.in, KCoreOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// TestKCoreOfSharedRows gives the transposed rows of an undirected graph as a
// copy of the rows that shares their storage.
func TestKCoreOfSharedRows(t *testing.T) {
	out := &order.CSR{Offsets: []uint64{0, 2, 4, 6}, Targets: []uint32{1, 2, 0, 2, 0, 1}} // a triangle
	in := *out
	in.Reversed = true
	r, err := KCore(t.Context(), out, &in, KCoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Max != 2 {
		t.Errorf("a triangle has a %d-core, expected 2", r.Max)
	}
}
