package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"weir/internal/plot"
	"weir/internal/progress"
	"weir/internal/report"
	"weir/internal/table"
	"weir/series/codec"
)

// reportName is the name of the report in the output folder; the plot begins with the same.
const reportName = "codecs"

func run(ctx context.Context, opt options, machine report.Machine, stdout io.Writer) error {
	sets := generated(opt.values)
	kinds := len(sets)
	if opt.data != "" {
		recorded, err := real(opt.data)
		if err != nil {
			return err
		}
		sets = append(sets, recorded...)
	}
	bar := progress.Start(ctx, "measure", int64(len(sets)+len(clocks)), progress.Items)
	defer bar.Done()
	var rows []row
	for _, s := range sets {
		r, err := measure(ctx, s, opt)
		if err != nil {
			return err
		}
		rows = append(rows, r)
		bar.Add(1)
	}
	times, err := timesSection(ctx, opt, bar)
	if err != nil {
		return err
	}
	values, err := valuesSection(rows, kinds, opt, machine)
	if err != nil {
		return err
	}
	r := report.Report{
		Title: "Codecs of series, measured",
		Intro: fmt.Sprintf("Bits a value, where 64 are raw, and millions of values a second on one core. Each scheme took its turn %s, for about %v in each direction; rates are of %s, in the quickest round through a set, since others used the machine too. "+
			"All that was encoded was decoded, and had the same bits.\n\n"+
			"weir encodes vectors of %d values, each of which is decoded alone; dense is what it makes of leaves that are seldom read. DFCM is the scheme that Akumuli published, XOR that of Gorilla; both are ours too, in Go, and "+
			"begin anew after %d values.", report.Count(opt.repetitions, "time"), opt.length, clockName, codec.Max, published),
		Machine: machine, Sections: []*report.Section{values, times},
	}
	for _, s := range r.Sections {
		if err := s.WriteText(stdout); err != nil {
			return err
		}
	}
	return r.Save(opt.out, reportName+".md")
}

// valuesSection shows the sets, of which the first are generated.
func valuesSection(rows []row, kinds int, opt options, machine report.Machine) (*report.Section, error) {
	var bars []plot.Bar
	for _, r := range rows {
		for i, c := range schemes {
			label := ""
			if i == 0 {
				label = r.set.name
			}
			if c.name != "XOR" {
				bars = append(bars, plot.Bar{Label: label, Value: r.figures[i].bits, Group: c.name})
			}
		}
	}
	chart, err := plot.Bars(plot.Figure{Title: "Bits a value", Subtitle: "64 are raw; shorter is better", Source: machine.Foot()}, plot.Axis{Title: "bits a value"}, bars)
	if err != nil {
		return nil, err
	}
	s := &report.Section{
		Title: "Values", Text: fmt.Sprintf("Generated kinds have %s values each.", table.Thousands(fmt.Sprint(opt.values))),
		Plots:  []report.Plot{{File: reportName + "-bits.svg", Alt: "Bits a value by set and scheme", Chart: chart}},
		Tables: []report.Table{{Title: "Generated kinds", Rows: rowsTable(rows[:kinds]), Notes: notes(rows[:kinds])}},
	}
	if kinds < len(rows) {
		s.Tables = append(s.Tables, report.Table{Title: "Recorded series", Rows: rowsTable(rows[kinds:]), Notes: notes(rows[kinds:])})
	}
	return s, nil
}

func rowsTable(rows []row) *table.Table {
	columns := []table.Column{table.Left("set"), table.Left("what"), table.Left("forms")}
	for _, c := range schemes {
		columns = append(columns, table.Right(c.name+", bits").Decimals(2))
	}
	for _, c := range schemes {
		columns = append(columns, table.Right(c.name+", M/s encoded").Decimals(0), table.Right("decoded").Decimals(0))
	}
	t := table.New(columns...)
	for _, r := range rows {
		cells := []any{r.set.name, r.set.what, forms(r.set)}
		for _, f := range r.figures {
			cells = append(cells, f.bits)
		}
		for _, f := range r.figures {
			cells = append(cells, f.encode/1e6, f.decode/1e6)
		}
		t.Row(cells...)
	}
	return t
}

// forms says which forms the vectors of a set take, the most frequent ones first.
func forms(s set) string {
	counts := map[codec.Form]int{}
	total := 0
	for _, vs := range s.series {
		var hint codec.Hint
		for v := range slices.Chunk(vs, codec.Max) {
			if form, err := codec.FormOf(codec.AppendValues(nil, &hint, v)); err == nil {
				counts[form]++
				total++
			}
		}
	}
	var all []codec.Form
	for form := range counts {
		all = append(all, form)
	}
	slices.SortFunc(all, func(a, b codec.Form) int { return (counts[b]-counts[a])*1000 + int(a) - int(b) })
	var parts []string
	for _, form := range all[:min(len(all), 3)] {
		parts = append(parts, fmt.Sprintf("%v %d %%", form, (100*counts[form]+total/2)/total))
	}
	return strings.Join(parts, ", ")
}

// notes sums up.
func notes(rows []row) []string {
	var means []string
	for i, c := range schemes {
		sum, encode, decode := 0.0, 0.0, 0.0
		for _, r := range rows {
			sum += r.figures[i].bits
			encode += 1 / r.figures[i].encode
			decode += 1 / r.figures[i].decode
		}
		n := float64(len(rows))
		means = append(means, fmt.Sprintf("%s %.2f bits, %.0f encoded and %.0f decoded", c.name, sum/n, n/encode/1e6, n/decode/1e6))
	}
	return []string{"Means over the sets, of rates harmonic: " + strings.Join(means, "; ") + "."}
}

func timesSection(ctx context.Context, opt options, bar *progress.Stage) (*report.Section, error) {
	columns := []table.Column{table.Left("times")}
	for _, name := range []string{"weir", "dense"} {
		columns = append(columns, table.Right(name+", bits").Decimals(2), table.Right("M/s encoded").Decimals(0), table.Right("decoded").Decimals(0))
	}
	t := table.New(columns...)
	for _, c := range clocks {
		cells := []any{c.name}
		for _, dense := range []bool{false, true} {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f, err := measureTimes(c.times(opt.values), dense, opt)
			if err != nil {
				return nil, fmt.Errorf("times %s: %w", c.name, err)
			}
			cells = append(cells, f.bits, f.encode/1e6, f.decode/1e6)
		}
		t.Row(cells...)
		bar.Add(1)
	}
	return &report.Section{Title: "Times", Text: "Each is 64 bits, of nanoseconds.", Tables: []report.Table{{Title: "Bits a time", Rows: t}}}, nil
}
