package graph

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir/graph/extsort"
	"weir/graph/order"
	"weir/graph/store"
	"weir/graph/text"
	"weir/internal/sharedata"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tester is what a test and a property have in common.
type tester interface {
	Helper()
	Context() context.Context
	Fatal(...any)
	Fatalf(string, ...any)
}

// edge is an edge under its original ids.
type edge struct {
	source, target string
	weight         float32
}

func compareEdges(a, b edge) int {
	return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.target, b.target), cmp.Compare(a.weight, b.weight))
}

// edgesOf is the sorted list of all edges that order o hands out; orders without
// weights say 0.
func edgesOf(t tester, g *Graph, o Order) []edge {
	t.Helper()
	m, err := g.Map(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var all []edge
	err = m.Run(t.Context(), &lister{add: func(s, d uint32) {
		all = append(all, edge{source: g.Names.Name(s), target: g.Names.Name(d)})
	}})
	if err != nil {
		t.Fatal(err)
	}
	if rows, ok := m.(*order.CSR); ok && rows.Weights != nil {
		for i, w := range rows.Weights {
			all[i].weight = w
		}
	}
	slices.SortFunc(all, compareEdges)
	return all
}

// lister is the dumbest kernel.
type lister struct{ add func(source, target uint32) }

func (l *lister) Rows(r order.Rows) {
	for i := range r.Offsets[1:] {
		for _, u := range r.Targets[r.Offsets[i]:r.Offsets[i+1]] {
			if v := r.First + uint32(i); r.Reversed {
				l.add(u, v)
			} else {
				l.add(v, u)
			}
		}
	}
}

func (l *lister) Square(s order.Square) {
	for _, p := range s.Pairs {
		l.add(s.X|uint32(p.X), s.Y|uint32(p.Y))
	}
}

// withoutWeights is what an order without weights hands out.
func withoutWeights(edges []edge) []edge {
	edges = slices.Clone(edges)
	for i := range edges {
		edges[i].weight = 0
	}
	slices.SortFunc(edges, compareEdges)
	return edges
}

// model applies the options to a list of edges.
func model(edges []edge, undirected, dedup bool) []edge {
	all := slices.Clone(edges)
	if undirected {
		for _, e := range edges {
			if e.source != e.target {
				all = append(all, edge{e.target, e.source, e.weight})
			}
		}
	}
	slices.SortFunc(all, compareEdges)
	if dedup {
		all = slices.CompactFunc(all, func(a, b edge) bool { return a.source == b.source && a.target == b.target })
	}
	return all
}

func randomEdges(rng *rand.Rand, n, m int, weighted bool, name func(int) string) []edge {
	edges := make([]edge, m)
	for i := range edges {
		edges[i] = edge{source: name(rng.IntN(n)), target: name(rng.IntN(n))}
		if weighted {
			edges[i].weight = float32(rng.IntN(1000)) / 4
		}
	}
	return edges
}

func writeEdges(t tester, path string, edges []edge, weighted bool) {
	t.Helper()
	var b bytes.Buffer
	for _, e := range edges {
		if weighted {
			fmt.Fprintf(&b, "%s\t%s\t%v\n", e.source, e.target, e.weight)
		} else {
			fmt.Fprintf(&b, "%s\t%s\n", e.source, e.target)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

var allOrders = []Order{OutRows, InRows, Hilbert, Compressed}

// TestConvert holds what a stored graph hands out against the model, for graphs
// that fit the memory they may use and graphs that do not.
func TestConvert(t *testing.T) {
	names := map[string]func(int) string{
		"dense":   func(v int) string { return fmt.Sprint(v) },
		"gaps":    func(v int) string { return fmt.Sprint(7*v + 3) },
		"wide":    func(v int) string { return fmt.Sprint(uint64(v)*0x9e3779b97f4a7c15>>1 | 1<<40) },
		"strings": func(v int) string { return fmt.Sprintf("airport-%d", v) },
	}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"dense", "gaps", "wide", "strings"}).Draw(t, "names")
		weighted := rapid.Bool().Draw(t, "weighted")
		undirected := rapid.Bool().Draw(t, "undirected")
		dedup := rapid.Bool().Draw(t, "dedup")
		big := rapid.IntRange(0, 19).Draw(t, "size") == 0
		n, m := rapid.IntRange(1, 30).Draw(t, "vertices"), rapid.IntRange(0, 100).Draw(t, "edges")
		if big {
			n, m = 70_000, 90_000
		}
		orders := rapid.SliceOfNDistinct(rapid.SampledFrom(allOrders), 1, 4, func(o Order) Order { return o }).Draw(t, "orders")
		seed := rapid.Uint64().Draw(t, "seed")
		edges := randomEdges(rand.New(rand.NewPCG(seed, 0)), n, m, weighted, names[kind])
		sorted := rapid.SampledFrom([]int{0, m * 9 / 10, m}).Draw(t, "sorted")
		slices.SortFunc(edges[:sorted], compareNumbers)
		check(t, dir, edges, weighted, m > 0, ConvertOptions{
			Options: Options{
				Undirected: undirected, Dedup: dedup, Threads: 2,
				Memory: rapid.SampledFrom([]int64{0, 1 << 20}).Draw(t, "memory"),
				Text:   text.Options{ChunkSize: rapid.SampledFrom([]int{0, 100}).Draw(t, "chunk")},
			},
			Orders: orders,
		})
	})
}

