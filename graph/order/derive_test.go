package order

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// listed collects the edges of an order; it fails where a block breaks the rules.
type listed struct {
	mu    sync.Mutex
	t     interface{ Fatalf(string, ...any) }
	edges []uint64
}

func (l *listed) Rows(r Rows) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, lo := range r.Offsets[:len(r.Offsets)-1] {
		row := r.Targets[lo:r.Offsets[i+1]]
		if !slices.IsSorted(row) {
			l.t.Fatalf("row %d is not sorted", r.First+uint32(i))
		}
		for _, u := range row {
			if v := r.First + uint32(i); r.Reversed {
				l.edges = append(l.edges, Pack(u, v))
			} else {
				l.edges = append(l.edges, Pack(v, u))
			}
		}
	}
}

func (l *listed) Square(s Square) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.X%SquareSide != 0 || s.Y%SquareSide != 0 || len(s.Pairs) == 0 {
		l.t.Fatalf("square (%d, %d) of %d edges", s.X, s.Y, len(s.Pairs))
	}
	for _, p := range s.Pairs {
		l.edges = append(l.edges, Pack(s.X|uint32(p.X), s.Y|uint32(p.Y)))
	}
}

// checkOrder runs e whole and split, and compares the edges with those expected.
// It returns them in e's order.
func checkOrder(t *rapid.T, e EdgeMap, n int, edges []edge) []uint64 {
	want := make([]uint64, len(edges))
	for i, e := range edges {
		want[i] = Pack(e.source, e.target)
	}
	slices.Sort(want)
	if e.Vertices() != n || e.Edges() != int64(len(want)) {
		t.Fatalf("%T says %d vertices and %d edges, expected %d and %d", e, e.Vertices(), e.Edges(), n, len(want))
	}
	whole := &listed{t: t}
	if err := e.Run(context.Background(), whole); err != nil {
		t.Fatal(err)
	}
	inOrder := slices.Clone(whole.edges)
	slices.Sort(whole.edges)
	if !slices.Equal(whole.edges, want) {
		t.Fatalf("%T hands out other edges than it was made of", e)
	}
	cut := &listed{t: t}
	parts := rapid.IntRange(1, 9).Draw(t, "parts")
	split := e.Split(parts)
	if len(split) > parts {
		t.Fatalf("%T splits in %d, expected at most %d", e, len(split), parts)
	}
	sum := int64(0)
	for _, part := range split {
		before := len(cut.edges)
		if err := part.Run(context.Background(), cut); err != nil {
			t.Fatal(err)
		}
		if part.Vertices() != n || part.Edges() != int64(len(cut.edges)-before) {
			t.Fatalf("part of %T says %d vertices and %d edges, but hands out %d", e, part.Vertices(), part.Edges(), len(cut.edges)-before)
		}
		sum += part.Edges()
	}
	if !slices.Equal(cut.edges, inOrder) {
		t.Fatalf("%T hands out other edges in parts than whole", e)
	}
	if len(want) > 0 {
		stopped, cancel := context.WithCancel(context.Background())
		cancel()
		if err := e.Run(stopped, &listed{t: t}); err != context.Canceled {
			t.Fatalf("%T: error is %v, expected %v", e, err, context.Canceled)
		}
	}
	return inOrder
}

