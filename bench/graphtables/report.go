package main

import (
	"fmt"

	"weir/internal/report"
	"weir/internal/table"
)

// reportName is the name of the report in the output folder.
const reportName = "graph.md"

// percent is margin as the report says it.
const percent = 5

// report writes the report and its plots.
func (b *bench) report() error {
	r := report.Report{
		Title: "Graphs, measured",
		Intro: fmt.Sprintf("The tables of *Scalability! But at what COST?* at the size of this machine. Variants took turns, %d times each; "+
			"one that had run for more than %v was not run again, and one that had run for less than %v was run more often. Ratios are of medians, and below %d %% "+
			"of difference are called none. Edges a second compare different graphs on different machines: "+
			"they say how large a difference is, not how exactly.", b.opt.repetitions, b.opt.patience, b.opt.atLeast, percent),
		Machine:  b.machine,
		Sections: []*report.Section{b.graphs()},
	}
	for _, s := range b.sections {
		r.Sections = append(r.Sections, &s.Section)
	}
	return r.Save(b.opt.out, reportName)
}

// graphs says what was measured on.
func (b *bench) graphs() *report.Section {
	t := table.New(table.Left("graph"), table.Right("vertices"), table.Right("edges"), table.Right("edges a vertex").Decimals(1))
	for _, s := range b.subjects {
		t.Row(s.name, s.graph.Vertices, s.graph.Edges, float64(s.graph.Edges)/float64(max(s.graph.Vertices, 1)))
	}
	return &report.Section{
		Title: "Graphs",
		Text: "RMAT graphs have the quadrants 0.57, 0.19, 0.19, 0.05, shuffled vertices and 16 edges a vertex. Kronecker graphs are the same, " +
			"with each edge in both directions and duplicates removed. The number behind the name is the base-2 logarithm of the number of vertices. The others are real.",
		Tables: []report.Table{{Title: "Their sizes", Rows: t}},
	}
}
