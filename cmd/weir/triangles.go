package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
	"weir/internal/table"
)

// trianglesResult is the result of the command as JSON.
type trianglesResult struct {
	Triangles    int64   `json:"triangles"`
	Wedges       int64   `json:"wedges"` // pairs of edges that share a vertex
	Edges        int64   `json:"edges"`  // between different vertices, each counted once
	Transitivity float64 `json:"transitivity"`
}

func (a *app) trianglesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "triangles GRAPH",
		Aliases: []string{"tc"},
		Short:   "Count triangles",
		Long: `Count the sets of three vertices with an edge between each two. Directions do not
count, nor do self-loops, and equal edges count once.

The transitivity is the share of pairs of edges at a vertex whose other ends are
joined too.`,
		Example: `  weir graph triangles friends.txt.gz
  weir graph triangles web.weir --json`,
		Args: cobra.ExactArgs(1),
	}
	in := addInputFlags(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		g, err := a.open(ctx, args[0], in, graph.OutRows)
		if err != nil {
			return err
		}
		defer g.Close()
		forward, backward, err := g.rowsBothWays(ctx, true)
		if err != nil {
			return err
		}
		var found *algo.TriangleResult
		err = g.time("compute", func() (err error) {
			found, err = algo.Triangles(ctx, forward, backward, algo.TriangleOptions{Threads: a.threads})
			return err
		})
		if err != nil {
			return err
		}
		g.ran(found.Edges, "triangles: %s", humanize.Comma(found.Triangles))
		result := trianglesResult{found.Triangles, found.Wedges, found.Edges, found.Transitivity()}
		if a.json {
			return a.printJSON(document{g.summary(), result, g.seconds})
		}
		t := table.New(table.Right("triangles"), table.Right("wedges"), table.Right("edges"), table.Right("transitivity"))
		t.Row(found.Triangles, found.Wedges, found.Edges, fmt.Sprintf("%.6f", found.Transitivity()))
		return t.WriteText(a.stdout)
	})
	return cmd
}
