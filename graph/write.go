package graph

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"weir/graph/store"
)

// store writes weir's own file, with the given orders.
func (g *Graph) store(ctx context.Context, path string, orders []Order) error {
	w, err := store.Create(path)
	if err != nil {
		return err
	}
	defer w.Abort()
	w.Meta = g.meta(orders)
	for _, o := range orders {
		if err := g.storeOrder(ctx, w, o); err != nil {
			return err
		}
	}
	if !slices.Contains(orders, OutRows) {
		degrees, err := g.OutDegrees(ctx)
		if err != nil {
			return err
		}
		if err := w.WriteDegrees(ctx, degrees); err != nil {
			return err
		}
	}
	if err := g.storeNames(ctx, w); err != nil {
		return err
	}
	return w.Close()
}

func (g *Graph) storeNames(ctx context.Context, w *store.Writer) error {
	if g.Names == nil {
		return nil
	}
	data, err := g.Names.AppendBinary(nil)
	if err != nil {
		return fmt.Errorf("write names of %s: %w", g.Source, err)
	}
	return w.WriteNames(ctx, data)
}

func (g *Graph) storeOrder(ctx context.Context, w *store.Writer, o Order) error {
	switch o {
	case OutRows:
		rows, err := g.outRows(ctx)
		if err != nil {
			return err
		}
		return w.WriteCSR(ctx, rows)
	case InRows:
		rows, err := g.inRows(ctx)
		if err != nil {
			return err
		}
		return w.WriteCSR(ctx, rows)
	case Hilbert:
		h, err := g.hilbertOrder(ctx)
		if err != nil {
			return err
		}
		return w.WriteHilbert(ctx, h)
	case Compressed:
		c, err := g.compressedOrder(ctx)
		if err != nil {
			return err
		}
		return w.WriteCompressed(ctx, c)
	}
	return fmt.Errorf("no such order: %v", o)
}

// meta is what a stored graph with the given orders says of this one. Only rows
// have weights.
func (g *Graph) meta(orders []Order) store.Meta {
	m := store.Meta{
		Vertices:   int64(g.Vertices),
		Edges:      g.Edges,
		SelfLoops:  g.SelfLoops,
		Duplicates: g.Duplicates,
		Undirected: g.Undirected,
		Weighted:   g.Weighted && (slices.Contains(orders, OutRows) || slices.Contains(orders, InRows)),
		Sorted:     true,
		Source:     g.Source,
		Tool:       tool(),
	}
	switch {
	case m.Weighted && g.out != nil:
		m.IntegerWeights = wholeNumbers(g.out.Weights)
	case m.Weighted && g.in != nil:
		m.IntegerWeights = wholeNumbers(g.in.Weights)
	}
	return m
}

func wholeNumbers(weights []float32) bool {
	return !slices.ContainsFunc(weights, func(w float32) bool { return w != float32(int64(w)) })
}

// tool names the program that stored a graph.
func tool() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return "weir " + info.Main.Version
	}
	return "weir"
}
