package graph

import (
	"context"
	"fmt"
	"slices"

	"weir/graph/order"
	"weir/graph/text"
	"weir/internal/progress"
)

// loadText reads the text file at path and makes the preferred rows of it.
func loadText(ctx context.Context, path string, opt Options) (*Graph, error) {
	in, err := text.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var c collector
	found, err := text.Read(ctx, in, opt.textOptions(), c.add)
	if err != nil {
		return nil, err
	}
	return c.build(ctx, found, opt)
}

func (o Options) textOptions() text.Options {
	t := o.Text
	t.Threads = o.Threads
	return t
}

// collector holds the edges of a text until they are made into rows.
type collector struct {
	edges   [][]uint64
	weights [][]float32
	raw     []bool
	bytes   int64
}

func (c *collector) add(chunk text.Chunk) error {
	c.edges = append(c.edges, chunk.Edges)
	if chunk.Weights != nil {
		c.weights = append(c.weights, chunk.Weights)
	}
	c.raw = append(c.raw, chunk.Raw)
	c.bytes += int64(8*cap(chunk.Edges) + 4*cap(chunk.Weights))
	return nil
}

// build makes the graph of the collected edges, and drops them.
func (c *collector) build(ctx context.Context, found *text.Result, opt Options) (*Graph, error) {
	if found.Rank != nil {
		for i, edges := range c.edges {
			if c.raw[i] {
				found.Rank.Apply(edges)
			}
		}
	}
	symmetric := opt.Undirected && !found.Undirected
	stage := progress.Start(ctx, "order edges", 0, progress.Edges)
	defer stage.Done()
	rows, stats, err := order.Build(ctx, found.Vertices, c.edges, c.weights, order.BuildOptions{
		Threads:  opt.Threads,
		Reversed: opt.Prefer == InRows && !symmetric && !found.Undirected,
		Dedup:    opt.Dedup,
	})
	*c = collector{}
	if err != nil {
		return nil, err
	}
	if symmetric {
		rows, err = order.Symmetrize(ctx, rows, order.BuildOptions{Threads: opt.Threads, Dedup: opt.Dedup})
		if err != nil {
			return nil, err
		}
	}
	g := &Graph{
		Source:     found.Report.File,
		Format:     found.Report.Format.String(),
		Vertices:   found.Vertices,
		Edges:      rows.Edges(),
		Undirected: symmetric || found.Undirected,
		Weighted:   found.Weighted,
		Names:      found.Names,
		Report:     &found.Report,
		SelfLoops:  stats.SelfLoops,
		Duplicates: stats.Duplicates,
		threads:    opt.Threads,
	}
	if symmetric || opt.Dedup {
		g.recount(rows, opt.Dedup)
	}
	if rows.Reversed {
		g.in = rows
	} else {
		g.out = rows
	}
	return g, nil
}

// rework applies the options that change which edges there are to a graph that
// came from a binary file.
func (g *Graph) rework(ctx context.Context, opt Options) error {
	symmetric := opt.Undirected && !g.Undirected
	if !symmetric && !opt.Dedup {
		return nil
	}
	rows, err := g.Out(ctx)
	if err != nil {
		return err
	}
	how := order.BuildOptions{Threads: opt.Threads, Dedup: opt.Dedup}
	if symmetric {
		rows, err = order.Symmetrize(ctx, rows, how)
	} else {
		rows, _, err = order.ToCSR(ctx, rows, how)
	}
	if err != nil {
		return fmt.Errorf("rework %s: %w", g.Source, err)
	}
	g.out, g.in, g.hilbert, g.compressed, g.degrees = rows, nil, nil, nil, nil
	g.held = [len(orderNames)]bool{}
	g.Edges = rows.Edges()
	g.Undirected = g.Undirected || symmetric
	g.recount(rows, opt.Dedup)
	return nil
}

// recount counts again what adding reverses and dropping duplicates changed.
func (g *Graph) recount(rows *order.CSR, dedup bool) {
	g.SelfLoops, g.Duplicates = 0, -1
	if dedup {
		g.Duplicates = 0
	}
	for v := range uint32(rows.Vertices()) {
		row := rows.Neighbours(v)
		at, found := slices.BinarySearch(row, v)
		for ; found && at < len(row) && row[at] == v; at++ {
			g.SelfLoops++
		}
	}
}
