// Package store is weir's own graph file: one file that holds a graph in one or
// several orders, checksummed, and mapped into memory rather than read.
//
//	w, err := store.Create("graph.weir")
//	defer w.Abort()
//	w.Meta = store.Meta{Vertices: n, Edges: m, ...}
//	err = w.WriteCSR(ctx, csr)
//	err = w.Close()
//
//	f, err := store.Open("graph.weir")
//	defer f.Close()
//	hilbert, err := f.Hilbert()
//
// Every byte of a file is covered: the header by a checksum of its own, sections
// by one xxh3 checksum for each block of 1 MiB, and the padding by being zero.
// [Open] checks the header; an order's [order.Guard] checks each block when it is
// first touched, and that every vertex in it exists, so that neither damage nor
// a hostile file can lead an algorithm astray; [File.Verify] checks everything
// and names each damaged block. The layout is described in docs/formats.md.
package store

import (
	"errors"
	"fmt"

	"weir/graph/order"
)

// Version is the format version that this package writes, and the highest that
// it reads.
const Version = 1

// Ext is the customary extension of a graph file.
const Ext = ".weir"

var (
	// ErrNotGraph says that a file does not begin as a weir graph does.
	ErrNotGraph = errors.New("not a weir graph")
	// ErrNewer says that a file needs a newer program to read it.
	ErrNewer = errors.New("written by a newer weir")
	// ErrNoOrder says that a file does not hold the order that was asked for.
	ErrNoOrder = errors.New("the file does not hold this order")
)

// Unknown is the value of a count that was not taken.
const Unknown int64 = -1

// Meta is what a graph file says of its graph.
type Meta struct {
	// Vertices is at most order.MaxVertices.
	Vertices int64
	// Edges counts stored, directed edges: an undirected edge counts twice, unless
	// it is a self-loop.
	Edges int64
	// SelfLoops counts edges from a vertex to itself, Duplicates edges beyond the
	// first between the same two ends; Unknown where nobody counted.
	SelfLoops, Duplicates int64

	Undirected     bool // every edge is stored in both directions
	Weighted       bool // rows carry weights
	IntegerWeights bool // all weights are whole numbers
	Sorted         bool // neighbours ascend within each row

	// Source names what the graph was made from, Tool what made it. Longer texts
	// than 382 and 126 bytes are cut.
	Source, Tool string
}

// Kind is what a section of the file holds.
type Kind uint32

// The kinds of sections. The numbers are part of the format.
const (
	OutOffsets       Kind = 1  // uint64 × (vertices+1): where each source's row begins
	OutTargets       Kind = 2  // uint32 × edges, source by source
	OutWeights       Kind = 3  // float32 × edges, in the order of OutTargets
	InOffsets        Kind = 4  // uint64 × (vertices+1): where each target's row begins
	InSources        Kind = 5  // uint32 × edges, target by target
	InWeights        Kind = 6  // float32 × edges, in the order of InSources
	HilbertSquares   Kind = 7  // (uint16 x, uint16 y, uint32 count), along the curve
	HilbertPairs     Kind = 8  // (uint16 x, uint16 y) × edges, square by square
	CompressedBlocks Kind = 9  // (uint64 first, uint64 offset, uint32 size, uint32 count): the index of the compressed edges
	CompressedData   Kind = 10 // frames of gaps between curve positions
	Names            Kind = 11 // the dictionary of original ids
	OutDegrees       Kind = 12 // uint32 × vertices
)

// kinds gives each kind's name, the width of an element in bytes, and what its
// elements are called when one is damaged.
var kinds = map[Kind]struct {
	name  string
	width int
	holds string
}{
	OutOffsets:       {"out-offsets", 8, "offsets of the rows of vertices"},
	OutTargets:       {"out-targets", 4, "targets of edges"},
	OutWeights:       {"out-weights", 4, "weights of edges"},
	InOffsets:        {"in-offsets", 8, "offsets of the in-rows of vertices"},
	InSources:        {"in-sources", 4, "sources of edges (by target)"},
	InWeights:        {"in-weights", 4, "weights of edges (by target)"},
	HilbertSquares:   {"hilbert-squares", 8, "squares"},
	HilbertPairs:     {"hilbert-pairs", 4, "Hilbert-ordered edges"},
	CompressedBlocks: {"compressed-blocks", 24, "index of blocks"},
	CompressedData:   {"compressed-data", 1, "bytes of compressed edges"},
	Names:            {"names", 1, "bytes of the dictionary of names"},
	OutDegrees:       {"out-degrees", 4, "out-degrees of vertices"},
}

func (k Kind) String() string {
	if d, ok := kinds[k]; ok {
		return d.name
	}
	return fmt.Sprintf("kind %d", uint32(k))
}

// Is says whether data, the first bytes of a file (eight suffice), begin a weir
// graph file.
func Is(data []byte) bool { return len(data) >= len(magic) && string(data[:len(magic)]) == magic }

// checkShape checks that the sections of a file fit together and fit m, so that
// no order made of them can be short. It is the same for writer and reader.
func checkShape(m *Meta, sections map[Kind]*section) error {
	if m.Vertices < 0 || m.Vertices > order.MaxVertices {
		return fmt.Errorf("%d vertices; expected 0 to %d", m.Vertices, uint64(order.MaxVertices))
	}
	if m.Edges < 0 || m.Edges > maxEdges {
		return fmt.Errorf("%d edges; expected 0 to %d", m.Edges, int64(maxEdges))
	}
	if m.Edges > 0 && m.Vertices == 0 {
		return fmt.Errorf("%d edges, but no vertices", m.Edges)
	}
	n, e := uint64(m.Vertices), uint64(m.Edges)
	for kind, elements := range map[Kind]uint64{
		OutOffsets: n + 1, OutTargets: e, OutWeights: e, InOffsets: n + 1, InSources: e, InWeights: e,
		HilbertPairs: e, OutDegrees: n,
	} {
		if s := sections[kind]; s != nil && s.elements() != elements {
			return fmt.Errorf("section %s has %d elements; expected %d for %d vertices and %d edges", kind, s.elements(), elements, n, e)
		}
	}
	for _, pair := range [][2]Kind{
		{OutOffsets, OutTargets}, {InOffsets, InSources}, {HilbertSquares, HilbertPairs}, {CompressedBlocks, CompressedData},
	} {
		if (sections[pair[0]] == nil) != (sections[pair[1]] == nil) {
			return fmt.Errorf("of the sections %s and %s only one is present; they need each other", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]Kind{{OutTargets, OutWeights}, {InSources, InWeights}} {
		rows, weights := sections[pair[0]] != nil, sections[pair[1]] != nil
		if weights != (rows && m.Weighted) {
			return fmt.Errorf("the graph's rows are %s, but section %s is %s", word(m.Weighted, "weighted", "not weighted"), pair[1], word(weights, "present", "absent"))
		}
	}
	for _, kind := range []Kind{OutTargets, InSources, HilbertPairs, CompressedData} {
		if sections[kind] != nil {
			return nil
		}
	}
	return errors.New("no order of the edges is present; expected rows, Hilbert squares or compressed edges")
}

func word(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
