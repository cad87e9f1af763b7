package main

import (
	"fmt"
	"strings"
	"time"

	"weir/internal/latency"
	"weir/internal/plot"
	"weir/internal/report"
	"weir/internal/table"
)

// reportName is the name of the report in the output folder; plots begin with the same.
const reportName = "live"

// sideBySide is the heading of the Rust original's figures.
const sideBySide = "Rust, another day"

func thousands(n int) string { return table.Thousands(fmt.Sprint(n)) }

// report writes the report and its plots.
func (b *bench) report() error {
	r := report.Report{
		Title: "Answers that follow a graph, measured",
		Intro: fmt.Sprintf("A random graph of %s vertices and %s edges is loaded and a question is answered; then the graph is *re-wired*: a change takes away the edge that "+
			"has been there longest and adds a new random one. Each measurement is a process of its own, made once. At its end the process makes the answer anew, by a few lines that know nothing of "+
			"dataflow, and fails if it is another: what is measured here was right.\n\n"+
			"The garbage collector runs whenever the heap has grown by %d %%, as in `weir live`. Edges are a function of their number, so that the program "+
			"that makes the changes keeps none of them; all memory is that of the dataflow.\n\n"+
			"**What the ratios are.** Figures under \"%s\" are of the Rust original, differential 0.25, taken on another day on another machine of this kind (2 cores, 24 GiB), shared with others. "+
			"They were *not* measured in turns with ours: a ratio here divides a figure of ours of one day by one of theirs of another, so that the machine, its load and the time are in it too. "+
			"Below 1 we take less time or memory. A difference of some tens of percent says nothing. Where others use the processors too, "+
			"processor seconds, which are those of all threads, say more than the clock.",
			thousands(b.opt.vertices), thousands(b.opt.edges), gcPercent, sideBySide),
		Machine: b.machine, More: [][2]string{{"others", b.others}}, Sections: b.sections,
	}
	return r.Save(b.opt.out, reportName+".md")
}

// ratio is ours by theirs, as the tables show it; empty if theirs is not known.
func ratio(ours, theirs float64) any {
	if theirs == 0 {
		return nil
	}
	return table.ThreeDigits(ours/theirs) + "×"
}

// known is a figure, or nil where it is 0.
func known(x float64) any {
	if x == 0 {
		return nil
	}
	return x
}

// loads shows what loading and the first answer take.
func (b *bench) loads(groups ...[]*row) (*report.Section, error) {
	t := table.New(table.Left("question"), table.Right("edges"), table.Right("workers"), table.Right("seconds"), table.Right("processor seconds"), table.Right("MB").Decimals(0), table.Right("changes kept"), table.Right("state, bytes an edge"),
		table.Right(sideBySide+", seconds"), table.Right("ratio"), table.Right("Rust, MB").Decimals(0), table.Right("ratio"))
	for _, rows := range groups {
		for _, r := range rows {
			theirs := rustLoad[r.task.loadKey()]
			if !r.task.comparable() {
				theirs.seconds, theirs.memory = 0, 0
			}
			megabytes := float64(r.Memory) / 1e6
			t.Row(r.task.Question, r.task.Edges, r.task.Workers, r.Load, known(r.Used), known(megabytes), r.State.Changes, float64(r.State.Bytes)/float64(r.task.Edges),
				known(theirs.seconds), ratio(r.Load, theirs.seconds), known(theirs.memory), ratio(megabytes, theirs.memory))
		}
	}
	return &report.Section{
		Title: "Loading, and the first answer",
		Text: "From the start until all answers are known: *bfs* is how far each vertex is from the first, along the edges; *components* the least vertex that each is connected with, in either direction; " +
			"*degrees* how many vertices have each out-degree, a count of counts. Making the random edges is part of it. MB is the most that the process had resident until then; the state " +
			"is what all indices keep, in changes and in bytes for each edge of the graph.",
		Tables: []report.Table{{Title: "Seconds and memory until the first answer", Rows: t}},
	}, nil
}

// shares are the quantiles that the report shows.
var shares = []float64{0.5, 0.9, 0.99, 0.999, 1}

// quantileColumns are a column for each of them, in a unit.
func quantileColumns(unit string) []table.Column {
	var columns []table.Column
	for _, share := range shares {
		name := fmt.Sprintf("p%g, %s", 100*share, unit)
		if share == 1 {
			name = "max, " + unit
		}
		columns = append(columns, table.Right(name))
	}
	return columns
}

