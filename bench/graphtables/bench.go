package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"weir/graph/generate"
	"weir/internal/plot"
	"weir/internal/report"
)

// options are the flags.
type options struct {
	scales        []int
	kronecker     []int
	graphs        []string
	repetitions   int
	patience      time.Duration // after which a variant is not run again
	atLeast       time.Duration // that a variant runs for, if need be more often
	triangleEdges int64
	limitBytes    int // of the array whose reading shows what memory delivers
	out           string
	cache         string
	quick         bool
}

// bench is a run of the program.
type bench struct {
	opt      options
	machine  report.Machine
	cores    int
	subjects []*subject
	sections []*section
	steps    *steps
}

// run measures everything, prints the tables and writes the report.
func run(ctx context.Context, opt options, root string, m report.Machine, stdout, stderr io.Writer) (err error) {
	b := &bench{opt: opt, machine: m, cores: runtime.GOMAXPROCS(0)}
	inputs, err := opt.inputs(root)
	if err != nil {
		return err
	}
	if len(inputs) == 0 {
		return errors.New("there is no graph to measure: name a scale or a file")
	}
	defer func() {
		for _, s := range b.subjects {
			err = errors.Join(err, s.graph.Close())
		}
	}()
	if err := b.openAll(ctx, inputs, stderr); err != nil {
		return err
	}
	b.sections = []*section{b.pageRank(), b.connectivity(), b.conversion(), b.sizes(), b.algorithms(), b.limits()}
	if err := b.runAll(ctx, stdout, stderr); err != nil {
		return err
	}
	return b.report()
}

func (b *bench) openAll(ctx context.Context, inputs []input, stderr io.Writer) error {
	steps := newSteps(stderr, len(inputs))
	steps.show()
	defer steps.hide()
	for _, in := range inputs {
		steps.name("get " + in.name)
		s, err := b.open(ctx, in)
		if err != nil {
			return err
		}
		b.subjects = append(b.subjects, s)
		steps.advance()
	}
	return nil
}

func (b *bench) runAll(ctx context.Context, stdout, stderr io.Writer) error {
	total := 0
	for _, s := range b.sections {
		for _, j := range s.jobs {
			total += b.rounds(j) * len(j.variants)
		}
	}
	b.steps = newSteps(stderr, total)
	defer b.steps.hide()
	for _, s := range b.sections {
		b.steps.show()
		for _, j := range s.jobs {
			if err := b.measure(ctx, j); err != nil {
				return err
			}
		}
		if err := s.finish(s); err != nil {
			return fmt.Errorf("%s: %w", s.Title, err)
		}
		b.steps.hide()
		if err := s.WriteText(stdout); err != nil {
			return fmt.Errorf("print %s: %w", s.Title, err)
		}
	}
	return nil
}

// threadCounts are one and, where there are more, all cores.
func (b *bench) threadCounts() []int {
	if b.cores == 1 {
		return []int{1}
	}
	return []int{1, b.cores}
}

// mainJob is that of the graph which stands beside the published ones: the
// largest RMAT graph or, without any, the largest graph.
func (b *bench) mainJob(s *section) *job {
	best := s.jobs[0]
	class := func(j *job) (int, int64) {
		if j.subject.spec != nil && j.subject.spec.Kind == generate.RMAT {
			return 1, j.subject.graph.Edges
		}
		return 0, j.subject.graph.Edges
	}
	for _, j := range s.jobs {
		rank, edges := class(j)
		if bestRank, most := class(best); rank > bestRank || rank == bestRank && edges > most {
			best = j
		}
	}
	return best
}

// jobOf is the job of that name on that graph, which has been measured before.
func (b *bench) jobOf(name string, g *subject) *job {
	for _, s := range b.sections {
		for _, j := range s.jobs {
			if j.name == name && j.subject == g {
				return j
			}
		}
	}
	return &job{name: name, subject: g}
}

// compareChart draws the rows of a comparison.
func (b *bench) compareChart(title, file, alt string, rows []compared) ([]report.Plot, error) {
	var bars []plot.Bar
	for _, r := range rows {
		group := "published, " + r.graph
		if r.here {
			group = "weir, " + r.graph
		}
		bars = append(bars, plot.Bar{Label: r.name + ", " + cores(r.cores), Value: r.rate * 1e6, Text: r.text, Group: group})
	}
	chart, err := plot.Bars(plot.Figure{
		Title:    title,
		Subtitle: "Published: McSherry, Isard and Murray, HotOS 2015.",
		Source:   b.machine.Foot(),
		Width:    720,
	}, plot.Axis{Title: "edges a second", Log: true}, bars)
	return []report.Plot{{File: file, Alt: alt, Chart: chart}}, err
}