func build(t *rapid.T, n int, edges []edge, opt BuildOptions) *CSR {
	chunks, weights := chunked(t, edges, true)
	c, _, err := Build(context.Background(), n, chunks, weights, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOrders(t *testing.T) {
	smallSizes(t)
	units := unitEdges
	unitEdges = 1 << 9
	defer func() { unitEdges = units }()
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t)
		threads := rapid.IntRange(1, 3).Draw(t, "threads")
		opt := BuildOptions{Threads: threads, Reversed: rapid.Bool().Draw(t, "reversed")}
		c := build(t, n, edges, opt)
		checkOrder(t, c, n, edges)

		h, err := BuildHilbert(ctx, c, threads)
		if err != nil {
			t.Fatal(err)
		}
		along := checkOrder(t, h, n, edges)
		if !slices.IsSortedFunc(along, func(a, b uint64) int {
			return cmp.Compare(bitPosition(uint32(a>>32), uint32(a)), bitPosition(uint32(b>>32), uint32(b)))
		}) {
			t.Fatal("Hilbert order is not along the curve")
		}
		for i, s := range h.Squares {
			if uint64(s.Count) != h.Starts[i+1]-h.Starts[i] {
				t.Fatalf("square %d counts %d edges, expected %d", i, s.Count, h.Starts[i+1]-h.Starts[i])
			}
			if i > 0 && h.Squares[i-1].X == s.X && h.Squares[i-1].Y == s.Y {
				t.Fatalf("square (%d, %d) comes twice", s.X, s.Y)
			}
		}
		z, err := Compress(ctx, h, threads)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(checkOrder(t, z, n, edges), along) {
			t.Fatal("compressed order is not Hilbert order")
		}

		// A part of rows is an order as well, and not only of the first rows.
		if parts := c.Split(3); len(parts) > 0 {
			part := parts[len(parts)-1].(*CSR)
			ph, err := BuildHilbert(ctx, part, threads)
			if err != nil {
				t.Fatal(err)
			}
			checkOrder(t, ph, n, edgesOf(t, part))
		}

		back, _, err := ToCSR(ctx, h, BuildOptions{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := model(n, edges, BuildOptions{})
		sameCSR(t, back, want, false)
		reversed, stats, err := ToCSR(ctx, h, BuildOptions{Threads: threads, Reversed: true, Dedup: true})
		if err != nil {
			t.Fatal(err)
		}
		want, wantStats := model(n, edges, BuildOptions{Reversed: true, Dedup: true})
		sameCSR(t, reversed, want, false)
		if stats != wantStats {
			t.Fatalf("stats are %+v, expected %+v", stats, wantStats)
		}

		for _, e := range []EdgeMap{c, h, z} {
			out, err := OutDegrees(ctx, e, threads)
			if err != nil {
				t.Fatal(err)
			}
			in, err := InDegrees(ctx, e, threads)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range edges {
				out[e.source]--
				in[e.target]--
			}
			if slices.ContainsFunc(out, func(d uint32) bool { return d != 0 }) || slices.ContainsFunc(in, func(d uint32) bool { return d != 0 }) {
				t.Fatalf("degrees of %T are wrong", e)
			}
		}
	})
}

func TestDegreesStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OutDegrees(ctx, sampleCompressed(t, 1000), 2); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
}

// Rows tell their lengths without their neighbours, which may be damaged.
func TestDegreesOfRows(t *testing.T) {
	for _, reversed := range []bool{false, true} {
		c := &CSR{Offsets: []uint64{0, 2, 2, 3}, Targets: []uint32{1, 2, 0}, Reversed: reversed, Guard: refusal{}}
		own, other := OutDegrees, InDegrees
		if reversed {
			own, other = other, own
		}
		if got, err := own(t.Context(), c, 2); err != nil || !slices.Equal(got, []uint32{2, 0, 1}) {
			t.Errorf("reversed %v: degrees %v, %v", reversed, got, err)
		}
		if _, err := other(t.Context(), c, 2); err == nil {
			t.Errorf("reversed %v: neighbours were not checked", reversed)
		}
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct{ vertices, edges, threads, want int }{
		{0, 0, 8, 1}, {10, 0, 8, 1}, {10, 5, 8, 1}, {10, 35, 8, 3}, {10, 1000, 8, 8}, {1, 3, 1, 1},
	} {
		h := &Hilbert{N: c.vertices, Squares: make([]Extent, 1), Starts: []uint64{0, uint64(c.edges)}}
		if got := Shares(h, c.threads); got != c.want {
			t.Errorf("%d edges among %d vertices, %d threads: %d parts, want %d", c.edges, c.vertices, c.threads, got, c.want)
		}
	}
}

func edgesOf(t *rapid.T, e EdgeMap) (edges []edge) {
	l := &listed{t: t}
	if err := e.Run(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	for _, k := range l.edges {
		edges = append(edges, edge{source: uint32(k >> 32), target: uint32(k)})
	}
	return edges
}

func TestTranspose(t *testing.T) {
	smallSizes(t)
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t)
		opt := BuildOptions{Threads: rapid.IntRange(1, 3).Draw(t, "threads"), Reversed: rapid.Bool().Draw(t, "reversed")}
		got, err := Transpose(context.Background(), build(t, n, edges, opt), opt.Threads)
		if err != nil {
			t.Fatal(err)
		}
		// Weights of equal edges stay in order, so the whole is as if built so.
		opt.Reversed = !opt.Reversed
		want, _ := model(n, edges, opt)
		sameCSR(t, got, want, true)
	})
}

