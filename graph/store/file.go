package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"weir/graph/order"
	"weir/internal/mapfile"
)

// File is an open graph file. Its methods may be called from several goroutines.
// The orders and slices that they return are parts of the mapping: they must not
// be written to, nor used after Close.
type File struct {
	// Meta is what the file says of its graph.
	Meta Meta

	m        *mapfile.File
	data     []byte
	sections []*section

	mu      sync.Mutex
	checked map[Kind]*blocks // sections prepared so far
	hilbert *order.Hilbert
	gaps    *order.Compressed
	rows    map[Kind]*order.CSR // by the kind of their offsets
}

// Open maps the graph file at path and checks its header. Sections are checked
// when they are asked for, edges when they are first touched.
func Open(path string) (*File, error) {
	if err := mapfile.HostOrder(); err != nil {
		return nil, fmt.Errorf("open graph %s: %w", path, err)
	}
	m, err := mapfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open graph: %w", err)
	}
	f, err := open(m)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open graph %s: %w", path, err), m.Close())
	}
	return f, nil
}

func open(m *mapfile.File) (*File, error) {
	f := &File{m: m, data: m.Data(), checked: make(map[Kind]*blocks), rows: make(map[Kind]*order.CSR)}
	return f, m.Protect(func() error {
		meta, sections, err := decodeHeader(f.data)
		if err != nil {
			return err
		}
		f.Meta, f.sections = *meta, sections
		byKind := make(map[Kind]*section)
		for _, s := range sections {
			byKind[s.kind] = s
		}
		return checkShape(&f.Meta, byKind)
	})
}

// Path is the path that Open was given.
func (f *File) Path() string { return f.m.Path() }

// Size is the length of the file in bytes.
func (f *File) Size() int64 { return int64(len(f.data)) }

// Close unmaps the file.
func (f *File) Close() error { return f.m.Close() }

// Has says whether the file has a section of the given kind.
func (f *File) Has(kind Kind) bool { return f.find(kind) != nil }

// SectionSize is the length in bytes of the section of the given kind, 0 if
// there is none.
func (f *File) SectionSize(kind Kind) int64 {
	if s := f.find(kind); s != nil {
		return s.length
	}
	return 0
}

func (f *File) find(kind Kind) *section {
	i := slices.IndexFunc(f.sections, func(s *section) bool { return s.kind == kind })
	if i < 0 {
		return nil
	}
	return f.sections[i]
}

// open returns the prepared section, or an error that says it is missing. The
// caller holds f.mu.
func (f *File) open(kind Kind, check func(uint64, []byte) error) (*blocks, error) {
	if b := f.checked[kind]; b != nil {
		return b, nil
	}
	s := f.find(kind)
	if s == nil {
		var names []string
		for _, s := range f.sections {
			names = append(names, s.kind.String())
		}
		return nil, fmt.Errorf("%s: %w: section %s is missing; there are %v", f.Path(), ErrNoOrder, kind, names)
	}
	var b *blocks
	err := f.m.Protect(func() (err error) {
		b, err = f.newBlocks(s, check)
		return err
	})
	if err == nil {
		f.checked[kind] = b
	}
	return b, err
}

// whole returns all elements of a section after checking all of its blocks.
func whole[T any](f *File, kind Kind, check func(uint64, []byte) error) ([]T, error) {
	b, err := f.open(kind, check)
	if err != nil {
		return nil, err
	}
	if err := b.Check(0, b.sec.elements()); err != nil {
		return nil, err
	}
	return mapfile.View[T](b.data)
}

// Out is vertex order by source. Its offsets have been checked; its targets and
// weights are when Run reaches them, or by Verify.
func (f *File) Out() (*order.CSR, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.csr(OutOffsets, OutTargets, OutWeights)
}

// In is vertex order by target: row v holds the sources of the edges into v. An
// undirected graph that stores only Out gives that, seen the other way round.
func (f *File) In() (*order.CSR, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Meta.Undirected && !f.Has(InOffsets) && f.Has(OutOffsets) {
		out, err := f.csr(OutOffsets, OutTargets, OutWeights)
		if err != nil {
			return nil, err
		}
		in := *out
		in.Reversed = true
		return &in, nil
	}
	return f.csr(InOffsets, InSources, InWeights)
}

