package foreign

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

// converted is what GAP's converter keeps: no self-loops, and of repeated edges
// the lightest.
func converted(edges []edge, symmetric bool) []edge {
	var out []edge
	for _, e := range edges {
		if e.from == e.to {
			continue
		}
		out = append(out, e)
		if symmetric {
			out = append(out, edge{e.to, e.from, e.weight})
		}
	}
	slices.SortFunc(out, func(a, b edge) int {
		if c := compare(a, b); c != 0 {
			return c
		}
		return int(a.weight) - int(b.weight)
	})
	return slices.CompactFunc(out, func(a, b edge) bool { return compare(a, b) == 0 })
}

func sameRows(a, b *order.CSR) bool {
	return slices.Equal(a.Offsets, b.Offsets) && slices.Equal(a.Targets, b.Targets) && slices.Equal(a.Weights, b.Weights) && a.Reversed == b.Reversed
}

// TestGAPFiles reads what GAP wrote, and writes the same bytes.
func TestGAPFiles(t *testing.T) {
	for _, c := range []struct {
		text, file string
		symmetric  bool
		weighted   bool
	}{
		{"small.el", "small.sg", false, false},
		{"small.el", "small-sym.sg", true, false},
		{"small.wel", "small.wsg", false, true},
		{"small.wel", "small-sym.wsg", true, true},
	} {
		edges := converted(readText(t, c.text), c.symmetric)
		n := vertices(edges)
		g, err := ReadGAP(ctx, filepath.Join("testdata", c.file), 2)
		if err != nil {
			t.Fatal(err)
		}
		if g.Directed == c.symmetric || (g.In == nil) != c.symmetric || g.Inexact != 0 {
			t.Errorf("%s: directed %v, in %v, inexact %d", c.file, g.Directed, g.In != nil, g.Inexact)
		}
		if want := rows(n, edges, false, c.weighted); !sameRows(g.Out, want) {
			t.Errorf("%s: rows %v\nwant %v", c.file, g.Out, want)
		}
		if g.In != nil && !sameRows(g.In, rows(n, edges, true, c.weighted)) {
			t.Errorf("%s: rows by target differ", c.file)
		}
		path := filepath.Join(t.TempDir(), c.file)
		if err := WriteGAP(ctx, path, g.Out, g.In, g.Directed); err != nil {
			t.Fatal(err)
		}
		sameFile(t, path, c.file)
	}
}

func TestGAPRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		edges := genEdges(rt)
		directed, weighted := rapid.Bool().Draw(rt, "directed"), rapid.Bool().Draw(rt, "weighted")
		n := vertices(edges) + rapid.IntRange(0, 3).Draw(rt, "more vertices")
		path := filepath.Join(dir, map[bool]string{false: "g.sg", true: "g.wsg"}[weighted])
		out, in := rows(n, edges, false, weighted), rows(n, edges, true, weighted)
		if err := WriteGAP(ctx, path, out, in, directed); err != nil {
			rt.Fatal(err)
		}
		g, err := ReadGAP(ctx, path, 2)
		if err != nil {
			rt.Fatal(err)
		}
		if g.Directed != directed || !sameRows(g.Out, out) || (directed && !sameRows(g.In, in)) {
			rt.Fatal("rows differ")
		}
	})
}

// TestGAPUnsortedRows: rows are sorted on the way in, each weight with its edge.
func TestGAPUnsortedRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.wsg")
	c := &order.CSR{Offsets: []uint64{0, 3, 3, 4}, Targets: []uint32{2, 0, 1, 2}, Weights: []float32{20, 0, 10, 7}}
	if err := WriteGAP(ctx, path, c, nil, false); err != nil {
		t.Fatal(err)
	}
	g, err := ReadGAP(ctx, path, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Out.Targets, []uint32{0, 1, 2, 2}) || !slices.Equal(g.Out.Weights, []float32{0, 10, 20, 7}) {
		t.Errorf("%v %v", g.Out.Targets, g.Out.Weights)
	}
}

func TestGAPRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.sg")
	if err := WriteGAP(ctx, path, rows(3, []edge{{0, 1, 0}, {2, 1, 0}}, false, false), nil, false); err != nil {
		t.Fatal(err)
	}
	clean, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(change func(b []byte) []byte) error {
		b := change(slices.Clone(clean))
		_, err := readGAP(ctx, "g.sg", bytes.NewReader(b), int64(len(b)), false, 1)
		return err
	}
	put := func(at int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[at:], v); return b }
	}
	for n := range clean {
		err := read(func(b []byte) []byte { return b[:n] })
		if n < gapHeader {
			wants(t, "short header", err, "truncated", "expected a header of 17")
		} else {
			wants(t, "short", err, "expected 57 for an undirected graph of 3 vertices and 2 edges of 4 bytes")
		}
	}
	wants(t, "long", read(func(b []byte) []byte { return append(b, 0) }), "58 bytes; expected 57")
	wants(t, "directed", read(func(b []byte) []byte { b[0] = 1; return b }), "expected 97 for a directed")
	wants(t, "flag", read(func(b []byte) []byte { b[0] = 2; return b }), "not a GAP graph")
	wants(t, "negative", read(put(1, math.MaxUint64)), "-1 edges")
	wants(t, "vertices", read(put(9, 1<<32)), "4294967296 vertices")
	wants(t, "huge edges", read(put(1, 1<<62)), "not a GAP graph")
	wants(t, "first offset", read(put(17, 1)), "rows go from 1 to 2; expected from 0 to 2")
	wants(t, "last offset", read(put(41, 9)), "rows go from 0 to 9")
	wants(t, "row", read(put(25, math.MaxUint64)), "the row of vertex 1 begins at -1 and ends at 1")
	wants(t, "target", read(func(b []byte) []byte { b[49] = 3; return b }), "edge 0 names vertex 3; expected less than 3")
	wants(t, "negative target", read(func(b []byte) []byte { copy(b[53:], "\xff\xff\xff\xff"); return b }), "edge 1 names vertex 4294967295")
	_, err = ReadGAP(ctx, t.TempDir(), 1)
	wants(t, "directory", err, "not a regular file")
	_, err = ReadGAP(ctx, filepath.Join(t.TempDir(), "g.sg"), 1)
	wants(t, "absent", err, "no such file")
}

func TestGAPInexactWeights(t *testing.T) {
	b := make([]byte, gapHeader+2*8+8)
	b[1], b[9] = 1, 1
	b[gapHeader+8] = 1
	binary.LittleEndian.PutUint32(b[len(b)-4:], 1<<24+1)
	g, err := readGAP(ctx, "g.wsg", bytes.NewReader(b), int64(len(b)), true, 1)
	if err != nil || g.Inexact != 1 || g.Out.Weights[0] != 1<<24 {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestWriteGAPRefuses(t *testing.T) {
	dir := t.TempDir()
	edges := []edge{{0, 1, 1.5}, {1, 0, 2}}
	out, in := rows(2, edges, false, true), rows(2, edges, true, true)
	sg, wsg := filepath.Join(dir, "g.sg"), filepath.Join(dir, "g.wsg")
	wants(t, "name", WriteGAP(ctx, filepath.Join(dir, "g.txt"), out, in, true), "expected a name that ends in .sg or .wsg")
	wants(t, "no in", WriteGAP(ctx, sg, out, nil, true), "it needs rows of targets")
	wants(t, "out twice", WriteGAP(ctx, sg, out, out, true), "it needs rows of targets")
	wants(t, "no out", WriteGAP(ctx, sg, in, in, true), "it needs rows of sources")
	wants(t, "fraction", WriteGAP(ctx, wsg, out, in, true), "edge 0: weight 1.5: expected a whole number")
	wants(t, "no weights", WriteGAP(ctx, wsg, rows(2, edges, false, false), nil, false), "the graph has no weights")
	wants(t, "sizes", WriteGAP(ctx, sg, out, rows(3, edges, true, false), true), "rows of targets of 3 vertices")
	out.Weights[0] = float32(math.NaN())
	wants(t, "NaN", WriteGAP(ctx, wsg, out, in, true), "weight NaN")
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%v are left, %v", files, err)
	}
}

func FuzzGAP(f *testing.F) {
	for _, name := range []string{"small.sg", "small-sym.sg", "small.wsg", "small-sym.wsg"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, filepath.Ext(name) == gapWeightedExt)
	}
	f.Fuzz(func(t *testing.T, data []byte, weighted bool) {
		g, err := readGAP(ctx, "fuzz.sg", bytes.NewReader(data), int64(len(data)), weighted, 1)
		if err != nil {
			return
		}
		list(t, g.Out)
		if g.In != nil {
			list(t, g.In)
		}
	})
}
