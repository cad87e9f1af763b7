package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/names"
)

// ordersFlag is a flag that takes the orders to store.
type ordersFlag struct{ orders []graph.Order }

func (f *ordersFlag) Set(s string) error {
	f.orders = nil
	for word := range strings.SplitSeq(s, ",") {
		o, err := graph.ParseOrder(word)
		if err != nil {
			return err
		}
		f.orders = append(f.orders, o)
	}
	return nil
}

func (f *ordersFlag) String() string {
	words := make([]string, len(f.orders))
	for i, o := range f.orders {
		words[i] = o.String()
	}
	return strings.Join(words, ",")
}

func (f *ordersFlag) Type() string { return "words" }

// addOrders defines the flag of the orders that weir's own file holds.
func addOrders(cmd *cobra.Command) *ordersFlag {
	f := &ordersFlag{}
	cmd.Flags().Var(f, "orders", "store the edges in these `orders`: out, in, hilbert, compressed (default out, and in where edges have a direction)")
	_ = cmd.RegisterFlagCompletionFunc("orders", cobra.FixedCompletions([]string{"out", "in", "hilbert", "compressed"}, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return f
}

// convertResult is the result of the command as JSON.
type convertResult struct {
	File        string  `json:"file"`
	Bytes       int64   `json:"bytes"` // 0 for standard output and for pairs of files
	BitsPerEdge float64 `json:"bits_per_edge"`
	Seconds     float64 `json:"seconds"`
}

func (a *app) convertCommand() *cobra.Command {
	formats := make([]string, 0, len(graph.Formats()))
	for _, f := range graph.Formats() {
		formats = append(formats, string(f))
	}
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Write a graph in another format, such as weir's own",
		Long: `Read the graph IN, in any format that weir knows, and write it to OUT in the format
that the name of OUT ends in: .weir (weir's own), .el .wel .txt .tsv .csv (edge
lists), .mtx (MatrixMarket), .graph .metis (METIS), .sg .wsg (GAP), .nodes .upper
.compressed (COST). Text may be compressed: .csv.gz, .el.zst. "-" is standard
output.

Weir's own file opens at once, is checked by checksums as it is read, and may
hold the edges in several orders:

  out         vertex order, each source with its targets
  in          vertex order, each target with its sources
  hilbert     along a Hilbert curve: fastest to walk by one thread
  compressed  the same in a third of the space or less`,
		Example: `  weir graph convert edges.csv.gz edges.weir
  weir graph convert edges.csv.gz edges.weir --orders out,in,hilbert --memory 2GiB
  weir graph convert edges.csv.gz edges.weir --orders hilbert --relabel
  weir graph convert web.weir web.mtx.gz
  weir graph convert road.wel - --undirected`,
		Args: cobra.ExactArgs(2),
	}
	in, orders := addInputFlags(cmd), addOrders(cmd)
	var to string
	var relabel bool
	cmd.Flags().BoolVar(&relabel, "relabel", false, "renumber the vertices by falling degree; the graph has to fit memory for that")
	cmd.Flags().StringVar(&to, "to", "", "write this `format` whatever the name of OUT: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		if to == "" {
			format, err := graph.FormatOf(args[1])
			if err != nil {
				return usageError{err}
			}
			to = string(format)
		}
		if orders.orders != nil && to != string(graph.FormatWeir) {
			return usagef("--orders is for weir's own file; %s is to be %s", args[1], to)
		}
		begin := time.Now()
		converted, err := graph.Convert(ctx, args[0], args[1], graph.ConvertOptions{
			Options: in.options(a, graph.OutRows), Orders: orders.orders, Relabel: relabel, To: graph.Format(to),
		})
		if err != nil {
			return err
		}
		defer converted.Close()
		r := convertResult{File: args[1], Seconds: time.Since(begin).Seconds()}
		g := &opened{Graph: converted, app: a, seconds: map[string]float64{"read": r.Seconds}}
		a.note("%s", g.describe())
		g.noteReport()
		if g.Dropped > 0 {
			a.note("%s left out, which this format cannot hold", plural(int(g.Dropped), "edge"))
		}
		if f := graph.Format(to); f != graph.FormatWeir && f != graph.FormatEdges && g.Names.Kind() > names.Shifted {
			a.note("the ids of vertices are not kept: this format numbers them; .weir and edge lists keep ids")
		}
		size := ""
		if r.Bytes, err = sizeOf(args[1]); err != nil {
			return err
		}
		if r.Bytes > 0 {
			r.BitsPerEdge = 8 * float64(r.Bytes) / float64(max(g.Edges, 1))
			size = fmt.Sprintf(": %s, %.1f bits an edge", humanize.IBytes(uint64(r.Bytes)), r.BitsPerEdge)
		}
		a.note("wrote %s%s", args[1], size)
		if a.json && args[1] != "-" {
			return a.printJSON(document{g.summary(), r, g.seconds})
		}
		return nil
	})
	return cmd
}

// sizeOf is the size of the file at path, 0 where there is none of that name.
func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return 0, err
	}
	return info.Size(), nil
}
