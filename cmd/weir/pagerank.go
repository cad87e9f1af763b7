package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
)

// orderFlag is the order in which an algorithm walks the edges.
type orderFlag struct {
	auto  bool
	order graph.Order
}

func chooseOrder() *choice[orderFlag] {
	return choose(word[orderFlag]{"auto", orderFlag{auto: true}}, word[orderFlag]{"vertex", orderFlag{order: graph.InRows}},
		word[orderFlag]{"hilbert", orderFlag{order: graph.Hilbert}}, word[orderFlag]{"compressed", orderFlag{order: graph.Compressed}})
}

// walk is the order to walk: the one asked for, or the fastest that is stored,
// or else transposed vertex order.
func (f orderFlag) walk(g *opened) graph.Order {
	switch {
	case !f.auto:
		return f.order
	case g.Stored(graph.Hilbert):
		return graph.Hilbert
	case g.Stored(graph.Compressed) && !g.Holds(graph.InRows):
		return graph.Compressed
	}
	return graph.InRows
}

// orderName is the word by which --order asks for o.
func orderName(o graph.Order) string {
	if o == graph.InRows || o == graph.OutRows {
		return "vertex"
	}
	return o.String()
}

// pagerankResult is the summary of the command as JSON.
type pagerankResult struct {
	Iterations int     `json:"iterations"`
	Delta      float64 `json:"delta"` // of the last iteration
	Damping    float64 `json:"damping"`
	Dangling   string  `json:"dangling"`
	Normalized bool    `json:"normalized"`
	Precision  string  `json:"precision"`
	Order      string  `json:"order"`
}

func (a *app) pagerankCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pagerank GRAPH",
		Short: "Rank vertices by the edges into them",
		Long: `Rank the vertices of a graph by the edges into them (Page, Brin, Motwani and
Winograd, 1999).

By default it computes the textbook form: 20 iterations, in which each vertex
gets 0.15 plus 0.85 times the sum of rank divided by out-degree over the edges
into it, and the rank of vertices without edges out is lost. Ranks are relative:
1 is the rank of an average vertex, or less where rank is lost. For ranks that sum
to 1, as NetworkX and LDBC Graphalytics have them, add
--normalize --dangling redistribute.

Weights of edges are not used.`,
		Example: `  weir graph pagerank edges.csv.gz --top 10
  weir graph pagerank routes.csv --columns 3,5 --top 10 --labels airports.csv:5,2
  weir graph pagerank web.weir --tolerance 1e-6 --precision float64 --output ranks.csv.gz
  weir graph pagerank web.weir --output ranks.bin --ids-output ids.txt`,
		Args: cobra.ExactArgs(1),
	}
	in, out := addInputFlags(cmd), addOutputFlags(cmd, "vertices, the highest ranks first")
	opt := algo.PageRankOptions{Iterations: 20, Damping: 0.85}
	flags := cmd.Flags()
	flags.IntVar(&opt.Iterations, "iterations", opt.Iterations, "do `n` iterations at most")
	flags.Float64Var(&opt.Damping, "damping", opt.Damping, "`share` of a vertex's rank that it hands on")
	flags.Float64Var(&opt.Tolerance, "tolerance", 0, "stop when an iteration changes all ranks together by less than `x`")
	flags.BoolVar(&opt.Normalised, "normalize", false, "start at 1/vertices and give each vertex 0.15/vertices, so that ranks are shares")
	dangling := choose(word[algo.Dangling]{"drop", algo.DropDangling}, word[algo.Dangling]{"redistribute", algo.RedistributeDangling})
	addChoice(cmd, dangling, "dangling", "what becomes of the rank of vertices without edges out")
	precision := choose(word[int]{"float32", 32}, word[int]{"float64", 64})
	addChoice(cmd, precision, "precision", "numbers to compute with")
	order := chooseOrder()
	addChoice(cmd, order, "order", "order in which to walk the edges")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		switch {
		case opt.Iterations < 1:
			return usagef("--iterations is %d, expected 1 or more", opt.Iterations)
		case !(opt.Damping > 0 && opt.Damping < 1):
			return usagef("--damping is %v, expected a number between 0 and 1", opt.Damping)
		case !(opt.Tolerance >= 0):
			return usagef("--tolerance is %v, expected 0 or more", opt.Tolerance)
		}
		t, err := out.decide(a)
		if err != nil {
			return err
		}
		opt.Threads, opt.Dangling = a.threads, dangling.value
		g, err := a.open(ctx, args[0], in, graph.InRows)
		if err != nil {
			return err
		}
		defer g.Close()
		rank := rankWith[float32]
		if precision.value == 64 {
			rank = rankWith[float64]
		}
		ranks, result, err := rank(ctx, g, order.value, opt)
		if err != nil {
			return err
		}
		result.Dangling, result.Precision = dangling.String(), precision.String()
		g.ran(g.Edges*int64(result.Iterations), "pagerank: %d iterations in %s order", result.Iterations, result.Order)
		r := &rows{g: g, id: "id", columns: []column{ranks}}
		return g.deliver(ctx, out, t, result, r, r)
	})
	return cmd
}

// rankWith computes ranks in the given precision.
func rankWith[T float32 | float64](ctx context.Context, g *opened, f orderFlag, opt algo.PageRankOptions) (column, pagerankResult, error) {
	o := f.walk(g)
	err := g.time("prepare", func() (err error) {
		opt.OutDegrees, err = g.OutDegrees(ctx)
		return err
	})
	if err != nil {
		return column{}, pagerankResult{}, err
	}
	var ranks algo.PageRankResult[T]
	edges, err := g.prepare(ctx, o)
	if err == nil {
		err = g.time("compute", func() (err error) {
			ranks, err = algo.PageRank[T](ctx, edges, opt)
			return err
		})
	}
	if err != nil {
		return column{}, pagerankResult{}, fmt.Errorf("rank %s: %w", g.Source, err)
	}
	return numbers("rank", ranks.Ranks), pagerankResult{
		Iterations: ranks.Iterations, Delta: ranks.Delta, Damping: opt.Damping, Normalized: opt.Normalised, Order: orderName(o),
	}, nil
}
