package order

import (
	"context"
	"fmt"

	"weir/internal/huge"
	"weir/internal/par"
)

// degreeGrain is how many vertices a goroutine adds up at a time.
const degreeGrain = 1 << 16

// OutDegrees counts the edges out of each vertex, parallel edges and loops
// included. Rows by source tell without a look at the edges. Otherwise each
// goroutine counts in 4 bytes a vertex of its own, and there are no more of them
// than that these take the memory of the edges. A vertex of 2³² edges or more would
// overflow its count.
func OutDegrees(ctx context.Context, edges EdgeMap, threads int) ([]uint32, error) {
	return countDegrees(ctx, edges, threads, false)
}

// InDegrees counts the edges into each vertex, as [OutDegrees] does those out of
// it.
func InDegrees(ctx context.Context, edges EdgeMap, threads int) ([]uint32, error) {
	return countDegrees(ctx, edges, threads, true)
}

func countDegrees(ctx context.Context, edges EdgeMap, threads int, in bool) ([]uint32, error) {
	n := edges.Vertices()
	threads = par.Threads(threads)
	if c, ok := edges.(*CSR); ok && c.Reversed == in && len(c.Offsets)-1 == n {
		return rowLengths(ctx, c, threads)
	}
	parts := edges.Split(Shares(edges, threads))
	counts, errs := make([][]uint32, max(len(parts), 1)), make([]error, len(parts))
	par.Each(len(counts), func(i int) {
		counts[i] = huge.Make[uint32](PadVertices(n))
		if i < len(parts) {
			errs[i] = parts[i].Run(ctx, &degreeKernel{counts: counts[i], in: in})
		}
	})
	if err := firstError(errs); err != nil {
		return nil, fmt.Errorf("count degrees: %w", err)
	}
	total := counts[0]
	err := par.Range(ctx, threads, n, degreeGrain, func(_, lo, hi int) {
		for _, more := range counts[1:] {
			for v, c := range more[lo:hi] {
				total[lo+v] += c
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("count degrees: %w", err)
	}
	return total[:n:n], nil
}

// Shares is in how many parts to split edges for goroutines that each need an array
// of a number a vertex: threads, or fewer where the arrays would outgrow the edges.
func Shares(edges EdgeMap, threads int) int {
	return int(min(int64(threads), max(edges.Edges()/int64(max(edges.Vertices(), 1)), 1)))
}

// rowLengths is the degrees that the offsets of rows tell.
func rowLengths(ctx context.Context, c *CSR, threads int) ([]uint32, error) {
	degrees := huge.Make[uint32](c.Vertices())
	err := par.Range(ctx, threads, len(degrees), degreeGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			degrees[v] = uint32(c.Offsets[v+1] - c.Offsets[v])
		}
	})
	if err != nil {
		return nil, fmt.Errorf("count degrees: %w", err)
	}
	return degrees, nil
}

// degreeKernel counts one end of each edge. Counts is padded to whole squares.
type degreeKernel struct {
	counts []uint32
	in     bool
}

func (k *degreeKernel) Rows(r Rows) {
	counts := k.counts
	if k.in != r.Reversed {
		for _, u := range r.Targets[r.Offsets[0]:r.Offsets[len(r.Offsets)-1]] {
			counts[u]++
		}
		return
	}
	own := counts[r.First:]
	for i, end := range r.Offsets[1:] {
		own[i] += uint32(end - r.Offsets[i])
	}
}

func (k *degreeKernel) Square(s Square) {
	if k.in {
		side := (*[SquareSide]uint32)(k.counts[s.Y:])
		for _, p := range s.Pairs {
			side[p.Y]++
		}
		return
	}
	side := (*[SquareSide]uint32)(k.counts[s.X:])
	for _, p := range s.Pairs {
		side[p.X]++
	}
}
