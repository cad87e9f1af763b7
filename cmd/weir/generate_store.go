package main

import (
	"context"
	"slices"

	"weir/graph"
	"weir/graph/generate"
	"weir/graph/order"
	"weir/graph/store"
)

// storeGenerated writes the graph as weir's own file.
func (a *app) storeGenerated(ctx context.Context, spec generate.Spec, path string, undirected bool, orders []graph.Order) error {
	rows, stats, err := a.generateRows(ctx, spec)
	if err != nil {
		return err
	}
	if undirected {
		if rows, err = order.Symmetrize(ctx, rows, order.BuildOptions{Threads: a.threads}); err != nil {
			return err
		}
		stats.Duplicates = store.Unknown
	}
	if orders == nil {
		orders = []graph.Order{graph.OutRows, graph.InRows}
		if undirected {
			orders = orders[:1]
		}
	}
	w, err := store.Create(path)
	if err != nil {
		return err
	}
	defer w.Abort()
	w.Meta = store.Meta{
		Vertices: int64(rows.Vertices()), Edges: rows.Edges(), SelfLoops: stats.SelfLoops, Duplicates: stats.Duplicates,
		Undirected: undirected, Weighted: rows.Weights != nil, IntegerWeights: rows.Weights != nil && spec.Weights.Whole, Sorted: true,
		Source: "weir graph generate " + string(spec.Kind), Tool: "weir " + readBuildInfo().Version,
	}
	var hilbert *order.Hilbert
	for _, o := range orders {
		if hilbert == nil && (o == graph.Hilbert || o == graph.Compressed) {
			if hilbert, err = order.BuildHilbert(ctx, rows, a.threads); err != nil {
				return err
			}
		}
		if err := a.storeOrder(ctx, w, o, rows, hilbert); err != nil {
			return err
		}
	}
	if !slices.Contains(orders, graph.OutRows) {
		degrees, _, err := order.Degrees(ctx, rows, a.threads)
		if err != nil {
			return err
		}
		if err := w.WriteDegrees(ctx, degrees); err != nil {
			return err
		}
	}
	return w.Close()
}

// generateRows makes the graph in memory.
func (a *app) generateRows(ctx context.Context, spec generate.Spec) (*order.CSR, order.Stats, error) {
	vertices, _, err := spec.Size()
	if err != nil {
		return nil, order.Stats{}, err
	}
	const run = 1 << 20 // edges of a slice: few slices, and none much larger than needed
	var edges [][]uint64
	var weights [][]float32
	err = generate.Generate(ctx, spec, a.threads, func(e []uint64, w []float32) error {
		edges, weights = appendRun(edges, e, run), appendRun(weights, w, run)
		return nil
	})
	if err != nil {
		return nil, order.Stats{}, err
	}
	return order.Build(ctx, int(vertices), edges, weights, order.BuildOptions{Threads: a.threads})
}

// appendRun appends more to the last of runs, or to a new one where that is full.
func appendRun[T any](runs [][]T, more []T, size int) [][]T {
	if len(more) == 0 {
		return runs
	}
	if last := len(runs) - 1; last < 0 || len(runs[last])+len(more) > cap(runs[last]) {
		runs = append(runs, make([]T, 0, max(size, len(more))))
	}
	last := len(runs) - 1
	runs[last] = append(runs[last], more...)
	return runs
}

func (a *app) storeOrder(ctx context.Context, w *store.Writer, o graph.Order, rows *order.CSR, hilbert *order.Hilbert) error {
	switch o {
	case graph.Hilbert:
		return w.WriteHilbert(ctx, hilbert)
	case graph.Compressed:
		compressed, err := order.Compress(ctx, hilbert, a.threads)
		if err != nil {
			return err
		}
		return w.WriteCompressed(ctx, compressed)
	case graph.InRows:
		in, err := order.Transpose(ctx, rows, a.threads)
		if err != nil {
			return err
		}
		return w.WriteCSR(ctx, in)
	}
	return w.WriteCSR(ctx, rows)
}
