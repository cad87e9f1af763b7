package foreign

import (
	"context"
	"fmt"

	"weir/graph/order"
	"weir/internal/mapfile"
	"weir/internal/progress"
)

// openSquares opens X.upper and X.lower, whose elements are extents and pairs.
func (c *COST) openSquares(ctx context.Context, upperPath, lowerPath string, threads int) error {
	m1, m2, err := c.openPair(upperPath, lowerPath)
	if err != nil {
		return err
	}
	return c.squares(ctx, m1, m2, threads)
}

func (c *COST) squares(ctx context.Context, m1, m2 *mapfile.File, threads int) error {
	upper, lower, err := viewPair[order.Extent, order.Pair](m1, m2)
	if err != nil {
		return err
	}
	h := &order.Hilbert{Squares: upper, Pairs: lower, Starts: make([]uint64, len(upper)+1)}
	along := true
	err = m1.Protect(func() error {
		last := uint64(0)
		for i, s := range upper {
			h.Starts[i+1] = h.Starts[i] + uint64(s.Count)
			at := order.Position(uint32(s.X)<<16, uint32(s.Y)<<16) >> 32
			along = along && (i == 0 || at > last)
			last = at
		}
		if sum := h.Starts[len(upper)]; sum != uint64(len(lower)) {
			return fmt.Errorf("%s counts %d edges, but %s has %d", m1.Path(), sum, m2.Path(), len(lower))
		}
		return nil
	})
	if err != nil {
		return err
	}
	n := uint64(0)
	err = m2.Protect(func() error { n = verticesOf(h); return nil })
	if err != nil {
		return err
	}
	if err := checkVertices(m2.Path(), n, len(lower)); err != nil {
		return err
	}
	h.N, c.Hilbert = int(n), h
	if along {
		return nil
	}
	c.Copied = true
	return m2.Protect(func() error {
		rows, _, err := order.ToCSR(ctx, h, order.BuildOptions{Threads: threads})
		if err == nil {
			c.Hilbert, err = order.BuildHilbert(ctx, rows, threads)
		}
		return err
	})
}

// verticesOf is one more than the highest vertex of any edge. Only pairs of the
// squares with the highest coordinates can have it.
func verticesOf(h *order.Hilbert) uint64 {
	var top uint16
	any := false
	for _, s := range h.Squares {
		if s.Count > 0 {
			top, any = max(top, s.X, s.Y), true
		}
	}
	if !any {
		return 0
	}
	var low uint16
	for i, s := range h.Squares {
		pairs := h.Pairs[h.Starts[i]:h.Starts[i+1]]
		if s.X == top {
			for _, p := range pairs {
				low = max(low, p.X)
			}
		}
		if s.Y == top {
			for _, p := range pairs {
				low = max(low, p.Y)
			}
		}
	}
	return uint64(top)<<16 + uint64(low) + 1
}

// WriteCOSTHilbert writes X.upper and X.lower for the prefix X, as COST's
// to_hilbert does. Vertices above the highest of any edge are not kept.
func WriteCOSTHilbert(ctx context.Context, prefix string, h *order.Hilbert) error {
	out, err := create(prefix+upperExt, prefix+lowerExt)
	if err != nil {
		return err
	}
	defer out.abandon()
	stage := progress.Start(ctx, "write "+prefix+lowerExt, h.Edges(), progress.Edges)
	defer stage.Done()
	for i, s := range h.Squares {
		if s.Count > 0 {
			if err := write(out[0], h.Squares[i:i+1]); err != nil {
				return err
			}
		}
	}
	err = pieces(ctx, h, func(_ int, pairs []order.Pair) error {
		stage.Add(int64(len(pairs)))
		return write(out[1], pairs)
	})
	if err != nil {
		return err
	}
	return out.commit()
}

// pieces calls f for the pairs of each square, in pieces that are checked first.
func pieces(ctx context.Context, h *order.Hilbert, f func(square int, pairs []order.Pair) error) error {
	for i := range h.Squares {
		for lo, end := h.Starts[i], h.Starts[i+1]; lo < end; lo += edgeGrain {
			hi := min(lo+edgeGrain, end)
			if err := ctx.Err(); err != nil {
				return err
			}
			if h.Guard != nil {
				if err := h.Guard.Check(lo, hi); err != nil {
					return err
				}
			}
			if err := f(i, h.Pairs[lo:hi]); err != nil {
				return err
			}
		}
	}
	return nil
}
