// Pagerank-net measures again, at the size of this machine, the tables of McSherry and
// Schwarzkopf, "The impact of fast networks on graph analytics" (2015): PageRank on
// several hosts, with links of 1 and 10 Gbit/s, and sums made by worker or by process before they
// are sent. Its hosts are network namespaces. It writes docs/results/pagerank-net.md with
// its plots.
//
// Run it by bench/pagerank-net/run.sh, which checks that the machine can do this, and cleans up
// whatever happens.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/program"
	"weir/internal/report"
)

// options say what is measured.
type options struct {
	prefix      string
	weir        string
	out, cache  string
	scale       int
	hosts       []int
	workers     int
	iterations  int
	repetitions int
	traceFor    time.Duration
	short       bool
}

func main() { program.Main(execute) }

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	started := false
	return program.Execute(ctx, rootCommand(args, &started), &started, args, stdout, stderr)
}

// rootCommand says in started whether arguments were all right.
func rootCommand(args []string, started *bool) *cobra.Command {
	var opt options
	cmd := &cobra.Command{
		Use:     "pagerank-net",
		Short:   "Measure the published tables of distributed PageRank again",
		Example: "  bench/pagerank-net/run.sh --short\n  bench/pagerank-net/run.sh --scale 22",
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&opt.prefix, "prefix", "weirnet", "network namespaces are called `name`-0, name-1, …")
	flags.StringVar(&opt.weir, "weir", "bin/weir", "the `program` that is measured")
	flags.StringVar(&opt.out, "out", "docs/results", "write the report to `folder`")
	flags.StringVar(&opt.cache, "cache", "out/bench", "keep generated graphs in `folder`")
	flags.IntVar(&opt.scale, "scale", 20, "graphs of 2^`n` vertices")
	flags.IntSliceVar(&opt.hosts, "hosts", []int{1, 2, 3, 4}, "numbers of hosts, such as 1,2,4")
	flags.IntVar(&opt.workers, "workers", 2, "`n` workers on each host")
	flags.IntVar(&opt.iterations, "iterations", 20, "`n` iterations, as published")
	flags.IntVar(&opt.repetitions, "repetitions", 3, "run each variant `n` times")
	flags.DurationVar(&opt.traceFor, "trace", 4*time.Second, "look at the use of processors and network for about so `long`")
	flags.BoolVar(&opt.short, "short", false, "small graphs, two hosts, once: to see that all works")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if opt.short {
			if err := program.SetDefaults(cmd, map[string]string{
				"scale": "14", "hosts": "1,2", "iterations": "6", "repetitions": "1", "trace": "1s",
			}); err != nil {
				return err
			}
		}
		switch {
		case opt.scale < 1 || opt.workers < 1 || opt.iterations < 2 || opt.repetitions < 1:
			return errors.New("--scale, --workers and --repetitions are expected to be 1 or more, --iterations 2 or more")
		case len(opt.hosts) < 2 || opt.hosts[0] != 1:
			return errors.New("--hosts is expected to begin with 1, and to have more")
		}
		for i, n := range opt.hosts[1:] {
			if n <= opt.hosts[i] || n > 200 {
				return fmt.Errorf("--hosts has %d after %d, expected them to rise, to 200 at most", n, opt.hosts[i])
			}
		}
		*started = true
		return run(cmd.Context(), opt, args, cmd.OutOrStdout())
	}
	cmd.AddCommand(&cobra.Command{
		Use: "probe send|receive ADDRESS", Short: "Be one end of the measurement of a link", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			*started = true
			return probeEnd(cmd.Context(), args[0], args[1], cmd.OutOrStdout())
		},
	})
	return cmd
}

// commandLine is how to measure again, by the script.
func commandLine(args []string) string {
	return report.CommandLine("bench/pagerank-net/run.sh", args, "--prefix", "--weir")
}

// run measures and reports.
func run(ctx context.Context, opt options, args []string, stdout io.Writer) (err error) {
	b := &bench{opt: opt, stdout: stdout, machine: report.Describe(".", commandLine(args))}
	if b.opt.weir, err = filepath.Abs(opt.weir); err != nil {
		return err
	}
	if err := b.makeGraphs(ctx); err != nil {
		return err
	}
	h, err := newHosts(ctx, opt.prefix, opt.hosts[len(opt.hosts)-1])
	defer func() { err = errors.Join(err, h.remove()) }()
	if err != nil {
		return err
	}
	b.hosts = h
	if b.secret, err = secretFile(); err != nil {
		return err
	}
	defer os.Remove(b.secret)
	if err := b.measure(ctx); err != nil {
		return err
	}
	return b.report()
}

// makeGraphs generates the graphs that are not there yet.
func (b *bench) makeGraphs(ctx context.Context) error {
	if err := os.MkdirAll(b.opt.cache, 0o777); err != nil {
		return fmt.Errorf("make graphs: %w", err)
	}
	for _, g := range []*subject{
		{name: "shuffled", what: "RMAT with shuffled ids, 16 edges a vertex: a social network", published: twitter,
			spec: []string{"--edge-factor", "16"}},
		{name: "local", what: "RMAT with ids that keep heavy vertices together, 32 edges a vertex: a crawl of the web", published: uk,
			spec: []string{"--edge-factor", "32", "--plain-ids"}},
	} {
		g.path = filepath.Join(b.opt.cache, fmt.Sprintf("pagerank-net-%s-%d.weir", g.name, b.opt.scale))
		if _, err := os.Stat(g.path); err != nil {
			args := append([]string{"graph", "generate", "rmat", g.path, "--scale", fmt.Sprint(b.opt.scale), "--orders", "in", "--quiet"}, g.spec...)
			if out, err := exec.CommandContext(ctx, b.opt.weir, args...).CombinedOutput(); err != nil {
				return fmt.Errorf("make graph: %w: %s", err, strings.TrimSpace(string(out)))
			}
		}
		b.subjects = append(b.subjects, g)
	}
	return nil
}
