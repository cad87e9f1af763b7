package graph

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"weir/graph/extsort"
	"weir/graph/order"
	"weir/graph/store"
	"weir/graph/text"
)

// external makes a stored graph of edges that do not fit memory: it sorts them on
// disk, once for each order, and streams the sorted edges into the file.
//
// Half of the memory is for the sorter that edges are first added to, half for
// those of the other orders, which are filled while the first is merged.
type external struct {
	opt     ConvertOptions
	out     string
	graph   *Graph // what is known of the result; its Edges are set by merging
	wholes  bool   // all weights so far are whole numbers
	degrees []uint32
}

// sorter makes a sorter with a part of the memory.
func (x *external) sorter(o extsort.Order, dedup bool, share int64) (*extsort.Sorter, error) {
	dir := x.opt.TempDir
	if dir == "" {
		dir = filepath.Dir(x.out)
	}
	return extsort.New(extsort.Options{
		Order:    o,
		Weighted: x.graph.Weighted && o != extsort.AlongCurve,
		Dedup:    dedup,
		Memory:   max(x.opt.memory()/share, extsort.MinMemory),
		Dir:      dir,
		Threads:  x.opt.Threads,
	})
}

// spiller is a [collector] that goes on to sort on disk when memory is full.
type spiller struct {
	*collector
	external
	ctx   context.Context
	first *extsort.Sorter // nil while all fits
}

func (s *spiller) add(chunk text.Chunk) error {
	if s.first == nil {
		if err := s.collector.add(chunk); err != nil {
			return err
		}
		// Rows and their transpose need about as much again as the edges do, and a half.
		if s.bytes < s.opt.memory()*2/5 {
			return nil
		}
		return s.spill()
	}
	err := s.sort(chunk.Edges, chunk.Weights, chunk.Raw)
	chunk.Release()
	return err
}

// spill moves what was collected to a sorter.
func (s *spiller) spill() error {
	s.graph = &Graph{Weighted: s.weighted()}
	var err error
	if s.first, err = s.sorter(extsort.BySource, s.opt.Dedup, 2); err != nil {
		return err
	}
	if err := s.each(s.sort); err != nil {
		return err
	}
	s.collector = &collector{}
	return nil
}

// sort adds edges to the first sorter, and their reverses where the graph is to
// be undirected.
func (s *spiller) sort(edges []uint64, weights []float32, raw bool) error {
	if err := s.first.Add(s.ctx, edges, weights, raw); err != nil || !s.opt.Undirected {
		return err
	}
	n := 0
	for i, e := range edges {
		if source, target := uint32(e>>32), uint32(e); source != target {
			edges[n] = order.Pack(target, source)
			if weights != nil {
				weights[n] = weights[i]
			}
			n++
		}
	}
	if weights != nil {
		weights = weights[:n]
	}
	return s.first.Add(s.ctx, edges[:n], weights, raw)
}

// convertText converts a text into weir's own file, within the memory it may use.
func convertText(ctx context.Context, path, out string, opt ConvertOptions) (*Graph, error) {
	in, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s := &spiller{collector: newCollector(in, opt.Options), external: external{opt: opt, out: out}, ctx: ctx}
	defer s.close()
	found, err := text.Read(ctx, in, opt.textOptions(), s.add)
	if err != nil {
		return nil, err
	}
	return s.finish(ctx, originOf(found))
}

// Stream is a graph whose edges come one chunk after the other.
type Stream struct {
	Source   string // what it is, for the file and for messages
	Vertices int
	Weighted bool
	// Edges hands all edges, packed as by order.Pack, to emit, with a weight each if
	// and only if the graph is weighted. The slices are valid during the call.
	Edges func(ctx context.Context, emit func(edges []uint64, weights []float32) error) error
}

// Store writes a stream of edges as weir's own file, within the memory it may use.
// The caller closes the graph that it returns.
func Store(ctx context.Context, stream Stream, out string, opt ConvertOptions) (*Graph, error) {
	s := &spiller{collector: &collector{}, external: external{opt: opt, out: out}, ctx: ctx}
	defer s.close()
	err := stream.Edges(ctx, func(edges []uint64, weights []float32) error {
		return s.add(text.Chunk{Edges: slices.Clone(edges), Weights: slices.Clone(weights)})
	})
	if err != nil {
		return nil, err
	}
	return s.finish(ctx, origin{source: stream.Source, format: "stream", vertices: stream.Vertices, weighted: stream.Weighted})
}

func (s *spiller) close() {
	if s.first != nil {
		s.first.Close()
	}
}

// finish writes the file once all edges are there.
func (s *spiller) finish(ctx context.Context, from origin) (*Graph, error) {
	if s.first == nil {
		g, err := s.collector.build(ctx, from, s.opt.Options)
		if err != nil {
			return nil, err
		}
		return g, g.Write(ctx, s.out, FormatWeir, s.opt.Orders)
	}
	if s.opt.Undirected && from.undirected {
		return nil, fmt.Errorf("convert %s: it is undirected already, so that adding reverses would double every edge; convert it as it is", from.source)
	}
	if err := from.fits(); err != nil {
		return nil, err
	}
	s.graph = from.graph()
	s.graph.Undirected = s.opt.Undirected || from.undirected
	var number extsort.Renumberer
	if from.rank != nil {
		number = from.rank
	}
	if err := s.write(ctx, s.graph.ordersOr(s.opt.Orders), nil, func(emit func([]uint64, []float32) error) (order.Stats, error) {
		return s.first.Merge(ctx, number, emit)
	}, s.first.Edges()); err != nil {
		return nil, err
	}
	return reopen(s.out, s.graph)
}

