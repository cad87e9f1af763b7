package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"weir/internal/program"
	"weir/internal/report"
)

// row is something that is measured, and what came of it.
type row struct {
	task task
	measured
}

// bench is a run of the program.
type bench struct {
	opt      options
	machine  report.Machine
	rows     []*row
	sections []*report.Section
	used     time.Duration // processor time of what was measured
	others   string        // what others used of the processors meanwhile
}

// row plans a measurement.
func (b *bench) row(t task) *row {
	r := &row{task: t}
	b.rows = append(b.rows, r)
	return r
}

// run measures everything, prints the tables and writes the report.
func (b *bench) run(ctx context.Context, stdout, stderr io.Writer) error {
	finish := b.plan()
	load, _ := report.StartLoad()
	for i, r := range b.rows {
		fmt.Fprintf(stderr, "%d of %d: %s, %s edges, %s\n", i+1, len(b.rows), r.task.Question, thousands(r.task.Edges), report.Count(r.task.Workers, "worker"))
		if err := b.measure(ctx, r); err != nil {
			return fmt.Errorf("measure %s on %s: %w", r.task.Question, report.Count(r.task.Workers, "worker"), err)
		}
	}
	b.others = load.Sentence(b.used)
	var err error
	if b.sections, err = report.WriteSections(stdout, finish); err != nil {
		return err
	}
	return b.report()
}

// plan says what is measured, and returns what makes sections of it.
func (b *bench) plan() []func() (*report.Section, error) {
	var bfs, components, degrees []*row
	t := task{Vertices: b.opt.vertices, Edges: b.opt.edges, Batches: b.opt.batches, Length: b.opt.length, Rounds: 3}
	for t.Workers = 1; t.Workers <= 2; t.Workers++ {
		t.Question = "bfs"
		bfs = append(bfs, b.row(t))
	}
	for t.Workers = 1; t.Workers <= 2; t.Workers++ {
		t.Question = "components"
		components = append(components, b.row(t))
	}
	t.Batches = []int{1, 1000, 100_000}
	if b.opt.quick {
		t.Batches = []int{1, 1000}
	}
	for t.Workers = 1; t.Workers <= 2; t.Workers++ {
		t.Question = "degrees"
		degrees = append(degrees, b.row(t))
	}
	large := b.row(task{
		Question: "components", Workers: 1, Vertices: b.opt.vertices, Edges: b.opt.large,
		Batches: []int{1, 1000}, Length: b.opt.length, Rounds: 3, Collect: min(200*time.Millisecond, b.opt.length/4),
	})
	return []func() (*report.Section, error){
		func() (*report.Section, error) { return b.loads(bfs, components, degrees, []*row{large}) },
		func() (*report.Section, error) { return b.latencies("bfs", "Distances", bfs) },
		func() (*report.Section, error) { return b.latencies("components", "Components", components) },
		func() (*report.Section, error) { return b.degrees(degrees) },
		func() (*report.Section, error) { return b.pauses(large) },
	}
}

// measure does a task in a process of its own, so that no heap or scheduler has seen another.
func (b *bench) measure(ctx context.Context, r *row) error {
	used, err := program.Apart(ctx, "measure", r.task, &r.measured)
	b.used += used
	if err != nil {
		return err
	}
	if r.Load <= 0 || len(r.Phases) != len(r.task.Batches) {
		return fmt.Errorf("%v s and %d batch sizes, expected some time and %d", r.Load, len(r.Phases), len(r.task.Batches))
	}
	return nil
}