func (f *File) csr(offsets, ids, weights Kind) (*order.CSR, error) {
	if c := f.rows[offsets]; c != nil {
		return c, nil
	}
	if f.Has(ids) && !f.Meta.Sorted {
		return nil, fmt.Errorf("%s: the header does not say that the neighbours in section %s ascend within each row; expected it to", f.Path(), ids)
	}
	c := &order.CSR{Reversed: offsets == InOffsets}
	var err error
	if c.Offsets, err = whole[uint64](f, offsets, nil); err != nil {
		return nil, err
	}
	if err := f.m.Protect(func() error { return f.checkOffsets(offsets, c.Offsets) }); err != nil {
		return nil, err
	}
	b, err := f.open(ids, idsBelow(f.Meta.Vertices))
	if err != nil {
		return nil, err
	}
	if c.Targets, err = mapfile.View[uint32](b.data); err != nil {
		return nil, err
	}
	guard := guards{b}
	if f.Meta.Weighted {
		b, err := f.open(weights, weightsSound)
		if err != nil {
			return nil, err
		}
		if c.Weights, err = mapfile.View[float32](b.data); err != nil {
			return nil, err
		}
		guard = append(guard, b)
	}
	c.Guard = guard
	f.rows[offsets] = c
	return c, nil
}

// checkOffsets checks that offsets rise from 0 to the number of edges.
func (f *File) checkOffsets(kind Kind, offsets []uint64) error {
	last, edges := len(offsets)-1, uint64(f.Meta.Edges)
	problem := ""
	if offsets[0] != 0 || offsets[last] != edges {
		problem = fmt.Sprintf("they go from %d to %d; expected from 0 to %d", offsets[0], offsets[last], edges)
	} else if !slices.IsSorted(offsets) {
		v := 0
		for offsets[v] <= offsets[v+1] {
			v++
		}
		problem = fmt.Sprintf("the row of vertex %d begins at %d and ends at %d", v, offsets[v], offsets[v+1])
	}
	if problem == "" {
		return nil
	}
	return f.unsound(kind, problem)
}

// unsound is the error of a section whose checksums hold, but not its content.
func (f *File) unsound(kind Kind, problem string) error {
	s := f.find(kind)
	return &DamageError{Path: f.Path(), Damage: []Damage{{
		Section: kind, Block: -1, Offset: s.offset, Length: s.length, Holds: kinds[kind].holds, Problem: problem,
	}}}
}

// Hilbert is Hilbert order. Its squares have been checked; its pairs are when Run
// reaches them.
func (f *File) Hilbert() (*order.Hilbert, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hilbert != nil {
		return f.hilbert, nil
	}
	h := &order.Hilbert{N: int(f.Meta.Vertices)}
	var err error
	if h.Squares, err = whole[order.Extent](f, HilbertSquares, nil); err != nil {
		return nil, err
	}
	if err := f.m.Protect(func() error { return f.placeSquares(h) }); err != nil {
		return nil, err
	}
	b, err := f.open(HilbertPairs, pairsInside(h))
	if err != nil {
		return nil, err
	}
	if h.Pairs, err = mapfile.View[order.Pair](b.data); err != nil {
		return nil, err
	}
	h.Guard = b
	f.hilbert = h
	return h, nil
}

