package main

import (
	"context"

	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
)

// clusteringResult is the summary of the command as JSON.
type clusteringResult struct {
	Average float64 `json:"average"`
}

func (a *app) clusteringCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "clustering GRAPH",
		Aliases: []string{"lcc"},
		Short:   "Find how well the neighbours of each vertex know one another",
		Long: `Find the local clustering coefficient of each vertex: of all ordered pairs of its
neighbours, the share that has an edge from the first to the second. Neighbours
are those in either direction; self-loops do not count, and equal edges count
once. It is 0 for vertices of fewer than two neighbours.`,
		Example: `  weir graph clustering friends.txt.gz --undirected
  weir graph clustering web.weir --output clustering.csv`,
		Args: cobra.ExactArgs(1),
	}
	in, out := addInputFlags(cmd), addOutputFlags(cmd, "vertices, those of the highest coefficients first")
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
		var found *algo.LCCResult
		err = g.time("compute", func() (err error) {
			found, err = algo.LCC(ctx, forward, backward, algo.LCCOptions{Threads: a.threads})
			return err
		})
		if err != nil {
			return err
		}
		g.ran(g.Edges, "clustering: %.6g on average", found.Average)
		r := &rows{g: g, id: "id", columns: []column{numbers("clustering", found.Coefficients), numbers("neighbours", found.Neighbours)}}
		return g.deliver(ctx, out, t, clusteringResult{found.Average}, r, r)
	})
	return cmd
}
