package foreign

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
	"weir/internal/mapfile"
)

// TestCOSTFiles reads what COST wrote, and writes the same bytes.
func TestCOSTFiles(t *testing.T) {
	edges := readText(t, "wide.txt")
	want := canon(edges)
	dir := t.TempDir()
	for _, path := range []string{"wide", "wide.nodes", "wide.edges", "wide.upper", "wide.lower", "wide.compressed"} {
		want := want
		if path == "wide.compressed" {
			want = slices.Compact(slices.Clone(want))
		}
		path = filepath.Join("testdata", path)
		if !IsCOST(path) {
			t.Errorf("%s is not recognised", path)
		}
		c, err := OpenCOST(ctx, path, 2)
		if err != nil {
			t.Fatal(err)
		}
		if c.Vertices() != 200001 || c.Edges() != int64(len(want)) || c.Copied != (filepath.Ext(path) == gapsExt) {
			t.Errorf("%s: %d vertices, %d edges, copied %v", path, c.Vertices(), c.Edges(), c.Copied)
		}
		if got := canon(list(t, c.order())); !slices.Equal(got, want) {
			t.Errorf("%s: %d edges; want %d", path, len(got), len(want))
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	n := vertices(edges)
	prefix := filepath.Join(dir, "wide")
	dropped, err := WriteCOSTGaps(ctx, prefix+gapsExt, hilbert(t, n, edges))
	if err != nil || dropped != 4 {
		t.Errorf("dropped %d, %v; want 4", dropped, err)
	}
	if err := errors.Join(WriteCOSTVertex(ctx, prefix, rows(n, edges, false, false)), WriteCOSTHilbert(ctx, prefix, hilbert(t, n, edges))); err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{nodesExt, edgesExt, upperExt, lowerExt, gapsExt} {
		sameFile(t, prefix+ext, "wide"+ext)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 5 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
}

func TestCOSTRoundTrip(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "g")
	rapid.Check(t, func(rt *rapid.T) {
		edges := genEdges(rt)
		n := vertices(edges)
		h, err := order.BuildHilbert(ctx, rows(n, edges, false, false), 1)
		if err != nil {
			rt.Fatal(err)
		}
		dropped, err := WriteCOSTGaps(ctx, prefix+gapsExt, h)
		if err := errors.Join(err, WriteCOSTVertex(ctx, prefix, rows(n, edges, false, false)), WriteCOSTHilbert(ctx, prefix, h)); err != nil {
			rt.Fatal(err)
		}
		want := canon(edges)
		for _, ext := range []string{edgesExt, lowerExt, gapsExt} {
			c, err := OpenCOST(ctx, prefix+ext, 2)
			if err != nil {
				rt.Fatal(err)
			}
			if ext == gapsExt {
				want = slices.DeleteFunc(slices.Compact(want), func(e edge) bool { return e.from == 0 && e.to == 0 })
				if len(want) != len(edges)-int(dropped) {
					rt.Fatalf("dropped %d of %d, %d should be left", dropped, len(edges), len(want))
				}
			}
			if got := canon(list(rt, c.order())); !slices.Equal(got, want) || c.Vertices() != vertices(want) {
				rt.Fatalf("%s: %d edges between %d vertices; want %d, %d", ext, len(got), c.Vertices(), len(want), vertices(want))
			}
			if err := c.Close(); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// TestCOSTRowsInAnySequence: COST takes sources and targets as they come.
func TestCOSTRowsInAnySequence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		edges := genEdges(rt)
		sorted := rapid.Bool().Draw(rt, "sources ascend")
		if sorted {
			slices.SortStableFunc(edges, func(a, b edge) int { return int(a.from) - int(b.from) })
		}
		var nodes []node
		var targets []uint32
		for i, e := range edges {
			if i == 0 || edges[i-1].from != e.from {
				nodes = append(nodes, node{ID: e.from})
			}
			nodes[len(nodes)-1].Count++
			targets = append(targets, e.to)
		}
		starts, err := placeNodes("X.nodes", "X.edges", nodes, len(targets))
		if err != nil {
			rt.Fatal(err)
		}
		before := slices.Clone(targets)
		c, copied, err := rowsOf(ctx, "X.edges", nil, nodes, starts, targets, 2)
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(before, targets) {
			rt.Fatal("the file's own targets were changed")
		}
		if want := rows(vertices(edges), edges, false, false); !slices.Equal(c.Targets, want.Targets) || !slices.Equal(c.Offsets, want.Offsets) {
			rt.Fatalf("rows differ; copied %v", copied)
		}
	})
}

// TestRegroupPieces: nodes whose targets span several pieces of work.
func TestRegroupPieces(t *testing.T) {
	nodes := []node{{5, edgeGrain + 3}, {2, 0}, {1, 2*edgeGrain + 1}, {5, 1}}
	targets := make([]uint32, 3*edgeGrain+5)
	for i := range targets {
		targets[i] = uint32(i) * 7919 % 11
	}
	starts, err := placeNodes("X.nodes", "X.edges", nodes, len(targets))
	if err != nil {
		t.Fatal(err)
	}
	c, copied, err := rowsOf(ctx, "X.edges", nil, nodes, starts, targets, 2)
	if err != nil || !copied {
		t.Fatal(copied, err)
	}
	if c.Degree(5) != edgeGrain+4 || c.Degree(1) != 2*edgeGrain+1 || c.Vertices() != 11 || c.Edges() != int64(len(targets)) {
		t.Errorf("degrees %d, %d of %d vertices", c.Degree(5), c.Degree(1), c.Vertices())
	}
	if !slices.IsSorted(c.Neighbours(5)) || !slices.IsSorted(c.Neighbours(1)) {
		t.Error("rows do not ascend")
	}
}

// TestCOSTSquaresOutOfSequence: squares that are not along the curve, or twice.
func TestCOSTSquaresOutOfSequence(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "g")
	edges := []edge{{65536, 0, 0}, {65537, 1, 0}, {3, 4, 0}, {65538, 2, 0}}
	files, err := create(prefix+upperExt, prefix+lowerExt)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(write(files[0], []order.Extent{{X: 1, Count: 2}, {Count: 1}, {X: 1, Count: 1}}),
		write(files[1], []order.Pair{{X: 0, Y: 0}, {X: 1, Y: 1}, {X: 3, Y: 4}, {X: 2, Y: 2}}), files.commit())
	if err != nil {
		t.Fatal(err)
	}
	c, err := OpenCOST(ctx, prefix, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := canon(list(t, c.order())); !slices.Equal(got, canon(edges)) || !c.Copied || len(c.Hilbert.Squares) != 2 || c.Hilbert.Squares[0].X != 0 {
		t.Errorf("%v in %v, copied %v", got, c.Hilbert.Squares, c.Copied)
	}
}

func TestCOSTRefuses(t *testing.T) {
	dir := t.TempDir()
	open := func(files map[string][]byte, name string) error {
		t.Helper()
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		for ext, data := range files {
			if err := os.WriteFile(filepath.Join(sub, "X"+ext), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c, err := OpenCOST(ctx, filepath.Join(sub, name), 1)
		if err == nil {
			c.Close()
		}
		return err
	}
	nodes := mapfile.Bytes([]node{{1, 2}, {4, 1}})
	edges := mapfile.Bytes([]uint32{0, 1, 2})
	upper := mapfile.Bytes([]order.Extent{{X: 0, Y: 0, Count: 2}})
	lower := mapfile.Bytes([]order.Pair{{X: 1, Y: 2}, {X: 3, Y: 4}})
	wants(t, "absent", open(nil, "X"), "no COST files", ".nodes with .edges")
	wants(t, "one absent", open(map[string][]byte{nodesExt: nodes}, "X.nodes"), "X.edges", "no such file")
	wants(t, "torn nodes", open(map[string][]byte{nodesExt: nodes[:15], edgesExt: edges}, "X"), "X.nodes: truncated", "7 bytes are left over")
	wants(t, "torn edges", open(map[string][]byte{nodesExt: nodes, edgesExt: edges[:11]}, "X"), "X.edges: truncated")
	wants(t, "short edges", open(map[string][]byte{nodesExt: nodes, edgesExt: edges[:8]}, "X"), "counts 3 edges", "has 2")
	wants(t, "short lower", open(map[string][]byte{upperExt: upper, lowerExt: lower[:4]}, "X.lower"), "counts 2 edges", "has 1")
	wants(t, "torn upper", open(map[string][]byte{upperExt: upper[:4], lowerExt: lower}, "X.lower"), "X.upper: truncated")
	wants(t, "vertex", open(map[string][]byte{nodesExt: nodes, edgesExt: mapfile.Bytes([]uint32{0, 1, math.MaxUint32})}, "X"), "a vertex of number 4294967295; expected at most 4294967294")
	wants(t, "sparse", open(map[string][]byte{nodesExt: nodes, edgesExt: mapfile.Bytes([]uint32{0, 1, 1 << 27})}, "X"), "a vertex of number 134217728 among only 3 edges")
	wants(t, "sparse square", open(map[string][]byte{upperExt: mapfile.Bytes([]order.Extent{{X: 65535, Count: 2}}), lowerExt: lower}, "X"), "among only 2 edges")
	wants(t, "cut gap", open(map[string][]byte{gapsExt: {1, 0, 0, 9}}, "X.compressed"), "byte 1: truncated")
	wants(t, "cut zeros", open(map[string][]byte{gapsExt: {0, 0}}, "X.compressed"), "byte 0: truncated")
	wants(t, "long gap", open(map[string][]byte{gapsExt: {0, 0, 0, 0, 0, 0, 0, 0, 1}}, "X.compressed"), "more than 8 bytes")
	wants(t, "past the end", open(map[string][]byte{gapsExt: append(appendGap(nil, math.MaxUint64), 1)}, "X.compressed"), "byte 15", "past the end of the curve")
	for name, files := range map[string]map[string][]byte{
		"X.nodes":      {nodesExt: nil, edgesExt: nil},
		"X.upper":      {upperExt: nil, lowerExt: nil},
		"X.compressed": {gapsExt: nil},
	} {
		if err := open(files, name); err != nil {
			t.Errorf("empty %s: %v", name, err)
		}
	}
}

func TestWriteCOSTRefuses(t *testing.T) {
	dir := t.TempDir()
	prefix := filepath.Join(dir, "X")
	edges := []edge{{0, 1, 0}, {1, 0, 0}}
	wants(t, "reversed", WriteCOSTVertex(ctx, prefix, rows(2, edges, true, false)), "rows of targets; expected rows of sources")
	wants(t, "no directory", WriteCOSTVertex(ctx, filepath.Join(dir, "none", "X"), rows(2, edges, false, false)), "no such file or directory")
	h := hilbert(t, 2, edges)
	h.Pairs[0], h.Pairs[1] = h.Pairs[1], h.Pairs[0]
	_, err := WriteCOSTGaps(ctx, prefix+gapsExt, h)
	wants(t, "not along the curve", err, "comes after one that is farther along the curve")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := WriteCOSTHilbert(cancelled, prefix, h); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := WriteCOSTVertex(cancelled, prefix, rows(2, edges, false, false)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := os.Mkdir(prefix+edgesExt, 0o755); err != nil {
		t.Fatal(err)
	}
	wants(t, "directory", WriteCOSTVertex(ctx, prefix, rows(2, edges, false, false)), "X.edges", "not a regular file")
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v are left, %v", files, err)
	}
}

func TestGaps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gap := rapid.Uint64Min(1).Draw(rt, "gap") >> rapid.UintRange(0, 63).Draw(rt, "shift")
		if gap == 0 {
			return
		}
		b := appendGap([]byte("x"), gap)
		got, size, err := readGap(append(b, 9, 9)[1:])
		if got != gap || size != len(b)-1 || err != nil {
			rt.Fatalf("%d became %d in %d of %d bytes, %v", gap, got, size, len(b)-1, err)
		}
	})
}

// view returns the elements of b, as many as there are whole.
func view[T any](t testing.TB, b []byte, width int) []T {
	t.Helper()
	v, err := mapfile.View[T](slices.Clone(b[:len(b)/width*width]))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// allowSparse keeps fuzzing from making large arrays.
func allowSparse(f *testing.F, n uint64) {
	old := sparse
	sparse = n
	f.Cleanup(func() { sparse = old })
}

func FuzzCOSTRows(f *testing.F) {
	allowSparse(f, 1<<12)
	f.Add(mapfile.Bytes([]node{{1, 2}, {4, 1}}), mapfile.Bytes([]uint32{0, 1, 2}))
	f.Add(mapfile.Bytes([]node{{4, 2}, {1, 1}}), mapfile.Bytes([]uint32{0, 1, 2}))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		nodes, edges := view[node](t, a, 8), view[uint32](t, b, 4)
		starts, err := placeNodes("nodes", "edges", nodes, len(edges))
		if err != nil {
			return
		}
		c, _, err := rowsOf(ctx, "edges", nil, nodes, starts, edges, 1)
		if err != nil {
			return
		}
		var want []edge
		for i, n := range nodes {
			for _, to := range edges[starts[i]:starts[i+1]] {
				want = append(want, edge{from: n.ID, to: to})
			}
		}
		if got := canon(list(t, c)); !slices.Equal(got, canon(want)) {
			t.Fatalf("%v; want %v", got, want)
		}
	})
}

func FuzzCOSTSquares(f *testing.F) {
	allowSparse(f, 1<<18)
	f.Add(mapfile.Bytes([]order.Extent{{X: 1, Y: 2, Count: 1}, {X: 0, Y: 0, Count: 1}}), mapfile.Bytes([]order.Pair{{X: 1, Y: 2}, {X: 3, Y: 4}}))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		c := new(COST)
		upper, lower := mapfile.Of("X.upper", slices.Clone(a)), mapfile.Of("X.lower", slices.Clone(b))
		if err := c.squares(ctx, upper, lower, 1); err != nil {
			return
		}
		if got := list(t, c.Hilbert); len(got) != len(b)/4 {
			t.Fatalf("%d edges of %d bytes", len(got), len(b))
		}
	})
}

func FuzzCOSTGaps(f *testing.F) {
	allowSparse(f, 1<<18)
	f.Add([]byte{1, 2, 0, 1, 3, 255})
	f.Add(appendGap(nil, 1<<40))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := decodeGaps(ctx, "X.compressed", data, 1)
		if err != nil {
			return
		}
		list(t, h)
		var again bytes.Buffer
		o := &output{Writer: bufio.NewWriter(&again), path: "again"}
		if dropped, err := writeGaps(ctx, o, h); err != nil || dropped != 0 {
			t.Fatalf("dropped %d, %v", dropped, err)
		}
		if err := o.Flush(); err != nil || !bytes.Equal(again.Bytes(), data) {
			t.Fatalf("%x became %x, %v", data, again.Bytes(), err)
		}
	})
}
