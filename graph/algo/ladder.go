package algo

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"weir/graph/order"
	"weir/internal/par"
	"weir/internal/progress"
)

// LadderInput is one graph in the orders that are to be compared. Orders that are
// nil are left out, with their rungs.
type LadderInput struct {
	Out        *order.CSR     // vertex order; needed for the ladder of components
	In         *order.CSR     // its transpose
	Hilbert    *order.Hilbert // the same edges along the curve
	Compressed order.EdgeMap  // the same, compressed
}

// MeasureOptions says how times are taken.
type MeasureOptions struct {
	Runs       int // of each way; their median counts; 0 means 3
	Threads    int // for the ways on all processors; 0 means all of them
	Iterations int // of PageRank; 0 means 20
}

func (o MeasureOptions) withDefaults() MeasureOptions {
	if o.Runs <= 0 {
		o.Runs = 3
	}
	if o.Iterations <= 0 {
		o.Iterations = 20
	}
	o.Threads = par.Threads(o.Threads)
	return o
}

// Rung is one way to compute the same answer, and its time.
type Rung struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // median of the runs
	// EdgesPerSecond counts every edge once for each iteration of PageRank, and once
	// in all for components, however many passes a way needs.
	EdgesPerSecond float64 `json:"edges_per_second"`
	Speedup        float64 `json:"speedup"` // over the first rung
	Note           string  `json:"note"`    // what is new on this rung
}

// step is a rung to be: run computes the answer and returns what check compares.
type step[A any] struct {
	name, note string
	run        func(ctx context.Context) (A, error)
}

// climb takes the time of each step, all steps once before any step again, so that
// what else the machine does disturbs all alike. check compares the answer of the
// first step with that of each other one; it is not timed.
func climb[A any](ctx context.Context, name string, steps []step[A], edges int64, opt MeasureOptions, check func(first, other A) error) ([]Rung, error) {
	stage := progress.Start(ctx, name, int64(opt.Runs*len(steps)), progress.Items)
	defer stage.Done()
	times := make([][]float64, len(steps))
	var first A
	for run := range opt.Runs {
		for i, s := range steps {
			runtime.GC() // what a step before left is not this one's to clean up
			begin := time.Now()
			answer, err := s.run(ctx)
			times[i] = append(times[i], time.Since(begin).Seconds())
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, s.name, err)
			}
			if run == 0 && i == 0 {
				first = answer
			} else if err := check(first, answer); err != nil {
				return nil, fmt.Errorf("%s: %s and %s: %w", name, steps[0].name, s.name, err)
			}
			stage.Add(1)
		}
	}
	rungs := make([]Rung, len(steps))
	for i, s := range steps {
		seconds := median(times[i])
		rungs[i] = Rung{Name: s.name, Note: s.note, Seconds: seconds, EdgesPerSecond: float64(edges) / seconds, Speedup: rungs[0].Seconds / seconds}
	}
	rungs[0].Speedup = 1
	return rungs, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// Ladder finds the components of one graph in the ways of the published post, each
// better than the one before by one idea, on one thread; the last rung takes all
// threads. It fails if two ways find different components.
//
// The post is McSherry, "Bigger data; same laptop" (2015); its first two rungs are
// in "Scalability! But at what COST?".
func Ladder(ctx context.Context, in LadderInput, opt MeasureOptions) ([]Rung, error) {
	if in.Out == nil || in.Hilbert == nil {
		return nil, errors.New("ladder: the graph is needed in vertex order and in Hilbert order")
	}
	opt = opt.withDefaults()
	n, one := in.Out.Vertices(), ComponentsOptions{Threads: 1}
	steps := []step[[]uint32]{
		{"label propagation", "vertex order, passes until nothing changes", func(ctx context.Context) ([]uint32, error) {
			c, err := LabelPropagation(ctx, in.Out, one)
			return c.Labels, err
		}},
		{"union-find", "one pass over the edges, trees linked by rank", func(ctx context.Context) ([]uint32, error) {
			k := newRankedUnion(n)
			err := in.Out.Run(ctx, k)
			return k.labels(), err
		}},
		{"Hilbert order", "both ends of consecutive edges stay in cache", func(ctx context.Context) ([]uint32, error) {
			k := newRankedUnion(n)
			err := in.Hilbert.Run(ctx, k)
			return k.labels(), err
		}},
		{"no bounds checks", "an index that cannot be out of range is not compared", func(ctx context.Context) ([]uint32, error) {
			k := newUncheckedUnion(n)
			err := in.Hilbert.Run(ctx, k)
			return k.labels(), err
		}},
		{"smaller footprint", "4-byte parents, linked by number: no ranks", func(ctx context.Context) ([]uint32, error) {
			k := smallUnion{newForest(order.PadVertices(n))}
			return forestLabels(ctx, k.f, n, in.Hilbert.Run(ctx, k))
		}},
		{"prefetch", "look at a batch of edges, then link the few that matter", func(ctx context.Context) ([]uint32, error) {
			k := &batchUnion{f: newForest(order.PadVertices(n))}
			return forestLabels(ctx, k.f, n, in.Hilbert.Run(ctx, k))
		}},
		{"one comparison", "what this library does: link only where parents differ, no batch", func(ctx context.Context) ([]uint32, error) {
			c, err := UnionFind(ctx, in.Hilbert, one)
			return c.Labels, err
		}},
	}
	if opt.Threads > 1 {
		steps = append(steps, step[[]uint32]{fmt.Sprintf("%d threads", opt.Threads), "one forest, linked by compare-and-swap", func(ctx context.Context) ([]uint32, error) {
			c, err := UnionFind(ctx, in.Hilbert, ComponentsOptions{Threads: opt.Threads})
			return c.Labels, err
		}})
	}
	return climb(ctx, "ladder", steps, in.Out.Edges(), opt, sameLabels)
}

// forestLabels flattens f, which a run grew that ended with err.
func forestLabels(ctx context.Context, f forest, n int, err error) ([]uint32, error) {
	if err != nil {
		return nil, err
	}
	c, err := f.components(ctx, n, 1)
	return c.Labels, err
}

func sameLabels(first, other []uint32) error {
	if len(first) != len(other) {
		return fmt.Errorf("%d and %d labels", len(first), len(other))
	}
	for v, label := range first {
		if label != other[v] {
			return fmt.Errorf("vertex %d is in component %d and %d", v, label, other[v])
		}
	}
	return nil
}
