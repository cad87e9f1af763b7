// Package graph opens any graph file, and holds its edges in the orders that
// algorithms want.
//
//	g, err := graph.Open(ctx, "edges.csv.gz", graph.Options{})
//	defer g.Close()
//	in, err := g.In(ctx)
//	ranks, err := algo.PageRank[float32](ctx, in, algo.PageRankOptions{})
//	fmt.Println(g.Names.Name(0), ranks.Ranks[0])
//
// [Open] tells by content what a file is: a text format (graph/text), weir's own
// file (graph/store), or the binary files of the COST and GAP programs
// (graph/foreign). Vertices are numbered 0 to n-1 whatever the file calls them,
// and Names gives the original ids back.
//
// An order that the file does not hold is made from one that it does, at the
// first call that asks for it. [Convert] stores a graph, in whichever orders are
// worth storing, and sorts on disk what does not fit the memory it may use.
package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"weir/graph/names"
	"weir/graph/order"
	"weir/graph/text"
)

// Order is one of the ways in which edges are held or stored.
type Order int

const (
	OutRows    Order = iota // vertex order: each source with its targets
	InRows                  // the transposed vertex order: each target with its sources
	Hilbert                 // along the Hilbert curve through the adjacency matrix
	Compressed              // the same, as compressed gaps
)

var orderNames = [...]string{OutRows: "out", InRows: "in", Hilbert: "hilbert", Compressed: "compressed"}

// String is the name that [ParseOrder] reads.
func (o Order) String() string {
	if o < 0 || int(o) >= len(orderNames) {
		return fmt.Sprintf("order %d", int(o))
	}
	return orderNames[o]
}

// ParseOrder reads the name of an order; "vertex" is another name of "out".
func ParseOrder(s string) (Order, error) {
	if s == "vertex" {
		return OutRows, nil
	}
	for o, name := range orderNames {
		if s == name {
			return Order(o), nil
		}
	}
	return 0, fmt.Errorf("unknown order %q, expected one of: vertex, %s", s, strings.Join(orderNames[:], ", "))
}

// Options tells how to read a graph. The zero value reads the file as it is,
// with half of the machine's memory and all its processors.
type Options struct {
	// Text tells how to read a text file; other files say all of this themselves.
	Text text.Options
	// Undirected adds the reverse of every edge.
	Undirected bool
	// Dedup keeps one of several edges between the same two ends, the lightest.
	Dedup bool
	// Prefer is the order that the caller will ask for first, so that it is the
	// one that is made of a text file's edges.
	Prefer Order
	// Threads is the number of goroutines; 0 means all processors.
	Threads int
	// Memory bounds, in bytes, what conversion uses; 0 means half of the machine's.
	// Where it is given, a text whose edges would not fit it is not opened: such a
	// text has to be converted.
	Memory int64
	// TempDir is where a conversion beyond that keeps its runs; "" is the
	// directory of its output.
	TempDir string
}

// Graph is a set of directed edges between the vertices 0 to Vertices-1. It is
// not safe for concurrent use; the orders it hands out are, and are only read.
type Graph struct {
	Source   string // the file it came from
	Format   string // what that file was found to be
	Vertices int
	Edges    int64 // directed edges held: an undirected one counts twice, a self-loop once
	// Undirected says that the reverse of every edge is there too.
	Undirected bool
	Weighted   bool
	// Names gives the ids of the source; nil where those are the vertices' numbers.
	Names *names.Table
	// Report is what reading a text file found; nil for other files.
	Report *text.Report
	// SelfLoops and Duplicates count edges; -1 where nobody has counted.
	SelfLoops, Duplicates int64
	// Dropped counts edges that the format last written could not hold.
	Dropped int64

	threads    int
	out, in    *order.CSR
	hilbert    *order.Hilbert
	compressed *order.Compressed
	degrees    []uint32
	held       [len(orderNames)]bool // what the file itself holds
	close      func() error
}

// Close releases the files behind the graph, and with them every order that it
// handed out.
func (g *Graph) Close() error {
	if g.close == nil {
		return nil
	}
	err := g.close()
	g.close = nil
	return err
}

// Holds says whether o is there already, so that asking for it costs nothing.
func (g *Graph) Holds(o Order) bool {
	switch o {
	case OutRows:
		return g.out != nil
	case InRows:
		return g.in != nil || g.Undirected && g.out != nil
	case Hilbert:
		return g.hilbert != nil
	case Compressed:
		return g.compressed != nil
	}
	return false
}

// Stored says whether the file that the graph was opened from holds o.
func (g *Graph) Stored(o Order) bool { return o >= 0 && int(o) < len(g.held) && g.held[o] }

