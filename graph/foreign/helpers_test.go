package foreign

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

var ctx = context.Background()

// edge is an edge of the model: the dumbest graph, a list.
type edge struct {
	from, to uint32
	weight   float32
}

func compare(a, b edge) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) }

// rows makes vertex order of edges.
func rows(n int, edges []edge, reversed, weighted bool) *order.CSR {
	sorted := slices.Clone(edges)
	if reversed {
		for i, e := range sorted {
			sorted[i].from, sorted[i].to = e.to, e.from
		}
	}
	slices.SortStableFunc(sorted, compare)
	c := &order.CSR{Offsets: make([]uint64, n+1), Reversed: reversed, Targets: []uint32{}}
	for _, e := range sorted {
		c.Offsets[e.from+1]++
		c.Targets = append(c.Targets, e.to)
		if weighted {
			c.Weights = append(c.Weights, e.weight)
		}
	}
	for v := range n {
		c.Offsets[v+1] += c.Offsets[v]
	}
	return c
}

func hilbert(t testing.TB, n int, edges []edge) *order.Hilbert {
	t.Helper()
	h, err := order.BuildHilbert(ctx, rows(n, edges, false, false), 1)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// lister collects the edges that an order hands out, in its sequence.
type lister struct{ edges []edge }

func (l *lister) Rows(r order.Rows) {
	for i := range len(r.Offsets) - 1 {
		for _, t := range r.Targets[r.Offsets[i]:r.Offsets[i+1]] {
			e := edge{from: r.First + uint32(i), to: t}
			if r.Reversed {
				e.from, e.to = e.to, e.from
			}
			l.edges = append(l.edges, e)
		}
	}
}

func (l *lister) Square(s order.Square) {
	for _, p := range s.Pairs {
		l.edges = append(l.edges, edge{from: s.X | uint32(p.X), to: s.Y | uint32(p.Y)})
	}
}

// list walks an order and returns its edges without weights; an error is fatal,
// and so is an edge of a vertex that is not there.
func list(t interface{ Fatalf(string, ...any) }, m order.EdgeMap) []edge {
	var l lister
	if err := m.Run(ctx, &l); err != nil {
		t.Fatalf("walk: %v", err)
	}
	for i, e := range l.edges {
		if int64(max(e.from, e.to)) >= int64(m.Vertices()) {
			t.Fatalf("edge %d: %v of %d vertices", i, e, m.Vertices())
		}
	}
	return l.edges
}

func canon(edges []edge) []edge {
	out := make([]edge, len(edges))
	for i, e := range edges {
		out[i] = edge{from: e.from, to: e.to}
	}
	slices.SortFunc(out, compare)
	return out
}

func vertices(edges []edge) int {
	n := 0
	for _, e := range edges {
		n = max(n, int(e.from)+1, int(e.to)+1)
	}
	return n
}

// genEdges draws edges between few or far vertices, with whole weights.
func genEdges(t *rapid.T) []edge {
	id := rapid.Uint32Range(0, rapid.SampledFrom([]uint32{3, 60, 70000, 200000}).Draw(t, "highest"))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) edge {
		return edge{id.Draw(t, "from"), id.Draw(t, "to"), float32(rapid.IntRange(-5, 255).Draw(t, "weight"))}
	}), 0, 300).Draw(t, "edges")
}

// readText reads a test graph.
func readText(t testing.TB, name string) []edge {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var edges []edge
	for s := bufio.NewScanner(f); s.Scan(); {
		var e edge
		if _, err := fmt.Sscan(s.Text()+" 0", &e.from, &e.to, &e.weight); err != nil {
			t.Fatal(err)
		}
		edges = append(edges, e)
	}
	return edges
}

// sameFile compares a file with one in testdata.
func sameFile(t testing.TB, got, want string) {
	t.Helper()
	a, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join("testdata", want))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a, b) {
		t.Errorf("%s has %d bytes that differ from the %d of %s", got, len(a), len(b), want)
	}
}

// wants checks that err says all of the given words.
func wants(t testing.TB, name string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error; want %q", name, words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %v; want %q", name, err, w)
		}
	}
}