// reopen opens what was written for a graph that was never in memory.
func reopen(out string, g *Graph) (*Graph, error) {
	stored, err := openStored(out)
	if err != nil {
		return nil, err
	}
	stored.Report, stored.threads = g.Report, g.threads
	return stored, nil
}

// convertStored adds orders to a graph that has some, without holding another in
// memory.
func (g *Graph) convertStored(ctx context.Context, out string, opt ConvertOptions) (*Graph, error) {
	x := &external{opt: opt, out: out, graph: g}
	held := func(o Order) bool { return g.Holds(o) }
	err := x.write(ctx, g.ordersOr(opt.Orders), held, func(emit func([]uint64, []float32) error) (order.Stats, error) {
		return order.Stats{Edges: g.Edges, SelfLoops: g.SelfLoops, Duplicates: g.Duplicates}, g.stream(ctx, emit)
	}, g.Edges)
	if err != nil {
		return nil, err
	}
	return reopen(out, g)
}

// write makes the file. Edges hands out all of them once, sorted by source unless
// all orders are held or sorted by themselves; at most is how many there will be.
// Held orders are written as they are.
func (x *external) write(ctx context.Context, orders []Order, held func(Order) bool,
	edges func(emit func([]uint64, []float32) error) (order.Stats, error), atMost int64,
) (err error) {
	g := x.graph
	made := func(o Order) bool { return slices.Contains(orders, o) && (held == nil || !held(o)) }
	w, err := store.Create(x.out)
	if err != nil {
		return err
	}
	defer w.Abort()
	x.wholes = true
	if !slices.Contains(orders, OutRows) {
		x.degrees = make([]uint32, g.Vertices)
	}
	// Edges come sorted by source from the first sorter, so vertex order is written
	// as they come, unless duplicates are dropped and their number is not known yet.
	var rows *rowWriter
	if held == nil && !x.opt.Dedup && made(OutRows) {
		if rows, err = x.newRows(w, false, atMost); err != nil {
			return err
		}
	}
	sorters := map[Order]*extsort.Sorter{}
	defer func() {
		for _, s := range sorters {
			err = errors.Join(err, s.Close())
		}
	}()
	var sorted []Order // both Hilbert orders come of one sorter
	if made(OutRows) && rows == nil {
		sorted = append(sorted, OutRows)
	}
	if made(InRows) {
		sorted = append(sorted, InRows)
	}
	if made(Hilbert) || made(Compressed) {
		sorted = append(sorted, Hilbert)
	}
	for _, o := range sorted {
		by := map[Order]extsort.Order{OutRows: extsort.BySource, InRows: extsort.ByTarget, Hilbert: extsort.AlongCurve}[o]
		if sorters[o], err = x.sorter(by, false, int64(2*len(sorted))); err != nil {
			return err
		}
	}
	loops := int64(0)
	stats, err := edges(func(keys []uint64, weights []float32) error {
		for _, k := range keys {
			if uint32(k>>32) == uint32(k) {
				loops++
			}
		}
		for _, weight := range weights {
			x.wholes = x.wholes && weight == float32(int64(weight))
		}
		if x.degrees != nil {
			for _, k := range keys {
				x.degrees[k>>32]++
			}
		}
		if rows != nil {
			if err := rows.add(keys, weights); err != nil {
				return err
			}
		}
		for o, s := range sorters {
			with := weights
			if o == Hilbert {
				with = nil
			}
			if err := s.Add(ctx, keys, with, false); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	g.Edges, g.SelfLoops, g.Duplicates = stats.Edges, loops, stats.Duplicates
	if x.opt.Dedup {
		g.Duplicates = 0
	}
	if rows != nil {
		if err := rows.close(); err != nil {
			return err
		}
	}
	for _, o := range []Order{OutRows, InRows} {
		if s := sorters[o]; s != nil {
			if err := x.writeRows(ctx, w, s, o == InRows); err != nil {
				return err
			}
		}
	}
	if s := sorters[Hilbert]; s != nil {
		if err := x.writeSquares(ctx, w, s, made(Hilbert), made(Compressed)); err != nil {
			return err
		}
	}
	for _, o := range orders {
		if !made(o) {
			if err := g.storeOrder(ctx, w, o); err != nil {
				return err
			}
		}
	}
	return x.finish(ctx, w, orders)
}

// finish writes what is not edges.
func (x *external) finish(ctx context.Context, w *store.Writer, orders []Order) error {
	if x.degrees != nil {
		if err := w.WriteDegrees(ctx, x.degrees); err != nil {
			return err
		}
	}
	if err := x.graph.storeNames(ctx, w); err != nil {
		return err
	}
	w.Meta = x.graph.meta(orders)
	w.Meta.IntegerWeights = w.Meta.Weighted && x.wholes
	return w.Close()
}

func (x *external) writeRows(ctx context.Context, w *store.Writer, s *extsort.Sorter, reversed bool) error {
	rows, err := x.newRows(w, reversed, x.graph.Edges)
	if err != nil {
		return err
	}
	if _, err := s.Merge(ctx, nil, rows.add); err != nil {
		return err
	}
	return rows.close()
}
