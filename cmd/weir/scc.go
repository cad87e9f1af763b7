package main

import (
	"context"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
)

// sccResult is the summary of the command as JSON.
type sccResult struct {
	Components int `json:"components"`
	Largest    int `json:"largest"` // vertices
	Trivial    int `json:"trivial"` // components of one vertex
}

func (a *app) sccCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scc GRAPH",
		Short: "Find strongly connected components",
		Long: `Find strongly connected components: two vertices belong together if each can be
reached from the other along the edges.

On a terminal, or with --top, it prints the largest components: each is called
by its first vertex. Else it prints the component of every vertex.`,
		Example: `  weir graph scc links.tsv.gz
  weir graph scc web.weir --output component-of.csv`,
		Args: cobra.ExactArgs(1),
	}
	in, out := addInputFlags(cmd), addOutputFlags(cmd, "components, the largest first")
	var opt algo.SCCOptions
	cmd.Flags().BoolVar(&opt.Tarjan, "tarjan", false, "use Tarjan's algorithm alone, on one thread")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		t, err := out.decide(a)
		if err != nil {
			return err
		}
		opt.Threads = a.threads
		g, err := a.open(ctx, args[0], in, graph.OutRows)
		if err != nil {
			return err
		}
		defer g.Close()
		forward, backward, err := g.rowsBothWays(ctx, !opt.Tarjan)
		if err != nil {
			return err
		}
		var found *algo.SCCResult
		err = g.time("compute", func() (err error) {
			found, err = algo.SCC(ctx, forward, backward, opt)
			return err
		})
		if err != nil {
			return err
		}
		g.ran(g.Edges, "scc: %s components, the largest of %s vertices, %s of one",
			humanize.Comma(int64(found.Count)), humanize.Comma(int64(found.Largest)), humanize.Comma(int64(found.Trivial)))
		all := &rows{g: g, id: "id", columns: []column{g.vertices("component", found.Labels)}}
		sizes, _ := g.groups("component", found.Labels)
		return g.deliver(ctx, out, t, sccResult{found.Count, found.Largest, found.Trivial}, all, sizes)
	})
	return cmd
}