func TestSymmetrize(t *testing.T) {
	smallSizes(t)
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t)
		opt := BuildOptions{Threads: rapid.IntRange(1, 3).Draw(t, "threads"), Dedup: rapid.Bool().Draw(t, "dedup")}
		got, err := Symmetrize(context.Background(), build(t, n, edges, BuildOptions{Threads: opt.Threads}), opt)
		if err != nil {
			t.Fatal(err)
		}
		both := slices.Clone(edges)
		for _, e := range edges {
			if e.source != e.target {
				both = append(both, edge{e.target, e.source, e.weight})
			}
		}
		want, _ := model(n, both, opt)
		// Equal edges of both directions have no order of their own.
		for _, c := range []*CSR{got, want} {
			sortEqual(c)
		}
		sameCSR(t, got, want, true)
	})
}

// sortEqual sorts the weights of equal edges.
func sortEqual(c *CSR) {
	for v := range c.Vertices() {
		for lo, end := c.Offsets[v], c.Offsets[v+1]; lo < end; {
			hi := lo
			for hi < end && c.Targets[hi] == c.Targets[lo] {
				hi++
			}
			slices.Sort(c.Weights[lo:hi])
			lo = hi
		}
	}
}

func TestRelabel(t *testing.T) {
	smallSizes(t)
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t)
		opt := BuildOptions{Threads: rapid.IntRange(1, 3).Draw(t, "threads"), Reversed: rapid.Bool().Draw(t, "reversed")}
		c := build(t, n, edges, opt)
		number := make([]uint32, n)
		for i, v := range rand.New(rand.NewPCG(uint64(n), 1)).Perm(n) {
			number[i] = uint32(v)
		}
		got, err := Relabel(ctx, c, number, opt.Threads)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range edges {
			edges[i].source, edges[i].target = number[e.source], number[e.target]
		}
		want, _ := model(n, edges, opt)
		sameCSR(t, got, want, true)
	})
	c := &CSR{Offsets: make([]uint64, 4)}
	for _, bad := range [][]uint32{{0, 1}, {0, 1, 1}, {0, 1, 3}} {
		if _, err := Relabel(ctx, c, bad, 1); err == nil || !strings.HasPrefix(err.Error(), "relabel: ") {
			t.Fatalf("Relabel with %v: error is %v", bad, err)
		}
	}
}

func BenchmarkBuildHilbert(b *testing.B) {
	n, chunks := rmatChunks(20)
	c, _, err := Build(context.Background(), n, chunks, nil, BuildOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for _, threads := range []int{1, 2} {
		b.Run("threads="+string(rune('0'+threads)), func(b *testing.B) {
			for b.Loop() {
				if _, err := BuildHilbert(context.Background(), c, threads); err != nil {
					b.Fatal(err)
				}
			}
			perEdge(b, c.Edges())
		})
	}
}
