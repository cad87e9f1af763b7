package main

import (
	"fmt"

	"weir/internal/table"
)

// publishedGraphs are the graphs that the published tables were measured on.
var publishedGraphs = [2]struct {
	name  string
	edges float64
}{{"twitter_rv", 1_468_365_182}, {"uk-2007-05", 3_738_733_648}}

// published is a row of a table of McSherry, Isard and Murray, "Scalability! But
// at what COST?" (HotOS 2015).
type published struct {
	system  string
	cores   int
	seconds [2]float64 // on publishedGraphs; 0 where none were given
	atLeast bool       // the second of them is only a bound from below
}

// single says that the row is one of the paper's own programs.
func (p published) single() bool { return p.cores == 1 }

var publishedPageRank = []published{
	{"GraphChi", 2, [2]float64{3160, 6972}, false},
	{"Stratosphere", 16, [2]float64{2250, 0}, false},
	{"X-Stream", 16, [2]float64{1488, 0}, false},
	{"Spark", 128, [2]float64{857, 1759}, false},
	{"Giraph", 128, [2]float64{596, 1235}, false},
	{"GraphLab", 128, [2]float64{249, 833}, false},
	{"GraphX", 128, [2]float64{419, 462}, false},
	{"single thread, vertex order", 1, [2]float64{300, 651}, false},
	{"single thread, Hilbert order", 1, [2]float64{110, 256}, false},
}

var publishedConnectivity = []published{
	{"Stratosphere", 16, [2]float64{950, 0}, false},
	{"X-Stream", 16, [2]float64{1159, 0}, false},
	{"Spark", 128, [2]float64{1784, 8000}, true},
	{"Giraph", 128, [2]float64{200, 8000}, true},
	{"GraphLab", 128, [2]float64{242, 714}, false},
	{"GraphX", 128, [2]float64{251, 800}, false},
	{"single thread, label propagation", 1, [2]float64{153, 417}, false},
	{"single thread, union-find", 1, [2]float64{15, 30}, false},
}

// bounded says that the time on publishedGraphs[i] is only a bound from below.
func (p published) bounded(i int) bool { return p.atLeast && i == 1 }

// rate is edges a second on publishedGraphs[i], each edge counted passes times;
// 0 where no time was given.
func (p published) rate(i int, passes float64) float64 {
	if p.seconds[i] == 0 {
		return 0
	}
	return publishedGraphs[i].edges * passes / p.seconds[i]
}

// cells are the row on publishedGraphs[i] as a table of comparison shows it.
func (p published) cells(i int, passes float64) []any {
	rate := p.rate(i, passes) / 1e6
	seconds, bound := table.Thousands(fmt.Sprint(p.seconds[i])), ""
	if p.bounded(i) {
		seconds, bound = "≥ "+seconds, "≤ "
	}
	return []any{
		p.system, publishedGraphs[i].name, p.cores, seconds,
		bound + table.ThreeDigits(rate), bound + table.ThreeDigits(rate/float64(p.cores)),
	}
}

// fastest is the published system of many cores that passes over most edges a
// second, and where.
func fastest(rows []published, passes float64) (best published, graph int) {
	for _, row := range rows {
		for i := range publishedGraphs {
			if !row.single() && row.rate(i, passes) > best.rate(graph, passes) {
				best, graph = row, i
			}
		}
	}
	return best, graph
}