// placeSquares fills in where squares begin, and checks that each lies in the
// matrix and is there once, and that together they hold all edges.
func (f *File) placeSquares(h *order.Hilbert) error {
	h.Starts = make([]uint64, len(h.Squares)+1)
	side := order.PadVertices(h.N) / order.SquareSide
	for i, s := range h.Squares {
		if int(s.X) >= side || int(s.Y) >= side {
			return f.unsound(HilbertSquares, fmt.Sprintf("square %d is (%d, %d); expected both below %d", i, s.X, s.Y, side))
		}
		h.Starts[i+1] = h.Starts[i] + uint64(s.Count)
	}
	if sum := h.Starts[len(h.Squares)]; sum != uint64(f.Meta.Edges) {
		return f.unsound(HilbertSquares, fmt.Sprintf("they hold %d edges; expected %d", sum, f.Meta.Edges))
	}
	if alongCurve(h.Squares) {
		return nil // and so none is there twice
	}
	seen := slices.Clone(h.Squares)
	slices.SortFunc(seen, func(a, b order.Extent) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	for i := 1; i < len(seen); i++ {
		if a, b := seen[i-1], seen[i]; a.X == b.X && a.Y == b.Y {
			return f.unsound(HilbertSquares, fmt.Sprintf("square (%d, %d) is there twice", a.X, a.Y))
		}
	}
	return nil
}

// alongCurve says whether each square is farther along the curve than the one
// before.
func alongCurve(squares []order.Extent) bool {
	last := uint64(0)
	for i, s := range squares {
		at := order.Position(uint32(s.X)<<16, uint32(s.Y)<<16)
		if i > 0 && at <= last {
			return false
		}
		last = at
	}
	return true
}

// squareOf is the square that holds edge e.
func squareOf(h *order.Hilbert, e uint64) int {
	return sort.Search(len(h.Squares), func(i int) bool { return h.Starts[i+1] > e })
}

// Compressed is compressed Hilbert order. Its index has been checked; its data is
// when Run reaches it.
func (f *File) Compressed() (*order.Compressed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gaps != nil {
		return f.gaps, nil
	}
	c := &order.Compressed{N: int(f.Meta.Vertices), M: f.Meta.Edges}
	var err error
	if c.Blocks, err = whole[order.CompressedBlock](f, CompressedBlocks, nil); err != nil {
		return nil, err
	}
	b, err := f.open(CompressedData, nil)
	if err != nil {
		return nil, err
	}
	c.Data, c.Guard = b.data, b
	if err := f.m.Protect(func() error { return f.checkBlocks(c) }); err != nil {
		return nil, err
	}
	f.gaps = c
	return c, nil
}

// checkBlocks checks that the blocks of compressed edges follow one another
// through all of the data and along the curve, and that they hold all edges.
func (f *File) checkBlocks(c *order.Compressed) error {
	var edges, end, first uint64
	for i, b := range c.Blocks {
		switch {
		case b.Offset != end || uint64(b.Size) > uint64(len(c.Data))-end:
			return f.unsound(CompressedBlocks, fmt.Sprintf("block %d has bytes %d + %d of %d; expected it to begin at %d", i, b.Offset, b.Size, len(c.Data), end))
		case b.Count == 0 || b.Count > order.CompressedBlockEdges:
			return f.unsound(CompressedBlocks, fmt.Sprintf("block %d has %d edges; expected 1 to %d", i, b.Count, order.CompressedBlockEdges))
		case b.First < first:
			return f.unsound(CompressedBlocks, fmt.Sprintf("block %d begins at position %d of the curve, before block %d at %d", i, b.First, i-1, first))
		}
		edges, end, first = edges+uint64(b.Count), end+uint64(b.Size), b.First
	}
	if edges != uint64(c.M) || end != uint64(len(c.Data)) {
		return f.unsound(CompressedBlocks, fmt.Sprintf("they hold %d edges in %d bytes; expected %d in %d", edges, end, c.M, len(c.Data)))
	}
	return nil
}

// Names is the stored dictionary of original ids, checked; nil if there is none.
func (f *File) Names() ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.Has(Names) {
		return nil, nil
	}
	return whole[byte](f, Names, nil)
}

// Degrees is the number of out-edges of each vertex, checked, for files that
// store it (those without Out).
func (f *File) Degrees() ([]uint32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	degrees, err := whole[uint32](f, OutDegrees, nil)
	if err != nil {
		return nil, err
	}
	var sum uint64
	err = f.m.Protect(func() error {
		for _, d := range degrees {
			sum += uint64(d)
		}
		return nil
	})
	if err == nil && sum != uint64(f.Meta.Edges) {
		err = f.unsound(OutDegrees, fmt.Sprintf("they sum to %d; expected %d", sum, f.Meta.Edges))
	}
	return degrees, err
}
