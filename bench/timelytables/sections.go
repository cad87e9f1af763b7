package main

import (
	"fmt"
	"strings"

	"weir/internal/plot"
	"weir/internal/report"
	"weir/internal/table"
)

// reportName is the name of the report in the output folder; plots begin with the same.
const reportName = "timely"

// sideBySide is the heading of the Rust original's figures, and what is added to that of ratios.
const sideBySide = "Rust, another day"

// report writes the report and its plots.
func (b *bench) report() error {
	r := report.Report{
		Title: "Timely dataflow, measured",
		Intro: fmt.Sprintf("What a round of a timely dataflow costs, and a record, and an operator that has nothing to do. Each measurement is a process of its own, takes about %v, "+
			"and was made %s in turns; figures are medians.\n\n"+
			"**What the ratios are.** The columns \"%s\" are figures of the Rust original, timely 0.30, which were taken on another day on another machine of this kind (2 cores, 24 GiB), shared with others. "+
			"They were *not* measured in turns with ours: a ratio here divides our figure of one day by theirs of another, so that the machine, its load and the time are in it too. "+
			"Above 1 we do more in a second. A difference of some tens of percent says nothing.",
			b.opt.length, report.Count(b.opt.repetitions, "time"), sideBySide),
		Machine: b.machine, More: [][2]string{{"others", b.others}}, Sections: b.sections,
	}
	return r.Save(b.opt.out, reportName+".md")
}

// versus is a published figure and the ratio of ours to it: two cells, empty where none was published.
func (r *row) versus(figure func(rate float64) any) []any {
	if r.rust == 0 {
		return []any{nil, nil}
	}
	return []any{figure(r.rust), fmt.Sprintf("%s×", table.ThreeDigits(r.rate()/r.rust))}
}

// verdict says which rows reach the published figures, for those that have one.
func verdict(rows []*row, name func(r *row) string) string {
	var above, below []string
	for _, r := range rows {
		if r.rust > 0 {
			text := fmt.Sprintf("%s (%s×)", name(r), table.ThreeDigits(r.rate()/r.rust))
			if r.rate() >= r.rust {
				above = append(above, text)
			} else {
				below = append(below, text)
			}
		}
	}
	if len(above)+len(below) == 0 {
		return "There is no published figure of this size."
	}
	parts := []string{"none", "none"}
	for i, names := range [][]string{above, below} {
		if len(names) > 0 {
			parts[i] = strings.Join(names, ", ")
		}
	}
	return fmt.Sprintf("At or above the Rust figure: %s. Below it: %s.", parts[0], parts[1])
}

// exchange plans rounds in which each worker sends records to all.
func (b *bench) exchange() func() (*report.Section, error) {
	var rows []*row
	for _, records := range []int{1, min(1000, b.opt.most), b.opt.most} {
		t := task{Work: "exchange", Length: b.opt.length, Records: records}
		for _, p := range places {
			t.Workers, t.Processes = p[0], p[1]
			rows = append(rows, b.row(t, fmt.Sprint(records)))
		}
		for _, workers := range []int{1, 2} {
			if records == 1 {
				continue // it makes no difference
			}
			t.Work, t.Workers, t.Processes = "one by one", workers, 1
			r := b.row(t, fmt.Sprint(records))
			r.rust = rust[strings.Replace(r.key, t.Work, "exchange", 1)]
			rows = append(rows, r)
		}
	}
	name := func(r *row) string {
		text := fmt.Sprintf("%s a round, ", table.Thousands(fmt.Sprint(r.task.Records)))
		if r.task.Processes > 1 {
			text += r.workers()
		} else {
			text += report.Count(r.task.Workers, "worker")
		}
		if r.task.Work == "one by one" {
			text += ", one by one"
		}
		return text
	}
	return func() (*report.Section, error) {
		t := table.New(table.Right("records a round, each worker"), table.Left("sent"), table.Right("workers"), table.Right("rounds/s"), table.Right("M records/s, all workers"),
			table.Right(sideBySide+", M records/s"), table.Right("ratio"))
		var bars []plot.Bar
		for _, r := range rows {
			records := float64(r.task.Records * r.task.all())
			sent := "in a slice"
			if r.task.Work == "one by one" {
				sent = r.task.Work
			}
			t.Row(append([]any{r.task.Records, sent, r.workers(), r.rate(), r.rate() * records / 1e6}, r.versus(func(x float64) any { return x * records / 1e6 })...)...)
			bars = append(bars, plot.Bar{Label: name(r), Value: r.rate() * records, Group: "weir"})
			if r.rust > 0 && r.task.Work == "exchange" {
				bars = append(bars, plot.Bar{Label: "the same in Rust", Value: r.rust * records, Group: sideBySide})
			}
		}
		chart, err := plot.Bars(plot.Figure{
			Title: "Exchange of uint64", Subtitle: "records a second of all workers, which wait for one another after each round; logarithmic",
			Source: b.machine.Foot(), Width: 720,
		}, plot.Axis{Title: "records a second", Log: true}, bars)
		return &report.Section{
			Title: "Exchange",
			Text: "In each round every worker makes numbers and sends them, they are spread over all workers by their value, and nobody goes on before everybody knows that all have arrived: " +
				"with one record that is a full round trip of progress. Two processes are connected by TCP over the loopback interface. A call of Input.Send takes any number of records, " +
				"and is meant to be given many; a call for each, as is usual in Rust, is measured too.",
			Plots:  []report.Plot{{File: reportName + "-exchange.svg", Alt: "Records a second by records a round and workers, here and in Rust", Chart: chart}},
			Tables: []report.Table{{Title: "Rounds and records a second", Rows: t, Notes: []string{verdict(rows, name)}}},
		}, err
	}
}

