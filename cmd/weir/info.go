package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graph/algo"
	"weir/graph/names"
	"weir/graph/store"
	"weir/internal/table"
)

// storedOrder is what an order takes in a file.
type storedOrder struct {
	Order       string  `json:"order"`
	Bytes       int64   `json:"bytes"`
	BitsPerEdge float64 `json:"bits_per_edge"` // all of the order, offsets and weights too
}

// infoResult is the result of the command as JSON.
type infoResult struct {
	Bytes      int64              `json:"bytes"`      // of the file; 0 for standard input
	SelfLoops  int64              `json:"self_loops"` // -1 where nobody counted
	Duplicates int64              `json:"duplicates"` // -1 where nobody counted
	IDs        string             `json:"ids"`        // what vertices are called
	FirstIDs   []string           `json:"first_ids"`  // what the first vertices are called
	Orders     []storedOrder      `json:"orders"`     // in weir's own file
	Layout     []region           `json:"layout,omitempty"`
	OutDegrees *algo.Distribution `json:"out_degrees,omitempty"`
}

// region is a consecutive part of weir's own file.
type region struct {
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	What   string `json:"what"`
	Detail string `json:"detail"`
}

// sections are those of a file that an order takes up.
var sections = map[graph.Order][]store.Kind{
	graph.OutRows:    {store.OutOffsets, store.OutTargets, store.OutWeights},
	graph.InRows:     {store.InOffsets, store.InSources, store.InWeights},
	graph.Hilbert:    {store.HilbertSquares, store.HilbertPairs},
	graph.Compressed: {store.CompressedBlocks, store.CompressedData},
}

func (a *app) infoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "info GRAPH",
		Short: "Say what is in a graph file",
		Long: `Say what is in a graph file: how many vertices and edges, what the vertices are
called, which orders of the edges are stored at how many bits an edge, and how
the edges are spread over the vertices.`,
		Example: `  weir graph info edges.csv.gz
  weir graph info web.weir --degrees=false
  weir graph info web.weir --layout
  weir graph info web.weir --json`,
		Args: cobra.ExactArgs(1),
	}
	in := addInputFlags(cmd)
	degrees := cmd.Flags().Bool("degrees", true, "count the edges of each vertex")
	layout := cmd.Flags().Bool("layout", false, "show what lies where in weir's own file")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		g, err := a.open(ctx, args[0], in, graph.OutRows)
		if err != nil {
			return err
		}
		defer g.Close()
		info, err := g.info(args[0], *layout)
		if err != nil {
			return err
		}
		if *layout && info.Layout == nil {
			return usagef("--layout is for weir's own files; %s is another: %s", args[0], g.Format)
		}
		if *degrees {
			counts, err := g.degrees(ctx, outEdges)
			if err != nil {
				return err
			}
			spread := algo.DegreeDistribution(counts)
			info.OutDegrees = &spread
		}
		if a.json {
			return a.printJSON(document{g.summary(), info, g.seconds})
		}
		return g.printInfo(info)
	})
	return cmd
}

// info is what is known without looking at the edges.
func (g *opened) info(path string, layout bool) (infoResult, error) {
	r := infoResult{SelfLoops: g.SelfLoops, Duplicates: g.Duplicates, Orders: []storedOrder{}, FirstIDs: []string{}}
	r.IDs = g.Names.Kind().String()
	if g.Names.Kind() == names.Identity {
		r.IDs = "numbers of vertices"
	}
	for v := range uint32(min(3, g.Vertices)) {
		r.FirstIDs = append(r.FirstIDs, g.Names.Name(v))
	}
	if path == "-" {
		return r, nil
	}
	file, err := os.Stat(path)
	if err != nil {
		return r, fmt.Errorf("info: %w", err)
	}
	r.Bytes = file.Size() + companionBytes(path)
	if g.Report != nil {
		return r, nil // a text
	}
	f, err := store.Open(path)
	if errors.Is(err, store.ErrNotGraph) {
		return r, nil // another program's
	}
	if err != nil {
		return r, err
	}
	defer f.Close()
	if layout {
		for _, p := range f.Layout() {
			r.Layout = append(r.Layout, region{p.Offset, p.Length, p.What, p.Detail})
		}
	}
	for o := graph.OutRows; o <= graph.Compressed; o++ {
		var bytes int64
		for _, kind := range sections[o] {
			bytes += f.SectionSize(kind)
		}
		if g.Stored(o) {
			r.Orders = append(r.Orders, storedOrder{o.String(), bytes, 8 * float64(bytes) / float64(max(g.Edges, 1))})
		}
	}
	return r, nil
}

// companionBytes is the size of the other file, where the COST programs keep a
// graph in two.
func companionBytes(path string) int64 {
	for _, pair := range [][2]string{{".nodes", ".edges"}, {".upper", ".lower"}} {
		for i, suffix := range pair {
			if prefix, ok := strings.CutSuffix(path, suffix); ok {
				if other, err := os.Stat(prefix + pair[1-i]); err == nil {
					return other.Size()
				}
			}
		}
	}
	return 0
}

// longestID is how many letters of an id are shown.
const longestID = 40

// firstIDs is what vertices are called, with examples.
func firstIDs(r infoResult, vertices int) string {
	ids := r.IDs
	for i, id := range r.FirstIDs {
		if letters := []rune(id); len(letters) > longestID {
			id = string(letters[:longestID]) + "…"
		}
		ids += []string{": ", ", "}[min(i, 1)] + id
	}
	if vertices > len(r.FirstIDs) {
		ids += ", …"
	}
	return ids
}

func (g *opened) printInfo(r infoResult) error {
	w := g.app.stdout
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	count := func(n int64) string {
		if n < 0 {
			return "not counted"
		}
		return humanize.Comma(n)
	}
	kind := "directed"
	if g.Undirected {
		kind = "undirected, each edge stored both ways"
	}
	if g.Weighted {
		kind += ", weighted"
	}
	line("format", "%s", g.Format)
	if r.Bytes > 0 {
		line("size", "%s, %.1f bits an edge", humanize.IBytes(uint64(r.Bytes)), 8*float64(r.Bytes)/float64(max(g.Edges, 1)))
	}
	line("vertices", "%s", humanize.Comma(int64(g.Vertices)))
	line("edges", "%s, %s", humanize.Comma(g.Edges), kind)
	line("self-loops", "%s", count(r.SelfLoops))
	line("duplicates", "%s", count(r.Duplicates))
	line("ids", "%s", firstIDs(r, g.Vertices))
	if len(r.Orders) > 0 {
		t := table.New(table.Left("order"), table.Right("size"), table.Right("bits an edge").Decimals(1))
		for _, o := range r.Orders {
			t.Row(o.Order, humanize.IBytes(uint64(o.Bytes)), o.BitsPerEdge)
		}
		fmt.Fprintln(w)
		if err := t.WriteText(w); err != nil {
			return err
		}
	}
	if r.Layout != nil {
		t := table.New(table.Right("offset"), table.Right("bytes"), table.Left("what"), table.Left("detail"))
		for _, p := range r.Layout {
			t.Row(p.Offset, p.Bytes, p.What, p.Detail)
		}
		fmt.Fprintln(w)
		if err := t.WriteText(w); err != nil {
			return err
		}
	}
	if r.OutDegrees == nil {
		return nil
	}
	fmt.Fprintln(w, "\nedges out of a vertex")
	return writeDistribution(g.app, *r.OutDegrees)
}
