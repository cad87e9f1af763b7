package graph

import (
	"context"

	"weir/graph/names"
	"weir/graph/order"
	"weir/graph/text"
	"weir/internal/huge"
	"weir/internal/par"
)

// collector holds the edges of a text until they are made into rows. As long as
// they come sorted, as most published edge lists do, it holds them as rows, in
// half the memory; what else comes is held packed, and sorted later.
type collector struct {
	size int64 // of the text in bytes, where it is known: sorted edges need room in one piece

	rows    *sortedRows // nil once an edge came out of order
	edges   [][]uint64
	weights [][]float32
	raw     []bool
	bytes   int64 // held
}

// newCollector makes the collector of a text that will become a graph with the
// given options. Rows of targets are not worth holding as rows of sources first.
func newCollector(in *text.Input, opt Options) *collector {
	c := &collector{}
	if in.Compression() == "" && opt.Prefer != InRows {
		c.size = in.Size()
	}
	return c
}

// add takes a chunk over.
func (c *collector) add(chunk text.Chunk) error {
	if c.size > 0 && c.rows == nil && c.edges == nil && len(chunk.Edges) > 0 {
		c.rows = newSortedRows(c.size, chunk)
	}
	if c.rows != nil {
		if c.rows.add(chunk) {
			c.bytes = c.rows.bytes()
			chunk.Release()
			return nil
		}
		if err := c.disperse(); err != nil {
			return err
		}
	}
	c.edges = append(c.edges, chunk.Edges)
	if chunk.Weights != nil {
		c.weights = append(c.weights, chunk.Weights)
	}
	c.raw = append(c.raw, chunk.Raw)
	c.bytes += int64(8*cap(chunk.Edges) + 4*cap(chunk.Weights))
	return nil
}

// disperse turns sorted rows back into packed edges.
func (c *collector) disperse() error {
	rows := c.rows
	c.rows, c.bytes, c.size = nil, 0, 0
	return rows.each(func(edges []uint64, weights []float32) error {
		return c.add(text.Chunk{Edges: edges, Weights: weights, Raw: rows.raw})
	})
}

// each hands out all edges, a chunk at a time, and drops them.
func (c *collector) each(f func(edges []uint64, weights []float32, raw bool) error) error {
	if rows := c.rows; rows != nil {
		c.rows = nil
		return rows.each(func(edges []uint64, weights []float32) error { return f(edges, weights, rows.raw) })
	}
	for i, edges := range c.edges {
		var weights []float32
		if c.weights != nil {
			weights, c.weights[i] = c.weights[i], nil
		}
		c.edges[i] = nil
		if err := f(edges, weights, c.raw[i]); err != nil {
			return err
		}
	}
	return nil
}

// weighted says whether the edges have weights.
func (c *collector) weighted() bool {
	return c.weights != nil || c.rows != nil && c.rows.weights != nil
}

// make brings the edges into rows, and drops them.
func (c *collector) make(ctx context.Context, from origin, how order.BuildOptions) (*order.CSR, order.Stats, error) {
	if c.rows != nil && !how.Reversed {
		out, stats, err := c.rows.finish(ctx, from.vertices, from.rank, how.Threads)
		*c = collector{}
		if err == nil && how.Dedup && stats.Duplicates > 0 {
			duplicates := stats.Duplicates
			out, stats, err = order.ToCSR(ctx, out, how)
			stats.Duplicates = duplicates
		}
		return out, stats, err
	}
	if c.rows != nil {
		if err := c.disperse(); err != nil {
			return nil, order.Stats{}, err
		}
	}
	for i, edges := range c.edges {
		if c.raw[i] {
			from.rank.Apply(edges)
		}
	}
	out, stats, err := order.Build(ctx, from.vertices, c.edges, c.weights, how)
	*c = collector{}
	return out, stats, err
}

