package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/generate"
	"weir/graph/store"
)

// rangeFlag is a flag that takes a smallest and a largest number, such as 1,255.
type rangeFlag struct{ weights *generate.Weights }

func (r rangeFlag) Set(s string) error {
	least, greatest, found := strings.Cut(s, ",")
	lo, err1 := strconv.ParseFloat(least, 32)
	hi, err2 := strconv.ParseFloat(greatest, 32)
	if !found || errors.Join(err1, err2) != nil {
		return errors.New("expected a least and a greatest weight such as 1,255 or 0.5,1")
	}
	r.weights.Min, r.weights.Max = float32(lo), float32(hi)
	r.weights.Whole = !strings.ContainsAny(s, ".e")
	return nil
}

func (r rangeFlag) String() string {
	if r.weights == nil || *r.weights == (generate.Weights{}) {
		return ""
	}
	return fmt.Sprintf("%v,%v", r.weights.Min, r.weights.Max)
}

func (r rangeFlag) Type() string { return "range" }

// generateResult is the result of the command as JSON.
type generateResult struct {
	File     string  `json:"file"`
	Kind     string  `json:"kind"`
	Seed     uint64  `json:"seed"`
	Vertices int64   `json:"vertices"`
	Edges    int64   `json:"edges"` // made; those of the file are more if undirected, fewer if without duplicates
	Seconds  float64 `json:"seconds"`
}

func (a *app) generateCommand() *cobra.Command {
	kinds := make([]string, 0, len(generate.Kinds()))
	for _, k := range generate.Kinds() {
		kinds = append(kinds, string(k))
	}
	cmd := &cobra.Command{
		Use:   "generate KIND OUT",
		Short: "Make a graph of known shape, of any size",
		Long: `Make a graph of known shape and write it to the file OUT: weir's own if the name
ends in .weir, else an edge list (perhaps .gz or .zst; - is standard output).

Kinds of graphs:

  rmat          skewed as social and web graphs are, by the recursive matrix of
                Graph500 (--scale, --edge-factor, --quadrants, --noise, --plain-ids)
  kronecker     the same, undirected
  uniform       both ends of each edge drawn at random (--scale or --vertices,
                --edge-factor or --edges)
  grid          a lattice of --rows and --columns, as a city's streets
  chain         one vertex after the other (--vertices)
  star          one vertex in the middle (--vertices)
  complete      an edge between each two (--vertices)
  preferential  new vertices link to --degree others, the more the better linked
                those are (Barabási and Albert)
  smallworld    a ring of --degree neighbours, a share of whose links is moved by
                --rewire (Watts and Strogatz)
  bipartite     edges from the --left vertices to the others

The same seed makes the same graph, on any machine and with any number of
threads. Each edge is made once; --undirected adds its reverse.`,
		Example: `  weir graph generate rmat rmat.weir --scale 16
  weir graph generate rmat rmat.tsv.gz --scale 10
  weir graph generate grid streets.csv --rows 30 --columns 40 --weights 1,255
  weir graph generate smallworld - --vertices 100 --degree 4 --rewire 0.1 | weir graph clustering - --undirected`,
		Args:      cobra.ExactArgs(2),
		ValidArgs: kinds,
	}
	var spec generate.Spec
	var quadrants []float64
	var undirected bool
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&spec.Scale, "scale", 0, "make 2^`n` vertices")
	flags.Int64Var(&spec.Vertices, "vertices", 0, "make `n` vertices")
	flags.Float64Var(&spec.EdgeFactor, "edge-factor", 0, "make `x` edges for each vertex (default 16)")
	flags.Int64Var(&spec.Edges, "edges", 0, "make `n` edges")
	flags.Uint64Var(&spec.Seed, "seed", 1, "`number` that the random numbers come from")
	flags.Var(rangeFlag{&spec.Weights}, "weights", "give edges weights between `least,greatest`, whole ones for 1,255 and any for 0.5,1.0")
	flags.BoolVar(&undirected, "undirected", false, "add the reverse of every edge")
	flags.Float64SliceVar(&quadrants, "quadrants", nil, "probabilities `a,b,c,d` of rmat (default 0.57,0.19,0.19,0.05)")
	flags.Lookup("quadrants").DefValue = ""
	flags.Float64Var(&spec.Noise, "noise", 0, "`share` by which rmat varies its probabilities from level to level")
	flags.BoolVar(&spec.PlainIDs, "plain-ids", false, "leave rmat's vertices as they come, heavy ones first")
	flags.Int64Var(&spec.Rows, "rows", 0, "make `n` rows of a grid")
	flags.Int64Var(&spec.Columns, "columns", 0, "make `n` columns of a grid")
	flags.IntVar(&spec.Degree, "degree", 0, "make `n` links for each vertex: preferential (default 8), smallworld (default 16)")
	flags.Float64Var(&spec.Rewire, "rewire", 0, "move this `share` of the links of a smallworld")
	flags.Int64Var(&spec.Left, "left", 0, "make `n` of the vertices of bipartite the left ones (default half)")
	orders := addOrders(cmd)
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		spec.Kind = generate.Kind(args[0])
		if quadrants != nil {
			if len(quadrants) != 4 {
				return usagef("--quadrants has %d numbers, expected 4 such as 0.57,0.19,0.19,0.05", len(quadrants))
			}
			spec.A, spec.B, spec.C, spec.D = quadrants[0], quadrants[1], quadrants[2], quadrants[3]
		}
		vertices, edges, err := spec.Size()
		if err != nil {
			return usageError{err}
		}
		begin := time.Now()
		if err := a.generate(ctx, spec, args[1], undirected || spec.Kind == generate.Kronecker, orders.orders); err != nil {
			return err
		}
		r := generateResult{args[1], args[0], spec.Seed, vertices, edges, time.Since(begin).Seconds()}
		a.note("%s: %s vertices, %s edges made (%s, %s edges/s)", args[1], humanize.Comma(vertices), humanize.Comma(edges),
			formatSeconds(r.Seconds), formatCount(float64(edges)/r.Seconds))
		if a.json && args[1] != "-" {
			return a.printJSON(r)
		}
		return nil
	})
	return cmd
}

