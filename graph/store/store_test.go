package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.weir")
	rapid.Check(t, func(rt *rapid.T) {
		c := content{
			n:        rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(65530, 200000)).Draw(rt, "vertices"),
			weighted: rapid.Bool().Draw(rt, "weighted"),
			out:      rapid.Bool().Draw(rt, "out"), in: rapid.Bool().Draw(rt, "in"), hilbert: true,
			compressed: rapid.Bool().Draw(rt, "compressed"),
			degrees:    rapid.Bool().Draw(rt, "degrees"),
			names:      rapid.SliceOf(rapid.Byte()).Draw(rt, "names"),
			block:      rapid.SampledFrom([]int64{4096, 8192, blockSize}).Draw(rt, "block"),
		}
		id := rapid.Uint32Range(0, uint32(c.n-1))
		for range rapid.IntRange(0, 3000).Draw(rt, "edges") {
			c.edges = append(c.edges, edge{id.Draw(rt, "from"), id.Draw(rt, "to"), rapid.Float32().Draw(rt, "weight")})
		}
		c.weighted = c.weighted && (c.out || c.in)
		c.write(t, path)
		f, err := Open(path)
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		want := Meta{Vertices: int64(c.n), Edges: int64(len(c.edges)), SelfLoops: Unknown, Weighted: c.weighted, Sorted: true, Source: "model", Tool: "store test"}
		if f.Meta != want {
			rt.Fatalf("meta %+v, want %+v", f.Meta, want)
		}
		if rapid.Bool().Draw(rt, "verify first") {
			if err := f.Verify(context.Background(), 2); err != nil {
				rt.Fatal(err)
			}
		}
		edges := canon(c.edges)
		same := func(m order.EdgeMap, err error) {
			if err != nil {
				rt.Fatal(err)
			}
			got, err := list(m)
			if err != nil {
				rt.Fatal(err)
			}
			if !slices.Equal(got, edges) {
				rt.Fatalf("%d edges differ from the %d written", len(got), len(edges))
			}
		}
		if c.out {
			out, err := f.Out()
			same(out, err)
			if w := rowsOf(c.n, c.edges, false, c.weighted).Weights; !slices.Equal(out.Weights, w) {
				rt.Fatal("weights differ")
			}
		}
		if c.in {
			in, err := f.In()
			same(in, err)
		}
		h, err := f.Hilbert()
		same(h, err)
		if c.compressed {
			z, err := f.Compressed()
			same(z, err)
		}
		names, err := f.Names()
		if err != nil || !bytes.Equal(names, c.names) {
			rt.Fatalf("names %q, %v", names, err)
		}
		if c.degrees {
			degrees, err := f.Degrees()
			if err != nil || len(degrees) != c.n {
				rt.Fatalf("%d degrees, %v", len(degrees), err)
			}
		}
		if err := f.Verify(context.Background(), 1); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestInOfUndirected: a graph with both directions stored is its own transpose.
func TestInOfUndirected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.weir")
	c := content{n: 4, out: true, undirected: true, edges: []edge{{0, 1, 0}, {1, 0, 0}, {2, 2, 0}}}
	c.write(t, path)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := f.In()
	if err != nil || !in.Reversed {
		t.Fatalf("reversed %v, %v", in, err)
	}
	if got, err := list(in); err != nil || !slices.Equal(got, canon(c.edges)) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := f.Hilbert(); !errors.Is(err, ErrNoOrder) || !strings.Contains(err.Error(), "hilbert-squares is missing") {
		t.Errorf("absent order: %v", err)
	}
	if names, err := f.Names(); names != nil || err != nil {
		t.Errorf("absent names: %v, %v", names, err)
	}
	if !f.Has(OutTargets) || f.Has(Names) || f.SectionSize(OutTargets) != 12 || f.SectionSize(Names) != 0 {
		t.Error("sections are not as written")
	}
}