func quantiles(h *latency.Histogram, unit time.Duration) []any {
	var cells []any
	for _, share := range shares {
		cells = append(cells, float64(h.Quantile(share))/float64(unit))
	}
	return cells
}

// latencies shows how long it takes until a change is through.
func (b *bench) latencies(name, title string, rows []*row) (*report.Section, error) {
	columns := []table.Column{table.Right("changes at a time"), table.Left("workers"), table.Right("rounds")}
	columns = append(columns, quantileColumns("µs")...)
	t := table.New(append(columns, table.Right("changes/s"), table.Right("processor µs a change"))...)
	var series []plot.Series
	var verdicts []string
	published := false
	for i, batch := range b.opt.batches {
		for _, r := range rows {
			p := r.Phases[i]
			t.Row(append(append([]any{batch, fmt.Sprint(r.task.Workers), p.Rounds}, quantiles(&p.Latencies, time.Microsecond)...), p.rate(), known(p.used()))...)
			if r.task.Workers == 1 {
				series = append(series, report.Tail(fmt.Sprintf("%s at a time", thousands(batch)), p.Latencies))
			}
			theirs := rustLatencies[r.task.batchKey(batch)]
			if theirs == nil || !r.task.comparable() {
				continue
			}
			published = true
			figures, ratios := []any{batch, fmt.Sprintf("%d, %s", r.task.Workers, sideBySide), nil}, []any{batch, fmt.Sprintf("%d, ratio", r.task.Workers), nil}
			dots := plot.Series{Name: fmt.Sprintf("Rust, %s at a time", thousands(batch)), Dashed: true}
			for _, share := range shares {
				figure, has := theirs[share]
				if !has {
					figures, ratios = append(figures, nil), append(ratios, nil)
					continue
				}
				figures = append(figures, float64(figure)/1e3)
				quotient := float64(p.Latencies.Quantile(share)) / float64(figure)
				ratios = append(ratios, ratio(quotient, 1))
				if share < 1 {
					dots.Points = append(dots.Points, plot.Point{X: figure.Seconds(), Y: 1 - share})
				}
				if share == 0.5 {
					verdicts = append(verdicts, fmt.Sprintf("%s at a time on %s %s×", thousands(batch), report.Count(r.task.Workers, "worker"), table.ThreeDigits(quotient)))
				}
			}
			t.Row(figures...)
			t.Row(ratios...)
			if r.task.Workers == 1 && len(dots.Points) > 1 {
				series = append(series, dots)
			}
		}
	}
	note := "There are no figures of the Rust original of this question and size."
	if published {
		note = "The medians, as a ratio to those of the Rust original: " + strings.Join(verdicts, ", ") + "."
	}
	if name == "components" {
		note += " The original was published with a median of 130 µs for one change of a graph of 20,000,000 vertices and 400,000,000 edges, and 33 ms for 1,000, on a laptop of 2015."
	}
	chart, err := plot.Lines(plot.Figure{
		Title: title + ": from a change to all of its effects", Subtitle: "the share of batches that took longer than a time, on one worker; both axes are logarithmic", Source: b.machine.Foot(),
	}, plot.Axis{Title: "seconds", Log: true}, plot.Axis{Title: "share that took longer", Log: true, Min: report.LeastShare, Max: 1}, series)
	return &report.Section{
		Title: title + " while the graph is re-wired",
		Text: "From the introduction of a batch of changes, which are made together, until all that they do to the answer is known at every worker. The next batch comes at once: there is no " +
			"time in between in which an index could be tidied unnoticed. So the longest times are those of merging, of collecting garbage, and of whatever else the machine does.",
		Plots:  []report.Plot{{File: reportName + "-" + name + ".svg", Alt: "Share of batches that took longer than a time, by how many changes are made at a time", Chart: chart}},
		Tables: []report.Table{{Title: "Latencies", Rows: t, Notes: []string{note}}, byChanged(b.opt.batches, rows)},
	}, err
}

