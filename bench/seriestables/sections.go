package main

import (
	"fmt"
	"slices"

	"weir/internal/report"
	"weir/internal/table"
	"weir/series/seriesbench"
)

// reportName is the name of the report in the output folder; the plot begins with the same.
const reportName = "series"

func (b *bench) save(sections []*report.Section) error {
	r := report.Report{
		Title: "The series store, measured",
		Intro: fmt.Sprintf("Points are written through the Go API: a mix of five kinds of series (walks with two decimals, counters, constants, whole numbers around a level, "+
			"noisy sines), ten seconds apart, ±5 ms, row by row: one point of each series, then the next of each. They were made before. Runs took turns, each %s; the median is shown. "+
			"A core's points are those of a second of processor time of all threads, those in the background included; that changes less than seconds do while others use the machine.\n\n"+
			"%s What they were sent came over the network of one machine, and was parsed: work that ours did not have here.",
			report.Count(b.opt.Repetitions, "time"), theirs),
		Machine: b.machine, More: [][2]string{{"others", b.others}}, Sections: sections,
	}
	return r.Save(b.opt.out, reportName+".md")
}

// writing shows what writing cost.
func (b *bench) writing() (*report.Section, error) {
	chart, err := seriesbench.IngestChart(b.Ingest, b.machine.Foot())
	if err != nil {
		return nil, err
	}
	return &report.Section{
		Title: "Writing",
		Text: "Each thread writes to series of its own, and commits every 1,000 points. The log is synced every 100 ms. Until closed means until everything is compressed in volumes, " +
			"which otherwise happens by and by. Bytes a point are of all files of the closed store: volumes, names and the checkpoint.",
		Plots: []report.Plot{{File: reportName + "-write.svg", Alt: "Points written a second by threads, with a log and without", Chart: chart}},
		Tables: []report.Table{
			{Title: "Points written", Rows: seriesbench.IngestTable(b.Ingest), Notes: []string{
				"Written to volumes is how often what volumes have in the end was written to them. Written in all counts the log, which is removed again, names and checkpoints too.",
			}},
			{Title: "Ratios", Rows: b.ratios()},
			{Title: "Other stores", Rows: peerIngest(), Notes: []string{"On another day, over the network of one machine, by their own protocols. Akumuli had one thread that works."}},
		},
	}, nil
}

// run finds a run.
func (b *bench) find(series, threads int, log bool) (seriesbench.Run, bool) {
	at := slices.IndexFunc(b.Ingest, func(r seriesbench.Run) bool { return r.Series == series && r.Threads == threads && r.Log == log })
	if at < 0 {
		return seriesbench.Run{}, false
	}
	return b.Ingest[at], true
}

// logCost is by how much less is written a second with a log, in percent: by time and by processor time.
func (b *bench) logCost(series, threads int) (wall, core float64, ok bool) {
	with, ok1 := b.find(series, threads, true)
	without, ok2 := b.find(series, threads, false)
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	if with.Processor > 0 && without.Processor > 0 {
		core = 100 * (1 - with.CoreRate()/without.CoreRate())
	}
	return 100 * (1 - with.Rate()/without.Rate()), core, true
}

// ratios says what the log and the other cores do.
func (b *bench) ratios() *table.Table {
	t := table.New(table.Right("series"), table.Right("threads"), table.Right("the log costs, % of points/s").Decimals(0), table.Right("of points a core").Decimals(0),
		table.Right("× one thread, log").Decimals(2), table.Right("no log").Decimals(2))
	for _, n := range b.opt.Series {
		for _, threads := range b.opt.Threads {
			wall, core, ok := b.logCost(n, threads)
			if !ok {
				continue
			}
			row := []any{n, threads, wall, core}
			for _, log := range []bool{true, false} {
				one, ok := b.find(n, 1, log)
				r, _ := b.find(n, threads, log)
				if !ok {
					row = append(row, nil)
					continue
				}
				row = append(row, r.Rate()/one.Rate())
			}
			t.Row(row...)
		}
	}
	return t
}

func (b *bench) living() (*report.Section, error) {
	return &report.Section{
		Title: "Many series",
		Text: "Each store was written on one thread with a log, in a process of its own, closed, and opened again. Memory is the most that the process had beyond what it had before, without files that " +
			"it has mapped: that of the names, of points that are not in volumes yet, and what the collector of garbage has not collected.",
		Tables: []report.Table{{Title: "Memory and starts", Rows: seriesbench.LifeTable(b.Lives), Notes: []string{
			"Akumuli with 1,000,000 series of 10 points had 3,500 MB resident, took 86 to 118 s to stop and 6 to 30 s to start, and 410 bytes a point on disk, on another day.",
		}}},
	}, nil
}

func (b *bench) recovering() (*report.Section, error) {
	return &report.Section{
		Title: "Start after a kill",
		Text:  "The files of a store were copied while it was open, once all points were written and synced; the copy is opened, which reads its log.",
		Tables: []report.Table{
			{Title: "Recovery", Rows: seriesbench.RecoveryTable(b.Recoveries)},
		},
	}, nil
}

func (b *bench) sizing() (*report.Section, error) {
	return &report.Section{
		Title: "Size by kind",
		Text:  "Bytes a point of all files, for stores of one kind of series each, and of all kinds. Values come back bit for bit.",
		Tables: []report.Table{
			{Title: "Bytes a point", Rows: seriesbench.SizeTable(b.Sizes)},
			{Title: "Other stores", Rows: peerSizes(), Notes: []string{"VictoriaMetrics rounds values, which is why it may have less than the least. Akumuli took 7.7 to 8.4 bytes for walks, and 20.5 for 100,000 series of 200 points. All on another day."}},
		},
	}, nil
}

func (b *bench) reading() (*report.Section, error) {
	return &report.Section{
		Title: "Questions",
		Text: "Stores were closed and opened before, and each question was asked once before it was measured, so that what it needs is in memory of the system. Where it says one core, the program had only that. " +
			"Text goes nowhere. The long series is a walk with a point a second.",
		Tables: []report.Table{
			{Title: "Hot", Rows: seriesbench.ReadTable(b.Reads)},
			{Title: "Other stores", Rows: peerReads(), Notes: []string{"On another day, hot as well, asked over the network of one machine."}},
		},
	}, nil
}
