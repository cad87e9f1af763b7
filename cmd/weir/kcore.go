package main

import (
	"context"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
)

// kcoreResult is the summary of the command as JSON.
type kcoreResult struct {
	Max       int `json:"max"`
	Innermost int `json:"innermost"` // vertices of the core of that number
}

func (a *app) kcoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kcore GRAPH",
		Short: "Find how deep in the core of the graph each vertex lies",
		Long: `Find the core number of each vertex: the largest k such that the vertex belongs to
a part of the graph in which all have at least k edges to one another.

In a directed graph a vertex has its edges out and its edges in; self-loops and
all but one of equal edges do not count.`,
		Example: `  weir graph kcore friends.txt.gz --undirected --top 20
  weir graph kcore web.weir --output cores.bin`,
		Args: cobra.ExactArgs(1),
	}
	in, out := addInputFlags(cmd), addOutputFlags(cmd, "vertices, the innermost first")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		t, err := out.decide(a)
		if err != nil {
			return err
		}
		g, err := a.open(ctx, args[0], in, graph.OutRows)
		if err != nil {
			return err
		}
		defer g.Close()
		forward, backward, err := g.rowsBothWays(ctx, true)
		if err != nil {
			return err
		}
		var found *algo.KCoreResult
		err = g.time("compute", func() (err error) {
			found, err = algo.KCore(ctx, forward, backward, algo.KCoreOptions{Threads: a.threads})
			return err
		})
		if err != nil {
			return err
		}
		g.ran(g.Edges, "kcore: the innermost core has number %d and %s vertices", found.Max, humanize.Comma(int64(found.Innermost)))
		r := &rows{g: g, id: "id", columns: []column{numbers("core", found.Core)}}
		return g.deliver(ctx, out, t, kcoreResult{found.Max, found.Innermost}, r, r)
	})
	return cmd
}
