package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/names"
	"weir/graph/order"
)

// csr is a small graph in vertex order.
func csr(n int, edges []uint64, weights []float32) *order.CSR {
	at := make([]int, len(edges))
	for i := range at {
		at[i] = i
	}
	sort.SliceStable(at, func(i, j int) bool { return edges[at[i]] < edges[at[j]] })
	c := &order.CSR{Offsets: make([]uint64, n+1)}
	for _, i := range at {
		c.Offsets[edges[i]>>32+1]++
		c.Targets = append(c.Targets, uint32(edges[i]))
		if weights != nil {
			c.Weights = append(c.Weights, weights[i])
		}
	}
	for v := range n {
		c.Offsets[v+1] += c.Offsets[v]
	}
	return c
}

func written(t rapid.TB, g Source, opt WriteOptions) string {
	var b bytes.Buffer
	if err := Write(context.Background(), &b, g, opt); err != nil {
		t.Fatalf("write: %v", err)
	}
	return b.String()
}

func TestWriteFormats(t *testing.T) {
	edges := []uint64{0<<32 | 1, 1 << 32, 1<<32 | 1, 1<<32 | 3, 3<<32 | 1}
	weights := []float32{2, 2, -1, 0.1, 0.1}
	both := FromCSR(csr(5, edges, weights), nil, true)
	bare := FromCSR(csr(5, edges, nil), nil, true)
	directed := FromCSR(csr(5, edges, nil), names.Of("a", "b c", `d,"e"`, "#f", "g"), false)
	reversed := FromCSR(&order.CSR{Offsets: []uint64{0, 0, 2}, Targets: []uint32{0, 1}, Reversed: true}, nil, false)
	for _, c := range []struct {
		name string
		g    Source
		opt  WriteOptions
		want string
	}{
		{"weighted edges", both, WriteOptions{}, "0 1 2\n1 0 2\n1 1 -1\n1 3 0.1\n3 1 0.1\n"},
		{"no weights", both, WriteOptions{Weights: No, Separator: '\t'}, "0\t1\n1\t0\n1\t1\n1\t3\n3\t1\n"},
		{"unit weights", bare, WriteOptions{Weights: Yes, Separator: ','}, "0,1,1\n1,0,1\n1,1,1\n1,3,1\n3,1,1\n"},
		{"quoted names", directed, WriteOptions{}, "a \"b c\"\n\"b c\" a\n\"b c\" \"b c\"\n\"b c\" \"#f\"\n\"#f\" \"b c\"\n"},
		{"commas", directed, WriteOptions{Separator: ','}, "a,b c\nb c,a\nb c,b c\nb c,\"#f\"\n\"#f\",b c\n"},
		{"reversed", reversed, WriteOptions{}, "0 1\n1 1\n"},
		{"symmetric matrix", both, WriteOptions{Format: MatrixMarket}, "%%MatrixMarket matrix coordinate real symmetric\n5 5 3\n2 1 2\n2 2 -1\n4 2 0.1\n"},
		{"general matrix", directed, WriteOptions{Format: MatrixMarket}, "%%MatrixMarket matrix coordinate pattern general\n5 5 5\n1 2\n2 1\n2 2\n2 4\n4 2\n"},
		{"METIS", bare, WriteOptions{Format: METIS}, "5 3\n2\n1 2 4\n\n2\n\n"},
		{"weighted METIS", both, WriteOptions{Format: METIS}, "5 3 001\n2 2\n1 2 2 -1 4 0.1\n\n2 0.1\n\n"},
		{"DIMACS", reversed, WriteOptions{Format: DIMACS}, "p sp 2 2\na 1 2 1\na 2 2 1\n"},
	} {
		if got := written(t, c.g, c.opt); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
	for want, write := range map[string]func() error{
		"holds an undirected graph": func() error { return Write(context.Background(), io.Discard, directed, WriteOptions{Format: METIS}) },
		`separator '|'`:             func() error { return Write(context.Background(), io.Discard, bare, WriteOptions{Separator: '|'}) },
		"unknown format 77":         func() error { return Write(context.Background(), io.Discard, bare, WriteOptions{Format: 77}) },
		"1 edges with 0 self-loops": func() error {
			return Write(context.Background(), io.Discard, FromCSR(csr(2, []uint64{1}, nil), nil, true), WriteOptions{Format: METIS})
		},
		`vertex 0 is called "x\ny"`: func() error {
			return Write(context.Background(), io.Discard, FromCSR(csr(1, nil, nil), names.Of("x\ny"), true), WriteOptions{})
		},
		`is called "", which an edge`: func() error {
			return Write(context.Background(), io.Discard, FromCSR(csr(1, nil, nil), names.Of(""), true), WriteOptions{})
		},
		"write graph: io: read/write on closed pipe": func() error {
			r, w := io.Pipe()
			r.Close()
			return Write(context.Background(), w, bare, WriteOptions{})
		},
		"write graph: context canceled": func() error {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return Write(ctx, io.Discard, bare, WriteOptions{})
		},
	} {
		if err := write(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Everything that is written is read back.
func TestWriteRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		undirected := rapid.Bool().Draw(t, "undirected")
		weighted := rapid.Bool().Draw(t, "weighted")
		var edges []uint64
		var weights []float32
		for range rapid.IntRange(0, 40).Draw(t, "m") {
			s, d := rapid.IntRange(0, n-1).Draw(t, "s"), rapid.IntRange(0, n-1).Draw(t, "t")
			w := rapid.Float32().Draw(t, "w")
			edges, weights = append(edges, uint64(s)<<32|uint64(d)), append(weights, w)
			if undirected && s != d {
				edges, weights = append(edges, uint64(d)<<32|uint64(s)), append(weights, w)
			}
		}
		if !weighted {
			weights = nil
		}
		format := rapid.SampledFrom([]Format{EdgeList, MatrixMarket, METIS, DIMACS}).Draw(t, "format")
		if format == METIS && !undirected {
			format = EdgeList
		}
		var table *names.Table
		if format == EdgeList && rapid.Bool().Draw(t, "strings") {
			name := rapid.OneOf(rapid.StringMatching(`[a-z0-9 ,;"#%/.'\t-]{1,6}`), rapid.String())
			list := rapid.SliceOfNDistinct(name, n, n, rapid.ID[string]).Draw(t, "names")
			table = names.Of(list...)
			if checkNames(table) != nil {
				return
			}
		}
		wopt := WriteOptions{Format: format, Separator: rapid.SampledFrom([]byte(" \t,;")).Draw(t, "separator")}
		text := written(t, FromCSR(csr(n, edges, weights), table, undirected), wopt)
		if notText([]byte(text)) != "" {
			return // names of control characters
		}
		ropt := Options{Format: format, Header: No, ChunkSize: rapid.IntRange(1, 100).Draw(t, "chunk")}
		if weights != nil || format == DIMACS {
			ropt.Weights = Yes
		}
		if format == EdgeList {
			ropt.Separator = wopt.Separator
			if ropt.Weights = No; weights != nil {
				ropt.Weights = Yes
			}
			if table != nil {
				ropt.IDs = StringIDs
			} else {
				ropt.Vertices = n
			}
		}
		in, err := NewInputAt("g", strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		g, err := load(in, ropt)
		if err != nil {
			t.Fatalf("read back %q: %v", text, err)
		}
		// Back to the numbers that were written, and in order.
		for i, e := range g.edges {
			if table != nil {
				s, okS := table.Find(g.Names.Name(uint32(e >> 32)))
				d, okT := table.Find(g.Names.Name(uint32(e)))
				if !okS || !okT {
					t.Fatalf("%q came back as strangers %q, %q", text, g.Names.Name(uint32(e>>32)), g.Names.Name(uint32(e)))
				}
				g.edges[i] = uint64(s)<<32 | uint64(d)
			}
		}
		if weights == nil && format == DIMACS {
			g.weights = nil
		}
		type edge struct {
			e uint64
			w float32
		}
		list := func(edges []uint64, weights []float32) (l []edge) {
			for i, e := range edges {
				var w float32
				if weights != nil {
					w = weights[i]
				}
				l = append(l, edge{e, w})
			}
			slices.SortFunc(l, func(a, b edge) int {
				switch {
				case a.e < b.e || a.e == b.e && a.w < b.w:
					return -1
				case a == b:
					return 0
				}
				return 1
			})
			return l
		}
		if got, want := list(g.edges, g.weights), list(edges, weights); !slices.Equal(got, want) {
			t.Fatalf("came back from %q as\n%v, want\n%v", text, got, want)
		}
	})
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	g := FromCSR(csr(3, []uint64{1, 1 << 32}, []float32{2, 2}), nil, true)
	for file, want := range map[string]string{
		"a.el": "0 1\n1 0\n", "a.wel": "0 1 2\n1 0 2\n", "a.csv.gz": "0,1,2\n1,0,2\n", "a.txt.zst": "0\t1\t2\n1\t0\t2\n",
		"a.mtx": "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n2 1 2\n", "a.graph.gz": "3 1 001\n2 2\n1 2\n\n", "a.gr": "p sp 3 2\na 1 2 2\na 2 1 2\n",
	} {
		path := filepath.Join(dir, file)
		if err := Create(context.Background(), path, g, WriteOptions{}); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		in, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got := string(in.Peek()); got != want {
			t.Errorf("%s holds %q, want %q", file, got, want)
		}
		if packed := strings.HasSuffix(file, "z") || strings.HasSuffix(file, "zst"); packed != (in.Compression() != "") {
			t.Errorf("%s is packed with %q", file, in.Compression())
		}
		in.Close()
	}
	if err := Create(context.Background(), os.DevNull, g, WriteOptions{}); err != nil {
		t.Errorf("null device: %v", err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("the null device was replaced: %v", err)
	}
	// What fails leaves nothing behind, and what was there before stays.
	path := filepath.Join(dir, "a.el")
	g.Each = func(context.Context, func(uint32, []uint32, []float32) error) error { return errors.New("broken") }
	if err := Create(context.Background(), path, g, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "write graph "+path+": broken") {
		t.Errorf("got %v", err)
	}
	if err := Create(context.Background(), filepath.Join(dir, "none", "a.el"), g, WriteOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 7 {
		t.Errorf("%d files are there: %v, %v", len(files), files, err)
	}
	if data, err := os.ReadFile(path); string(data) != "0 1\n1 0\n" {
		t.Errorf("the old file holds %q, %v", data, err)
	}
}

func openLabels(path string, key, label int) (map[string]string, error) {
	in, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return ReadLabels(in, key, label)
}

func TestLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "airports.dat")
	text := "\ufeff# id, name, …\n1,\"Goroka \"\"Airport\"\"\",x,y,GKA\r\n\n2,\"Genève, Cointrin\",x,y,GVA\n3,None,x,y,\\N\n4,Second,x,y,GVA\n"
	for _, way := range []string{"", "gzip", "zstd"} {
		data := []byte(text)
		if way != "" {
			data = compressed(t, text, way)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		labels, err := openLabels(path, 5, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(labels) != 2 || labels["GKA"] != `Goroka "Airport"` || labels["GVA"] != "Genève, Cointrin" {
			t.Errorf("%q: %q", way, labels)
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for columns, want := range map[[2]int]string{
		{0, 1}: "columns 0 and 1", {9, 2}: path + ":2: 5 fields separated by commas, want at least 9",
	} {
		if _, err := openLabels(path, columns[0], columns[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", columns, err, want)
		}
	}
	cut := compressed(t, strings.Repeat(text, 1000), "gzip")
	in, err := NewInput("l.gz", bytes.NewReader(cut[:len(cut)-8]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLabels(in, 1, 2); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("truncated: %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	const m, n = 1 << 20, 1 << 20
	var edges []uint64
	benchText(m, n, func(b []byte, s, t int) []byte {
		edges = append(edges, uint64(s)<<32|uint64(t))
		return b
	})
	g := FromCSR(csr(n, edges, nil), nil, false)
	var size counting
	for b.Loop() {
		size = 0
		if err := Write(context.Background(), &size, g, WriteOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(size))
}

type counting int64

func (c *counting) Write(b []byte) (int, error) {
	*c += counting(len(b))
	return len(b), nil
}
