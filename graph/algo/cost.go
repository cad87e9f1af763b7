package algo

import (
	"context"
	"errors"
	"fmt"

	"weir/graph/order"
)

// CostTable answers the question of "Scalability! But at what COST?": how many
// threads does a parallel way need before it beats the best single-threaded one?
// That number, the configuration that outperforms a single thread, is its COST.
type CostTable struct {
	Baseline string    `json:"baseline"` // the single-threaded way
	Seconds  float64   `json:"seconds"`  // its time
	Threads  []int     `json:"threads"`  // the numbers of threads tried
	Rows     []CostRow `json:"rows"`
}

// CostRow is a parallel way.
type CostRow struct {
	Name    string    `json:"name"`
	Seconds []float64 `json:"seconds"` // by number of threads, as in CostTable.Threads
	// Cost is the smallest number of threads at which it took less time than the
	// baseline; 0 if there is none among those tried.
	Cost int `json:"cost"`
}

// CostWay is something to be timed.
type CostWay struct {
	Name string
	Run  func(ctx context.Context, threads int) error
}

// CostReport times baseline on one thread and each way on 1, 2, 4 and so on up to
// all of opt.Threads, interleaved.
func CostReport(ctx context.Context, baseline CostWay, ways []CostWay, opt MeasureOptions) (CostTable, error) {
	opt = opt.withDefaults()
	t := CostTable{Baseline: baseline.Name}
	for n := 1; n < opt.Threads; n *= 2 {
		t.Threads = append(t.Threads, n)
	}
	t.Threads = append(t.Threads, opt.Threads)
	plain := func(w CostWay, threads int) step[struct{}] {
		return step[struct{}]{name: w.Name, run: func(ctx context.Context) (struct{}, error) {
			return struct{}{}, w.Run(ctx, threads)
		}}
	}
	steps := []step[struct{}]{plain(baseline, 1)}
	for _, w := range ways {
		for _, n := range t.Threads {
			steps = append(steps, plain(w, n))
		}
	}
	rungs, err := climb(ctx, "cost", steps, 1, opt, func(_, _ struct{}) error { return nil })
	if err != nil {
		return CostTable{}, err
	}
	t.Seconds = rungs[0].Seconds
	for i, w := range ways {
		row := CostRow{Name: w.Name}
		for j, n := range t.Threads {
			seconds := rungs[1+i*len(t.Threads)+j].Seconds
			row.Seconds = append(row.Seconds, seconds)
			if row.Cost == 0 && seconds < t.Seconds {
				row.Cost = n
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// ComponentsCost is the [CostReport] of all ways to find components, against
// [UnionFind] over Hilbert order on one thread.
func ComponentsCost(ctx context.Context, in LadderInput, opt MeasureOptions) (CostTable, error) {
	if in.Hilbert == nil {
		return CostTable{}, errors.New("cost: the graph is needed in Hilbert order")
	}
	type find = func(context.Context, order.EdgeMap, ComponentsOptions) (Components, error)
	way := func(name string, f find, edges order.EdgeMap) CostWay {
		return CostWay{name, func(ctx context.Context, threads int) error {
			_, err := f(ctx, edges, ComponentsOptions{Threads: threads})
			return err
		}}
	}
	ways := []CostWay{
		way("label propagation, Hilbert order", LabelPropagation, in.Hilbert),
		way("union-find, Hilbert order", UnionFind, in.Hilbert),
	}
	if in.Out != nil {
		ways = append(ways,
			way("label propagation, vertex order", LabelPropagation, in.Out),
			way("union-find, vertex order", UnionFind, in.Out),
			CostWay{"Afforest", func(ctx context.Context, threads int) error {
				_, err := Afforest(ctx, in.Out, in.In, ComponentsOptions{Threads: threads})
				return err
			}})
	}
	return CostReport(ctx, way("union-find, Hilbert order, one thread", UnionFind, in.Hilbert), ways, opt)
}

// PageRankCost is the [CostReport] of PageRank in float32 over all orders, against
// Hilbert order on one thread.
func PageRankCost(ctx context.Context, in LadderInput, opt MeasureOptions) (CostTable, error) {
	if in.Hilbert == nil {
		return CostTable{}, errors.New("cost: the graph is needed in Hilbert order")
	}
	opt = opt.withDefaults()
	degrees, err := OutDegrees(ctx, in.Hilbert, opt.Threads)
	if err != nil {
		return CostTable{}, fmt.Errorf("cost: %w", err)
	}
	way := func(name string, edges order.EdgeMap) CostWay {
		return CostWay{name, func(ctx context.Context, threads int) error {
			_, err := PageRank[float32](ctx, edges, PageRankOptions{Iterations: opt.Iterations, Threads: threads, OutDegrees: degrees})
			return err
		}}
	}
	var ways []CostWay
	for _, s := range in.rankSteps() {
		ways = append(ways, way(s.name, s.edges))
	}
	return CostReport(ctx, way("Hilbert, one thread", in.Hilbert), ways, opt)
}
