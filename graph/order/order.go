// Package order holds the edges of a graph in orders that memory likes, and
// hands them out in blocks.
//
// An algorithm is a [Kernel]: it receives blocks of edges in the two shapes in
// which edges are stored, rows (a vertex and its neighbours) and squares (pairs
// of 16-bit coordinates below a common base), and loops over them itself. No
// call is made per edge. The same kernel runs over every order:
//
//   - [CSR], vertex order: the neighbours of one vertex after another;
//   - [Hilbert]: along a Hilbert curve through the adjacency matrix, so that both
//     ends of consecutive edges stay in cache;
//   - [Compressed]: the same order as gaps between curve positions.
//
// The orders and the reason for them are from McSherry's posts "Scalability! But
// at what COST?" and "Bigger data; same laptop" (2015).
package order

import "context"

// MaxVertices is the largest number of vertices an order can hold: a vertex is
// a uint32, and the number of vertices must be one too.
const MaxVertices = 1<<32 - 1

// An EdgeMap is a set of directed edges that can be walked block by block.
type EdgeMap interface {
	// Vertices is the number of vertices; every end of an edge is below it.
	Vertices() int
	// Edges is the number of edges.
	Edges() int64
	// Run hands every edge to k exactly once, in the order's own sequence. It
	// stops between blocks when ctx is done, or at a block that is damaged.
	Run(ctx context.Context, k Kernel) error
	// Split cuts the edges into at most n maps of about equal numbers of edges,
	// which may run at the same time on kernels of their own.
	Split(n int) []EdgeMap
}

// A Kernel consumes blocks of edges. The slices of a block belong to the order:
// they may be a file mapped read-only and are valid only during the call.
type Kernel interface {
	Rows(Rows)
	Square(Square)
}

// Rows is a run of consecutive vertices with their neighbours: those of vertex
// First+i are Targets[Offsets[i]:Offsets[i+1]]. Offsets has one more element
// than there are vertices, and indexes the order's whole array of neighbours.
type Rows struct {
	First   uint32
	Offsets []uint64
	Targets []uint32
	// Reversed says that the edges point from the neighbours to the vertex: the
	// rows are those of the transposed graph.
	Reversed bool
}

// Square is a run of edges in one square of 65536 × 65536 of the adjacency
// matrix: edge e goes from vertex X|e.X to vertex Y|e.Y. X and Y are multiples
// of 65536.
type Square struct {
	X, Y  uint32
	Pairs []Pair
}

// Pair is the lower 16 bits of the two ends of an edge.
type Pair struct{ X, Y uint16 }

// SquareSide is the number of vertices along a side of a [Square].
const SquareSide = 1 << 16

// PadVertices rounds n up to a whole number of square sides. A kernel whose
// arrays have this length may view a side of a square as a *[SquareSide]T, whose
// index by a uint16 needs no check.
func PadVertices(n int) int { return (n + SquareSide - 1) &^ (SquareSide - 1) }

// A Guard checks a part of an order's storage before it is handed out, such as
// the checksums of a mapped file. Elements lo to hi are about to be read. It is
// safe for concurrent use, and cheap where the part was checked before.
type Guard interface {
	Check(lo, hi uint64) error
}

// check asks g, which may be nil.
func check(g Guard, lo, hi uint64) error {
	if g == nil {
		return nil
	}
	return g.Check(lo, hi)
}
