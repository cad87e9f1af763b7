// Package ladder measures how far one thread gets, step by step, and what it takes
// to beat it.
//
// [Climb] finds the connected components of a graph again and again, each time with
// one improvement more: the rungs of McSherry's post "Scalability! But at what
// COST?" (2015), from the label propagation of distributed systems to union-find
// over a good order with little memory, touched early. The code of each rung is
// small and kept for reading; package algo has what one should use.
//
// [Measure] counts how many threads a parallel algorithm needs before it beats the
// best that one thread does: its COST, the "configuration that outperforms a single
// thread" of McSherry, Isard and Murray (HotOS 2015).
package ladder

import (
	"context"
	"fmt"
	"slices"
	"time"

	"weir/graph/algo"
	"weir/graph/order"
	"weir/internal/progress"
)

// Graph is the edges that are walked, in two orders.
type Graph struct {
	Rows    *order.CSR    // vertex order, by source
	Hilbert order.EdgeMap // the same edges
}

// Rung is a step and how long it took.
type Rung struct {
	Name    string        `json:"name"`
	What    string        `json:"what"` // what it does that the one before does not
	Seconds float64       `json:"seconds"`
	Runs    int           `json:"runs"` // of which the fastest counts
	Time    time.Duration `json:"-"`
	// EdgesPerSecond is edges of the graph by time: passes do not count.
	EdgesPerSecond float64 `json:"edges_per_second"`
	Components     int     `json:"components"`
}

// step is a rung to climb: it returns the label of each vertex, any vertex of its
// component.
type step struct {
	name, what string
	labels     func(context.Context, Graph) ([]uint32, error)
}

var steps = []step{
	{"label propagation", "what distributed systems do: smaller labels win, in vertex order, until nothing changes", propagate},
	{"union-find", "weighted, with path halving: one pass over the edges", func(ctx context.Context, g Graph) ([]uint32, error) {
		return unite(ctx, g.Rows, newWeighted(g))
	}},
	{"Hilbert order", "both ends of consecutive edges stay in cache", func(ctx context.Context, g Graph) ([]uint32, error) {
		return unite(ctx, g.Hilbert, newWeighted(g))
	}},
	{"no bounds checks", "vertices are known to be in range", func(ctx context.Context, g Graph) ([]uint32, error) {
		return unite(ctx, g.Hilbert, newUnchecked(g))
	}},
	{"smaller footprint", "link to the smaller vertex: no ranks, 4 bytes a vertex", func(ctx context.Context, g Graph) ([]uint32, error) {
		return unite(ctx, g.Hilbert, newSmall(g))
	}},
	{"prefetch", "read the parents of a batch of edges before any is followed", func(ctx context.Context, g Graph) ([]uint32, error) {
		found, err := algo.UnionFind(ctx, g.Hilbert, algo.ComponentsOptions{Threads: 1})
		return found.Labels, err
	}},
}

// Climb measures all rungs on one thread, the fastest of several runs each (of
// half a second in all), and checks that all find the same components.
func Climb(ctx context.Context, g Graph) ([]Rung, error) {
	if n, m := g.Rows.Vertices(), g.Hilbert.Vertices(); n != m || g.Rows.Edges() != g.Hilbert.Edges() {
		return nil, fmt.Errorf("climb: %d vertices and %d edges in vertex order, but %d and %d in Hilbert order",
			n, g.Rows.Edges(), m, g.Hilbert.Edges())
	}
	if err := g.Rows.Verify(); err != nil { // once, so that no rung pays for it
		return nil, fmt.Errorf("climb: %w", err)
	}
	stage := progress.Start(ctx, "rungs", int64(len(steps)), progress.Items)
	defer stage.Done()
	var rungs []Rung
	var first []uint32
	for _, s := range steps {
		r := Rung{Name: s.name, What: s.what}
		var labels []uint32
		var err error
		r.Time, r.Runs, err = fastest(ctx, func() (err error) {
			labels, err = s.labels(ctx, g)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("climb: %s: %w", s.name, err)
		}
		r.Components = smallest(labels)
		if first == nil {
			first = labels
		} else if !slices.Equal(labels, first) {
			return nil, fmt.Errorf("climb: %s finds other components than %s", s.name, steps[0].name)
		}
		r.Seconds = r.Time.Seconds()
		r.EdgesPerSecond = float64(g.Rows.Edges()) / r.Seconds
		rungs = append(rungs, r)
		stage.Add(1)
	}
	return rungs, nil
}

// fastest runs f a few times, until half a second is spent, and returns the shortest
// time.
func fastest(ctx context.Context, f func() error) (best time.Duration, runs int, err error) {
	const enough, most = time.Second / 2, 10
	var spent time.Duration
	for runs < most && (runs == 0 || spent < enough) {
		if err := ctx.Err(); err != nil {
			return 0, runs, err
		}
		begin := time.Now()
		if err := f(); err != nil {
			return 0, runs, err
		}
		took := max(time.Since(begin), 1)
		if runs == 0 || took < best {
			best = took
		}
		spent += took
		runs++
	}
	return best, runs, nil
}

// smallest replaces each label by the smallest vertex that has it, and counts them.
func smallest(labels []uint32) (components int) {
	least := make([]uint32, len(labels))
	for v := len(labels) - 1; v >= 0; v-- {
		least[labels[v]] = uint32(v)
	}
	for v, l := range labels {
		labels[v] = least[l]
		if labels[v] == uint32(v) {
			components++
		}
	}
	return components
}
