package main

import (
	"fmt"

	"weir/internal/report"
	"weir/internal/table"
	"weir/series/seriesbench"
)

// goal is a figure, and what it should be at least or at most.
type goal struct {
	what    string
	unit    string
	figure  float64
	bound   float64
	atLeast bool
}

func (g goal) met() bool {
	if g.atLeast {
		return g.figure >= g.bound
	}
	return g.figure <= g.bound
}

// goals says which of the goals of the store were met in this run, those of sizes that were not measured left out.
func (b *bench) goals() (*report.Section, error) {
	t := table.New(table.Left("what"), table.Left("goal"), table.Right("measured"), table.Left("unit"), table.Left("met"))
	for _, g := range b.list() {
		sign, met := "≤ ", "no"
		if g.atLeast {
			sign = "≥ "
		}
		if g.met() {
			met = "yes"
		}
		t.Row(g.what, sign+table.ThreeDigits(g.bound), g.figure, g.unit, met)
	}
	return &report.Section{
		Title:  "Goals",
		Text:   "What the store was to reach on this kind of machine, and whether it did in this run.",
		Tables: []report.Table{{Title: "Goals", Rows: t}},
	}, nil
}

func (b *bench) list() []goal {
	var all []goal
	atLeast := func(what, unit string, figure, bound float64) {
		all = append(all, goal{what, unit, figure, bound, true})
	}
	atMost := func(what, unit string, figure, bound float64) {
		all = append(all, goal{what, unit, figure, bound, false})
	}
	b.writingGoals(atLeast, atMost)
	for _, l := range b.Lives {
		switch l.Series {
		case 100_000:
			atMost("memory of 100,000 series", "MiB", float64(l.Memory)/(1<<20), 150)
		case 1_000_000:
			atMost("memory of 1,000,000 series", "MiB", float64(l.Memory)/(1<<20), 1024)
			atMost("start with 1,000,000 series", "s", l.Start, 2)
		}
	}
	for _, z := range b.Sizes {
		if bound := map[string]float64{"walk": 1.52, "counter": 1.42, "constant": 0.66, "integers": 1.56, "sine": 6.77, "mixed": 2.4}[z.Kind]; z.Jitter != 0 && z.Series == 1000 {
			atMost("size of "+z.Kind, "bytes a point", z.BytesPerPoint(), bound)
		}
	}
	for _, r := range b.Reads {
		switch name := fmt.Sprintf("%s (%s × %s)", r.What, table.Thousands(fmt.Sprint(r.Series)), table.Thousands(fmt.Sprint(r.Points/r.Series))); {
		case r.What == seriesbench.WholeMaximum && r.Series == 1000:
			atMost(name, "ms", 1e3*r.Seconds, 1)
		case r.What == seriesbench.WholeMaximum && r.Series == 100_000:
			atMost(name, "ms", 1e3*r.Seconds, 60)
		case r.What == seriesbench.Spans && r.Points > 30_000_000:
			atMost(name, "ms", 1e3*r.Seconds, 10)
		case r.What == seriesbench.SelectBySeries && r.Series == 1000, r.What == seriesbench.SelectByTime && r.Series == 1000:
			atLeast(name, "M points/s", r.Rate()/1e6, 5)
		case r.What == seriesbench.DecodeAll && (r.Series == 1000 || r.Points > 30_000_000):
			atLeast(name, "M points/s", r.Rate()/1e6, 300)
		}
	}
	return all
}

// writingGoals are those of writing.
func (b *bench) writingGoals(atLeast, atMost func(what, unit string, figure, bound float64)) {
	for _, want := range []struct {
		series int
		name   string
		rate   float64
		size   float64
	}{{1000, "1,000 series", 3, 2.4}, {100_000, "100,000 series", 1.5, 3}} {
		one, ok := b.find(want.series, 1, true)
		if !ok {
			continue
		}
		if one.Processor > 0 {
			atLeast("writing with a log, "+want.name, "M points/s a core", one.CoreRate()/1e6, want.rate)
		}
		if two, ok := b.find(want.series, 2, true); ok {
			atLeast("two threads, "+want.name, "× one", two.Rate()/one.Rate(), 1.6)
		}
		wall, _, ok := b.logCost(want.series, 1)
		if ok {
			atMost("cost of the log, "+want.name, "% of points/s", wall, 20)
		}
		atMost("size, "+want.name, "bytes a point", one.BytesPerPoint(), want.size)
		atMost("written to volumes, "+want.name, "×", one.Amplification(), 1.3)
	}
}