func TestEmptyGraphs(t *testing.T) {
	for _, n := range []int{0, 1, 65536} {
		path := filepath.Join(t.TempDir(), "g.weir")
		content{n: n, out: true, in: true, hilbert: true, compressed: true, degrees: true}.write(t, path)
		f, err := Open(path)
		if err != nil {
			t.Fatalf("%d vertices: %v", n, err)
		}
		if err := f.Verify(context.Background(), 0); err != nil {
			t.Errorf("%d vertices: %v", n, err)
		}
		out, err1 := f.Out()
		h, err2 := f.Hilbert()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatalf("%d vertices: %v", n, err)
		}
		for _, m := range []order.EdgeMap{out, h} {
			if got, err := list(m); len(got) != 0 || err != nil || m.Vertices() != n {
				t.Errorf("%d vertices: %d edges, %d vertices, %v", n, len(got), m.Vertices(), err)
			}
		}
		f.Close()
	}
}

func TestLayoutCoversFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.weir")
	sample(100, 3000).write(t, path)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var at int64
	seen := make(map[string]bool)
	for _, r := range f.Layout() {
		if r.Offset != at || r.Length < 0 {
			t.Fatalf("%+v begins at %d; expected %d", r, r.Offset, at)
		}
		at += r.Length
		seen[r.What] = true
	}
	if at != f.Size() {
		t.Errorf("the layout ends at %d of %d bytes", at, f.Size())
	}
	for _, what := range []string{"header", "padding", "out-targets", "hilbert-pairs checksums", "names"} {
		if !seen[what] {
			t.Errorf("%s is not in the layout", what)
		}
	}
}

func TestTextsAreCutAndCleaned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.weir")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	w.Meta.Source = strings.Repeat("é", 400)
	w.Meta.Tool = "a\x1b[31m\xffb"
	if err := w.WriteCSR(context.Background(), rowsOf(0, nil, false, false)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if want := strings.Repeat("é", 191); f.Meta.Source != want {
		t.Errorf("source has %d bytes: %q", len(f.Meta.Source), f.Meta.Source)
	}
	if f.Meta.Tool != "a\uFFFD[31m\uFFFDb" {
		t.Errorf("tool %q", f.Meta.Tool)
	}
}

// TestNothingIsLeft: nothing but the graph stays, whether it succeeds or not.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "g.weir")
	names := func() string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	begin := func() *Writer {
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w.Meta = Meta{Vertices: 2, Edges: 1}
		return w
	}
	w := begin()
	if names() == "g.weir" || names() == "" {
		t.Errorf("while writing: %q", names())
	}
	w.Abort()
	if names() != "" {
		t.Errorf("after Abort: %q", names())
	}
	w = begin()
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "no order of the edges") || names() != "" {
		t.Errorf("empty: %v, left %q", err, names())
	}
	w = begin()
	if err := w.WriteCSR(context.Background(), rowsOf(2, []edge{{0, 1, 0}}, false, false)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if names() != "g.weir" {
		t.Errorf("after Close: %q", names())
	}
	if err := w.Close(); err == nil {
		t.Error("closed twice")
	}
	if _, err := Create(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("create a directory: %v", err)
	}
}

