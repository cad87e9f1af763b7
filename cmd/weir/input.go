package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/order"
	"weir/graph/text"
)

// inputFlags say how to read a graph.
type inputFlags struct {
	columns   []int
	format    *choice[text.Format]
	ids       *choice[text.IDs]
	weights   *choice[text.Choice]
	header    *choice[text.Choice]
	separator *choice[byte]
	missing   []string
	skipBad   int
	vertices  int
	keepIDs   bool

	undirected bool
	dedup      bool
}

// addInputFlags defines the flags that tell how to read a graph.
func addInputFlags(cmd *cobra.Command) *inputFlags {
	in := &inputFlags{
		format: choose(word[text.Format]{"auto", text.Auto}, word[text.Format]{"edges", text.EdgeList},
			word[text.Format]{"matrixmarket", text.MatrixMarket}, word[text.Format]{"metis", text.METIS}, word[text.Format]{"dimacs", text.DIMACS}),
		ids:     choose(word[text.IDs]{"auto", text.AutoIDs}, word[text.IDs]{"int", text.IntegerIDs}, word[text.IDs]{"string", text.StringIDs}),
		weights: guessYesNo(),
		header:  guessYesNo(),
		separator: choose(word[byte]{"auto", 0}, word[byte]{"tab", '\t'}, word[byte]{"comma", ','},
			word[byte]{"semicolon", ';'}, word[byte]{"bar", '|'}, word[byte]{"blank", ' '}),
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&in.columns, "columns", nil, "`columns` of source, target and perhaps weight in a text file, such as 3,5 or 1,2,4")
	addChoice(cmd, in.format, "input-format", "format of a text file")
	addChoice(cmd, in.ids, "ids", "what vertices are called in an edge list")
	addChoice(cmd, in.weights, "weights", "whether the edges of an edge list have weights")
	addChoice(cmd, in.header, "header", "whether the first line of an edge list names its columns")
	addChoice(cmd, in.separator, "separator", "what stands between the columns of an edge list")
	flags.StringSliceVar(&in.missing, "missing", nil, "`words` that stand for no vertex: such a row is not an edge (default \\N)")
	flags.IntVar(&in.skipBad, "skip-bad", 0, "tolerate, count and show up to `n` lines that are not edges; -1 for any number")
	flags.IntVar(&in.vertices, "vertices", 0, "the vertices are 0 to `n`-1, whether they have edges or not")
	flags.BoolVar(&in.keepIDs, "keep-ids", false, "integer ids are the vertices' numbers: 0 to the largest all exist")
	flags.BoolVar(&in.undirected, "undirected", false, "add the reverse of every edge")
	flags.BoolVar(&in.dedup, "dedup", false, "keep one of several edges between the same two vertices, the lightest")
	return in
}

func guessYesNo() *choice[text.Choice] {
	return choose(word[text.Choice]{"auto", text.Guess}, word[text.Choice]{"yes", text.Yes}, word[text.Choice]{"no", text.No})
}

// options turns the flags into those of package graph.
func (in *inputFlags) options(a *app, prefer graph.Order) graph.Options {
	skip := in.skipBad
	if skip < 0 {
		skip = math.MaxInt
	}
	return graph.Options{
		Text: text.Options{
			Format: in.format.value, IDs: in.ids.value, Weights: in.weights.value, Header: in.header.value,
			Columns: in.columns, Separator: in.separator.value, Missing: in.missing, Vertices: in.vertices,
			KeepIDs: in.keepIDs, SkipBad: skip, Threads: a.threads,
		},
		Undirected: in.undirected, Dedup: in.dedup, Prefer: prefer, Threads: a.threads, Memory: int64(a.memory),
	}
}

// opened is a graph that a command works on, and how long its steps took.
type opened struct {
	*graph.Graph
	app     *app
	seconds map[string]float64
}

// open reads the graph at path ("-" is standard input) and says what it found.
func (a *app) open(ctx context.Context, path string, in *inputFlags, prefer graph.Order) (*opened, error) {
	g := &opened{app: a, seconds: map[string]float64{}}
	err := g.time("read", func() (err error) {
		g.Graph, err = graph.Open(ctx, path, in.options(a, prefer))
		return err
	})
	if err != nil {
		return nil, err
	}
	a.note("%s", g.describe())
	g.noteReport()
	return g, nil
}

