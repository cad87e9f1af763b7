// Timelytables measures what a timely dataflow costs: exchanging records, agreeing that a
// round is over, operators that have nothing to do, a stream through union-find, and the latency of events that
// come at a fixed rate. It prints tables beside figures of the Rust original, and writes
// docs/results/timely.md with its plots.
//
//	go run ./bench/timelytables --quick
package main

import (
	"context"
	"errors"
	"fmt"
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
	length      time.Duration // of a measurement
	repetitions int
	operators   []int // of chains
	idle        int   // dataflows, each of as many operators
	vertices    int
	edges       int
	rates       []int // of events, a second
	openFor     time.Duration
	most        int // records that a worker sends in a round
	out         string
	quick       bool
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
		Use:   "timelytables",
		Short: "Measure what a timely dataflow costs",
		Long: `Measure what a timely dataflow costs: records exchanged, rounds agreed on, operators
with nothing to do, a stream of edges through union-find, and the latency of events
that come at a fixed rate; on one worker, on several, on more than there are cores,
and on two processes. Each measurement is a process of its own. Figures of the Rust
original stand beside them.`,
		Example: `  go run ./bench/timelytables --quick
  go run ./bench/timelytables --for 3s --repetitions 5
  go run ./bench/timelytables --rates 100000,1000000,4000000 --out results`,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.DurationVar(&opt.length, "for", time.Second, "each measurement takes about so `long`")
	flags.IntVar(&opt.repetitions, "repetitions", 3, "measure everything `n` times, in turns")
	flags.IntSliceVar(&opt.operators, "operators", []int{1, 10, 100, 1000}, "chains of `n` operators")
	flags.IntVar(&opt.idle, "idle", 100, "`n` dataflows of as many operators, all but one with nothing to do")
	flags.IntVar(&opt.vertices, "vertices", 1_000_000, "`n` vertices for union-find")
	flags.IntVar(&opt.edges, "edges", 10_000_000, "`n` random edges for union-find")
	flags.IntSliceVar(&opt.rates, "rates", []int{10_000, 100_000, 1_000_000}, "`n` events a second, whatever becomes of those before")
	flags.DurationVar(&opt.openFor, "open-for", 3*time.Second, "events come for so `long`")
	flags.StringVar(&opt.out, "out", "", "write the report to `folder` (default docs/results)")
	flags.BoolVar(&opt.quick, "quick", false, "short measurements, once: to see that all works")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		opt.most = 1_000_000
		if opt.quick {
			opt.most = 10_000
			if err := program.SetDefaults(cmd, map[string]string{
				"for": "20ms", "repetitions": "1", "idle": "10", "vertices": "10000", "edges": "100000", "rates": "1000,10000", "open-for": "100ms",
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
		b := &bench{opt: opt, machine: report.Describe(root, report.CommandLine("go run ./bench/timelytables", args))}
		return b.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	cmd.AddCommand(program.Part("measure", started, measurePart), program.Part("join", started, joinPart))
	return cmd
}

func (o options) check() error {
	if o.length <= 0 || o.openFor <= 0 || o.repetitions < 1 || o.idle < 1 || o.vertices < 1 || o.edges < 1 {
		return errors.New("--for, --open-for, --repetitions, --idle, --vertices and --edges are expected to be more than 0")
	}
	if len(o.operators) == 0 || len(o.rates) == 0 || slices.Min(o.operators) < 1 || slices.Min(o.rates) < 1 {
		return errors.New("--operators and --rates are expected to be numbers from 1 on")
	}
	if !slices.IsSorted(o.operators) {
		return fmt.Errorf("--operators is %v, expected it to rise", o.operators)
	}
	return nil
}
