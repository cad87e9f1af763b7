package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph/ladder"
	"weir/internal/par"
	"weir/internal/table"
)

// matched is a published system beside this machine's best thread, as JSON.
type matched struct {
	Task           string  `json:"task"`
	System         string  `json:"system"`
	Cores          int     `json:"cores"`
	EdgesPerSecond float64 `json:"edges_per_second"`
	CoresToMatch   float64 `json:"cores_to_match"`
}

// costResult is the result of the command as JSON.
type costResult struct {
	Ways      []ladder.Way `json:"ways"`
	Published []matched    `json:"published"`
}

func (a *app) costCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cost GRAPH",
		Short: "Show how many threads, or cores of a cluster, it takes to beat one",
		Long: `Time several ways to rank vertices (ten iterations of PageRank) and to find
connected components on 1, 2, 4, … threads, and show the COST of each: the number
of threads from which on it beats the fastest way of a single thread (McSherry,
Isard and Murray, "Scalability! But at what COST?", 2015).

Below stand the systems that the paper compares, with their published times on
another graph as edges a second, and how many of their cores this machine's one
thread is worth.`,
		Example: `  weir graph cost rmat.weir
  weir graph cost rmat.weir --threads 4 --json`,
		Args: cobra.ExactArgs(1),
	}
	in := addInputFlags(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		g, orders, err := a.openLadder(ctx, args[0], in)
		if err != nil {
			return err
		}
		defer g.Close()
		ways, err := ladder.Measure(ctx, orders, par.Threads(a.threads))
		if err != nil {
			return err
		}
		result := costResult{ways, g.matchPublished(ways)}
		if a.json {
			return a.printJSON(document{g.summary(), result, g.seconds})
		}
		return printCost(a, result)
	})
	return cmd
}

// matchPublished compares published systems with the best of one thread.
func (g *opened) matchPublished(ways []ladder.Way) []matched {
	var out []matched
	for _, task := range []string{ladder.PageRank, ladder.Components} {
		rate := float64(g.Edges) / ladder.Best(ways, task).Seconds[0]
		if task == ladder.PageRank {
			rate *= ladder.Iterations
		}
		for _, p := range ladder.Systems(task) {
			if !p.Single() {
				out = append(out, matched{p.Task, p.System, p.Cores, p.Rate(0), p.Match(rate)})
			}
		}
	}
	return out
}

func printCost(a *app, result costResult) error {
	columns := []table.Column{table.Left("task"), table.Left("way")}
	for _, threads := range result.Ways[0].Threads {
		columns = append(columns, table.Right("ms, "+plural(threads, "thread")))
	}
	t := table.New(append(columns, table.Right("COST"))...)
	for _, w := range result.Ways {
		cells := []any{w.Task, w.Name}
		for _, s := range w.Seconds {
			cells = append(cells, 1e3*s)
		}
		cost := strconv.Itoa(w.Cost)
		if w.Cost == 0 {
			cost = fmt.Sprintf("> %d", w.Threads[len(w.Threads)-1])
		}
		t.Row(append(cells, cost)...)
	}
	if err := t.WriteText(a.stdout); err != nil {
		return err
	}
	on := ladder.PublishedGraphs[0]
	fmt.Fprintf(a.stdout, "\npublished, on %s (%s edges)\n", on.Name, humanize.Comma(on.Edges))
	t = table.New(table.Left("task"), table.Left("system"), table.Right("cores"), table.Right("M edges/s"), table.Right("cores that this one thread matches").Decimals(0))
	for _, m := range result.Published {
		t.Row(m.Task, m.System, m.Cores, m.EdgesPerSecond/1e6, m.CoresToMatch)
	}
	return t.WriteText(a.stdout)
}
