package ladder

import (
	"context"
	"fmt"
	"math"

	"weir/graph/algo"
	"weir/graph/order"
)

// Iterations of PageRank are enough to tell ways apart.
const Iterations = 10

// Rank ranks the vertices on one thread, rung by rung, in [Iterations] iterations,
// and checks that all find the same ranks but for rounding.
func Rank(ctx context.Context, g Graph) ([]Rung, error) {
	if err := g.check(true); err != nil {
		return nil, fmt.Errorf("rank: %w", err)
	}
	degrees, err := order.OutDegrees(ctx, g.Rows, 1)
	if err != nil {
		return nil, fmt.Errorf("rank: %w", err)
	}
	steps := []step[[]float64]{
		{"by source, float64", "vertex order: each source adds to its targets, anywhere", rankOver[float64](g.Rows, degrees)},
		{"float32", "half the bytes a rank", rankOver[float32](g.Rows, degrees)},
		{"by target", "each target sums over its sources: reads anywhere, writes in sequence", rankOver[float32](g.In, degrees)},
		{"Hilbert order", "both ends of consecutive edges stay in cache", rankOver[float32](g.Hilbert, degrees)},
	}
	if g.Compressed != nil {
		steps = append(steps, step[[]float64]{"compressed", "the same edges in less memory, decoded on the way", rankOver[float32](g.Compressed, degrees)})
	}
	rungs, err := climb(ctx, g, steps, g.Rows.Edges()*Iterations, closeTo)
	if err != nil {
		return nil, fmt.Errorf("rank: %w", err)
	}
	return rungs, nil
}

// rankOver is a rung that walks the given edges.
func rankOver[T float32 | float64](edges order.EdgeMap, degrees []uint32) func(context.Context, Graph) ([]float64, error) {
	return func(ctx context.Context, _ Graph) ([]float64, error) {
		r, err := algo.PageRank[T](ctx, edges, algo.PageRankOptions{Iterations: Iterations, Threads: 1, OutDegrees: degrees})
		if err != nil {
			return nil, err
		}
		if ranks, ok := any(r.Ranks).([]float64); ok {
			return ranks, nil
		}
		ranks := make([]float64, len(r.Ranks))
		for v, x := range r.Ranks {
			ranks[v] = float64(x)
		}
		return ranks, nil
	}
}

// closeTo allows for sums of a million float32 in another sequence.
func closeTo(first, ranks []float64) error {
	const tolerance = 1e-2
	for v, x := range first {
		if !(math.Abs(x-ranks[v]) <= tolerance*x) {
			return fmt.Errorf("it ranks vertex %d at %v, expected %v", v, ranks[v], x)
		}
	}
	return nil
}
