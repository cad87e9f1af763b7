package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/ladder"
	"weir/graph/order"
	"weir/internal/plot"
	"weir/internal/table"
)

// ladderResult is the result of the command as JSON.
type ladderResult struct {
	Components []ladder.Rung `json:"components"`
	PageRank   []ladder.Rung `json:"pagerank"`
}

func (a *app) ladderCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ladder GRAPH",
		Short: "Show what each improvement of one thread is worth",
		Long: `Find the connected components of a graph on one thread, again and again, each time
with one improvement more (after McSherry, "Scalability! But at what COST?", 2015):
label propagation as distributed systems do it; union-find; edges in Hilbert
order; no bounds checks; a smaller footprint; prefetching; and what weir does.

Then rank its vertices, ten iterations of PageRank on one thread: in vertex order by
source and by target, in Hilbert order, and compressed.`,
		Example: `  weir graph ladder rmat.weir
  weir graph ladder rmat.weir --plot ladder.svg`,
		Args: cobra.ExactArgs(1),
	}
	in := addInputFlags(cmd)
	chart := cmd.Flags().String("plot", "", "draw a chart to `file`.svg or .png")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		g, orders, err := a.openLadder(ctx, args[0], in)
		if err != nil {
			return err
		}
		defer g.Close()
		rungs, err := ladder.Climb(ctx, orders)
		if err != nil {
			return err
		}
		ranked, err := ladder.Rank(ctx, orders)
		if err != nil {
			return err
		}
		if *chart != "" {
			if err := g.plotLadder(*chart, rungs); err != nil {
				return err
			}
			a.note("wrote %s", *chart)
		}
		if a.json {
			return a.printJSON(document{g.summary(), ladderResult{rungs, ranked}, g.seconds})
		}
		fmt.Fprintln(a.stdout, "connected components")
		if err := writeRungs(a, rungs); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "\nPageRank, %d iterations\n", ladder.Iterations)
		return writeRungs(a, ranked)
	})
	return cmd
}

func writeRungs(a *app, rungs []ladder.Rung) error {
	t := table.New(table.Left("rung"), table.Right("ms"), table.Right("M edges/s"), table.Right("× before"), table.Right("× first"), table.Left("what it does"))
	before := rungs[0].Seconds
	for _, r := range rungs {
		t.Row(r.Name, 1e3*r.Seconds, r.EdgesPerSecond/1e6, before/r.Seconds, rungs[0].Seconds/r.Seconds, r.What)
		before = r.Seconds
	}
	return t.WriteText(a.stdout)
}

// openLadder opens a graph and makes the orders that ladders climb.
func (a *app) openLadder(ctx context.Context, path string, in *inputFlags) (*opened, ladder.Graph, error) {
	g, err := a.open(ctx, path, in, graph.OutRows)
	if err != nil {
		return nil, ladder.Graph{}, err
	}
	var orders ladder.Graph
	err = g.time("prepare", func() (err error) {
		for _, o := range []struct {
			order graph.Order
			to    *order.EdgeMap
		}{{graph.Hilbert, &orders.Hilbert}, {graph.Compressed, &orders.Compressed}} {
			if *o.to, err = g.Map(ctx, o.order); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		orders.Rows, orders.In, err = g.rowsBothWays(ctx, true)
	}
	if err != nil {
		g.Close()
		return nil, ladder.Graph{}, err
	}
	return g, orders, nil
}

// source is the line at the foot of a chart.
func (g *opened) source(command string) string {
	return fmt.Sprintf("weir graph %s, %s: %s, %s · %s %s/%s, %d processors · %s", command, filepath.Base(g.Source),
		humanize.Comma(int64(g.Vertices))+" vertices", plural(int(g.Edges), "edge"), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.GOMAXPROCS(0), time.Now().Format(time.DateOnly))
}

// logFrom is the ratio of times from which a chart needs a logarithmic axis, or the
// short bars could not be told from none.
const logFrom = 30

func (g *opened) plotLadder(path string, rungs []ladder.Rung) error {
	bars := make([]plot.Bar, len(rungs))
	least, most := rungs[0].Seconds, rungs[0].Seconds
	for i, r := range rungs {
		least, most = min(least, r.Seconds), max(most, r.Seconds)
		bars[i] = plot.Bar{Label: r.Name, Value: 1e3 * r.Seconds, Text: table.ThreeDigits(1e3*r.Seconds) + " ms"}
	}
	chart, err := plot.Bars(plot.Figure{
		Title: "Connected components on one thread, step by step", Subtitle: "each bar is the one above with one improvement more; shorter is better",
		Source: g.source("ladder"),
	}, plot.Axis{Title: "milliseconds", Log: most > logFrom*least}, bars)
	if err != nil {
		return err
	}
	return chart.Save(path)
}