// sortedRows holds edges that came in vertex order.
type sortedRows struct {
	raw        bool
	last       uint64   // the edge that came last
	sources    []uint32 // those that have edges, ascending
	starts     []uint64 // where the row of each begins
	targets    []uint32
	weights    []float32
	loops      int64
	duplicates int64
}

// newSortedRows makes room for as many edges as a text of the given size will
// have, going by its first chunk. Room that is not used is never touched.
func newSortedRows(size int64, first text.Chunk) *sortedRows {
	perByte := float64(len(first.Edges)) / float64(min(size, text.DefaultChunkSize))
	room := int(float64(size)*perByte*1.05) + len(first.Edges)
	r := &sortedRows{raw: first.Raw, targets: huge.Make[uint32](room)[:0]}
	if first.Weights != nil {
		r.weights = huge.Make[float32](room)[:0]
	}
	return r
}

func (r *sortedRows) bytes() int64 {
	return int64(4*len(r.targets) + 4*len(r.weights) + 12*len(r.sources))
}

// add appends a chunk if it goes on in order, and leaves everything as it is if not.
func (r *sortedRows) add(chunk text.Chunk) bool {
	if chunk.Raw != r.raw {
		return false
	}
	last := r.last
	for _, e := range chunk.Edges {
		if e < last {
			return false
		}
		last = e
	}
	source := uint32(r.last >> 32)
	if len(r.sources) == 0 {
		source = ^uint32(chunk.Edges[0] >> 32) // none: the first edge begins a row
	}
	last = r.last
	if len(r.targets) == 0 {
		last = ^chunk.Edges[0]
	}
	targets := r.targets
	for _, e := range chunk.Edges {
		s, t := uint32(e>>32), uint32(e)
		if s != source {
			source = s
			r.sources = append(r.sources, s)
			r.starts = append(r.starts, uint64(len(targets)))
		}
		if s == t {
			r.loops++
		}
		if e == last {
			r.duplicates++
		}
		last = e
		targets = append(targets, t)
	}
	r.targets, r.last = targets, last
	if r.weights != nil {
		r.weights = append(r.weights, chunk.Weights...)
	}
	return true
}

// each hands out all edges in chunks of their own.
func (r *sortedRows) each(f func(edges []uint64, weights []float32) error) error {
	const size = 1 << 18
	row := 0
	for lo := 0; lo < len(r.targets); lo += size {
		hi := min(lo+size, len(r.targets))
		edges := make([]uint64, hi-lo)
		for i := range edges {
			for row+1 < len(r.starts) && r.starts[row+1] <= uint64(lo+i) {
				row++
			}
			edges[i] = order.Pack(r.sources[row], r.targets[lo+i])
		}
		var weights []float32
		if r.weights != nil {
			weights = append([]float32(nil), r.weights[lo:hi]...)
		}
		if err := f(edges, weights); err != nil {
			return err
		}
	}
	return nil
}

// finish makes rows of n vertices, renumbering raw ids.
func (r *sortedRows) finish(ctx context.Context, n int, rank *names.Rank, threads int) (*order.CSR, order.Stats, error) {
	offsets := huge.Make[uint64](n + 1)
	next := 0 // the first vertex whose offset is not set
	for i, s := range r.sources {
		if r.raw && rank != nil {
			s = rank.Of(s)
		}
		for ; next <= int(s); next++ {
			offsets[next] = r.starts[i]
		}
	}
	for ; next <= n; next++ {
		offsets[next] = uint64(len(r.targets))
	}
	if r.raw && rank != nil {
		err := par.Range(ctx, par.Threads(threads), len(r.targets), 1<<18, func(_, lo, hi int) {
			part := r.targets[lo:hi]
			for i, t := range part {
				part[i] = rank.Of(t)
			}
		})
		if err != nil {
			return nil, order.Stats{}, err
		}
	}
	out := &order.CSR{Offsets: offsets, Targets: r.targets, Weights: r.weights}
	return out, order.Stats{Edges: int64(len(r.targets)), SelfLoops: r.loops, Duplicates: r.duplicates}, nil
}