// noteReport says what reading a text found that its owner should know.
func (g *opened) noteReport() {
	if r := g.Report; r != nil && (r.Bad > 0 || r.Rounded > 0) {
		g.app.note("%s", strings.TrimRight(r.String(), "\n"))
	}
}

// time runs f and adds its duration to those of step.
func (g *opened) time(step string, f func() error) error {
	begin := time.Now()
	err := f()
	g.seconds[step] += time.Since(begin).Seconds()
	return err
}

// minRated is the number of edges below which a rate says nothing.
const minRated = 100_000

// describe is a line that says what was read.
func (g *opened) describe() string {
	kind := "directed"
	if g.Undirected {
		kind = "undirected"
	}
	if g.Weighted {
		kind += ", weighted"
	}
	took := g.seconds["read"]
	rate := ""
	if g.Report != nil && g.Edges >= minRated { // other files are mapped, not read
		rate = fmt.Sprintf(", %s edges/s", formatCount(float64(g.Edges)/took))
	}
	return fmt.Sprintf("%s: %s, %s vertices, %s edges, %s (%s%s)", g.Source, g.Format,
		humanize.Comma(int64(g.Vertices)), humanize.Comma(g.Edges), kind, formatSeconds(took), rate)
}

// ran notes what was computed and how fast, where edges were looked at.
func (g *opened) ran(edges int64, format string, args ...any) {
	took := g.seconds["compute"]
	rate := ""
	if took > 0 && edges >= minRated {
		rate = fmt.Sprintf(", %s edges/s", formatCount(float64(edges)/took))
	}
	g.app.note("%s (%s%s)", fmt.Sprintf(format, args...), formatSeconds(took), rate)
}

// warnOfGuess says which column was taken for weights, where nobody said so.
func (g *opened) warnOfGuess() {
	if r := g.Report; r != nil && r.WeightGuessed {
		g.app.note("the numbers in column %d are taken as lengths of the edges; --weights no ignores them", r.WeightColumn)
	}
}

// plural is a number with a noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(int64(n)) + " " + noun + "s"
}

// formatSeconds prints a duration with the digits that matter.
func formatSeconds(s float64) string {
	switch {
	case s < 0.001:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}

// find returns the vertex that the source calls name.
func (g *opened) find(name string) (uint32, error) {
	if g.Names != nil {
		if v, ok := g.Names.Find(name); ok {
			return v, nil
		}
		return 0, fmt.Errorf("%s has no vertex %q", g.Source, name)
	}
	v, err := strconv.ParseUint(name, 10, 32)
	if g.Vertices == 0 {
		return 0, fmt.Errorf("%s has no vertex %q: it has none at all", g.Source, name)
	}
	if err != nil || v >= uint64(g.Vertices) {
		return 0, fmt.Errorf("%s has no vertex %q, expected 0 to %d", g.Source, name, g.Vertices-1)
	}
	return uint32(v), nil
}

// graphSummary is the graph in JSON results.
type graphSummary struct {
	Source     string `json:"source"`
	Format     string `json:"format"`
	Vertices   int    `json:"vertices"`
	Edges      int64  `json:"edges"`
	Undirected bool   `json:"undirected"`
	Weighted   bool   `json:"weighted"`
	SkippedBad int64  `json:"skipped_bad_lines,omitempty"`
}

func (g *opened) summary() graphSummary {
	s := graphSummary{
		Source: g.Source, Format: g.Format, Vertices: g.Vertices, Edges: g.Edges,
		Undirected: g.Undirected, Weighted: g.Weighted,
	}
	if g.Report != nil {
		s.SkippedBad = g.Report.Bad
	}
	return s
}

// prepare is the edges in order o, which may have to be made.
func (g *opened) prepare(ctx context.Context, o graph.Order) (edges order.EdgeMap, err error) {
	err = g.time("prepare", func() (err error) {
		edges, err = g.Map(ctx, o)
		return err
	})
	return edges, err
}

// rowsBothWays is the rows of sources and, if wanted, those of targets: in an
// undirected graph the very same ones, by which algorithms know that it is.
func (g *opened) rowsBothWays(ctx context.Context, wantIn bool) (out, in *order.CSR, err error) {
	err = g.time("prepare", func() (err error) {
		if out, err = g.Out(ctx); err != nil || !wantIn {
			return err
		}
		if in = out; !g.Undirected {
			in, err = g.In(ctx)
		}
		return err
	})
	return out, in, err
}
