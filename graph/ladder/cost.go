package ladder

import (
	"context"
	"fmt"

	"weir/graph/algo"
	"weir/graph/order"
	"weir/internal/progress"
)

// Way is a way to compute an answer, timed on rising numbers of threads.
type Way struct {
	Task string `json:"task"`
	Name string `json:"name"`
	// Seconds holds the fastest of several runs on 1, 2, 4, … threads, the last
	// being all that were allowed.
	Seconds []float64 `json:"seconds"`
	Threads []int     `json:"threads"`
	// Cost is the smallest number of threads with which it beats the fastest way
	// of one thread at the same task; 0 if none did.
	Cost int `json:"cost"`
}

// The tasks that [Measure] and [Systems] know.
const (
	PageRank   = "pagerank"   // [Iterations] iterations
	Components = "components" // connected components
)

// way computes an answer with a number of threads.
type way struct {
	task, name string
	run        func(ctx context.Context, threads int) error
}

// Measure times ways to rank vertices and to find components, each on 1, 2, 4, …
// up to the given number of threads, and finds the COST of each.
func Measure(ctx context.Context, g Graph, threads int) ([]Way, error) {
	if err := g.check(true); err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	degrees, err := order.OutDegrees(ctx, g.Rows, threads)
	if err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	rank := func(edges order.EdgeMap) func(context.Context, int) error {
		return func(ctx context.Context, threads int) error {
			_, err := algo.PageRank[float32](ctx, edges, algo.PageRankOptions{Iterations: Iterations, Threads: threads, OutDegrees: degrees})
			return err
		}
	}
	find := func(f func(context.Context, order.EdgeMap, algo.ComponentsOptions) (algo.Components, error), edges order.EdgeMap) func(context.Context, int) error {
		return func(ctx context.Context, threads int) error {
			_, err := f(ctx, edges, algo.ComponentsOptions{Threads: threads})
			return err
		}
	}
	all := []way{
		{PageRank, "vertex order, by source", rank(g.Rows)},
		{PageRank, "vertex order, by target", rank(g.In)},
		{PageRank, "Hilbert order", rank(g.Hilbert)},
		{Components, "label propagation, vertex order", find(algo.LabelPropagation, g.Rows)},
		{Components, "label propagation, Hilbert order", find(algo.LabelPropagation, g.Hilbert)},
		{Components, "union-find, vertex order", find(algo.UnionFind, g.Rows)},
		{Components, "union-find, Hilbert order", find(algo.UnionFind, g.Hilbert)},
		{Components, "Afforest", func(ctx context.Context, threads int) error {
			_, err := algo.Afforest(ctx, g.Rows, g.In, algo.ComponentsOptions{Threads: threads})
			return err
		}},
	}
	stage := progress.Start(ctx, "ways", int64(len(all)), progress.Items)
	defer stage.Done()
	var ways []Way
	for _, w := range all {
		timed := Way{Task: w.task, Name: w.name}
		for t := 1; ; t = min(2*t, threads) {
			took, _, err := fastest(ctx, func() error { return w.run(ctx, t) })
			if err != nil {
				return nil, fmt.Errorf("measure %s, %s: %w", w.task, w.name, err)
			}
			timed.Threads, timed.Seconds = append(timed.Threads, t), append(timed.Seconds, took.Seconds())
			if t >= threads {
				break
			}
		}
		ways = append(ways, timed)
		stage.Add(1)
	}
	settle(ways)
	return ways, nil
}

// settle finds the COST of each way.
func settle(ways []Way) {
	best := map[string]float64{}
	for _, w := range ways {
		if s, known := best[w.Task]; !known || w.Seconds[0] < s {
			best[w.Task] = w.Seconds[0]
		}
	}
	for i, w := range ways {
		for j, s := range w.Seconds {
			// The best way of one thread has cost 1: it is what there is to beat.
			if s < best[w.Task] || j == 0 && s == best[w.Task] {
				ways[i].Cost = w.Threads[j]
				break
			}
		}
	}
}

// Best is the fastest way of one thread at a task.
func Best(ways []Way, task string) (best Way) {
	for _, w := range ways {
		if w.Task == task && (best.Seconds == nil || w.Seconds[0] < best.Seconds[0]) {
			best = w
		}
	}
	return best
}