// barrier plans rounds of notifications alone.
func (b *bench) barrier() func() (*report.Section, error) {
	var rows []*row
	for _, p := range places {
		rows = append(rows, b.row(task{Work: "barrier", Workers: p[0], Processes: p[1], Length: b.opt.length}, ""))
	}
	return func() (*report.Section, error) {
		t := table.New(table.Right("workers"), table.Right("µs a round"), table.Right("rounds/s"), table.Right(sideBySide+", µs a round"), table.Right("ratio"))
		for _, r := range rows {
			t.Row(append([]any{r.workers(), 1e6 / r.rate(), r.rate()}, r.versus(func(x float64) any { return 1e6 / x })...)...)
		}
		return &report.Section{
			Title: "Barrier",
			Text:  "A loop without records: an operator asks to be told when a round is over everywhere, and then for the next.",
			Tables: []report.Table{{Title: "A round of notifications", Rows: t, Notes: []string{
				verdict(rows, func(r *row) string { return report.Count(r.task.Workers, "worker") }),
			}}},
		}, nil
	}
}

// progress plans rounds with chains of operators.
func (b *bench) progress() func() (*report.Section, error) {
	lines := []struct {
		work, name string
		records    int
		rows       []*row
	}{
		{work: "beside", name: "one record beside the chain, which is idle", records: 1},
		{work: "empty", name: "an empty round through the chain", records: 0},
		{work: "through", name: "one record through the chain", records: 1},
	}
	for i := range lines {
		l := &lines[i]
		for _, n := range b.opt.operators {
			l.rows = append(l.rows, b.row(task{Work: l.work, Workers: 1, Processes: 1, Length: b.opt.length, Records: l.records, Operators: n}, fmt.Sprint(n)))
		}
	}
	many := b.row(task{Work: "idle", Workers: 1, Processes: 1, Length: b.opt.length, Records: 1, Operators: b.opt.idle}, fmt.Sprint(b.opt.idle))
	return func() (*report.Section, error) {
		t := table.New(table.Left("what"), table.Right("operators"), table.Right("rounds/s"), table.Right("ns a round"), table.Right("ns a round and operator"))
		var series []plot.Series
		for _, l := range lines {
			s := plot.Series{Name: l.name}
			for _, r := range l.rows {
				t.Row(l.name, r.task.Operators, r.rate(), 1e9/r.rate(), 1e9/r.rate()/float64(r.task.Operators))
				s.Points = append(s.Points, plot.Point{X: float64(r.task.Operators), Y: r.rate()})
			}
			series = append(series, s)
		}
		chart, err := plot.Lines(plot.Figure{
			Title: "The cost of progress follows what changes", Subtitle: "rounds a second by the length of a chain of operators, on one worker; both axes are logarithmic", Source: b.machine.Foot(),
		}, plot.Axis{Title: "operators", Log: true}, plot.Axis{Title: "rounds a second", Log: true}, series)
		first, last := lines[0].rows[0], lines[0].rows[len(lines[0].rows)-1]
		idle := table.New(table.Right("dataflows"), table.Right("operators in each"), table.Right("µs a round"), table.Right(sideBySide+", µs a round"), table.Right("ratio"))
		idle.Row(append([]any{many.task.Operators, many.task.Operators, 1e6 / many.rate()}, many.versus(func(x float64) any { return 1e6 / x })...)...)
		return &report.Section{
			Title: "Operators that have nothing to do",
			Text: "A round costs as much as it changes. An idle chain of operators in the same dataflow costs the rounds beside it nothing. Nor does it matter " +
				"how many operators an empty round goes through that have not asked to be told of its end. A record is handed from operator to operator, and told of each time.",
			Plots: []report.Plot{{File: reportName + "-progress.svg", Alt: "Rounds a second by the number of operators", Chart: chart}},
			Tables: []report.Table{
				{Title: "Chains of operators", Rows: t, Notes: []string{fmt.Sprintf(
					"Beside an idle chain of %s a round takes %s times as long as beside one of %s.",
					table.Thousands(fmt.Sprint(last.task.Operators)), table.ThreeDigits(first.rate()/last.rate()), table.Thousands(fmt.Sprint(first.task.Operators)))}},
				{Title: "Many dataflows", Rows: idle, Notes: []string{"One record goes through one dataflow after the other, while the others have nothing to do."}},
			},
		}, err
	}
}

