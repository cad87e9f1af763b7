package main

import (
	"context"
	"math"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
)

// ssspResult is the summary of the command as JSON.
type ssspResult struct {
	Source  string  `json:"source"`
	Reached int     `json:"reached"` // vertices, the source among them
	Delta   float64 `json:"delta"`   // width of a bucket; 0 where there were none
}

func (a *app) ssspCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sssp GRAPH SOURCE",
		Short: "Find the length of the shortest way from a vertex to each other",
		Long: `Find the length of the shortest way from the vertex SOURCE to each other along the
edges, whose weights are their lengths and must not be negative; without
weights all have length 1.

Vertices that cannot be reached are left out, but have +Inf in a vector (.bin).`,
		Example: `  weir graph sssp road.wel 0
  weir graph sssp trips.csv "New York" --columns 1,2,7 --output miles.csv`,
		Args: cobra.ExactArgs(2),
	}
	in, out := addInputFlags(cmd), addOutputFlags(cmd, "vertices, the nearest first")
	var opt algo.SSSPOptions
	cmd.Flags().Float64Var(&opt.Delta, "delta", 0, "`width` of a bucket of distances (default: from the average weight and degree)")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if !(opt.Delta >= 0) || math.IsInf(opt.Delta, 0) {
			return usagef("--delta is %v, expected a width above 0", opt.Delta)
		}
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
		g.warnOfGuess()
		source, err := g.find(args[1])
		if err != nil {
			return err
		}
		forward, _, err := g.rowsBothWays(ctx, false)
		if err != nil {
			return err
		}
		var found *algo.SSSPResult
		err = g.time("compute", func() (err error) {
			found, err = algo.SSSP(ctx, forward, source, opt)
			return err
		})
		if err != nil {
			return err
		}
		g.ran(found.Edges, "sssp: reached %s vertices", humanize.Comma(int64(found.Reached)))
		r := &rows{
			g: g, id: "id", columns: []column{numbers("distance", found.Dist).ascending()},
			has: func(v uint32) bool { return !math.IsInf(found.Dist[v], 1) },
		}
		return g.deliver(ctx, out, t, ssspResult{args[1], found.Reached, found.Delta}, r, r)
	})
	return cmd
}