// byChanged shows the latencies by how much there was to do.
func byChanged(batches []int, rows []*row) report.Table {
	t := table.New(table.Right("changes at a time"), table.Right("workers"), table.Left("answers that changed"), table.Right("rounds"),
		table.Right("p50, µs"), table.Right("p99, µs"), table.Right("max, µs"))
	for i, batch := range batches {
		for _, r := range rows {
			for class := range r.Phases[i].ByChanged {
				h := &r.Phases[i].ByChanged[class]
				if n := h.Total(); n > 0 {
					t.Row(batch, r.task.Workers, changedClass(class), n, micros(h, 0.5), micros(h, 0.99), micros(h, 1))
				}
			}
		}
	}
	return report.Table{Title: "Latencies by how many answers changed", Rows: t, Notes: []string{
		"A round that is long because much of the answer is another, as where an edge near the root goes, is work; one that is long though it changed little is a pause.",
	}}
}

func micros(h *latency.Histogram, share float64) float64 {
	return float64(h.Quantile(share)) / float64(time.Microsecond)
}

// changedClass names a class of rounds.
func changedClass(class int) string {
	least := 0
	if class > 0 {
		least = int(changedMost[class-1]) + 1
	}
	if class == len(changedMost) {
		return thousands(least) + " or more"
	}
	return thousands(least) + " to " + thousands(int(changedMost[class]))
}

// degrees shows how many changes a second the counts follow.
func (b *bench) degrees(rows []*row) (*report.Section, error) {
	t := table.New(table.Right("changes at a time"), table.Right("workers"), table.Right("rounds"), table.Right("µs a round"), table.Right("processor µs a change"), table.Right("M changes/s"),
		table.Right(sideBySide+", M changes/s"), table.Right("ratio of times"))
	for i, batch := range rows[0].task.Batches {
		for _, r := range rows {
			p := r.Phases[i]
			cells := []any{batch, r.task.Workers, p.Rounds, 1e6 * p.Seconds / float64(p.Rounds), known(p.used()), p.rate() / 1e6}
			if theirs := rustRates[r.task.batchKey(batch)]; theirs > 0 && r.task.comparable() {
				cells = append(cells, theirs/1e6, ratio(theirs, p.rate()))
			}
			t.Row(cells...)
		}
	}
	return &report.Section{
		Title: "Degrees while the graph is re-wired",
		Text: "Two counts, one of the other's results, and no loop: what it costs to keep an index and a reduction up to date. A change is an edge less and an edge more, so twice as many updates go in. " +
			"It was not said of the Rust figures whether they count changes or updates; we take the former, which is to our disadvantage if it is the latter.",
		Tables: []report.Table{{Title: "Changes a second", Rows: t}},
	}, nil
}

// pauses shows what collecting garbage stops the program for.
func (b *bench) pauses(r *row) (*report.Section, error) {
	total, longest := uint64(0), 0.0
	for _, p := range r.Pauses {
		total += p.Count
		longest = max(longest, p.Seconds)
	}
	t := table.New(table.Right("pauses"), table.Right("p50, µs"), table.Right("p90, µs"), table.Right("p99, µs"), table.Right("longest, µs"))
	quantile := func(share float64) any {
		left := share * float64(total)
		for _, p := range r.Pauses {
			if left -= float64(p.Count); left <= 0 {
				return 1e6 * p.Seconds
			}
		}
		return nil
	}
	t.Row(total, quantile(0.5), quantile(0.9), quantile(0.99), 1e6*longest)
	each := table.New(table.Right("at most, µs"), table.Right("pauses"))
	for _, p := range r.Pauses {
		each.Row(1e6*p.Seconds, p.Count)
	}
	while := table.New(append([]table.Column{table.Right("changes at a time"), table.Right("rounds")}, quantileColumns("µs")...)...)
	for i, batch := range r.task.Batches {
		while.Row(append([]any{batch, r.Phases[i].Rounds}, quantiles(&r.Phases[i].Latencies, time.Microsecond)...)...)
	}
	return &report.Section{
		Title: "Garbage collection",
		Text: fmt.Sprintf("Components of a graph of %s edges, of which the indices have %s MB, while it is re-wired on one worker. Garbage is collected every %v, far more often than there is "+
			"need, so that there are pauses to look at. Indices hold no pointers and are not looked into by the collector. The pauses are those of `/sched/pauses/total/gc:seconds`: from "+
			"when the collector asks all threads to stop until they go on. A pause is longer than its work where others have the processors, since a thread that does not run cannot stop.",
			thousands(r.task.Edges), thousands(r.State.Bytes/1e6), r.task.Collect),
		Tables: []report.Table{
			{Title: "Pauses", Rows: t},
			{Title: "How they are distributed", Rows: each},
			{Title: "Latencies meanwhile", Rows: while},
		},
	}, nil
}
