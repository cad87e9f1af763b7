// Package ladder measures how far one thread gets, step by step, and what it takes
// to beat it.
//
// [Climb] finds the connected components of a graph again and again, each time with
// one improvement more: the rungs of McSherry's post "Scalability! But at what
// COST?" (2015), from the label propagation of distributed systems to union-find
// over a good order with little memory, touched early. [Rank] does the same for
// PageRank. The code of each rung is small and kept for reading; package algo has
// what one should use.
//
//	rungs, err := ladder.Climb(ctx, ladder.Graph{Rows: rows, Hilbert: hilbert})
//
// [Measure] counts how many threads a parallel algorithm needs before it beats the
// best that one thread does: its COST, the "configuration that outperforms a single
// thread" of McSherry, Isard and Murray (HotOS 2015). [Systems] are the figures that
// they published.
package ladder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"weir/graph/algo"
	"weir/graph/order"
	"weir/internal/progress"
)

// Graph is the edges that are walked, in several orders.
type Graph struct {
	Rows    *order.CSR    // vertex order, by source
	Hilbert order.EdgeMap // the same edges
	// In is the transposed rows, or Rows itself for an undirected graph; Rank and
	// Measure need it.
	In *order.CSR
	// Compressed is the same edges again; where it is nil its rung is left out.
	Compressed order.EdgeMap
}

// check verifies what is read directly, once, so that no rung pays for it.
func (g Graph) check(wantIn bool) error {
	for _, other := range []order.EdgeMap{g.Hilbert, g.Compressed} {
		if other != nil && (other.Vertices() != g.Rows.Vertices() || other.Edges() != g.Rows.Edges()) {
			return fmt.Errorf("%d vertices and %d edges in vertex order, but %d and %d in another",
				g.Rows.Vertices(), g.Rows.Edges(), other.Vertices(), other.Edges())
		}
	}
	if wantIn && g.In == nil {
		return errors.New("no transposed rows given")
	}
	if g.In != nil && g.In != g.Rows {
		if err := g.In.Verify(); err != nil {
			return err
		}
	}
	return g.Rows.Verify()
}

// Rung is a step and how long it took.
type Rung struct {
	Name    string        `json:"name"`
	What    string        `json:"what"` // what it does that the one before does not
	Seconds float64       `json:"seconds"`
	Runs    int           `json:"runs"` // of which the fastest counts
	Time    time.Duration `json:"-"`
	// EdgesPerSecond is edges of the graph by time, times iterations for PageRank.
	// Passes of label propagation do not count.
	EdgesPerSecond float64 `json:"edges_per_second"`
	Components     int     `json:"components,omitempty"` // found; of Climb
}

// step is a rung to climb, which computes an answer.
type step[A any] struct {
	name, what string
	run        func(context.Context, Graph) (A, error)
}

// components are the rungs of Climb: the label of each vertex is any vertex of its
// component.
var components = []step[[]uint32]{
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
		return unite(ctx, g.Hilbert, newBatched(g))
	}},
	{"as in weir", "splice paths instead of halving them, and only where two parents differ", func(ctx context.Context, g Graph) ([]uint32, error) {
		found, err := algo.UnionFind(ctx, g.Hilbert, algo.ComponentsOptions{Threads: 1})
		return found.Labels, err
	}},
}

// Climb finds components on one thread, rung by rung, and checks that all find the
// same.
func Climb(ctx context.Context, g Graph) ([]Rung, error) {
	if err := g.check(false); err != nil {
		return nil, fmt.Errorf("climb: %w", err)
	}
	count := 0
	rungs, err := climb(ctx, g, components, g.Rows.Edges(), func(first, labels []uint32) error {
		count = smallest(labels)
		if !slices.Equal(first, labels) {
			return errors.New("it finds other components")
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("climb: %w", err)
	}
	for i := range rungs {
		rungs[i].Components = count
	}
	return rungs, nil
}

// climb measures steps, the fastest of several runs of each. Compare, which is not
// timed, gets the first answer with each answer, itself first.
func climb[A any](ctx context.Context, g Graph, steps []step[A], edges int64, compare func(first, answer A) error) ([]Rung, error) {
	stage := progress.Start(ctx, "rungs", int64(len(steps)), progress.Items)
	defer stage.Done()
	var rungs []Rung
	var first A
	for i, s := range steps {
		r := Rung{Name: s.name, What: s.what}
		var answer A
		var err error
		r.Time, r.Runs, err = fastest(ctx, func() (err error) {
			answer, err = s.run(ctx, g)
			return err
		})
		if i == 0 {
			first = answer
		}
		if err == nil {
			err = compare(first, answer)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		r.Seconds = r.Time.Seconds()
		r.EdgesPerSecond = float64(edges) / r.Seconds
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
