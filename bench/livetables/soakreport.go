package main

import (
	"fmt"
	"io"
	"strings"

	"weir/internal/latency"
	"weir/internal/plot"
	"weir/internal/report"
	"weir/internal/table"
)

// soakName is the name of the samples and the report; plots begin with the same.
const soakName = "soak"

// report writes what was seen, and returns what is wrong with it.
func (s *soaker) report(folder string, machine report.Machine, stdout io.Writer) error {
	line := func(name string, figure func(*sample) float64) plot.Series {
		series := plot.Series{Name: name}
		for i := range s.list {
			if s.list[i].latencies.Total() == 0 {
				continue // the machine was busy with others
			}
			series.Points = append(series.Points, plot.Point{X: s.list[i].at.Minutes(), Y: figure(&s.list[i])})
		}
		return series
	}
	share := func(q float64) func(*sample) float64 {
		return func(x *sample) float64 { return max(float64(x.latencies.Quantile(q).Microseconds()), 1) / 1e3 }
	}
	memory, err := plot.Lines(plot.Figure{Title: "Memory under steady change", Subtitle: s.what(), Source: machine.Foot()},
		plot.Axis{Title: "minutes"}, plot.Axis{Title: "MB"}, []plot.Series{
			line("resident", func(x *sample) float64 { return float64(x.resident) / 1e6 }),
			line("in use after the last collection", func(x *sample) float64 { return float64(x.heap) / 1e6 }),
			line("indices", func(x *sample) float64 { return float64(x.state.Bytes) / 1e6 }),
		})
	if err != nil {
		return err
	}
	latencies, err := plot.Lines(plot.Figure{Title: "Latency under steady change", Subtitle: s.what(), Source: machine.Foot()},
		plot.Axis{Title: "minutes"}, plot.Axis{Title: "milliseconds", Log: true}, []plot.Series{line("max", share(1)), line("p99", share(0.99)), line("p50", share(0.5))})
	if err != nil {
		return err
	}
	t := table.New(append([]table.Column{table.Left("quarter"), table.Right("resident, MB"), table.Right("in use, MB"), table.Right("indices, MB"), table.Right("changes")}, quantileColumns("µs")...)...)
	for n, name := range []string{"first", "second", "third", "last"} {
		q := quarter(s.list, n)
		var all latency.Histogram
		for i := range q {
			all.Merge(q[i].latencies)
		}
		t.Row(append([]any{
			name, at(0.5, q, func(x *sample) float64 { return float64(x.resident) / 1e6 }), at(0.5, q, func(x *sample) float64 { return float64(x.heap) / 1e6 }),
			at(0.5, q, func(x *sample) float64 { return float64(x.state.Bytes) / 1e6 }), all.Total(),
		}, quantiles(&all, 1000)...)...)
	}
	found, problem := verdict(s.list)
	section := &report.Section{
		Title: "What was seen",
		Text: fmt.Sprintf("Every %v: the memory of the process and of its indices, and the latencies of the changes that were confirmed since; each sample is a line of [%s.csv](%s.csv). A latency is from when "+
			"a change was due until all of its effects were known, so that what waits for others is counted too.", s.opt.every, soakName, soakName),
		Plots: []report.Plot{
			{File: soakName + "-memory.svg", Alt: "Memory over time", Chart: memory},
			{File: soakName + "-latency.svg", Alt: "Latencies over time", Chart: latencies},
		},
		Tables: []report.Table{{Title: "By quarter, medians of memory and quantiles of latencies", Rows: t, Notes: []string{strings.Join(found, "; ") + ". The answer at the end is that of " +
			"a search that knows nothing of dataflow."}}},
	}
	if err := section.WriteText(stdout); err != nil {
		return err
	}
	r := report.Report{
		Title: "A graph that changes for long",
		Intro: fmt.Sprintf("Distances in %s, for %v. It fails if memory of the last quarter is more than %g times that of the second, or the median latency more than %d times.", s.what(), s.opt.length, growth, slowdown),

		Machine: machine, Sections: []*report.Section{section},
	}
	if err := r.Save(folder, soakName+".md"); err != nil {
		return err
	}
	if problem != nil {
		return fmt.Errorf("the soak is not steady: %w", problem)
	}
	return nil
}

// what says what changes, and how fast.
func (s *soaker) what() string {
	return fmt.Sprintf("a random graph of %s vertices and %s edges, of which %s a second are re-wired, on %s",
		thousands(s.opt.vertices), thousands(s.opt.edges), thousands(s.opt.rate), report.Count(s.opt.workers, "worker"))
}
