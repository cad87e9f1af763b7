package order

import (
	"context"
	"fmt"
	"sort"
)

// Hilbert is Hilbert order: squares along the curve, and within each square its
// edges along the curve.
type Hilbert struct {
	N       int      // vertices
	Squares []Extent // along the curve
	Pairs   []Pair   // the edges of all squares, one square after the other
	Starts  []uint64 // len(Squares)+1: Squares[i] holds Pairs[Starts[i]:Starts[i+1]]
	Guard   Guard    // checks ranges of Pairs; nil where nothing can be damaged
}

// Extent names a square and says how many edges it holds: its edges go from
// vertices X<<16 + ... to vertices Y<<16 + ...
type Extent struct {
	X, Y  uint16
	Count uint32
}

// Vertices is the number of vertices.
func (h *Hilbert) Vertices() int { return h.N }

// Edges is the number of edges.
func (h *Hilbert) Edges() int64 { return int64(h.Starts[len(h.Squares)] - h.Starts[0]) }

// Run hands out squares along the curve; a square of very many edges comes in
// several blocks.
func (h *Hilbert) Run(ctx context.Context, k Kernel) error {
	for i, s := range h.Squares {
		for lo, end := h.Starts[i], h.Starts[i+1]; lo < end; {
			hi := min(lo+edgesPerBlock, end)
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := check(h.Guard, lo, hi); err != nil {
				return fmt.Errorf("square (%d, %d): %w", s.X, s.Y, err)
			}
			k.Square(Square{X: uint32(s.X) << 16, Y: uint32(s.Y) << 16, Pairs: h.Pairs[lo:hi]})
			lo = hi
		}
	}
	return nil
}

// Split cuts between squares.
func (h *Hilbert) Split(n int) []EdgeMap {
	var parts []EdgeMap
	squares, base, edges := len(h.Squares), h.Starts[0], uint64(h.Edges())
	for i, lo := 0, 0; i < n && lo < squares; i++ {
		goal := base + edges*uint64(i+1)/uint64(n)
		hi := squares
		if i < n-1 {
			hi = max(lo, sort.Search(squares, func(s int) bool { return h.Starts[s] >= goal }))
		}
		if hi == lo {
			continue
		}
		parts = append(parts, &Hilbert{N: h.N, Squares: h.Squares[lo:hi], Pairs: h.Pairs, Starts: h.Starts[lo : hi+1], Guard: h.Guard})
		lo = hi
	}
	return parts
}