// compareNumbers orders edges as their ids are ordered as numbers.
func compareNumbers(a, b edge) int {
	return cmp.Or(cmp.Compare(len(a.source), len(b.source)), cmp.Compare(a.source, b.source),
		cmp.Compare(len(a.target), len(b.target)), cmp.Compare(a.target, b.target))
}

// check converts edges and holds each order of the result against the model.
func check(t *rapid.T, dir string, edges []edge, weighted, any bool, opt ConvertOptions) {
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.weir")
	writeEdges(t, in, edges, weighted)
	g, err := Convert(t.Context(), in, out, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if g, err = Open(t.Context(), out, Options{}); err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	want := model(edges, opt.Undirected, opt.Dedup)
	if g.Edges != int64(len(want)) {
		t.Fatalf("the graph says %d edges, expected %d", g.Edges, len(want))
	}
	degrees, err := g.OutDegrees(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, d := range degrees {
		sum += int(d)
	}
	if sum != len(want) {
		t.Fatalf("out-degrees sum to %d, expected %d", sum, len(want))
	}
	for _, o := range opt.Orders {
		if !g.Stored(o) {
			t.Fatalf("order %v is not stored", o)
		}
		expected := want
		if o == Hilbert || o == Compressed {
			expected = withoutWeights(want)
		}
		if got := edgesOf(t, g, o); !slices.Equal(got, expected) {
			t.Fatalf("order %v hands out %d edges that differ from the %d expected", o, len(got), len(expected))
		}
	}
	f, err := store.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, extsort.TempPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Fatalf("sorted runs were left behind: %v %v", left, err)
	}
}

// TestOpenRealFiles checks that files of every kind are recognised, with the
// counts that their sources give.
func TestOpenRealFiles(t *testing.T) {
	for _, f := range []struct {
		name            string
		vertices        int
		edges           int64
		undirected      bool
		opt             Options
		format, problem string
	}{
		{name: "graphs/wiki-Vote.txt.gz", vertices: 7115, edges: 103_689},
		{name: "graphs/facebook_combined.txt.gz", vertices: 4039, edges: 2 * 88_234, undirected: true, opt: Options{Undirected: true}},
		{name: "graphs/cit-HepTh.el.gz", vertices: 27_770, edges: 352_807},
		{name: "graphs/polblogs.graph", vertices: 1490, edges: 2 * 16_715, undirected: true},
		{name: "graphs/road-monaco.wel", vertices: 4770, edges: 9128},
		{name: "graphs/ldbc-snb-sf0.1-knows.el.gz", vertices: 1357, edges: 14_073},
	} {
		t.Run(filepath.Base(f.name), func(t *testing.T) {
			g, err := Open(t.Context(), sharedata.Path(t, f.name), f.opt)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if g.Vertices != f.vertices || g.Edges != f.edges || g.Undirected != f.undirected {
				t.Errorf("%d vertices, %d edges, undirected %v; expected %d, %d, %v",
					g.Vertices, g.Edges, g.Undirected, f.vertices, f.edges, f.undirected)
			}
		})
	}
}

// TestRoundTrips writes a graph in every format and reads it back.
func TestRoundTrips(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, weighted := range []bool{false, true} {
		edges := randomEdges(rng, 50, 300, false, func(v int) string { return fmt.Sprint(v) })
		for v := range 50 { // so that no id is missing and all formats number alike
			edges = append(edges, edge{source: fmt.Sprint(v), target: fmt.Sprint((v + 1) % 50)})
		}
		for i := range edges {
			if weighted {
				edges[i].weight = float32(rng.IntN(100))
			}
		}
		in := filepath.Join(dir, "in.txt")
		writeEdges(t, in, edges, weighted)
		want := model(edges, false, false)
		for _, name := range []string{"g.weir", "g.sg", "g.wsg", "g.nodes", "g.upper", "g.el", "g.wel.gz", "g.csv", "g.tsv.zst", "g.mtx", "g.gr"} {
			bare := !weighted || slices.Contains([]string{"g.sg", "g.nodes", "g.upper", "g.el"}, name)
			if name == "g.wsg" && !weighted {
				continue
			}
			t.Run(fmt.Sprintf("%s weighted=%v", name, weighted), func(t *testing.T) {
				path := filepath.Join(dir, name)
				g, err := Convert(t.Context(), in, path, ConvertOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if err := g.Close(); err != nil {
					t.Fatal(err)
				}
				g, err = Open(t.Context(), path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer g.Close()
				expected := want
				if bare {
					expected = withoutWeights(want)
				}
				got := edgesOf(t, g, OutRows)
				if name == "g.mtx" || name == "g.gr" { // their vertices are called 1 to n
					expected = oneBased(expected)
				}
				if (name == "g.gr" || name == "g.wel.gz") && !weighted { // their edges always have a weight
					got = withoutWeights(got)
				}
				if !slices.Equal(got, expected) {
					t.Fatalf("read back %d edges that differ from the %d written", len(got), len(expected))
				}
			})
		}
	}
}

func oneBased(edges []edge) []edge {
	edges = slices.Clone(edges)
	for i, e := range edges {
		var s, d int
		fmt.Sscan(e.source, &s)
		fmt.Sscan(e.target, &d)
		edges[i].source, edges[i].target = fmt.Sprint(s+1), fmt.Sprint(d+1)
	}
	slices.SortFunc(edges, compareEdges)
	return edges
}

func TestProblems(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.txt", "0 1\n1 2\n")
	for _, c := range []struct {
		in, out, want string
	}{
		{filepath.Join(dir, "none.txt"), "x.weir", "no such file"},
		{dir, "x.weir", "directory"},
		{file("bad.txt", "0 1\n1 2\n1\n"), "x.weir", "bad.txt:3"},
		{good, "x.jpg", "no known suffix"},
		{good, filepath.Join("missing", "x.weir"), "no such file"},
		{file("cut.sg", "\x01short"), "x.weir", "cut.sg"},
	} {
		g, err := Convert(t.Context(), c.in, filepath.Join(dir, c.out), ConvertOptions{})
		if err == nil {
			g.Close()
			t.Errorf("converting %s to %s went well, expected an error with %q", c.in, c.out, c.want)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("converting %s to %s: %v, expected an error with %q", c.in, c.out, err, c.want)
		}
	}
}

// TestTextCalledEdges opens an edge list that has the name of one of COST's files.
func TestTextCalledEdges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "soc.edges")
	if err := os.WriteFile(path, []byte("0 1\n1 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if g.Edges != 2 {
		t.Errorf("%d edges, expected 2", g.Edges)
	}
}

func TestConvertStops(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.txt")
	writeEdges(t, in, randomEdges(rand.New(rand.NewPCG(1, 1)), 1000, 200_000, false, func(v int) string { return fmt.Sprint(v) }), false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Convert(ctx, in, filepath.Join(dir, "out.weir"), ConvertOptions{Options: Options{Memory: 1 << 20}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, expected %v", err, context.Canceled)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("a cancelled conversion left %v", entries)
	}
}

// TestAddOrders adds orders to stored graphs that are too large to do so in memory.
func TestAddOrders(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.txt")
	edges := randomEdges(rand.New(rand.NewPCG(3, 4)), 70_000, 100_000, true, func(v int) string { return fmt.Sprint(3 * v) })
	writeEdges(t, in, edges, true)
	for _, from := range allOrders {
		first, second := filepath.Join(dir, "first.weir"), filepath.Join(dir, "second.weir")
		g, err := Convert(t.Context(), in, first, ConvertOptions{Orders: []Order{from}})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		want := model(edges, false, false)
		if from == Hilbert || from == Compressed {
			want = withoutWeights(want)
		}
		orders := allOrders
		if from == OutRows || from == InRows {
			orders = []Order{OutRows, InRows, Compressed}
		}
		g, err = Convert(t.Context(), first, second, ConvertOptions{Options: Options{Memory: 1 << 20}, Orders: orders})
		if err != nil {
			t.Fatalf("from %v: %v", from, err)
		}
		for _, o := range orders {
			expected := want
			if o == Hilbert || o == Compressed {
				expected = withoutWeights(want)
			}
			if !g.Stored(o) || !slices.Equal(edgesOf(t, g, o), expected) {
				t.Errorf("order %v made from %v is not there or differs", o, from)
			}
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRelabel checks that a relabelled graph has the same edges under the same
// ids, and its vertices in falling order of degree.
func TestRelabel(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.weir")
	edges := randomEdges(rand.New(rand.NewPCG(5, 6)), 60, 400, true, func(v int) string { return fmt.Sprint(5 * v * v) })
	writeEdges(t, in, edges, true)
	g, err := Convert(t.Context(), in, out, ConvertOptions{Orders: allOrders, Relabel: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if g, err = Open(t.Context(), out, Options{}); err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, o := range allOrders {
		want := model(edges, false, false)
		if o == Hilbert || o == Compressed {
			want = withoutWeights(want)
		}
		if got := edgesOf(t, g, o); !slices.Equal(got, want) {
			t.Errorf("order %v hands out %d edges that differ from the %d expected", o, len(got), len(want))
		}
	}
	rows, err := g.Out(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	back, err := g.In(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for v := uint32(1); v < uint32(g.Vertices); v++ {
		if before, here := rows.Degree(v-1)+back.Degree(v-1), rows.Degree(v)+back.Degree(v); before < here {
			t.Errorf("vertex %d has degree %d, the one before it %d", v, here, before)
		}
	}
}

func TestOpenKeepsToMemory(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.txt")
	writeEdges(t, in, randomEdges(rand.New(rand.NewPCG(1, 1)), 1000, 200_000, false, func(v int) string { return fmt.Sprint(v) }), false)
	g, err := Open(t.Context(), in, Options{Memory: 1 << 20})
	if err == nil {
		g.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "convert it first") {
		t.Errorf("got %v, expected to be told to convert", err)
	}
}
