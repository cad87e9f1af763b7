package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"weir/internal/plot"
	"weir/internal/report"
	"weir/internal/table"
)

// reportName is the name of the report; plots begin with the same.
const reportName = "pagerank-net"

// report writes the report and its plots.
func (b *bench) report() error {
	sections, err := b.sections()
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	r := report.Report{
		Title: "PageRank over networks, measured",
		Intro: fmt.Sprintf(`The tables of *The impact of fast networks on graph analytics* (McSherry and Schwarzkopf, 2015, in two parts) at the size of
this machine. Hosts are network namespaces, each with a link to a bridge, shaped in both directions; on each is a process of %d workers. All
share the processors of one machine. A plus is aggregation by process, else it is by worker. Each figure is the least of %d runs of %d
iterations, taken in turns; an iteration is the median of the last half of them (published: the average).`, b.opt.workers, b.opt.repetitions, b.opt.iterations),
		Machine: b.machine, Sections: sections,
	}
	for _, l := range []link{slow, fast} {
		r.More = append(r.More, [2]string{"a link of " + l.String(), fmt.Sprintf("carries %.2f Gbit/s of one TCP connection", b.measured[l.name]/1e9)})
	}
	r.More = append(r.More, [2]string{"others", fmt.Sprintf("used %.0f %% of the processors meanwhile", 100*b.others)})
	r.Sections = append(r.Sections, b.verdicts())
	if err := r.Save(b.opt.out, reportName+".md"); err != nil {
		return err
	}
	fmt.Fprintf(b.stdout, "wrote %s\n", filepath.Join(b.opt.out, reportName+".md"))
	return nil
}

// verdicts says what holds of what was published.
func (b *bench) verdicts() *report.Section {
	var text strings.Builder
	text.WriteString("Ratios above 1.05 are a yes, below 0.95 a no.\n")
	for _, c := range b.conclusions() {
		fmt.Fprintf(&text, "\n- **%s** (published: %s). %s", c.claim, c.says, c.verdict())
		if c.note != "" {
			fmt.Fprintf(&text, " %s", c.note)
		}
	}
	return &report.Section{Title: "What was published, and what holds here", Text: text.String()}
}

