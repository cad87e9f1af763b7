package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"weir/internal/table"
)

// reportName is the name of the report in the output folder.
const reportName = "graph.md"

// percent is margin as the report says it.
const percent = 5

// report writes the report and its plots.
func (b *bench) report() error {
	if err := os.MkdirAll(b.opt.out, 0o777); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	var text bytes.Buffer
	if err := b.writeReport(&text); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for _, s := range b.sections {
		if s.chart == nil {
			continue
		}
		if err := s.chart.Save(filepath.Join(b.opt.out, s.file)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(b.opt.out, reportName), text.Bytes(), 0o666); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (b *bench) writeReport(w *bytes.Buffer) error {
	fmt.Fprintf(w, "# Graphs, measured\n\n"+
		"The tables of *Scalability! But at what COST?* at the size of this machine. Variants took turns, %d times each; "+
		"one that had run for more than %v was not run again, and one that had run for less than %v was run more often. Ratios are of medians, and below %d %% "+
		"of difference are called none. Edges a second compare different graphs on different machines: "+
		"they say how large a difference is, not how exactly.\n\n", b.opt.repetitions, b.opt.patience, b.opt.atLeast, percent)
	machine := table.New(table.Left(""), table.Left("measured on"))
	for _, row := range b.machine.rows() {
		machine.Row(row[0], row[1])
	}
	if err := machine.WriteMarkdown(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nRMAT graphs have the quadrants 0.57, 0.19, 0.19, 0.05, shuffled vertices and 16 edges a vertex. Kronecker graphs are the same, "+
		"with each edge in both directions and duplicates removed. The number behind the name is the base-2 logarithm of the number of vertices. The others are real.\n\n")
	graphs := table.New(table.Left("graph"), table.Right("vertices"), table.Right("edges"), table.Right("edges a vertex").Decimals(1))
	for _, s := range b.subjects {
		graphs.Row(s.name, s.graph.Vertices, s.graph.Edges, float64(s.graph.Edges)/float64(max(s.graph.Vertices, 1)))
	}
	if err := graphs.WriteMarkdown(w); err != nil {
		return err
	}
	for _, s := range b.sections {
		if err := s.writeMarkdown(w); err != nil {
			return err
		}
	}
	return nil
}
