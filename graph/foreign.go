package graph

import (
	"context"
	"os"
	"strings"

	"weir/graph/foreign"
)

// openForeign opens the binary files of other programs; it returns nil where
// path is none.
func openForeign(ctx context.Context, path string, opt Options) (*Graph, error) {
	switch {
	case foreign.IsGAP(path):
		return openGAP(ctx, path, opt)
	case foreign.IsCOST(path) && !lonelyEdges(path):
		return openCOST(ctx, path, opt)
	}
	return nil, nil
}

// lonelyEdges says that path is called X.edges but has no X.nodes beside it: a
// text file, as collections of graphs call theirs.
func lonelyEdges(path string) bool {
	prefix, found := strings.CutSuffix(path, ".edges")
	if !found {
		return false
	}
	_, err := os.Stat(prefix + ".nodes")
	return err != nil
}

func openGAP(ctx context.Context, path string, opt Options) (*Graph, error) {
	f, err := foreign.ReadGAP(ctx, path, opt.Threads)
	if err != nil {
		return nil, err
	}
	g := unknownCounts(path, "GAP graph")
	g.Vertices, g.Edges = f.Out.Vertices(), f.Out.Edges()
	g.Undirected = !f.Directed
	g.Weighted = f.Out.Weights != nil
	g.out, g.in = f.Out, f.In
	g.held[OutRows], g.held[InRows] = true, f.In != nil
	return g, nil
}

func openCOST(ctx context.Context, path string, opt Options) (*Graph, error) {
	f, err := foreign.OpenCOST(ctx, path, opt.Threads)
	if err != nil {
		return nil, err
	}
	g := unknownCounts(path, "COST files")
	g.Vertices, g.Edges = f.Vertices(), f.Edges()
	g.out, g.hilbert = f.Out, f.Hilbert
	g.held[OutRows], g.held[Hilbert] = f.Out != nil, f.Hilbert != nil
	g.close = f.Close
	return g, nil
}

// unknownCounts is a graph whose self-loops and duplicates nobody has counted.
func unknownCounts(path, format string) *Graph {
	return &Graph{Source: path, Format: format, SelfLoops: -1, Duplicates: -1}
}
