package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/table"
	"weir/series/seriesbench"
)

// secondsOfYear is how many points the long series has that is read, one a second.
const secondsOfYear = 365 * 24 * 60 * 60

// benchResult is the result of the command as JSON.
type benchResult struct {
	Ingest     []seriesbench.Run      `json:"ingest"`
	Reads      []seriesbench.Read     `json:"reads,omitempty"`
	Lives      []seriesbench.Life     `json:"lives,omitempty"`
	Recoveries []seriesbench.Recovery `json:"recoveries,omitempty"`
	Sizes      []seriesbench.Size     `json:"sizes,omitempty"`
}

func (a *app) seriesBenchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how many points a second this machine stores, and their size",
		Long: `Write points to new stores, and say how many a second that were, and how many bytes each has: with a log that is
synced every 100 ms and without, on one thread and on more, each of which has series of its own and commits every 1,000
points. The points are made before: a mix of random walks, counters, constants, whole numbers and noisy sines, about
ten seconds apart, row by row. The ways take turns, and the median of --repeat runs is shown.

A core's points are those of a second of processor time, what is written in the background included. Until closed
means until all is compressed in volumes, which otherwise happens by and by. That takes some minutes; fewer --points
are quicker.

With --reads it also measures memory and starts of stores of --live series, recoveries, questions and sizes by kind.`,
		Example: `  weir series bench --points 200000 --series 1000,10000 --threads 1,2 --repeat 1 --svg rates.svg
  weir series bench --points 20000 --series 100 --threads 1 --reads --seconds 10000 --live 200`,
		Args: cobra.NoArgs,
	}
	b := seriesbench.Bench{}
	flags := cmd.Flags()
	flags.StringVar(&b.Dir, "dir", "", "make stores below `directory`, and remove them (default that of temporary files)")
	flags.IntSliceVar(&b.Series, "series", []int{1000, 100_000}, "stores of `n` series")
	flags.IntVar(&b.Points, "points", 20_000_000, "write about `n` points in a run")
	flags.IntSliceVar(&b.Threads, "threads", nil, "write on `n` threads (default 1 and one a core)")
	flags.IntVar(&b.Repetitions, "repeat", 3, "measure everything `n` times")
	reads := flags.Bool("reads", false, "measure memory, starts, recoveries, questions and sizes too")
	seconds := flags.Int("seconds", secondsOfYear, "with --reads: `n` points of the one long series")
	live := flags.IntSlice("live", []int{100_000, 1_000_000}, "with --reads: memory of `n` series")
	svg := flags.String("svg", "", "draw points a second by threads to `file`.svg or .png")
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		if len(b.Threads) == 0 {
			b.Threads = slices.Compact([]int{1, min(runtime.GOMAXPROCS(0), max(1, slices.Min(append([]int{1 << 30}, b.Series...))))})
		}
		lives := b
		lives.Series = *live
		for _, check := range []*seriesbench.Bench{&b, &lives} {
			if err := check.Check(); err != nil && (check == &b || *reads) {
				return usageError{err}
			}
		}
		if *seconds < 1000 {
			return usagef("seconds: %d, expected at least 1,000", *seconds)
		}
		return a.seriesBench(ctx, &b, &lives, *reads, *seconds, *svg)
	})
	return cmd
}

func (a *app) seriesBench(ctx context.Context, b, lives *seriesbench.Bench, reads bool, seconds int, svg string) (err error) {
	var r benchResult
	if reads {
		if r.Lives, err = lives.Lives(ctx); err != nil { // first: nothing else has used memory yet
			return err
		}
	}
	if r.Ingest, err = b.Ingest(ctx); err != nil {
		return err
	}
	if reads {
		if r.Recoveries, err = b.Recoveries(ctx); err != nil {
			return err
		}
		if r.Sizes, err = b.Sizes(ctx); err != nil {
			return err
		}
		if r.Reads, err = b.Reads(ctx, seconds); err != nil {
			return err
		}
	}
	if svg != "" {
		source := fmt.Sprintf("weir series bench · %s %s/%s, %d processors · %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), time.Now().Format(time.DateOnly))
		chart, err := seriesbench.IngestChart(r.Ingest, source)
		if err != nil {
			return err
		}
		if err := chart.Save(svg); err != nil {
			return err
		}
		a.note("wrote %s", svg)
	}
	if a.json {
		return a.printJSON(r)
	}
	return a.printBench(&r)
}

func (a *app) printBench(r *benchResult) error {
	for i, part := range []struct {
		title string
		rows  *table.Table
	}{
		{"points written", seriesbench.IngestTable(r.Ingest)},
		{"memory and starts", seriesbench.LifeTable(r.Lives)},
		{"start after a kill", seriesbench.RecoveryTable(r.Recoveries)},
		{"size by kind", seriesbench.SizeTable(r.Sizes)},
		{"questions, hot", seriesbench.ReadTable(r.Reads)},
	} {
		if part.rows.Len() == 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		fmt.Fprintln(a.stdout, part.title)
		if err := part.rows.WriteText(a.stdout); err != nil {
			return err
		}
	}
	return nil
}
