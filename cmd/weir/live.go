package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"weir/differential"
	"weir/differential/algorithms"
	"weir/graph"
	"weir/timely"
)

const liveHelp = `Answer a question on a graph, and keep the answer up to date while the graph changes: a change
costs what it changes of the answer, not what the graph is large.

GRAPH is any file that "weir graph" reads. The changes come from standard input, from a file, or
from the command itself:

  weir live components edges.csv.gz --changes changes.txt
  weir live bfs edges.csv.gz --root Oslo --rewire 1000 --batch 10

Changes are lines of text, in transactions:

  + A B      there is one more edge from A to B
  - A B      there is one less; it must be there
  commit     the changes since the last commit are made, all at once

Vertices are called what the graph calls them, in quotes if the name has blanks ("" is a quote in
them). One that the graph does not have is a new one. Empty lines and those that begin with # mean nothing.

After each commit it prints what has changed of the answer, and how long that took, until all of it
was known. A line that is none of these, or an edge that is not there, undoes its
transaction as a whole and ends the command with an error; all before it stand, and
have been answered. With --keep-going it goes on with the next transaction.

With --json it prints one object a line: {"loaded": …} first, one for each
vertex whose answer has changed, {"commit": …} after those of each commit, and {"summary": …} last.`

// liveAnswer is a vertex and what is said of it: a number, a vertex, or the bits of a float32, which
// fit the fast path of package differential together.
type liveAnswer = differential.Pair[uint32, uint32]

// liveInput is what an answer is made of.
type liveInput struct {
	edges      differential.Keyed[uint32, uint32]
	bothWays   bool // the reverse of every edge is there too
	vertices   differential.Collection[uint32]
	roots      differential.Collection[uint32]
	surfers    int64
	iterations uint64
}

// liveKind is a question.
type liveKind struct {
	name  string
	build func(liveInput) differential.Collection[liveAnswer]
	shown liveValue
}

// liveValue is what the number of an answer means.
type liveValue int

const (
	liveDistance liveValue = iota
	liveMember             // nothing: that it is there is all
	liveLabel              // the first vertex of a component
	liveRank
)

var (
	liveBFS = liveKind{"bfs", func(in liveInput) differential.Collection[liveAnswer] {
		return differential.Pairs(algorithms.BFS(in.edges, in.roots))
	}, liveDistance}
	liveReach = liveKind{"reach", func(in liveInput) differential.Collection[liveAnswer] {
		return algorithms.Reach(in.edges, in.roots).Map(func(v uint32) liveAnswer { return liveAnswer{Key: v} })
	}, liveMember}
	liveComponents = liveKind{"components", func(in liveInput) differential.Collection[liveAnswer] {
		edges := in.edges
		if !in.bothWays {
			edges = algorithms.BothWays(edges)
		}
		labels := in.vertices.KeyBy(func(v uint32) (uint32, uint32) { return v, v })
		return differential.Pairs(algorithms.Propagate(edges, labels, algorithms.Logarithmic))
	}, liveLabel}
	liveSCC = liveKind{"scc", func(in liveInput) differential.Collection[liveAnswer] {
		return differential.Pairs(algorithms.SCC(in.edges, in.vertices, algorithms.Logarithmic))
	}, liveLabel}
	livePageRank = liveKind{"pagerank", func(in liveInput) differential.Collection[liveAnswer] {
		ranks := algorithms.PageRank(in.edges, in.vertices, algorithms.PageRankOptions{Surfers: in.surfers, Rounds: in.iterations})
		return ranks.Map(func(v uint32, n int64) liveAnswer {
			return liveAnswer{Key: v, Value: math.Float32bits(float32(float64(n) / float64(in.surfers)))}
		})
	}, liveRank}
)

func (a *app) liveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "live",
		Short: "Keep answers up to date while a graph changes",
		Long:  liveHelp,
		Args:  knownCommand,
		RunE:  showHelp,
	}
	cmd.AddCommand(
		a.liveQuestion(liveBFS, &cobra.Command{
			Short: "Keep up how many edges away each vertex is",
			Long: `Keep up how many edges away each vertex is from the nearest of the vertices --root, by a
breadth-first search along the edges. See "weir live --help" for how changes are given.`,
			Example: `  weir live bfs edges.csv.gz --root Oslo --changes changes.txt
  weir live bfs web.weir --root 17 --rewire 1000 --batch 10 --workers 2`,
		}),
		a.liveQuestion(liveComponents, &cobra.Command{
			Short: "Keep up connected components",
			Long: `Keep up which vertices are connected, by edges in either direction. A component is called by its
first vertex. See "weir live --help" for how changes are given.`,
			Example: `  weir live components edges.csv.gz --changes changes.txt
  weir live components web.weir --rewire 1000 --batch 10 --json`,
		}),
		a.liveQuestion(livePageRank, &cobra.Command{
			Short: "Keep up the ranks of vertices by the edges into them",
			Long: `Keep up the ranks that "weir graph pagerank" computes, in whole surfers: --surfers is how many a vertex
of rank 1 has. The more there are, the finer are the ranks, and the farther a change
spreads. Ranks change until they are what they must be, or --iterations are done. See "weir live --help" for how
changes are given.`,
			Example: `  weir live pagerank edges.csv.gz --changes changes.txt
  weir live pagerank web.weir --surfers 1000 --rewire 100`,
		}),
		a.liveQuestion(liveReach, &cobra.Command{
			Short: "Keep up what can be reached",
			Long: `Keep up which vertices can be reached from the vertices --root along the edges. See "weir live --help" for how
changes are given.`,
			Example: `  weir live reach edges.csv.gz --root Oslo --root Perth --changes changes.txt`,
		}),
		a.liveQuestion(liveSCC, &cobra.Command{
			Short: "Keep up strongly connected components",
			Long: `Keep up which vertices can reach one another along the edges. A component is called by its first
vertex. See "weir live --help" for how changes are given.`,
			Example: `  weir live scc edges.csv.gz --changes changes.txt`,
		}),
	)
	return cmd
}

