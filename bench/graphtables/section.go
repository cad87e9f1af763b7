package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"weir/graph/ladder"
	"weir/internal/plot"
	"weir/internal/table"
)

// section is a part of the report.
type section struct {
	title string
	intro string
	jobs  []*job
	// finish makes the parts below of the jobs' timings.
	finish func(s *section) error

	tables []titled
	chart  *plot.Chart // nil for none
	file   string      // name of the chart's file
	alt    string      // what the chart shows, for those who do not see it
}

// titled is a table with what is said above and below it.
type titled struct {
	title string
	table *table.Table
	notes []string // a paragraph each
}

// writeText writes the section for a terminal.
func (s *section) writeText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\n%s\n%s\n", s.title, strings.Repeat("=", len(s.title))); err != nil {
		return err
	}
	for _, t := range s.tables {
		if _, err := fmt.Fprintf(w, "\n%s\n\n", t.title); err != nil {
			return err
		}
		if err := t.table.WriteText(w); err != nil {
			return err
		}
		for _, note := range t.notes {
			if _, err := fmt.Fprintf(w, "\n%s\n", wrap(note, 100)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeMarkdown writes the section for the report.
func (s *section) writeMarkdown(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\n## %s\n\n%s\n", s.title, s.intro); err != nil {
		return err
	}
	if s.chart != nil {
		if _, err := fmt.Fprintf(w, "\n![%s](%s)\n", s.alt, s.file); err != nil {
			return err
		}
	}
	for _, t := range s.tables {
		if _, err := fmt.Fprintf(w, "\n### %s\n\n", t.title); err != nil {
			return err
		}
		if err := t.table.WriteMarkdown(w); err != nil {
			return err
		}
		for _, note := range t.notes {
			if _, err := fmt.Fprintf(w, "\n%s\n", note); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrap breaks a paragraph at blanks.
func wrap(s string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(s) {
		n := len([]rune(word))
		switch {
		case column == 0:
		case column+1+n > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
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