// generate writes the graph to the file at path.
func (a *app) generate(ctx context.Context, spec generate.Spec, path string, undirected bool, orders []graph.Order) error {
	if extension(path) == store.Ext {
		return a.storeGenerated(ctx, spec, path, undirected, orders)
	}
	if orders != nil {
		return usagef("--orders is for weir's own file, which ends in %s", store.Ext)
	}
	separator := byte(' ')
	switch extension(path) {
	case ".csv":
		separator = ','
	case ".tsv":
		separator = '\t'
	}
	write := func(w *bufio.Writer) error { return a.generateText(ctx, w, spec, separator, undirected) }
	if path == "-" {
		return write(a.stdout)
	}
	return writeFile(path, write)
}

// generateText writes the graph as an edge list.
func (a *app) generateText(ctx context.Context, w *bufio.Writer, spec generate.Spec, separator byte, undirected bool) error {
	var buf []byte
	line := func(source, target uint32, weights []float32, i int) {
		buf = append(strconv.AppendUint(buf, uint64(source), 10), separator)
		buf = strconv.AppendUint(buf, uint64(target), 10)
		if weights != nil {
			buf = appendNumber(append(buf, separator), weights[i])
		}
		buf = append(buf, '\n')
	}
	return generate.Generate(ctx, spec, a.threads, func(edges []uint64, weights []float32) error {
		buf = buf[:0]
		for i, e := range edges {
			source, target := uint32(e>>32), uint32(e)
			line(source, target, weights, i)
			if undirected && source != target {
				line(target, source, weights, i)
			}
		}
		_, err := w.Write(buf)
		return err
	})
}
