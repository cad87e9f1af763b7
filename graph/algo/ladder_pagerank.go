package algo

import (
	"context"
	"errors"
	"fmt"
	"math"

	"weir/graph/order"
)

// rankStep is one order to rank over.
type rankStep struct {
	name, note string
	edges      order.EdgeMap
	threads    int
}

// rankSteps lists the orders that are there, slowest first.
func (in LadderInput) rankSteps() []rankStep {
	var steps []rankStep
	if in.Compressed != nil {
		steps = append(steps, rankStep{"compressed", "the curve's gaps decoded on the way", in.Compressed, 1})
	}
	if in.Out != nil {
		steps = append(steps, rankStep{"vertex push", "rows of out-neighbours: reads in sequence, adds anywhere", in.Out, 1})
	}
	if in.In != nil {
		steps = append(steps, rankStep{"vertex pull", "rows of in-neighbours: reads anywhere, sums in registers", in.In, 1})
	}
	if in.Hilbert != nil {
		steps = append(steps, rankStep{"Hilbert", "reads and adds within two sides that stay in cache", in.Hilbert, 1})
	}
	return steps
}

// PageRankLadder ranks one graph over each order it is given in, in both precisions,
// on one thread and then on all. It fails if two ways rank differently.
func PageRankLadder(ctx context.Context, in LadderInput, opt MeasureOptions) ([]Rung, error) {
	opt = opt.withDefaults()
	steps := in.rankSteps()
	if len(steps) == 0 {
		return nil, errors.New("pagerank ladder: the graph is needed in some order")
	}
	if opt.Threads > 1 {
		for _, s := range in.rankSteps() {
			s.name = fmt.Sprintf("%s, %d threads", s.name, opt.Threads)
			s.threads = opt.Threads
			steps = append(steps, s)
		}
	}
	degrees, err := OutDegrees(ctx, steps[0].edges, opt.Threads)
	if err != nil {
		return nil, fmt.Errorf("pagerank ladder: %w", err)
	}
	var timed []step[[]float64]
	for _, s := range steps {
		o := PageRankOptions{Iterations: opt.Iterations, Threads: s.threads, OutDegrees: degrees}
		timed = append(timed,
			step[[]float64]{s.name + ", float64", s.note, func(ctx context.Context) ([]float64, error) {
				r, err := PageRank[float64](ctx, s.edges, o)
				return r.Ranks, err
			}},
			step[[]float64]{s.name + ", float32", s.note, func(ctx context.Context) ([]float64, error) {
				r, err := PageRank[float32](ctx, s.edges, o)
				return widen(r.Ranks), err
			}})
	}
	return climb(ctx, "pagerank ladder", timed, steps[0].edges.Edges()*int64(opt.Iterations), opt, closeRanks)
}

func widen(ranks []float32) []float64 {
	wide := make([]float64, len(ranks))
	for v, x := range ranks {
		wide[v] = float64(x)
	}
	return wide
}

// rankTolerance allows for float32 sums over a million in-edges in another sequence.
const rankTolerance = 1e-2

func closeRanks(first, other []float64) error {
	if len(first) != len(other) {
		return fmt.Errorf("%d and %d ranks", len(first), len(other))
	}
	for v, x := range first {
		if math.Abs(x-other[v]) > rankTolerance*x {
			return fmt.Errorf("rank of vertex %d is %v and %v", v, x, other[v])
		}
	}
	return nil
}
