package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"weir/internal/program"
	"weir/internal/report"
	"weir/series/seriesbench"
)

// task is what a process measures.
type task struct {
	Part    string // lives, ingest, recoveries, sizes or reads
	Bench   seriesbench.Bench
	Seconds int
}

// measured is what came of tasks.
type measured struct {
	Ingest     []seriesbench.Run
	Lives      []seriesbench.Life
	Recoveries []seriesbench.Recovery
	Sizes      []seriesbench.Size
	Reads      []seriesbench.Read
}

// measurePart is what a process does that was started for a task.
func measurePart(ctx context.Context, t task, stdout io.Writer) (err error) {
	var m measured
	switch t.Part {
	case "lives":
		m.Lives, err = t.Bench.Lives(ctx)
	case "ingest":
		m.Ingest, err = t.Bench.Ingest(ctx)
	case "recoveries":
		m.Recoveries, err = t.Bench.Recoveries(ctx)
	case "sizes":
		m.Sizes, err = t.Bench.Sizes(ctx)
	case "reads":
		m.Reads, err = t.Bench.Reads(ctx, t.Seconds)
	default:
		err = fmt.Errorf("there is no part %q", t.Part)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(m)
}

// bench is a run of the program.
type bench struct {
	opt     options
	machine report.Machine
	measured
	used   time.Duration // processor time of what was measured
	others string        // what others used of the processors meanwhile
}

// run measures everything, prints the tables and writes the report.
func (b *bench) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp(b.opt.Dir, "weir-bench-") // a process that is killed leaves something behind
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	load, _ := report.StartLoad() // what fails is said by its Sentence
	tasks := b.tasks(dir)
	for i, t := range tasks {
		fmt.Fprintf(stderr, "%d of %d: %s of %v series\n", i+1, len(tasks), t.Part, t.Bench.Series)
		var m measured
		used, err := program.Apart(ctx, "measure", t, &m)
		b.used += used
		if err != nil {
			return fmt.Errorf("measure %s of %v series: %w", t.Part, t.Bench.Series, err)
		}
		b.add(m)
	}
	b.others = load.Sentence(b.used)
	sections, err := report.WriteSections(stdout, []func() (*report.Section, error){b.writing, b.living, b.recovering, b.sizing, b.reading, b.goals})
	if err != nil {
		return err
	}
	return b.save(sections)
}

// tasks are those of a run; each number of live series has a process, whose memory nothing else has used.
func (b *bench) tasks(dir string) []task {
	all := b.opt.Bench
	all.Dir = dir
	var list []task
	for _, n := range b.opt.live {
		one := all
		one.Series = []int{n}
		list = append(list, task{Part: "lives", Bench: one})
	}
	for _, part := range []string{"ingest", "recoveries", "sizes", "reads"} {
		list = append(list, task{Part: part, Bench: all, Seconds: b.opt.seconds})
	}
	return list
}

func (b *bench) add(m measured) {
	b.Ingest = append(b.Ingest, m.Ingest...)
	b.Lives = append(b.Lives, m.Lives...)
	b.Recoveries = append(b.Recoveries, m.Recoveries...)
	b.Sizes = append(b.Sizes, m.Sizes...)
	b.Reads = append(b.Reads, m.Reads...)
}
