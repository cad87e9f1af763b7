// Seriestables measures the series store: points written a second by threads and with a log and without, bytes a point,
// memory and starts of many series, recoveries, and questions. It prints tables beside figures of other stores, and
// writes docs/results/series.md with its plot.
//
//	go run ./bench/seriestables --quick
package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"weir/internal/program"
	"weir/internal/report"
	"weir/series/seriesbench"
)

// options are the flags.
type options struct {
	seriesbench.Bench
	live    []int
	seconds int
	out     string
}

func main() { program.Main(execute) }

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := false
	return program.Execute(ctx, command(args, &started), &started, args, stdout, stderr)
}

// command says in started whether arguments were all right.
func command(args []string, started *bool) *cobra.Command {
	var opt options
	var quick bool
	cmd := &cobra.Command{
		Use:   "seriestables",
		Short: "Measure the series store",
		Long: `Measure the series store: points written a second by threads, with a log and without, and bytes a
point; memory and starts of many series; starts after a kill; sizes by kind of values; questions.
Each part is a process of its own. Figures of other stores stand beside them.`,
		Example: `  go run ./bench/seriestables --quick
  go run ./bench/seriestables --points 5000000 --repetitions 5 --dir /mnt/disk --out results`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&opt.Dir, "dir", "", "make stores below `folder`, and remove them (default that of temporary files)")
	flags.IntSliceVar(&opt.Series, "series", []int{1000, 100_000}, "stores of `n` series")
	flags.IntVar(&opt.Points, "points", 20_000_000, "write about `n` points in a run")
	flags.IntSliceVar(&opt.Threads, "threads", slices.Compact([]int{1, runtime.GOMAXPROCS(0)}), "write on `n` threads")
	flags.IntVar(&opt.Repetitions, "repetitions", 3, "measure everything `n` times, in turns")
	flags.IntSliceVar(&opt.live, "live", []int{100_000, 1_000_000}, "memory of `n` series")
	flags.IntVar(&opt.seconds, "seconds", 365*24*60*60, "`n` points, one a second, of the one long series")
	flags.StringVar(&opt.out, "out", "", "write the report to `folder` (default docs/results)")
	flags.BoolVar(&quick, "quick", false, "few points, once: to see that all works")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if quick {
			if err := program.SetDefaults(cmd, map[string]string{
				"series": "10,100", "points": "20000", "repetitions": "1", "live": "50", "seconds": "5000",
			}); err != nil {
				return err
			}
		}
		if err := opt.check(); err != nil {
			return err
		}
		root, err := program.Repository()
		if err != nil {
			return err
		}
		if opt.out == "" {
			opt.out = filepath.Join(root, "docs", "results")
		}
		*started = true
		b := &bench{opt: opt, machine: report.Describe(root, report.CommandLine("go run ./bench/seriestables", args))}
		return b.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	cmd.AddCommand(program.Part("measure", started, measurePart))
	return cmd
}

func (o *options) check() error {
	if err := o.Check(); err != nil {
		return err
	}
	lives := o.Bench
	lives.Series = o.live
	if err := lives.Check(); err != nil {
		return err
	}
	if o.seconds < 1000 {
		return errors.New("--seconds is expected to be at least 1,000")
	}
	return nil
}