// Map is the edges in order o, for algorithms that walk them block by block.
// Blocks of a stored order are checked as they are reached.
func (g *Graph) Map(ctx context.Context, o Order) (order.EdgeMap, error) {
	switch o {
	case OutRows:
		return wrap(g.outRows(ctx))
	case InRows:
		return wrap(g.inRows(ctx))
	case Hilbert:
		return wrap(g.hilbertOrder(ctx))
	case Compressed:
		return wrap(g.compressedOrder(ctx))
	}
	return nil, fmt.Errorf("no such order: %v", o)
}

// wrap keeps a nil pointer from becoming an interface that is not nil.
func wrap[T order.EdgeMap](m T, err error) (order.EdgeMap, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Out is vertex order, checked as a whole, so that its rows may be read in any
// sequence.
func (g *Graph) Out(ctx context.Context) (*order.CSR, error) { return checked(g.outRows(ctx)) }

// In is the transposed vertex order, checked as a whole. In an undirected graph
// it shares its storage with Out.
func (g *Graph) In(ctx context.Context) (*order.CSR, error) { return checked(g.inRows(ctx)) }

func checked(c *order.CSR, err error) (*order.CSR, error) {
	if err != nil {
		return nil, err
	}
	return c, c.Verify()
}

// OutDegrees is the number of edges out of each vertex. It belongs to the graph.
func (g *Graph) OutDegrees(ctx context.Context) ([]uint32, error) {
	if g.degrees != nil {
		return g.degrees, nil
	}
	m, err := g.Map(ctx, g.cheapest())
	if err != nil {
		return nil, err
	}
	g.degrees, err = order.OutDegrees(ctx, m, g.threads)
	return g.degrees, err
}

// cheapest is an order that is there.
func (g *Graph) cheapest() Order {
	for _, o := range []Order{OutRows, InRows, Hilbert, Compressed} {
		if g.Holds(o) {
			return o
		}
	}
	return OutRows
}

var errNoEdges = errors.New("the graph holds no order of its edges")

func (g *Graph) outRows(ctx context.Context) (*order.CSR, error) {
	if g.out != nil {
		return g.out, nil
	}
	var err error
	switch {
	case g.in != nil:
		g.out, err = order.Transpose(ctx, g.in, g.threads)
	case g.hilbert != nil:
		g.out, _, err = order.ToCSR(ctx, g.hilbert, order.BuildOptions{Threads: g.threads})
	case g.compressed != nil:
		g.out, _, err = order.ToCSR(ctx, g.compressed, order.BuildOptions{Threads: g.threads})
	default:
		err = errNoEdges
	}
	if err != nil {
		return nil, fmt.Errorf("make vertex order of %s: %w", g.Source, err)
	}
	return g.out, nil
}

func (g *Graph) inRows(ctx context.Context) (*order.CSR, error) {
	if g.in != nil {
		return g.in, nil
	}
	var err error
	switch {
	case g.out != nil && g.Undirected:
		same := *g.out
		same.Reversed = true
		g.in = &same
	case g.out != nil:
		g.in, err = order.Transpose(ctx, g.out, g.threads)
	case g.hilbert != nil:
		g.in, _, err = order.ToCSR(ctx, g.hilbert, order.BuildOptions{Threads: g.threads, Reversed: true})
	case g.compressed != nil:
		g.in, _, err = order.ToCSR(ctx, g.compressed, order.BuildOptions{Threads: g.threads, Reversed: true})
	default:
		err = errNoEdges
	}
	if err != nil {
		return nil, fmt.Errorf("make transposed vertex order of %s: %w", g.Source, err)
	}
	return g.in, nil
}

func (g *Graph) hilbertOrder(ctx context.Context) (*order.Hilbert, error) {
	if g.hilbert != nil {
		return g.hilbert, nil
	}
	from, err := g.Map(ctx, g.cheapest())
	if err != nil {
		return nil, err
	}
	g.hilbert, err = order.BuildHilbert(ctx, from, g.threads)
	if err != nil {
		return nil, fmt.Errorf("make Hilbert order of %s: %w", g.Source, err)
	}
	return g.hilbert, nil
}

func (g *Graph) compressedOrder(ctx context.Context) (*order.Compressed, error) {
	if g.compressed != nil {
		return g.compressed, nil
	}
	h, err := g.hilbertOrder(ctx)
	if err != nil {
		return nil, err
	}
	g.compressed, err = order.Compress(ctx, h, g.threads)
	if err != nil {
		return nil, fmt.Errorf("compress %s: %w", g.Source, err)
	}
	return g.compressed, nil
}
