package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
	"weir/graph/order"
	"weir/internal/table"
)

// direction says which edges of a vertex count.
type direction int

const (
	outEdges direction = iota
	inEdges
	allEdges
)

func (a *app) degreesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "degrees GRAPH",
		Short: "Count the edges of each vertex, and show how they are spread",
		Long: `Count the edges of each vertex. On a terminal it shows how many vertices have how
many edges; with --top it prints the vertices that have most, else the number of
each vertex.`,
		Example: `  weir graph degrees edges.csv.gz
  weir graph degrees web.weir --direction in --top 10
  weir graph degrees web.weir --output degrees.csv`,
		Args: cobra.ExactArgs(1),
	}
	in, out := addInputFlags(cmd), addOutputFlags(cmd, "vertices, those of most edges first")
	which := choose(word[direction]{"out", outEdges}, word[direction]{"in", inEdges}, word[direction]{"both", allEdges})
	addChoice(cmd, which, "direction", "edges that count: those from a vertex, those to it, or their sum")
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
		degrees, err := g.degrees(ctx, which.value)
		if err != nil {
			return err
		}
		spread := algo.DegreeDistribution(degrees)
		g.ran(g.Edges, "degrees: %.3g on average, at most %s", spread.Mean, readable(fmt.Sprint(spread.Max)))
		if t.format == tableFormat && !t.file && out.top < 0 {
			return writeDistribution(a, spread)
		}
		r := &rows{g: g, id: "id", columns: []column{numbers("degree", degrees)}}
		return g.deliver(ctx, out, t, spread, r, r)
	})
	return cmd
}

// degrees counts the edges of each vertex in the given direction.
func (g *opened) degrees(ctx context.Context, which direction) (degrees []uint32, err error) {
	if which == outEdges {
		err = g.time("compute", func() (err error) {
			degrees, err = g.OutDegrees(ctx)
			return err
		})
		return degrees, err
	}
	edges, err := g.prepare(ctx, orderFlag{auto: true}.walk(g))
	if err != nil {
		return nil, err
	}
	err = g.time("compute", func() (err error) {
		if degrees, err = order.InDegrees(ctx, edges, g.app.threads); err != nil || which == inEdges {
			return err
		}
		forward, err := g.OutDegrees(ctx)
		if err != nil {
			return err
		}
		for v, d := range forward {
			degrees[v] += d
		}
		return nil
	})
	return degrees, err
}

// writeDistribution shows how many vertices have how many edges.
func writeDistribution(a *app, d algo.Distribution) error {
	t := table.New(table.Left("edges"), table.Right("vertices"), table.Left(""))
	var most int64
	for _, n := range d.Log2 {
		most = max(most, n)
	}
	for i, n := range d.Log2 {
		label := fmt.Sprint(i)
		if i > 1 {
			label = table.Thousands(fmt.Sprint(1<<(i-1))) + "-" + table.Thousands(fmt.Sprint(1<<i-1))
		}
		t.Row(label, n, strings.Repeat("█", int((n*40+most-1)/max(most, 1))))
	}
	if err := t.WriteText(a.stdout); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\nmedian %d, 99th percentile %d, largest %d, mean %.3g\n", d.Median, d.P99, d.Max, d.Mean)
	fmt.Fprintf(a.stdout, "the 1 %% of vertices that have most edges have %.1f %% of them; Gini coefficient %.2f\n", 100*d.TopShare, d.Gini)
	return nil
}
