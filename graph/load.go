package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"weir/graph/names"
	"weir/graph/order"
	"weir/graph/text"
	"weir/internal/progress"
)

// loadText reads the text file at path and makes the preferred rows of it.
func loadText(ctx context.Context, path string, opt Options) (*Graph, error) {
	in, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	c := newCollector(in, opt)
	found, err := text.Read(ctx, in, opt.textOptions(), func(chunk text.Chunk) error {
		if err := c.add(chunk); err != nil || opt.Memory <= 0 || c.bytes*3/2 <= opt.Memory {
			return err
		}
		return fmt.Errorf("read %s: its edges need more than the %s of memory that they may use; convert it first: "+
			"weir's own file is sorted on disk and mapped into memory", path, humanize.IBytes(uint64(opt.Memory)))
	})
	if err != nil {
		return nil, err
	}
	return c.build(ctx, originOf(found), opt)
}

// origin is what is known of edges besides themselves.
type origin struct {
	source, format string
	vertices       int
	undirected     bool // both directions of each edge are there already
	weighted       bool
	rank           *names.Rank // renumbers raw edges; nil where none are
	names          *names.Table
	report         *text.Report
}

func originOf(found *text.Result) origin {
	return origin{
		source: found.Report.File, format: found.Report.Format.String(), vertices: found.Vertices,
		undirected: found.Undirected, weighted: found.Weighted, rank: found.Rank, names: found.Names, report: &found.Report,
	}
}

func (o Options) textOptions() text.Options {
	t := o.Text
	t.Threads = o.Threads
	return t
}

// build makes the graph of the collected edges, and drops them.
func (c *collector) build(ctx context.Context, from origin, opt Options) (*Graph, error) {
	if err := from.fits(); err != nil {
		return nil, err
	}
	symmetric := opt.Undirected && !from.undirected
	stage := progress.Start(ctx, "order edges", 0, progress.Edges)
	defer stage.Done()
	rows, stats, err := c.make(ctx, from, order.BuildOptions{
		Threads:  opt.Threads,
		Reversed: opt.Prefer == InRows && !symmetric && !from.undirected,
		Dedup:    opt.Dedup && !symmetric,
	})
	if err != nil {
		return nil, err
	}
	if symmetric {
		rows, err = order.Symmetrize(ctx, rows, order.BuildOptions{Threads: opt.Threads, Dedup: opt.Dedup})
		if err != nil {
			return nil, err
		}
	}
	g := from.graph()
	g.Edges, g.SelfLoops, g.Duplicates = rows.Edges(), stats.SelfLoops, stats.Duplicates
	g.Undirected = symmetric || from.undirected
	g.threads = opt.Threads
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

// graph is what the origin says of the graph.
func (o origin) graph() *Graph {
	return &Graph{
		Source: o.source, Format: o.format, Report: o.report, Vertices: o.vertices, Names: o.names,
		Undirected: o.undirected, Weighted: o.weighted,
	}
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
