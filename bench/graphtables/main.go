// Graphtables measures again, at the size of this machine, the published tables
// of McSherry, Isard and Murray, "Scalability! But at what COST?" (HotOS 2015),
// and what stands behind them: conversion, sizes, other algorithms, the limits of
// the machine. It prints tables and writes docs/results/graph.md with its plots.
//
//	go run ./bench/graphtables --quick
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/program"
	"weir/internal/report"
)

func main() { program.Main(execute) }

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := false
	return program.Execute(ctx, command(args, &started), &started, args, stdout, stderr)
}

// command says in started whether arguments were all right.
func command(args []string, started *bool) *cobra.Command {
	var opt options
	cmd := &cobra.Command{
		Use:   "graphtables",
		Short: "Measure the published tables of graph processing again",
		Long: `Measure again, at the size of this machine, the tables of "Scalability! But at
what COST?" (HotOS 2015): twenty PageRank iterations and graph connectivity, beside
the published figures; then conversion, sizes, other algorithms, and how far all
that is from the limits of the machine.

Graphs are generated once and kept in out/bench. Real graphs are those given with
--graph, else the well-known ones found in the folder that WEIR_SHARED_DATA names, else
in testdata.`,
		Example: `  go run ./bench/graphtables --quick
  go run ./bench/graphtables --scale 20,22,24 --graph web.el.gz
  go run ./bench/graphtables --graph routes.csv:3,5 --out results`,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVar(&opt.scales, "scale", []int{20, 22}, "RMAT graphs of 2^`n` vertices, such as 20,22,24; 0 for none")
	flags.IntSliceVar(&opt.kronecker, "kronecker", []int{20}, "Kronecker graphs of 2^`n` vertices; 0 for none")
	flags.StringArrayVar(&opt.graphs, "graph", nil, "a graph `file`, perhaps with the columns of its edges as in routes.csv:3,5; repeatable")
	flags.IntVar(&opt.repetitions, "repetitions", 3, "run each variant `n` times")
	flags.DurationVar(&opt.patience, "patience", 20*time.Second, "do not run a variant again that has run for so `long`")
	flags.DurationVar(&opt.atLeast, "at-least", 200*time.Millisecond, "run a variant more often until it has run for so `long`")
	flags.Int64Var(&opt.triangleEdges, "triangle-edges", 40_000_000, "count triangles in graphs of at most `n` edges")
	flags.StringVar(&opt.out, "out", "", "write the report to `folder` (default docs/results)")
	flags.StringVar(&opt.cache, "cache", "", "keep generated graphs in `folder` (default out/bench)")
	flags.BoolVar(&opt.quick, "quick", false, "graphs of 2^16 vertices, few repetitions: to see that all works")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		opt.limitBytes = 256 << 20 // far more than caches hold
		if opt.quick {
			opt.limitBytes = 32 << 20
			if err := program.SetDefaults(cmd, map[string]string{
				"scale": "16", "kronecker": "16", "repetitions": "2", "patience": "500ms", "at-least": "20ms",
			}); err != nil {
				return err
			}
		}
		if opt.repetitions < 1 {
			return fmt.Errorf("--repetitions is %d, expected 1 or more", opt.repetitions)
		}
		root, err := program.Repository()
		if err != nil {
			return err
		}
		if opt.out == "" {
			opt.out = filepath.Join(root, "docs", "results")
		}
		if opt.cache == "" {
			opt.cache = filepath.Join(root, "out", "bench")
		}
		*started = true
		return run(cmd.Context(), opt, root, report.Describe(root, commandLine(args)), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// commandLine is how to measure again.
func commandLine(args []string) string {
	command := "go run ./bench/graphtables"
	if os.Getenv(dataVariable) != "" {
		command = dataVariable + "=DATA " + command
	}
	return report.CommandLine(command, args)
}