func (b *bench) sections() ([]*report.Section, error) {
	var all []*report.Section
	for _, g := range b.subjects {
		for _, make := range []func(*subject) (*report.Section, error){b.times, b.bytes, b.use} {
			s, err := make(g)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// both is a total and an iteration in one cell, as published.
func both(total, iteration float64) string {
	if iteration < 1 {
		return fmt.Sprintf("%s s (%s ms)", table.ThreeDigits(total), table.ThreeDigits(1e3*iteration))
	}
	return fmt.Sprintf("%.1f s (%.2f s)", total, iteration)
}

// times is the published table again.
func (b *bench) times(g *subject) (*report.Section, error) {
	s := &report.Section{
		Title: fmt.Sprintf("%s: times", title(g.name)),
		Text:  fmt.Sprintf("The graph is %s; %s vertices with edges, %s edges.", g.what, table.Thousands(fmt.Sprint(g.vertices)), table.Thousands(fmt.Sprint(g.edges))),
	}
	columns := []table.Column{table.Left("hosts × workers")}
	for _, v := range variants {
		columns = append(columns, table.Right(v.name))
	}
	t := table.New(append(columns, table.Right("10G over 1G+, total"), table.Right("an iteration"))...)
	for _, n := range b.opt.hosts {
		row := []any{b.shape(n)}
		for _, v := range variants {
			c := g.cells[cell{v.name, n}]
			row = append(row, both(c.total(), c.iteration()))
		}
		if n > 1 {
			plus, ten := g.cells[cell{"1G+", n}], g.cells[cell{"10G", n}]
			row = append(row, fmt.Sprintf("%.2f×", plus.total()/ten.total()), fmt.Sprintf("%.2f×", plus.iteration()/ten.iteration()))
		}
		t.Row(row...)
	}
	s.Tables = append(s.Tables, report.Table{Title: fmt.Sprintf("%d iterations in all, and one of them", b.opt.iterations), Rows: t, Notes: []string{
		"The total has the start of the processes in it, the opening of the file and the grouping of the edges."}})

	p := table.New(table.Left("hosts × workers"), table.Right("1G"), table.Right("1G+"), table.Right("10G"),
		table.Right("10G over 1G+, total"), table.Right("an iteration"))
	for _, r := range g.published.rows {
		row := []any{fmt.Sprintf("%d×%d", r.hosts, publishedWorkers)}
		for i := range publishedColumns {
			row = append(row, both(r.total[i], r.iteration[i]))
		}
		if r.hosts > 1 {
			row = append(row, fmt.Sprintf("%.2f×", r.total[1]/r.total[2]), fmt.Sprintf("%.2f×", r.iteration[1]/r.iteration[2]))
		}
		p.Row(row...)
	}
	s.Tables = append(s.Tables, report.Table{Title: "Published, for " + g.published.graph, Rows: p})

	for _, what := range []struct {
		name, title, axis string
		value             func(t *timing) float64
		bound             bool
	}{
		{"iteration", "An iteration of PageRank on " + g.name, "milliseconds an iteration", func(t *timing) float64 { return 1e3 * t.iteration() }, true},
		{"total", fmt.Sprintf("%d iterations of PageRank on %s, from start to end", b.opt.iterations, g.name), "seconds", (*timing).total, false},
	} {
		var lines []plot.Series
		for _, v := range variants {
			line := plot.Series{Name: v.name}
			for _, n := range b.opt.hosts {
				line.Points = append(line.Points, plot.Point{X: float64(n), Y: what.value(g.cells[cell{v.name, n}])})
			}
			lines = append(lines, line)
		}
		if what.bound {
			line := plot.Series{Name: "least at 1G", Dashed: true}
			for _, n := range b.opt.hosts[1:] {
				line.Points = append(line.Points, plot.Point{X: float64(n), Y: 1e3 * g.sent("process", n).mostBits / slow.bits})
			}
			lines = append(lines, line)
		}
		chart, err := plot.Lines(plot.Figure{
			Title: what.title, Subtitle: fmt.Sprintf("by hosts of %d workers, all on %d cores; a plus is aggregation by process; lower is better", b.opt.workers, b.machine.Cores),
			Source: b.machine.Foot(),
		}, plot.Axis{Title: "hosts"}, plot.Axis{Title: what.axis}, lines)
		if err != nil {
			return s, err
		}
		s.Plots = append(s.Plots, report.Plot{File: fmt.Sprintf("%s-%s-%s.svg", reportName, g.name, what.name), Alt: what.title, Chart: chart})
	}
	return s, nil
}

// bytes is what is sent, beside the least.
func (b *bench) bytes(g *subject) (*report.Section, error) {
	s := &report.Section{
		Title: fmt.Sprintf("%s: bytes", title(g.name)),
		Text: "What a process sends in an iteration, on the average, and the least: 8 bytes for each vertex on other hosts that it has edges to. " +
			"The connection carries also the headers of messages, and the progress of the dataflow. The least times are of the process that has the most to send.",
	}
	t := table.New(table.Left("hosts × workers"), table.Left("sums by"), table.Right("updates, MB").Decimals(3), table.Right("connection, MB").Decimals(3),
		table.Right("least, MB").Decimals(3), table.Right("connection over least"), table.Right("least at 1G, ms").Decimals(2), table.Right("at 10G, ms").Decimals(2))
	for _, x := range g.sends {
		t.Row(b.shape(x.hosts), x.aggregate, x.updates/1e6, x.wire/1e6, x.bound/1e6, fmt.Sprintf("%.2f×", x.wire/x.bound),
			1e3*x.mostBits/slow.bits, 1e3*x.mostBits/fast.bits)
	}
	s.Tables = append(s.Tables, report.Table{Title: "Sent by a process in an iteration", Rows: t})
	bound := table.New(table.Left(""), table.Left("hosts × workers"), table.Right("least at 1G, ms"), table.Right("10G measured, ms"), table.Right("least at 1G over 10G measured"))
	for _, n := range b.opt.hosts[1:] {
		least, ten := g.sent("process", n).mostBits/slow.bits, g.iteration("10G", n)
		bound.Row("here", b.shape(n), 1e3*least, 1e3*ten, fmt.Sprintf("%.2f×", least/ten))
	}
	for _, r := range g.published.rows[1:] {
		bound.Row("published, "+g.published.graph, fmt.Sprintf("%d×%d", r.hosts, publishedWorkers), 1e3*r.bound, 1e3*r.iteration[2], fmt.Sprintf("%.2f×", r.bound/r.iteration[2]))
	}
	s.Tables = append(s.Tables, report.Table{Title: "The least time at 1G beside what 10G takes", Rows: bound, Notes: []string{
		"Published ratios are worked out of the rounded figures of both parts."}})
	return s, nil
}

// use is what processors and links do over time.
func (b *bench) use(g *subject) (*report.Section, error) {
	n := b.opt.hosts[len(b.opt.hosts)-1]
	s := &report.Section{
		Title: fmt.Sprintf("%s: use over time", title(g.name)),
		Text: fmt.Sprintf("Every %v: the processors of the machine, by all processes, and the link of the process that sends the most, on %s workers. "+
			"The first part is the start: the file is opened, and each worker groups its edges.", sampleEvery, b.shape(n)),
	}
	for _, v := range variants[:3] {
		t := g.traces[v.name]
		cpu, network := plot.Series{Name: "processors"}, plot.Series{Name: "link of " + v.link.String()}
		for i, x := range t.seconds {
			cpu.Points = append(cpu.Points, plot.Point{X: x, Y: t.cpu[i]})
			network.Points = append(network.Points, plot.Point{X: x, Y: t.network[i]})
		}
		name := fmt.Sprintf("Use of processors and network on %s at %s", g.name, v.name)
		chart, err := plot.Lines(plot.Figure{
			Title: name, Subtitle: fmt.Sprintf("%s workers, sums by %s; samples every %v", b.shape(n), v.aggregate, sampleEvery), Source: b.machine.Foot(), Height: 280,
		}, plot.Axis{Title: "seconds"}, plot.Axis{Title: "percent", Max: 100}, []plot.Series{cpu, network})
		if err != nil {
			return s, err
		}
		file := map[string]string{"1G": "1g", "1G+": "1g-process", "10G": "10g"}[v.name]
		s.Plots = append(s.Plots, report.Plot{File: fmt.Sprintf("%s-%s-use-%s.svg", reportName, g.name, file), Alt: name, Chart: chart})
	}
	return s, nil
}

// title is a name at the beginning of a line.
func title(name string) string { return string(name[0]-'a'+'A') + name[1:] }
