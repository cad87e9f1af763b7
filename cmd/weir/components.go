package main

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
)

// componentsResult is the summary of the command as JSON.
type componentsResult struct {
	Components int    `json:"components"`
	Largest    int64  `json:"largest"` // vertices
	Algorithm  string `json:"algorithm"`
}

// way is a way to find connected components.
type way int

const (
	anyWay way = iota
	unionFind
	afforest
	labelPropagation
)

func (a *app) componentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "components GRAPH",
		Aliases: []string{"cc", "wcc"},
		Short:   "Find connected components, ignoring the direction of edges",
		Long: `Find which vertices are connected, ignoring the direction of edges.

On a terminal, or with --top, it prints the largest components: each is called
by its first vertex. Else it prints the component of every vertex.

Union-find passes over the edges once, whatever their order; afforest looks at
most of them not at all, but needs the rows of both directions; label propagation
is what most distributed systems do, for comparison.`,
		Example: `  weir graph components edges.csv.gz
  weir graph components edges.csv.gz --output component-of.csv
  weir graph components web.weir --top 3 --json`,
		Args: cobra.ExactArgs(1),
	}
	in, out := addInputFlags(cmd), addOutputFlags(cmd, "components, the largest first")
	how := choose(word[way]{"auto", anyWay}, word[way]{"union-find", unionFind}, word[way]{"afforest", afforest}, word[way]{"label-propagation", labelPropagation})
	addChoice(cmd, how, "algorithm", "how to find them")
	order := chooseOrder()
	addChoice(cmd, order, "order", "order in which union-find and label propagation walk the edges")
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
		found, err := g.components(ctx, how, order.value)
		if err != nil {
			return err
		}
		all := &rows{g: g, id: "id", columns: []column{g.vertices("component", found.Labels)}}
		sizes, largest := g.groups("component", found.Labels)
		g.ran(g.Edges, "components: %s, the largest of %s vertices", humanize.Comma(int64(found.Count)), humanize.Comma(largest))
		return g.deliver(ctx, out, t, componentsResult{found.Count, largest, how.String()}, all, sizes)
	})
	return cmd
}

// components finds them in the given way, or in the one that needs no other rows
// than there are.
func (g *opened) components(ctx context.Context, how *choice[way], f orderFlag) (found algo.Components, err error) {
	if how.value == anyWay {
		how.value = unionFind
		if g.Undirected && g.Holds(graph.OutRows) {
			how.value = afforest
		}
	}
	opt := algo.ComponentsOptions{Threads: g.app.threads}
	if how.value == afforest {
		out, in, err := g.rowsBothWays(ctx, true)
		if err != nil {
			return found, err
		}
		err = g.time("compute", func() (err error) {
			found, err = algo.Afforest(ctx, out, in, opt)
			return err
		})
		return found, err
	}
	o := f.walk(g)
	if f.auto && !g.Holds(o) {
		o = graph.OutRows
	}
	edges, err := g.prepare(ctx, o)
	if err != nil {
		return found, err
	}
	find := algo.UnionFind
	if how.value == labelPropagation {
		find = algo.LabelPropagation
	}
	err = g.time("compute", func() (err error) {
		found, err = find(ctx, edges, opt)
		return err
	})
	if err != nil {
		return found, fmt.Errorf("components of %s: %w", g.Source, err)
	}
	return found, nil
}

// groups is the sizes of the groups that labels make, each at the vertex that it
// is called by, and the largest of them.
func (g *opened) groups(id string, labels []uint32) (sizes *rows, largest int64) {
	count := make([]uint32, len(labels))
	for _, l := range labels {
		count[l]++
		largest = max(largest, int64(count[l]))
	}
	return &rows{
		g: g, id: id, columns: []column{numbers("vertices", count)},
		has: func(v uint32) bool { return count[v] > 0 },
	}, largest
}
