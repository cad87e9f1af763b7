package algo

import (
	"bufio"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

// edgeList is a graph as the models see it, and the source of every order.
type edgeList struct {
	n     int
	edges [][2]uint32
}

func (g edgeList) rows(reversed bool) *order.CSR {
	from, to := 0, 1
	if reversed {
		from, to = 1, 0
	}
	edges := slices.Clone(g.edges)
	slices.SortFunc(edges, func(a, b [2]uint32) int {
		return cmp.Or(cmp.Compare(a[from], b[from]), cmp.Compare(a[to], b[to]))
	})
	c := &order.CSR{Offsets: make([]uint64, g.n+1), Reversed: reversed}
	for _, e := range edges {
		c.Offsets[e[from]+1]++
		c.Targets = append(c.Targets, e[to])
	}
	for v := range g.n {
		c.Offsets[v+1] += c.Offsets[v]
	}
	return c
}

// hilbert puts the edges in squares. Within a square they are by target, which is
// as good as any order for what is tested here.
func (g edgeList) hilbert() *order.Hilbert {
	edges := slices.Clone(g.edges)
	slices.SortFunc(edges, func(a, b [2]uint32) int {
		return cmp.Or(cmp.Compare(curve(a[0]>>16, a[1]>>16), curve(b[0]>>16, b[1]>>16)), cmp.Compare(a[1], b[1]))
	})
	h := &order.Hilbert{N: g.n, Starts: []uint64{0}}
	for _, e := range edges {
		x, y := uint16(e[0]>>16), uint16(e[1]>>16)
		if k := len(h.Squares); k == 0 || h.Squares[k-1].X != x || h.Squares[k-1].Y != y {
			h.Squares = append(h.Squares, order.Extent{X: x, Y: y})
			h.Starts = append(h.Starts, h.Starts[k])
		}
		h.Squares[len(h.Squares)-1].Count++
		h.Starts[len(h.Starts)-1]++
		h.Pairs = append(h.Pairs, order.Pair{X: uint16(e[0]), Y: uint16(e[1])})
	}
	return h
}

// curve is the position of a square along the Hilbert curve.
func curve(x, y uint32) (d uint64) {
	for s := uint32(1 << 15); s > 0; s >>= 1 {
		rx, ry := min(x&s, 1), min(y&s, 1)
		d = d<<2 | uint64(3*rx^ry)
		if ry == 0 {
			if rx == 1 {
				x, y = ^x, ^y
			}
			x, y = y, x
		}
	}
	return d
}

// blocks is an order that no algorithm knows more of than the interface says, which
// hands out both shapes.
type blocks struct{ order.EdgeMap }

func (b blocks) Split(n int) []order.EdgeMap {
	var parts []order.EdgeMap
	for _, p := range b.EdgeMap.Split(n) {
		parts = append(parts, blocks{p})
	}
	return parts
}

type namedOrder struct {
	name  string
	edges order.EdgeMap
}

func (g edgeList) orders() []namedOrder {
	return []namedOrder{
		{"out", g.rows(false)},
		{"in", g.rows(true)},
		{"hilbert", g.hilbert()},
		{"any squares", blocks{g.hilbert()}},
		{"any in-rows", blocks{g.rows(true)}},
	}
}

// drawGraph draws a graph of up to 40 vertices; sometimes their numbers are spread
// over several squares, with vertices that have no edges between them.
func drawGraph(t *rapid.T) edgeList {
	n := rapid.IntRange(0, 40).Draw(t, "vertices")
	stretch := rapid.SampledFrom([]int{1, 1, 1, 1, 1, 1, 1, 2003}).Draw(t, "stretch")
	if n == 0 {
		return edgeList{}
	}
	vertex := rapid.Map(rapid.IntRange(0, n-1), func(v int) uint32 { return uint32(v * stretch) })
	pairs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]uint32 {
		return [2]uint32{vertex.Draw(t, "source"), vertex.Draw(t, "target")}
	}), 0, 3*n).Draw(t, "edges")
	return edgeList{n * stretch, pairs}
}

// rmatList is a skewed graph of 2^scale vertices and 4 times as many edges.
func rmatList(scale int) edgeList {
	g := edgeList{n: 1 << scale}
	state := uint64(scale)
	next := func() uint64 {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	for range 4 << scale {
		var e [2]uint32
		for range scale {
			r := next() % 100
			e[0], e[1] = e[0]<<1, e[1]<<1
			switch {
			case r >= 95:
				e[0], e[1] = e[0]|1, e[1]|1
			case r >= 76:
				e[0] |= 1
			case r >= 57:
				e[1] |= 1
			}
		}
		for i := range e { // an odd factor permutes the numbers
			e[i] = e[i] * 0x9e3779b1 & (1<<scale - 1)
		}
		g.edges = append(g.edges, e)
	}
	return g
}

// squaresList is a skewed graph of three square sides.
func squaresList() edgeList {
	const stretch = 41
	g := rmatList(12)
	g.n *= stretch
	for i, e := range g.edges {
		g.edges[i] = [2]uint32{e[0] * stretch, e[1] * stretch}
	}
	return g
}

// graphalytics reads a validation graph, and one of its reference outputs by
// vertex. Undirected graphs have their edges both ways.
func graphalytics(t *testing.T, name, output string) (g edgeList, ids []string, want []string, properties map[string]string) {
	t.Helper()
	properties = map[string]string{}
	number := map[string]uint32{}
	lines := func(file string, f func(fields []string)) {
		in, err := os.Open(filepath.Join("testdata", "graphalytics", file))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		for s := bufio.NewScanner(in); s.Scan(); {
			if fields := strings.Fields(s.Text()); len(fields) > 0 {
				f(fields)
			}
		}
	}
	lines(name+".properties", func(f []string) {
		if len(f) == 3 && f[1] == "=" {
			properties[strings.TrimPrefix(f[0], "graph."+name+".")] = f[2]
		}
	})
	lines(name+".v", func(f []string) {
		number[f[0]] = uint32(len(ids))
		ids = append(ids, f[0])
	})
	lines(name+".e", func(f []string) {
		e := [2]uint32{number[f[0]], number[f[1]]}
		g.edges = append(g.edges, e)
		if properties["directed"] == "false" {
			g.edges = append(g.edges, [2]uint32{e[1], e[0]})
		}
	})
	g.n = len(ids)
	want = make([]string, g.n)
	lines(name+"-"+output, func(f []string) { want[number[f[0]]] = f[1] })
	return g, ids, want, properties
}

func parseFloat(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// cancelling is a guard that cancels a run in the middle of it.
type cancelling struct {
	cancel context.CancelFunc
	left   atomic.Int64
}

func (c *cancelling) Check(uint64, uint64) error {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return nil
}

// guarded are the orders of g, which call cancel after the given number of blocks.
func (g edgeList) guarded(cancel context.CancelFunc, blockCount int64) []namedOrder {
	orders := g.orders()
	for _, o := range orders {
		guard := &cancelling{cancel: cancel}
		guard.left.Store(blockCount)
		edges := o.edges
		if b, ok := edges.(blocks); ok {
			edges = b.EdgeMap
		}
		switch m := edges.(type) {
		case *order.CSR:
			m.Guard = guard
		case *order.Hilbert:
			m.Guard = guard
		}
	}
	return orders
}
