package store

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"weir/graph/order"
	"weir/internal/mapfile"
)

// edge is an edge of the model: the dumbest graph, a list.
type edge struct {
	from, to uint32
	weight   float32
}

// rowsOf makes vertex order of edges.
func rowsOf(n int, edges []edge, reversed, weighted bool) *order.CSR {
	sorted := slices.Clone(edges)
	if reversed {
		for i, e := range sorted {
			sorted[i].from, sorted[i].to = e.to, e.from
		}
	}
	slices.SortStableFunc(sorted, func(a, b edge) int {
		if a.from != b.from {
			return int(a.from) - int(b.from)
		}
		return int(a.to) - int(b.to)
	})
	c := &order.CSR{Offsets: make([]uint64, n+1), Reversed: reversed}
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

// squaresOf makes squares of edges, square by square; not along a curve, which
// the format does not ask for.
func squaresOf(n int, edges []edge) *order.Hilbert {
	h := &order.Hilbert{N: n, Starts: []uint64{0}}
	bySquare := make(map[[2]uint16][]order.Pair)
	for _, e := range edges {
		at := [2]uint16{uint16(e.from >> 16), uint16(e.to >> 16)}
		bySquare[at] = append(bySquare[at], order.Pair{X: uint16(e.from), Y: uint16(e.to)})
	}
	for at, pairs := range bySquare {
		h.Squares = append(h.Squares, order.Extent{X: at[0], Y: at[1], Count: uint32(len(pairs))})
		h.Pairs = append(h.Pairs, pairs...)
		h.Starts = append(h.Starts, uint64(len(h.Pairs)))
	}
	return h
}

// lister collects the edges that an order hands out.
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

// list walks an order and returns its edges, sorted and without weights.
func list(m order.EdgeMap) ([]edge, error) {
	var l lister
	err := m.Run(context.Background(), &l)
	return canon(l.edges), err
}

func canon(edges []edge) []edge {
	out := make([]edge, len(edges))
	for i, e := range edges {
		out[i] = edge{from: e.from, to: e.to}
	}
	slices.SortFunc(out, func(a, b edge) int {
		if a.from != b.from {
			return int(a.from) - int(b.from)
		}
		return int(a.to) - int(b.to)
	})
	return out
}

// content is what a test writes in a file.
type content struct {
	n                int
	edges            []edge
	weighted         bool
	out, in, hilbert bool
	names            []byte
	degrees          bool
	block            int64
	undirected       bool
	compressed       bool
}

func (c content) write(t testing.TB, path string) {
	t.Helper()
	ctx := context.Background()
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if c.block != 0 {
		w.block = c.block
	}
	w.Meta = Meta{Vertices: int64(c.n), Edges: int64(len(c.edges)), SelfLoops: Unknown, Duplicates: 0, Undirected: c.undirected,
		Weighted: c.weighted, Sorted: true, Source: "model", Tool: "store test"}
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	if c.out {
		must(w.WriteCSR(ctx, rowsOf(c.n, c.edges, false, c.weighted)))
	}
	if c.in {
		must(w.WriteCSR(ctx, rowsOf(c.n, c.edges, true, c.weighted)))
	}
	if c.hilbert {
		must(w.WriteHilbert(ctx, squaresOf(c.n, c.edges)))
	}
	if c.compressed {
		h, err := order.BuildHilbert(ctx, rowsOf(c.n, c.edges, false, false), 1)
		must(err)
		z, err := order.Compress(ctx, h, 1)
		must(err)
		must(w.WriteCompressed(ctx, z))
	}
	if c.names != nil {
		must(w.WriteNames(ctx, c.names))
	}
	if c.degrees {
		degrees := make([]uint32, c.n)
		for _, e := range c.edges {
			degrees[e.from]++
		}
		must(w.WriteDegrees(ctx, degrees))
	}
	must(w.Close())
}

// sample is a small file with every kind of section and several blocks in some.
func sample(n, edges int) content {
	rng := rand.New(rand.NewPCG(1, 2))
	c := content{n: n, weighted: true, out: true, in: true, hilbert: true, compressed: true, names: []byte("opaque names"), degrees: true, block: pageSize}
	for range edges {
		c.edges = append(c.edges, edge{rng.Uint32N(uint32(n)), rng.Uint32N(uint32(n)), float32(rng.IntN(9))})
	}
	return c
}

// bytes is the file as a slice.
func (c content) bytes(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.weir")
	c.write(t, path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// openAndVerify stores data at path and opens, verifies and closes it.
func openAndVerify(path string, data []byte) error {
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Verify(context.Background(), 1)
}

// verifyBytes does the same in memory.
func verifyBytes(data []byte) error {
	f, err := open(mapfile.Of("bytes.weir", data))
	if err != nil {
		return err
	}
	return f.Verify(context.Background(), 1)
}

// reseal makes every checksum of a damaged file right again, as a hostile writer
// would, as far as its section table can be understood.
func reseal(data []byte) {
	if len(data) < pageSize {
		return
	}
	copy(data, magic)
	le.PutUint32(data[atVersion:], Version)
	le.PutUint32(data[atHeaderSize:], pageSize)
	le.PutUint64(data[atFileSize:], uint64(len(data)))
	if sections, err := decodeTable(data, int64(len(data))); err == nil {
		for i, s := range sections {
			for b := range s.blocks() {
				lo := s.offset + int64(b)*s.block
				le.PutUint64(data[s.sumsAt+int64(b)*8:], sumBlock(data[lo:min(lo+s.block, s.offset+s.length)]))
			}
			le.PutUint64(data[atTable+i*entrySize+40:], sumBlock(data[s.sumsAt:s.sumsEnd()]))
		}
	}
	le.PutUint64(data[atChecksum:], sumBlock(data[:atChecksum]))
}
