package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
	"weir/graph/order"
	"weir/internal/table"
)

// step is a vertex along a way.
type step struct {
	ID       string  `json:"id"`
	Label    string  `json:"label,omitempty"`
	Distance float64 `json:"distance"` // from the start
}

// pathResult is the result of the command as JSON.
type pathResult struct {
	Found  bool    `json:"found"`
	Length float64 `json:"length"` // 0 where no way was found
	Path   []step  `json:"path"`
}

func (a *app) pathCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "path GRAPH FROM TO",
		Short: "Find the shortest way between two vertices",
		Long: `Find the shortest way from the vertex FROM to the vertex TO along the edges, whose
weights are their lengths and must not be negative; without weights all have
length 1. The exit code is 1 where there is no way.`,
		Example: `  weir graph path routes.csv AMS LAX --columns 3,5 --labels airports.csv:5,2
  weir graph path road.wel 0 1500 --unweighted`,
		Args: cobra.ExactArgs(3),
	}
	in := addInputFlags(cmd)
	var opt algo.PathOptions
	var names labelFlag
	cmd.Flags().BoolVar(&opt.Unweighted, "unweighted", false, "count edges, even where they have weights")
	cmd.Flags().Var(&names, "labels", "show names beside ids: `file:id,name` is a CSV or TSV file and its columns of ids and names")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		known, err := names.read()
		if err != nil {
			return err
		}
		g, err := a.open(ctx, args[0], in, graph.OutRows)
		if err != nil {
			return err
		}
		defer g.Close()
		g.warnOfGuess()
		from, err := g.find(args[1])
		if err != nil {
			return err
		}
		to, err := g.find(args[2])
		if err != nil {
			return err
		}
		// Rows of both directions make the search itself short, but to make them
		// takes longer than one search.
		forward, backward, err := g.rowsBothWays(ctx, g.Holds(graph.InRows))
		if err != nil {
			return err
		}
		var found *algo.PathResult
		err = g.time("compute", func() (err error) {
			found, err = algo.Path(ctx, forward, backward, from, to, opt)
			return err
		})
		if err != nil {
			return err
		}
		result := pathResult{Found: found.Vertices != nil, Path: []step{}}
		if result.Found {
			result.Length = found.Length
		}
		distance := 0.0
		for i, v := range found.Vertices {
			if i > 0 {
				distance += edgeLength(forward, found.Vertices[i-1], v, opt.Unweighted)
			}
			id := g.Names.Name(v)
			result.Path = append(result.Path, step{ID: id, Label: known[id], Distance: distance})
		}
		if a.json {
			if err := a.printJSON(document{g.summary(), result, g.seconds}); err != nil {
				return err
			}
		} else if result.Found {
			g.ran(found.Edges, "path: %s, length %s", plural(len(found.Vertices)-1, "step"), appendFloat(nil, found.Length))
			if err := writeSteps(a, result.Path, known != nil); err != nil {
				return err
			}
		}
		if !result.Found {
			return fmt.Errorf("there is no way from %q to %q", args[1], args[2])
		}
		return nil
	})
	return cmd
}

// edgeLength is the length of the shortest edge from v to w.
func edgeLength(rows *order.CSR, v, w uint32, unweighted bool) float64 {
	if unweighted || rows.Weights == nil {
		return 1
	}
	least := math.Inf(1)
	for i := rows.Offsets[v]; i < rows.Offsets[v+1]; i++ {
		if rows.Targets[i] == w {
			least = min(least, float64(rows.Weights[i]))
		}
	}
	return least
}

func writeSteps(a *app, steps []step, labelled bool) error {
	columns := []table.Column{table.Right(""), table.Left("id")}
	if labelled {
		columns = append(columns, table.Left("label"))
	}
	t := table.New(append(columns, table.Right("distance"))...)
	for i, s := range steps {
		cells := []any{i, s.ID}
		if labelled {
			cells = append(cells, s.Label)
		}
		t.Row(append(cells, readable(string(appendFloat(nil, s.Distance))))...)
	}
	return t.WriteText(a.stdout)
}