// unionFind plans a stream of edges.
func (b *bench) unionFind() func() (*report.Section, error) {
	key := "of other size"
	if b.opt.vertices == rustVertices && b.opt.edges == rustEdges {
		key = ""
	}
	var rows []*row
	for _, workers := range []int{1, 2, 4} {
		rows = append(rows, b.row(task{Work: "union-find", Workers: workers, Processes: 1, Vertices: b.opt.vertices, Edges: b.opt.edges}, key))
	}
	return func() (*report.Section, error) {
		t := table.New(table.Right("workers"), table.Right("seconds"), table.Right("M edges/s"), table.Right("MB").Decimals(0),
			table.Right(sideBySide+", seconds"), table.Right("ratio"), table.Right("Rust, MB").Decimals(0))
		for _, r := range rows {
			seconds := func(rate float64) any { return float64(b.opt.edges) / rate }
			cells := append([]any{r.workers(), seconds(r.rate()), r.rate() / 1e6, nil}, r.versus(seconds)...)
			if most := r.memory(); most > 0 {
				cells[3] = float64(most) / 1e6
			}
			if theirs, known := rustMemory[r.key]; known {
				cells = append(cells, theirs)
			}
			t.Row(cells...)
		}
		return &report.Section{
			Title: "Union-find over a stream",
			Text: fmt.Sprintf("%s random edges on %s vertices stream in. Each worker drops those of its edges that join nothing, and the first does the same with what is left of all. "+
				"Making the edges is part of it. Memory is the most that the process had resident.", table.Thousands(fmt.Sprint(b.opt.edges)), table.Thousands(fmt.Sprint(b.opt.vertices))),
			Tables: []report.Table{{Title: "A spanning forest", Rows: t, Notes: []string{
				verdict(rows, func(r *row) string { return report.Count(r.task.Workers, "worker") }),
			}}},
		}, nil
	}
}

// shares are the quantiles that the report shows.
var shares = []float64{0.5, 0.9, 0.99, 0.999, 1}

// openLoop plans events at fixed rates.
func (b *bench) openLoop() func() (*report.Section, error) {
	var rows []*row
	for _, workers := range []int{1, 2} {
		for _, rate := range b.opt.rates {
			rows = append(rows, b.row(task{Work: "open loop", Workers: workers, Processes: 1, Length: b.opt.openFor, Rate: rate}, fmt.Sprint(rate)))
		}
	}
	return func() (*report.Section, error) {
		columns := []table.Column{table.Right("events/s, all workers"), table.Right("workers")}
		for _, share := range shares[:len(shares)-1] {
			columns = append(columns, table.Right(fmt.Sprintf("%g %%, µs", 100*share)))
		}
		t := table.New(append(columns, table.Right("most, µs"))...)
		var series []plot.Series
		for _, r := range rows {
			latencies := r.latencies()
			cells := []any{r.task.Rate, r.workers()}
			for _, share := range shares {
				cells = append(cells, 1e6*latencies.Quantile(share).Seconds())
			}
			t.Row(cells...)
			if r.task.Workers == 1 && r.task.Rate == rustRate {
				cells := []any{rustRate, sideBySide}
				for _, share := range shares {
					var figure any
					if theirs, known := rustLatencies[share]; known {
						figure = 1e6 * theirs.Seconds()
					}
					cells = append(cells, figure)
				}
				t.Row(cells...)
			}
			series = append(series, report.Tail(fmt.Sprintf("%s/s, %s", table.Thousands(fmt.Sprint(r.task.Rate)), report.Count(r.task.Workers, "worker")), latencies))
		}
		chart, err := plot.Lines(plot.Figure{
			Title: "Latency at a fixed rate of events", Subtitle: "the share of events that took longer than a time from when they were due; both axes are logarithmic", Source: b.machine.Foot(),
		}, plot.Axis{Title: "seconds", Log: true}, plot.Axis{Title: "share that took longer", Log: true, Min: report.LeastShare, Max: 1}, series)
		return &report.Section{
			Title: "Latency at a fixed rate",
			Text: "Events come at a fixed rate, whether or not those before them are done (an open loop), are exchanged, and are done when the worker that sent them knows that all workers " +
				"are through with their time. Latency is from when an event was due, so that a worker that is late does not hide it. The first fifth of each run does not count.",
			Plots:  []report.Plot{{File: reportName + "-latency.svg", Alt: "Share of events that took longer than a time, by rate and workers", Chart: chart}},
			Tables: []report.Table{{Title: "Latencies of all runs together", Rows: t}},
		}, err
	}
}
