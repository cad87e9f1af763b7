package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"weir/graph"
	"weir/internal/report"
	"weir/internal/table"
)

// Names of the steps from a text to compressed Hilbert order.
const (
	textToVertex        = "text → vertex order"
	vertexToHilbert     = "vertex order → Hilbert order"
	hilbertToCompressed = "Hilbert order → compressed"
)

// convert is a variant that reads one file and writes another, in one order.
func (b *bench) convert(name, from, to string, o graph.Order, opt graph.Options, threads int) variant {
	return variant{name: name, cores: threads, run: func(ctx context.Context) (answer, error) {
		opt.Threads = threads
		g, err := graph.Convert(ctx, from, to, graph.ConvertOptions{Options: opt, Orders: []graph.Order{o}})
		if err != nil {
			return nil, err
		}
		edges := g.Edges
		return func() float64 { return float64(edges) }, g.Close()
	}}
}

func (b *bench) conversion() *section {
	s := &section{Section: report.Section{
		Title: "Conversion",
		Text: "From a file to a file: an edge list in text (one line an edge, from the page cache) to stored vertex order, from there to stored Hilbert order, " +
			"from there to stored compressed Hilbert order. Writing, syncing and checksums are included.",
	}}
	for _, g := range b.subjects {
		if g.text == "" || g.undirected() {
			continue
		}
		base := filepath.Join(b.opt.cache, "converted")
		vertex, hilbert, compressed := base+"-vertex.weir", base+"-hilbert.weir", base+"-compressed.weir"
		j := &job{name: "conversion", subject: g, prepare: func(context.Context) (func(), error) {
			return func() {
				for _, path := range []string{vertex, hilbert, compressed} {
					os.Remove(path) // one that is left is overwritten the next time
				}
			}, nil
		}}
		// Each step reads what the one before has written.
		for _, step := range []struct {
			name, from, to string
			order          graph.Order
			opt            graph.Options
		}{
			{textToVertex, g.text, vertex, graph.OutRows, g.readOptions(0)},
			{vertexToHilbert, vertex, hilbert, graph.Hilbert, graph.Options{}},
			{hilbertToCompressed, hilbert, compressed, graph.Compressed, graph.Options{}},
		} {
			for _, threads := range b.threadCounts() {
				j.variants = append(j.variants, b.convert(step.name, step.from, step.to, step.order, step.opt, threads))
			}
		}
		s.jobs = append(s.jobs, j)
	}
	s.finish = b.finishConversion
	return s
}

func (b *bench) finishConversion(s *section) error {
	t := table.New(table.Left("graph"), table.Right("edges"), table.Left("step"), table.Right("cores"),
		table.Right("seconds, median"), table.Right("least"), table.Right("runs"), table.Right("M edges/s"), table.Right("MB/s of text"))
	for _, j := range s.jobs {
		info, err := os.Stat(j.subject.text)
		if err != nil {
			return err
		}
		edges := j.subject.graph.Edges
		for i, v := range j.variants {
			x := j.timings[i]
			var speed any
			if v.name == textToVertex {
				speed = float64(info.Size()) / x.median() / 1e6
			}
			t.Row(j.subject.name, edges, v.name, v.cores, x.median(), x.least(), len(x.seconds), rate(edges, 1, x), speed)
		}
	}
	notes := []string{}
	for _, j := range s.jobs {
		notes = append(notes, b.repaid(j))
	}
	s.Tables = []report.Table{{Title: "Seconds a step", Rows: t, Notes: notes}}
	return nil
}

// repaid says after how much PageRank the conversion to Hilbert order was worth it.
func (b *bench) repaid(j *job) string {
	ranks := b.jobOf("PageRank", j.subject)
	made, ok1 := j.find(vertexToHilbert, 1)
	vertex, ok2 := ranks.find(vertexOrder, 1)
	hilbert, ok3 := ranks.find(hilbertOrder, 1)
	if !ok1 || !ok2 || !ok3 {
		return ""
	}
	saved := (vertex.median() - hilbert.median()) / iterations
	if saved <= 0 {
		return fmt.Sprintf("%s: Hilbert order saves no time of PageRank on one core, so its conversion is never repaid.", j.subject.name)
	}
	return fmt.Sprintf("%s: on one core, the conversion from vertex to Hilbert order costs as much as it saves in %s iterations of PageRank.",
		j.subject.name, table.ThreeDigits(made.median()/saved))
}
