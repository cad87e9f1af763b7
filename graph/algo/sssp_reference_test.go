package algo

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weir/graph/order"
)

// reference reads a validation graph with its weights, and an output.
func reference(t *testing.T, name, output string) (out, in *order.CSR, ids, want []string, properties map[string]string) {
	t.Helper()
	g, ids, want, properties := graphalytics(t, name, output)
	edges := make([]travEdge, len(g.edges))
	for i, e := range g.edges {
		edges[i] = travEdge{e[0], e[1], 0}
	}
	text, err := os.ReadFile(filepath.Join("testdata", "graphalytics", name+".e"))
	if err != nil {
		t.Fatal(err)
	}
	both := 1 // of an undirected graph, each line is two edges
	if properties["directed"] == "false" {
		both = 2
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if f := strings.Fields(line); len(f) == 3 {
			w, err := strconv.ParseFloat(f[2], 32)
			if err != nil {
				t.Fatal(err)
			}
			for k := range both {
				edges[i*both+k].weight = float32(w)
			}
		}
	}
	out, in = travGraph(g.n, edges, true)
	if both == 2 {
		in = out
	}
	return out, in, ids, want, properties
}

func TestReferenceBFS(t *testing.T) {
	for _, name := range []string{"example-directed", "example-undirected", "test-bfs-directed", "test-bfs-undirected"} {
		out, in, ids, want, properties := reference(t, name, "BFS")
		source := uint32(slices.Index(ids, properties["bfs.source-vertex"]))
		got, err := BFS(context.Background(), out, in, source, BFSOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for v, d := range got.Depth {
			text := strconv.Itoa(int(d))
			if d == Unreached {
				text = strconv.FormatInt(math.MaxInt64, 10)
			}
			if text != want[v] {
				t.Errorf("%s: vertex %s has depth %s, want %s", name, ids[v], text, want[v])
			}
		}
	}
}

func TestReferenceSSSP(t *testing.T) {
	for _, name := range []string{"example-directed", "example-undirected"} {
		out, in, ids, want, properties := reference(t, name, "SSSP")
		source := uint32(slices.Index(ids, properties["sssp.source-vertex"]))
		got, err := SSSP(context.Background(), out, source, SSSPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for v, d := range got.Dist {
			// The reference adds float64 weights, which ours are nearest to.
			w := math.Inf(1)
			if want[v] != "infinity" {
				w = parseFloat(t, want[v])
			}
			if d != w && math.Abs(d-w) > 1e-6 {
				t.Errorf("%s: vertex %s is at %v, want %v", name, ids[v], d, w)
			}
			p, err := Path(context.Background(), out, in, source, uint32(v), PathOptions{})
			if err != nil || p.Length != d && math.Abs(p.Length-d) > 1e-12 {
				t.Errorf("%s: path to %s has length %v, want %v, %v", name, ids[v], p.Length, d, err)
			}
		}
	}
}

func TestReferenceLCC(t *testing.T) {
	for _, name := range []string{"example-directed", "example-undirected"} {
		out, in, ids, want, _ := reference(t, name, "LCC")
		got, err := LCC(context.Background(), out, in, LCCOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for v, c := range got.Coefficients {
			if w := parseFloat(t, want[v]); math.Abs(c-w) > 1e-15 {
				t.Errorf("%s: vertex %s has coefficient %v, want %v", name, ids[v], c, w)
			}
		}
	}
}

// readEdges reads lines of two vertices and perhaps a weight, numbers the
// vertices in rising order, and skips comments.
func readEdges(t testing.TB, r io.Reader) (n int, edges []travEdge) {
	t.Helper()
	var raw []travEdge
	for s := bufio.NewScanner(r); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 2 || strings.HasPrefix(f[0], "#") {
			continue
		}
		var x [3]uint64
		for i := range min(len(f), 3) {
			var err error
			if x[i], err = strconv.ParseUint(f[i], 10, 32); err != nil {
				t.Fatal(err)
			}
		}
		raw = append(raw, travEdge{uint32(x[0]), uint32(x[1]), float32(x[2])})
	}
	number := map[uint32]uint32{}
	for _, e := range raw {
		number[e.from], number[e.to] = 0, 0
	}
	ids := make([]uint32, 0, len(number))
	for v := range number {
		ids = append(ids, v)
	}
	slices.Sort(ids)
	for i, v := range ids {
		number[v] = uint32(i)
	}
	for _, e := range raw {
		edges = append(edges, travEdge{number[e.from], number[e.to], e.weight})
	}
	return len(ids), edges
}

// The roads of a town: long ways, one-way streets, integer weights.
func TestRoads(t *testing.T) {
	file, err := os.Open(filepath.Join("testdata", "roads", "road-monaco.wel"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n, edges := readEdges(t, file)
	if n != 4770 || len(edges) != 9128 {
		t.Fatalf("%d vertices and %d edges, want 4770 and 9128", n, len(edges))
	}
	out, in := travGraph(n, edges, true)
	bfsVariants(t, out, in, 17)
	want := modelDijkstra(out, 17)
	for _, threads := range []int{1, 2} {
		for _, delta := range []float64{0, 1, 50, 1e6} {
			checkSSSP(t, out, 17, want, SSSPOptions{Threads: threads, Delta: delta})
		}
	}
	for to := 0; to < n; to += 100 {
		checkPath(t, out, in, 17, uint32(to), want[to], PathOptions{})
	}
	if !testing.Short() {
		sccVariants(t, out, in, modelSCC(out))
	}
}

// Real graphs, not shipped with the code, with what the Stanford Large Network
// Dataset Collection says of them.
func TestRealGraphs(t *testing.T) {
	folder := cmp.Or(os.Getenv("WEIR_DATA"), filepath.Join("..", "..", "..", "shared", "data"))
	for _, c := range []struct {
		file      string
		triangles int64
		average   float64 // of clustering coefficients
		largest   int     // strongly connected component
		core      int     // the largest, and the sum of all, as networkx finds them
		cores     int
	}{
		{"facebook_combined.txt.gz", 1612010, 0.6055, 4039, 115, 108567},
		{"wiki-Vote.txt.gz", 608389, 0.1409, 1300, 56, 107577},
		{"cit-HepTh.el.gz", 1478735, 0.3120, 7464, 37, 370653},
		{"soc-Slashdot0902.txt.gz", 602592, 0.0603, 71307, 106, 887339},
	} {
		t.Run(c.file, func(t *testing.T) {
			if testing.Short() {
				t.Skip("large graphs in short mode")
			}
			packed, err := os.Open(filepath.Join(folder, "graphs", c.file))
			if err != nil {
				t.Skip("the graphs are not here; WEIR_DATA names the folder that has them: ", err)
			}
			defer packed.Close()
			file, err := gzip.NewReader(packed)
			if err != nil {
				t.Fatal(err)
			}
			n, edges := readEdges(t, file)
			if c.file == "facebook_combined.txt.gz" { // each line is an undirected edge
				edges = travBoth(edges)
			}
			out, in := travGraph(n, edges, false)
			both, _ := travGraph(n, travBoth(edges), false)
			ctx := context.Background()
			r, err := Triangles(ctx, out, in, TriangleOptions{})
			if err != nil || r.Triangles != c.triangles {
				t.Errorf("%d triangles, want %d, %v", r.Triangles, c.triangles, err)
			}
			l, err := LCC(ctx, both, both, LCCOptions{})
			if err != nil || math.Abs(l.Average-c.average) > 6e-5 {
				t.Errorf("average clustering coefficient %v, want %v, %v", l.Average, c.average, err)
			}
			transposed := in
			if c.file == "facebook_combined.txt.gz" {
				transposed = out // undirected
			}
			k, err := KCore(ctx, out, transposed, KCoreOptions{})
			cores := 0
			for _, x := range k.Core {
				cores += int(x)
			}
			if err != nil || k.Max != c.core || cores != c.cores {
				t.Errorf("largest core %d, sum %d; want %d, %d, %v", k.Max, cores, c.core, c.cores, err)
			}
			for _, rows := range []*order.CSR{nil, in} {
				s, err := SCC(ctx, out, rows, SCCOptions{})
				if err != nil || s.Largest != c.largest {
					t.Errorf("largest component of %d vertices, want %d, %v", s.Largest, c.largest, err)
				}
			}
		})
	}
}
