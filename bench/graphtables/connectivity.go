package main

import (
	"context"
	"fmt"

	"weir/graph/algo"
	"weir/graph/ladder"
	"weir/graph/order"
	"weir/internal/report"
	"weir/internal/table"
)

// Names of the ways to find components.
const (
	labelsVertex  = "label propagation, vertex order"
	labelsHilbert = "label propagation, Hilbert order"
	unionVertex   = "union-find, vertex order"
	unionHilbert  = "union-find, Hilbert order"
	afforest      = "Afforest"
)

// connect is a variant of finding components.
func connect(name string, threads int, find func(ctx context.Context, opt algo.ComponentsOptions) (algo.Components, error)) variant {
	return variant{name: name, cores: threads, run: func(ctx context.Context) (answer, error) {
		c, err := find(ctx, algo.ComponentsOptions{Threads: threads})
		return func() float64 { return float64(c.Count) }, err
	}}
}

func labels(name string, m order.EdgeMap, threads int) variant {
	return connect(name, threads, func(ctx context.Context, opt algo.ComponentsOptions) (algo.Components, error) {
		return algo.LabelPropagation(ctx, m, opt)
	})
}

func union(name string, m order.EdgeMap, threads int) variant {
	return connect(name, threads, func(ctx context.Context, opt algo.ComponentsOptions) (algo.Components, error) {
		return algo.UnionFind(ctx, m, opt)
	})
}

func forest(g *subject, threads int) variant {
	return connect(afforest, threads, func(ctx context.Context, opt algo.ComponentsOptions) (algo.Components, error) {
		return algo.Afforest(ctx, g.out, g.in, opt)
	})
}

func (b *bench) connectivity() *section {
	s := &section{Section: report.Section{
		Title: "Graph connectivity",
		Text: "Connected components, the direction of edges ignored: by label propagation to a fixed point, by union-find, and by Afforest. Edges divided by seconds, " +
			"however often an edge is looked at. The published rows are from the same paper; its systems propagate labels.",
	}}
	for _, g := range b.subjects {
		j := &job{name: "components", subject: g, variants: []variant{
			labels(labelsVertex, g.out, 1), labels(labelsHilbert, g.hilbert, 1),
			union(unionVertex, g.out, 1), union(unionHilbert, g.hilbert, 1), forest(g, 1),
		}}
		if b.cores > 1 {
			j.variants = append(j.variants, union(unionHilbert, g.hilbert, b.cores), forest(g, b.cores))
		}
		s.jobs = append(s.jobs, j)
	}
	s.finish = b.finishConnectivity
	return s
}

func (b *bench) finishConnectivity(s *section) error {
	largest := b.mainJob(s)
	t, rows := compare(largest, publishedConnectivity, 1)
	s.Tables = []report.Table{
		{Title: "Beside the published figures", Rows: t, Notes: []string{
			unionAgainstLabels(s.jobs), unionAgainstClusters(s.jobs), b.costOfForest(s.jobs),
		}},
		{Title: "All graphs", Rows: detail(s.jobs, "algorithm and order", 1), Notes: []string{unionInHilbert(s.jobs)}},
	}
	var err error
	s.Plots, err = b.compareChart("Graph connectivity", "connectivity.svg", "Edges a second of graph connectivity, published and here", rows)
	return err
}

func unionAgainstLabels(jobs []*job) string {
	n := len(publishedConnectivity)
	labels, union := publishedConnectivity[n-2], publishedConnectivity[n-1]
	return fmt.Sprintf("Published: on one thread union-find is faster than label propagation, %s× on %s and %s× on %s. Here, both in vertex order, %s",
		table.ThreeDigits(labels.Seconds[0]/union.Seconds[0]), ladder.PublishedGraphs[0].Name,
		table.ThreeDigits(labels.Seconds[1]/union.Seconds[1]), ladder.PublishedGraphs[1].Name,
		ratios(jobs, labelsVertex, 1, unionVertex, 1).verdict())
}

func unionAgainstClusters(jobs []*job) string {
	best, i := fastest(publishedConnectivity)
	against := func(name string) tally {
		var found tally
		for _, j := range jobs {
			if t, ok := j.find(name, 1); ok {
				found.add(j.subject.name, rate(j.subject.graph.Edges, 1, t)*1e6/best.Rate(i))
			}
		}
		return found
	}
	return fmt.Sprintf("Published: one thread beat all systems, with label propagation and with union-find; the fastest of them, %s on %s, "+
		"took in %s M edges/s of %s. That one thread here takes in more: by label propagation in vertex order, %s By union-find in vertex order, %s",
		best.System, cores(best.Cores), table.ThreeDigits(best.Rate(i)/1e6), ladder.PublishedGraphs[i].Name,
		against(labelsVertex).verdict(), against(unionVertex).verdict())
}

// costOfForest asks of our parallel program what the paper asks of others: from
// how many cores on is it worth having?
func (b *bench) costOfForest(jobs []*job) string {
	if b.cores == 1 {
		return "With one core there is nothing to say of more."
	}
	return fmt.Sprintf("The paper's question to ourselves: that Afforest on %s is faster than union-find in Hilbert order on one, %s",
		cores(b.cores), ratios(jobs, unionHilbert, 1, afforest, b.cores).verdict())
}

func unionInHilbert(jobs []*job) string {
	return "That union-find on one core is faster in Hilbert order than in vertex order: " + ratios(jobs, unionVertex, 1, unionHilbert, 1).verdict() +
		" Label propagation: " + ratios(jobs, labelsVertex, 1, labelsHilbert, 1).verdict()
}
