package main

import (
	"context"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
)

// bfsResult is the summary of the command as JSON.
type bfsResult struct {
	Source  string `json:"source"`
	Reached int    `json:"reached"` // vertices, the source among them
	Depth   int    `json:"depth"`   // of the farthest
}

func (a *app) bfsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bfs GRAPH SOURCE",
		Short: "Find how many edges away each vertex is from another",
		Long: `Find how many edges away each vertex is from the vertex SOURCE, by a breadth-first
search along the edges.

Vertices that cannot be reached are left out, but have -1 in a vector (.bin).`,
		Example: `  weir graph bfs routes.csv AMS --columns 3,5
  weir graph bfs road.weir 17 --parents --output tree.csv`,
		Args: cobra.ExactArgs(2),
	}
	in, out := addInputFlags(cmd), addOutputFlags(cmd, "vertices, the nearest first")
	var opt algo.BFSOptions
	cmd.Flags().BoolVar(&opt.Parents, "parents", false, "also print the vertex before each on a shortest way")
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
		source, err := g.find(args[1])
		if err != nil {
			return err
		}
		forward, backward, err := g.rowsBothWays(ctx, true)
		if err != nil {
			return err
		}
		var found *algo.BFSResult
		err = g.time("compute", func() (err error) {
			found, err = algo.BFS(ctx, forward, backward, source, opt)
			return err
		})
		if err != nil {
			return err
		}
		g.ran(found.Edges, "bfs: reached %s vertices in %s", humanize.Comma(int64(found.Reached)), plural(found.Levels-1, "step"))
		r := &rows{
			g: g, id: "id", columns: []column{numbers("depth", found.Depth).ascending()},
			has: func(v uint32) bool { return found.Depth[v] != algo.Unreached },
		}
		if opt.Parents {
			r.columns = append(r.columns, g.vertices("parent", found.Parent))
		}
		return g.deliver(ctx, out, t, bfsResult{args[1], found.Reached, found.Levels - 1}, r, r)
	})
	return cmd
}
