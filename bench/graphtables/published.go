package main

import (
	"fmt"

	"weir/graph/ladder"
	"weir/internal/table"
)

// published are the rows of the paper, task by task.
var (
	publishedPageRank     = ladder.Systems(ladder.PageRank)
	publishedConnectivity = ladder.Systems(ladder.Components)
)

// publishedCells are the row on a published graph as a table of comparison shows it.
func publishedCells(p ladder.Published, graph int) []any {
	rate := p.Rate(graph) / 1e6
	seconds, bound := table.Thousands(fmt.Sprint(p.Seconds[graph])), ""
	if p.Bounded(graph) {
		seconds, bound = "≥ "+seconds, "≤ "
	}
	return []any{
		p.System, ladder.PublishedGraphs[graph].Name, p.Cores, seconds,
		bound + table.ThreeDigits(rate), bound + table.ThreeDigits(rate/float64(p.Cores)),
	}
}

// fastest is the published system of many cores that passes over most edges a
// second, and where.
func fastest(rows []ladder.Published) (best ladder.Published, graph int) {
	for _, row := range rows {
		for i := range ladder.PublishedGraphs {
			if !row.Single() && row.Rate(i) > best.Rate(graph) {
				best, graph = row, i
			}
		}
	}
	return best, graph
}
