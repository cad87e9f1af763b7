// Livetables measures answers that follow a graph: loading a random one and answering, and how long it takes
// until all effects of a change are known, for changes that come one at a time and in batches. It prints
// tables beside figures of the Rust original, and writes docs/results/live.md with its plots. With --soak
// it has one graph changed at a steady rate for long, and fails if memory or latencies grow.
//
//	go run ./bench/livetables --quick
//	go run ./bench/livetables --soak 1h
package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/program"
	"weir/internal/report"
)

// options are the flags.
type options struct {
	vertices int
	edges    int
	large    int // edges, to look at garbage collection with
	batches  []int
	length   time.Duration // of a batch size
	out      string
	quick    bool
	soak     soakOptions
}

func main() { program.Main(execute) }

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := false
	return program.Execute(ctx, command(args, &started), &started, args, stdout, stderr)
}

// command says in started whether arguments were all right.
func command(args []string, started *bool) *cobra.Command {
	var opt options
	cmd := &cobra.Command{
		Use:   "livetables",
		Short: "Measure answers that follow a graph",
		Long: `Measure answers that follow a graph: how long it takes to load a random graph and answer, and how
much memory; and from the introduction of a change until all of its effects are known. Each
measurement is a process of its own, which makes the answer anew at the end and fails if it is
another. Figures of the Rust original stand beside them.

With --soak one graph is changed at a steady rate for long. It fails if after the first quarter memory grows by more
than a tenth, or if the median latency of the last quarter is more than twice that of the second.`,
		Example: `  go run ./bench/livetables --quick
  go run ./bench/livetables --vertices 100000 --edges 1000000 --for 1s --out results
  go run ./bench/livetables --soak 1h`,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&opt.vertices, "vertices", rustVertices, "`n` vertices")
	flags.IntVar(&opt.edges, "edges", rustEdges, "`n` random edges")
	flags.IntVar(&opt.large, "large", 50_000_000, "`n` edges to look at garbage collection with")
	flags.IntSliceVar(&opt.batches, "batches", []int{1, 10, 100, 1000, 10_000}, "`n` changes at a time")
	flags.DurationVar(&opt.length, "for", 5*time.Second, "changes of a batch size take so `long`")
	flags.StringVar(&opt.out, "out", "", "write the report to `folder` (default docs/results; with --soak out/soak)")
	flags.BoolVar(&opt.quick, "quick", false, "a small graph, and short measurements: to see that all works")
	flags.DurationVar(&opt.soak.length, "soak", 0, "rather than all that, change a graph for so `long`")
	flags.DurationVar(&opt.soak.every, "sample", 0, "with --soak: look every so `long` (default a 120th of it)")
	flags.IntVar(&opt.soak.rate, "rate", 2000, "with --soak: `n` changes a second, whatever becomes of those before")
	flags.IntVar(&opt.soak.vertices, "soak-vertices", 100_000, "with --soak: `n` vertices")
	flags.IntVar(&opt.soak.edges, "soak-edges", 1_000_000, "with --soak: `n` edges")
	flags.IntVar(&opt.soak.workers, "soak-workers", 1, "with --soak: `n` workers")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if opt.quick {
			if err := program.SetDefaults(cmd, map[string]string{
				"vertices": "1000", "edges": "10000", "large": "20000", "for": "20ms", "soak-vertices": "1000", "soak-edges": "5000",
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
		machine := report.Describe(root, report.CommandLine("go run ./bench/livetables", args))
		*started = true
		if opt.soak.length > 0 {
			if opt.out == "" {
				opt.out = filepath.Join(root, "out", "soak")
			}
			return soak(cmd.Context(), opt, machine, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}
		if opt.out == "" {
			opt.out = filepath.Join(root, "docs", "results")
		}
		b := &bench{opt: opt, machine: machine}
		return b.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	cmd.AddCommand(program.Part("measure", started, measurePart))
	return cmd
}

func (o *options) check() error {
	if o.vertices < 1 || o.edges < 1 || o.large < 1 || o.length <= 0 {
		return errors.New("--vertices, --edges, --large and --for are expected to be more than 0")
	}
	if len(o.batches) == 0 || slices.Min(o.batches) < 1 {
		return errors.New("--batches are expected to be numbers from 1 on")
	}
	return o.soak.check()
}
