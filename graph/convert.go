package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"weir/graph/foreign"
	"weir/graph/store"
)

// ConvertOptions tells what to make of a graph.
type ConvertOptions struct {
	Options
	// Orders are those that weir's own file will hold. Nil is vertex order, and
	// the transposed one where edges have a direction.
	Orders []Order
	// Relabel renumbers the vertices by falling degree, which makes most algorithms
	// faster. The graph has to fit memory for that. Original ids are kept.
	Relabel bool
	// To is the format to write; FormatBySuffix lets the name of the output decide.
	To Format
}

// Format is a format that [Convert] writes.
type Format string

// The formats that can be written. Text files end in .gz or .zst to be compressed.
const (
	FormatBySuffix Format = ""
	FormatWeir     Format = "weir"         // .weir
	FormatGAP      Format = "gap"          // .sg, .wsg
	FormatCOST     Format = "cost"         // X.nodes with X.edges
	FormatCOSTHilb Format = "cost-hilbert" // X.upper with X.lower
	FormatCOSTGaps Format = "cost-gaps"    // X.compressed
	FormatEdges    Format = "edges"        // .el, .wel, .txt, .tsv, .csv
	FormatMatrix   Format = "matrixmarket" // .mtx
	FormatMETIS    Format = "metis"        // .graph, .metis
	FormatDIMACS   Format = "dimacs"       // .gr
)

// Formats lists what can be written.
func Formats() []Format {
	return []Format{FormatWeir, FormatGAP, FormatCOST, FormatCOSTHilb, FormatCOSTGaps, FormatEdges, FormatMatrix, FormatMETIS, FormatDIMACS}
}

// suffixes says which format a file of that name has.
var suffixes = []struct {
	suffix string
	format Format
}{
	{store.Ext, FormatWeir},
	{".sg", FormatGAP}, {".wsg", FormatGAP},
	{".nodes", FormatCOST}, {".edges", FormatCOST},
	{".upper", FormatCOSTHilb}, {".lower", FormatCOSTHilb},
	{".compressed", FormatCOSTGaps},
	{".mtx", FormatMatrix},
	{".graph", FormatMETIS}, {".metis", FormatMETIS},
	{".gr", FormatDIMACS},
	{".el", FormatEdges}, {".wel", FormatEdges}, {".txt", FormatEdges}, {".tsv", FormatEdges}, {".csv", FormatEdges},
}

// FormatOf is the format that a file of the given name has, "-" being standard
// output.
func FormatOf(path string) (Format, error) {
	if path == "-" {
		return FormatEdges, nil
	}
	plain := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	var known []string
	for _, s := range suffixes {
		if strings.HasSuffix(plain, s.suffix) {
			return s.format, nil
		}
		known = append(known, s.suffix)
	}
	return "", fmt.Errorf("write %s: its name ends in no known suffix, expected one of %s (text may be followed by .gz or .zst)",
		path, strings.Join(known, " "))
}

// Convert reads the graph at in and writes it at out. A text whose edges do not
// fit the memory it may use is sorted on disk, if it is to become weir's own file.
// It returns the graph as it was written; the caller closes it.
func Convert(ctx context.Context, in, out string, opt ConvertOptions) (*Graph, error) {
	to := opt.To
	if to == FormatBySuffix {
		var err error
		if to, err = FormatOf(out); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(Formats(), to) {
		return nil, fmt.Errorf("write %s: unknown format %q, expected one of %v", out, to, Formats())
	}
	isText, err := isText(in)
	if err != nil {
		return nil, err
	}
	if isText && to == FormatWeir && !opt.Relabel {
		return convertText(ctx, in, out, opt)
	}
	g, err := Open(ctx, in, opt.Options)
	if err != nil {
		return nil, err
	}
	if opt.Relabel {
		if err := g.relabel(ctx); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	if to == FormatWeir && g.Edges*builtBytes > opt.memory() && slices.ContainsFunc(g.ordersOr(opt.Orders), func(o Order) bool { return !g.Holds(o) }) {
		stored, err := g.convertStored(ctx, out, opt)
		return stored, errors.Join(err, g.Close())
	}
	if err := g.Write(ctx, out, to, opt.Orders); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// builtBytes is what making an order from another takes for each edge.
const builtBytes = 12

// isText says whether the graph at path has to be read as a text.
func isText(path string) (bool, error) {
	if path == "-" {
		return true, nil
	}
	if foreign.IsGAP(path) || foreign.IsCOST(path) && !lonelyEdges(path) {
		return false, nil
	}
	stored, err := isStored(path)
	return !stored, err
}

// Write writes the graph at path, in the given format. Orders are those that
// weir's own file will hold, as in [ConvertOptions].
func (g *Graph) Write(ctx context.Context, path string, to Format, orders []Order) error {
	switch to {
	case FormatWeir:
		return g.store(ctx, path, g.ordersOr(orders))
	case FormatGAP:
		return g.writeGAP(ctx, path)
	case FormatCOST:
		rows, err := g.Out(ctx)
		if err != nil {
			return err
		}
		return foreign.WriteCOSTVertex(ctx, costPrefix(path), rows)
	case FormatCOSTHilb:
		h, err := g.hilbertOrder(ctx)
		if err != nil {
			return err
		}
		return foreign.WriteCOSTHilbert(ctx, costPrefix(path), h)
	case FormatCOSTGaps:
		return g.writeGaps(ctx, path)
	default:
		return g.writeText(ctx, path, to)
	}
}

// ordersOr is the orders to store: those asked for, else vertex order, and the
// transposed one where edges have a direction.
func (g *Graph) ordersOr(orders []Order) []Order {
	switch {
	case orders != nil:
		return orders
	case g.Undirected:
		return []Order{OutRows}
	}
	return []Order{OutRows, InRows}
}

func (g *Graph) writeGAP(ctx context.Context, path string) error {
	out, err := g.Out(ctx)
	if err != nil {
		return err
	}
	in, err := g.In(ctx)
	if err != nil {
		return err
	}
	return foreign.WriteGAP(ctx, path, out, in, !g.Undirected)
}

func (g *Graph) writeGaps(ctx context.Context, path string) error {
	h, err := g.hilbertOrder(ctx)
	if err != nil {
		return err
	}
	dropped, err := foreign.WriteCOSTGaps(ctx, path, h)
	if err == nil && dropped > 0 {
		g.Dropped = dropped
	}
	return err
}

// costPrefix is the common part of the names of a pair of COST's files.
func costPrefix(path string) string {
	for _, suffix := range []string{".nodes", ".edges", ".upper", ".lower"} {
		if prefix, found := strings.CutSuffix(path, suffix); found {
			return prefix
		}
	}
	return path
}