func TestWriterRefuses(t *testing.T) {
	ctx := context.Background()
	graph := func() *order.CSR { return rowsOf(3, []edge{{0, 1, 2}, {1, 2, 3}}, false, true) }
	for name, c := range map[string]struct {
		write func(w *Writer) error
		want  string
	}{
		"too much":        {func(w *Writer) error { return put(w, Names, 3, "four") }, "1 bytes more than its declared 3"},
		"too little":      {func(w *Writer) error { return put(w, Names, 5, "four") }, "4 bytes written of 5"},
		"half an element": {func(w *Writer) error { return put(w, OutTargets, -1, "sixsix") }, "not a whole number of elements of 4"},
		"twice": {func(w *Writer) error {
			return errors.Join(put(w, Names, 4, "four"), put(w, Names, 4, "four"))
		}, "begins twice"},
		"open unknown size": {func(w *Writer) error {
			_, err1 := w.Section(Names, -1)
			_, err2 := w.Section(OutTargets, 4)
			return errors.Join(err1, err2)
		}, "while names, of unknown size, is open"},
		"unknown kind": {func(w *Writer) error { return put(w, 77, 4, "four") }, "unknown section kind 77"},
		"not closed": {func(w *Writer) error {
			_, err := w.Section(Names, 4)
			return errors.Join(err, w.Close())
		}, "section names is not closed"},
		"part": {func(w *Writer) error { return w.WriteCSR(ctx, graph().Split(2)[1].(*order.CSR)) }, "part of a graph"},
		"wrong counts": {func(w *Writer) error {
			return errors.Join(w.WriteCSR(ctx, graph()), func() error { w.Meta.Edges = 5; return w.Close() }())
		}, "has 2 elements; expected 5"},
		"too many vertices": {func(w *Writer) error { w.Meta.Vertices = 1 << 32; return w.Close() }, "4294967296 vertices; expected 0 to 4294967295"},
		"self-loops":        {func(w *Writer) error { w.Meta.SelfLoops = 3; return errors.Join(w.WriteCSR(ctx, graph()), w.Close()) }, "3 self-loops"},
		"half a pair":       {func(w *Writer) error { return errors.Join(put(w, OutTargets, 8, "12345678"), w.Close()) }, "only one is present"},
	} {
		path := filepath.Join(t.TempDir(), "g.weir")
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w.Meta = Meta{Vertices: 3, Edges: 2}
		if err := c.write(w); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		w.Abort()
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file appeared", name)
		}
	}
}

func put(w *Writer, kind Kind, size int64, text string) error {
	s, err := w.Section(kind, size)
	if err != nil {
		return err
	}
	if _, err := s.Write([]byte(text)); err != nil {
		return err
	}
	return s.Close()
}

// TestInterleavedSections: a converter that merges edges writes targets and
// weights at the same time, in small pieces, and the offsets last.
func TestInterleavedSections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.weir")
	c := sample(500, 5000)
	rows := rowsOf(c.n, c.edges, false, true)
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	w.block = pageSize
	w.Meta = Meta{Vertices: int64(c.n), Edges: int64(len(c.edges)), Weighted: true, Sorted: true}
	targets, err1 := w.Section(OutTargets, int64(len(c.edges))*4)
	weights, err2 := w.Section(OutWeights, int64(len(c.edges))*4)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for lo, step := 0, 1; lo < len(c.edges); step = step*2%4095 + 1 {
		hi := min(lo+step, len(c.edges))
		if err := errors.Join(targets.WriteSlice(rows.Targets[lo:hi]), weights.WriteSlice(rows.Weights[lo:hi])); err != nil {
			t.Fatal(err)
		}
		lo = hi
	}
	if err := errors.Join(weights.Close(), targets.Close()); err != nil {
		t.Fatal(err)
	}
	offsets, err := w.Section(OutOffsets, -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(offsets.WriteSlice(rows.Offsets), offsets.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	out, err := f.Out()
	if err != nil || !slices.Equal(out.Targets, rows.Targets) || !slices.Equal(out.Weights, rows.Weights) || !slices.Equal(out.Offsets, rows.Offsets) {
		t.Errorf("rows differ from those written: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	w := &Writer{path: "g.weir"}
	err := w.failed("write section names of", &os.PathError{Op: "write", Path: "g.weir.tmp", Err: syscall.ENOSPC})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "write section names of g.weir: the disk is full") {
		t.Errorf("got %v", err)
	}
}

func TestCancelledWrite(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w, err := Create(filepath.Join(t.TempDir(), "g.weir"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.WriteCSR(ctx, rowsOf(2, nil, false, false)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
