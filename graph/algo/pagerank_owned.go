package algo

import (
	"context"
	"fmt"
	"slices"

	"weir/graph/order"
)

// ownedPart is a set of edges whose targets, vertices lo to hi, no other part has.
// So threads add without locks, and in the same sequence however many there are.
type ownedPart struct {
	edges  order.EdgeMap
	lo, hi int
}

// ownedParts cuts edges by target, or returns nil where their order does not allow
// that. The parts cover all vertices; threads is how many will share them.
func ownedParts(edges order.EdgeMap, threads int) []ownedPart {
	switch m := edges.(type) {
	case *order.CSR:
		if m.Reversed && len(m.Offsets)-1 == m.Vertices() { // or targets without a row would never settle
			return rowParts(m)
		}
	case *order.Hilbert:
		return stripes(m, threads)
	}
	return nil
}

// rowPartCount is enough to balance any number of threads that we have met.
const rowPartCount = 256

// rowParts cuts rows of in-neighbours.
func rowParts(m *order.CSR) []ownedPart {
	parts := []ownedPart{}
	lo := 0
	for _, p := range m.Split(rowPartCount) {
		hi := lo + len(p.(*order.CSR).Offsets) - 1
		parts = append(parts, ownedPart{p, lo, hi})
		lo = hi
	}
	return parts
}

// stripeSides is the height of a stripe in sides of squares, so that its targets take
// half (float32) or most (float64) of a second-level cache of 2 MiB.
const stripeSides = 4

// stripe is a run of rows of squares: those whose targets are vertices lo to hi.
// Its targets stay in the second-level cache while the sources stream past, which
// costs about as many misses as the whole curve does.
type stripe struct {
	*order.Hilbert
	squares []int // indices into Squares, by source
	edges   int64
}

// stripes cuts squares by target. It gives up, returning nil, where one row of
// squares holds so many edges that threads would wait for the one that has it.
func stripes(h *order.Hilbert, threads int) []ownedPart {
	sides := order.PadVertices(h.N) / order.SquareSide
	height := stripeSides
	if threads > 1 {
		height = max(1, min(height, sides/(4*threads)))
	}
	parts := make([]ownedPart, (sides+height-1)/height)
	for i := range parts {
		lo := i * height * order.SquareSide
		parts[i] = ownedPart{&stripe{Hilbert: h}, lo, min(lo+height*order.SquareSide, h.N)}
	}
	for i, s := range h.Squares {
		part := parts[int(s.Y)/height].edges.(*stripe)
		part.squares = append(part.squares, i)
		part.edges += int64(h.Starts[i+1] - h.Starts[i])
	}
	for _, p := range parts {
		s := p.edges.(*stripe)
		if threads > 1 && s.edges > h.Edges()/int64(threads) {
			return nil
		}
		slices.SortStableFunc(s.squares, func(a, b int) int { return int(h.Squares[a].X) - int(h.Squares[b].X) })
	}
	return parts
}

func (s *stripe) Edges() int64 { return s.edges }

// Split is never asked for: a stripe is a part already.
func (s *stripe) Split(int) []order.EdgeMap { return []order.EdgeMap{s} }

func (s *stripe) Run(ctx context.Context, k order.Kernel) error {
	h := s.Hilbert
	for _, i := range s.squares {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, lo, hi := h.Squares[i], h.Starts[i], h.Starts[i+1]
		if h.Guard != nil {
			if err := h.Guard.Check(lo, hi); err != nil {
				return fmt.Errorf("square (%d, %d): %w", at.X, at.Y, err)
			}
		}
		k.Square(order.Square{X: uint32(at.X) << 16, Y: uint32(at.Y) << 16, Pairs: h.Pairs[lo:hi]})
	}
	return nil
}
