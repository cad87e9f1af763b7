package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"weir/internal/latency"
	"weir/internal/program"
	"weir/internal/report"
)

// row is something that is measured, and what came of it each time.
type row struct {
	task task
	key  string
	rust float64 // what the Rust original does in a second; 0 if that is not known
	runs []measured
}

// rate is the median of rounds a second, or of whatever is counted.
func (r *row) rate() float64 {
	rates := make([]float64, len(r.runs))
	for i, m := range r.runs {
		rates[i] = float64(m.Rounds) / m.Seconds
	}
	slices.Sort(rates)
	n := len(rates)
	return (rates[(n-1)/2] + rates[n/2]) / 2
}

// memory is the most of all runs, in bytes; 0 if it is not known.
func (r *row) memory() uint64 {
	most := uint64(0)
	for _, m := range r.runs {
		most = max(most, m.Memory)
	}
	return most
}

// latencies are those of all runs.
func (r *row) latencies() (sum latency.Histogram) {
	for _, m := range r.runs {
		sum.Merge(m.Latencies)
	}
	return sum
}

// workers says how many there are: 2, or 2 processes × 1.
func (r *row) workers() string {
	if r.task.Processes > 1 {
		return fmt.Sprintf("%d processes × %d", r.task.Processes, r.task.Workers)
	}
	return fmt.Sprint(r.task.Workers)
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

// places are where most things are measured: workers and processes. The last two have more
// workers than small machines have cores, and TCP between them.
var places = [][2]int{{1, 1}, {2, 1}, {4, 1}, {1, 2}}

// row plans a measurement.
func (b *bench) row(t task, key string) *row {
	r := &row{task: t, key: strings.TrimSpace(fmt.Sprintf("%s %d×%d %s", t.Work, t.Processes, t.Workers, key))}
	r.rust = rust[r.key]
	b.rows = append(b.rows, r)
	return r
}

// run measures everything, prints the tables and writes the report.
func (b *bench) run(ctx context.Context, stdout, stderr io.Writer) error {
	plans := []func() func() (*report.Section, error){b.exchange, b.barrier, b.progress, b.unionFind, b.openLoop}
	var finish []func() (*report.Section, error)
	for _, plan := range plans {
		finish = append(finish, plan())
	}
	load, _ := report.StartLoad()
	for turn := range b.opt.repetitions {
		for i, r := range b.rows {
			fmt.Fprintf(stderr, "%d of %d: %s\n", turn*len(b.rows)+i+1, b.opt.repetitions*len(b.rows), r.key)
			m, err := b.measure(ctx, r.task)
			if err != nil {
				return fmt.Errorf("measure %s: %w", r.key, err)
			}
			r.runs = append(r.runs, m)
		}
	}
	b.others = load.Sentence(b.used)
	var err error
	if b.sections, err = report.WriteSections(stdout, finish); err != nil {
		return err
	}
	return b.report()
}

// measure does a task in a process of its own, so that no heap or scheduler has seen another.
func (b *bench) measure(ctx context.Context, t task) (m measured, err error) {
	used, err := program.Apart(ctx, "measure", t, &m)
	b.used += used
	if err != nil {
		return m, err
	}
	if m.Rounds == 0 || m.Seconds <= 0 {
		return m, fmt.Errorf("%d rounds in %v s, expected some", m.Rounds, m.Seconds)
	}
	return m, nil
}