// liveFlags are those of a live command.
type liveFlags struct {
	roots     []string
	changes   string
	keepGoing bool
	rewire    int
	batch     int
	seed      uint64
	limit     int
	limited   bool // limit was given
	random    bool // batch or seed was
	surfers   int64
	rounds    uint64
	labels    labelFlag
}

// liveQuestion completes the command of a kind of question.
func (a *app) liveQuestion(kind liveKind, cmd *cobra.Command) *cobra.Command {
	cmd.Use, cmd.Args = kind.name+" GRAPH", cobra.ExactArgs(1)
	in, cluster := addInputFlags(cmd), addClusterFlags(cmd)
	f := &liveFlags{}
	flags := cmd.Flags()
	flags.StringVar(&f.changes, "changes", "-", "follow the changes in `file`; - is standard input")
	flags.BoolVar(&f.keepGoing, "keep-going", false, "after a transaction that is wrong, go on with the next")
	flags.IntVar(&f.rewire, "rewire", 0, "move `n` random edges elsewhere, rather than to follow changes")
	flags.IntVar(&f.batch, "batch", 1, "with --rewire: move `n` edges in each transaction")
	flags.Uint64Var(&f.seed, "seed", 1, "with --rewire: the `number` that decides what is random")
	flags.IntVar(&f.limit, "limit", 20, "show `n` changes of the answer for each commit, -1 for all; none with --rewire unless given")
	flags.Var(&f.labels, "labels", "show names beside ids: a text `file` and its columns of ids and names, such as airports.csv:1,2")
	rooted := kind.name == liveBFS.name || kind.name == liveReach.name
	if rooted {
		flags.StringArrayVar(&f.roots, "root", nil, "the `vertex` to begin at; there may be several")
	}
	if kind.name == livePageRank.name {
		flags.Int64Var(&f.surfers, "surfers", 10_000, "`n` units of rank for a vertex of rank 1")
		flags.Uint64Var(&f.rounds, "iterations", 0, "do `n` iterations; 0 is until nothing changes")
	}
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		f.limited, f.random = flags.Changed("limit"), flags.Changed("batch") || flags.Changed("seed")
		if err := f.check(args[0], rooted); err != nil {
			return err
		}
		if kind.name == livePageRank.name && (f.surfers < 100 || f.surfers > 1e9) {
			return usagef("--surfers is %d, expected 100 to 1,000,000,000", f.surfers)
		}
		if err := cluster.check(args[0]); err != nil {
			return err
		}
		return cluster.run(ctx, func(ctx context.Context, cfg timely.Config) error {
			changes, err := f.open(a.stdin, cfg.Process)
			if err != nil {
				return err
			}
			defer changes.Close()
			g, err := a.open(ctx, args[0], in, graph.OutRows)
			if err != nil {
				return err
			}
			defer g.Close()
			l, err := newLiveRun(ctx, g, kind, f, changes)
			if err != nil {
				return err
			}
			return l.run(ctx, cfg)
		})
	})
	return cmd
}

// check says what is wrong with the flags.
func (f *liveFlags) check(path string, rooted bool) error {
	switch {
	case rooted && len(f.roots) == 0:
		return usagef("--root is missing: the vertex to begin at")
	case f.rewire < 0:
		return usagef("--rewire is %d, expected 1 or more", f.rewire)
	case f.batch < 1:
		return usagef("--batch is %d, expected 1 or more", f.batch)
	case f.random && f.rewire == 0:
		return usagef("--batch and --seed say how to move edges at random, for which --rewire is missing")
	case f.limit < -1:
		return usagef("--limit is %d, expected 0 or more, or -1 for all", f.limit)
	case f.rewire > 0 && f.changes != "-":
		return usagef("--rewire and --changes both say what changes; use one of them")
	case f.rewire == 0 && path == "-" && f.changes == "-":
		return usagef("the graph and its changes cannot both be standard input; give one of them as a file")
	}
	return nil
}

// open is where the first process reads changes from: before the graph is loaded, which may take a while.
func (f *liveFlags) open(stdin io.Reader, process int) (io.ReadCloser, error) {
	if process > 0 || f.rewire > 0 || f.changes == "-" {
		return io.NopCloser(stdin), nil
	}
	file, err := os.Open(f.changes)
	if err == nil {
		var info os.FileInfo
		if info, err = file.Stat(); err == nil && info.IsDir() {
			err = &os.PathError{Op: "read", Path: f.changes, Err: errors.New("is a directory")}
		}
		if err != nil {
			file.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	return file, nil
}
