package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"weir/graph/ladder"
	"weir/internal/report"
	"weir/internal/table"
)

// section is a part of the report, and the jobs that it is made of.
type section struct {
	report.Section
	jobs []*job
	// finish fills the section from the jobs' timings.
	finish func(s *section) error
}

// rate is edges a second, in millions.
func rate(edges int64, passes float64, t timing) float64 {
	return float64(edges) * passes / t.median() / 1e6
}

// detail is the table of all timings of jobs that walk a graph's edges.
func detail(jobs []*job, what string, passes float64) *table.Table {
	t := table.New(table.Left("graph"), table.Right("edges"), table.Left(what), table.Right("cores"),
		table.Right("seconds, median"), table.Right("least"), table.Right("runs"), table.Right("M edges/s"))
	for _, j := range jobs {
		edges := j.subject.graph.Edges
		for i, v := range j.variants {
			x := j.timings[i]
			t.Row(j.subject.name, edges, v.name, v.cores, x.median(), x.least(), len(x.seconds), rate(edges, passes, x))
		}
	}
	return t
}

// compared is a row that stands beside others, here or published.
type compared struct {
	name  string
	graph string
	cores int
	rate  float64 // millions of edges a second
	text  string  // the rate as the plot shows it; "" to leave that to the plot
	cells []any
	here  bool
}

// compare puts the timings of j between the published ones, the fastest first.
func compare(j *job, rows []ladder.Published, passes float64) (*table.Table, []compared) {
	var all []compared
	for _, p := range rows {
		for i, g := range ladder.PublishedGraphs {
			if r := p.Rate(i) / 1e6; r > 0 {
				c := compared{name: p.System, graph: g.Name, cores: p.Cores, rate: r, cells: publishedCells(p, i)}
				if p.Bounded(i) {
					c.text = "at most " + humanize.SIWithDigits(r*1e6, 0, "")
				}
				all = append(all, c)
			}
		}
	}
	edges := j.subject.graph.Edges
	for i, v := range j.variants {
		x := j.timings[i]
		r := rate(edges, passes, x)
		all = append(all, compared{
			name: v.name, graph: j.subject.name, cores: v.cores, rate: r, here: true,
			cells: []any{"weir, " + v.name, j.subject.name, v.cores, table.ThreeDigits(x.median()), table.ThreeDigits(r), table.ThreeDigits(r / float64(v.cores))},
		})
	}
	slices.SortStableFunc(all, func(a, b compared) int {
		switch {
		case a.rate > b.rate:
			return -1
		case a.rate < b.rate:
			return 1
		}
		return 0
	})
	t := table.New(table.Left("system"), table.Left("graph"), table.Right("cores"), table.Right("seconds"), table.Right("M edges/s"), table.Right("M edges/s a core"))
	for _, c := range all {
		t.Row(c.cells...)
	}
	return t, all
}

// tally collects what a claim holds on and what it does not hold on.
type tally struct{ yes, no, even []string }

// margin is how far from 1 a ratio must be to say anything.
const margin = 1 + percent/100.

// add counts a ratio, which is above 1 where the claim holds.
func (t *tally) add(name string, ratio float64) {
	text := fmt.Sprintf("%s (%s×)", name, table.ThreeDigits(ratio))
	switch {
	case ratio > margin:
		t.yes = append(t.yes, text)
	case ratio < 1/margin:
		t.no = append(t.no, text)
	default:
		t.even = append(t.even, text)
	}
}

// ratios divides the medians of one variant by those of another, graph by graph.
func ratios(jobs []*job, slow string, slowCores int, fast string, fastCores int) tally {
	var found tally
	for _, j := range jobs {
		a, ok1 := j.find(slow, slowCores)
		b, ok2 := j.find(fast, fastCores)
		if ok1 && ok2 {
			found.add(j.subject.name, a.median()/b.median())
		}
	}
	return found
}

// verdict ends a sentence that says what is claimed.
func (t tally) verdict() string {
	var parts []string
	for _, p := range []struct {
		says   string
		graphs []string
	}{{"it holds on ", t.yes}, {"it does not hold on ", t.no}, {"there is no difference on ", t.even}} {
		if len(p.graphs) > 0 {
			parts = append(parts, p.says+list(p.graphs))
		}
	}
	if len(parts) == 0 {
		return "not measured here."
	}
	return strings.Join(parts, "; ") + "."
}

// list joins words with commas and an and.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}
