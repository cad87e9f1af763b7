package main

import (
	"context"
	"fmt"

	"weir/graph/algo"
	"weir/graph/order"
	"weir/internal/report"
	"weir/internal/table"
)

// searches is the number of sources that searches begin from.
const searches = 4

// algorithm is one of those that the published tables leave out.
type algorithm struct {
	name    string
	times   int  // searches a run, or 0
	limited bool // it takes too long on large graphs
	weighed bool // it needs weights
	// run is given vertex order; it has weights if they are needed.
	run func(ctx context.Context, g *subject, out *order.CSR, threads int) (answer, error)
}

var algorithms = []algorithm{
	{name: "BFS", times: searches, run: func(ctx context.Context, g *subject, out *order.CSR, threads int) (answer, error) {
		reached := 0
		for _, source := range g.sources(searches) {
			r, err := algo.BFS(ctx, out, g.in, source, algo.BFSOptions{Threads: threads})
			if err != nil {
				return nil, err
			}
			reached += r.Reached
		}
		return func() float64 { return float64(reached) }, nil
	}},
	{name: "SSSP", times: searches, weighed: true, run: func(ctx context.Context, g *subject, out *order.CSR, threads int) (answer, error) {
		reached := 0
		for _, source := range g.sources(searches) {
			r, err := algo.SSSP(ctx, out, source, algo.SSSPOptions{Threads: threads})
			if err != nil {
				return nil, err
			}
			reached += r.Reached
		}
		return func() float64 { return float64(reached) }, nil
	}},
	{name: "SCC", run: func(ctx context.Context, g *subject, out *order.CSR, threads int) (answer, error) {
		r, err := algo.SCC(ctx, out, g.in, algo.SCCOptions{Threads: threads})
		if err != nil {
			return nil, err
		}
		return func() float64 { return float64(r.Count) }, nil
	}},
	{name: "k-core", run: func(ctx context.Context, g *subject, out *order.CSR, threads int) (answer, error) {
		r, err := algo.KCore(ctx, out, g.in, algo.KCoreOptions{Threads: threads})
		if err != nil {
			return nil, err
		}
		return func() float64 { return float64(r.Max) }, nil
	}},
	{name: "triangles", limited: true, run: func(ctx context.Context, g *subject, out *order.CSR, threads int) (answer, error) {
		r, err := algo.Triangles(ctx, out, g.in, algo.TriangleOptions{Threads: threads})
		if err != nil {
			return nil, err
		}
		return func() float64 { return float64(r.Triangles) }, nil
	}},
}

func (b *bench) algorithms() *section {
	s := &section{Section: report.Section{
		Title: "Other algorithms",
		Text: fmt.Sprintf("Edges of the graph divided by seconds. BFS and SSSP take the mean of searches from %d vertices; SSSP has whole weights from 1 to 255. "+
			"Triangles are counted where there are at most %s edges.", searches, table.Thousands(fmt.Sprint(b.opt.triangleEdges))),
	}}
	for _, g := range b.subjects {
		for _, a := range algorithms {
			if a.limited && g.graph.Edges > b.opt.triangleEdges {
				continue
			}
			out := g.out
			j := &job{name: a.name, subject: g}
			if a.weighed {
				j.prepare = func(ctx context.Context) (done func(), err error) {
					out, err = g.weighted(ctx)
					return func() { out = nil }, err // weights take as much memory as edges
				}
			}
			for _, threads := range b.threadCounts() {
				j.variants = append(j.variants, variant{name: a.name, cores: threads, times: a.times, run: func(ctx context.Context) (answer, error) {
					return a.run(ctx, g, out, threads)
				}})
			}
			s.jobs = append(s.jobs, j)
		}
	}
	s.finish = func(s *section) error {
		s.Tables = []report.Table{{Title: "Seconds", Rows: detail(s.jobs, "algorithm", 1), Notes: []string{b.speedups(s.jobs)}}}
		return nil
	}
	return s
}

// speedups says what more cores bring each algorithm.
func (b *bench) speedups(jobs []*job) string {
	if b.cores == 1 {
		return "With one core there is nothing to say of more."
	}
	text := fmt.Sprintf("That %s are faster than one.", cores(b.cores))
	for _, a := range algorithms {
		text += " " + a.name + ": " + ratios(jobs, a.name, 1, a.name, b.cores).verdict()
	}
	return text
}
