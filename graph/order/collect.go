package order

import (
	"context"
	"fmt"

	"weir/internal/huge"
	"weir/internal/par"
)

// A collector is the kernel that feeds a partition from an order: it packs the
// edges of one part of the order, and splits them tile by tile.
type collector struct {
	p        *partition
	weights  []float32 // of the order's whole array of neighbours, or nil
	byTarget bool      // make a row for each target
	relabel  []uint32  // new number of each vertex, or nil
	splitter splitter
	keys     []uint64
	carried  []float32
	tiles    []tile
}

// collect makes a partition of the edges of e. The tiles are in e's order.
func collect(ctx context.Context, e EdgeMap, weights []float32, threads int, byTarget bool, relabel []uint32) (*partition, error) {
	p := newPartition(e.Vertices(), e.Edges(), threads, weights != nil)
	// More parts than threads balance parts whose edges cost differently.
	parts := e.Split(4 * threads)
	tiles := make([][]tile, len(parts))
	errs := make([]error, len(parts))
	buffers := make([]*collector, threads)
	err := par.Range(ctx, threads, len(parts), 1, func(worker, i, _ int) {
		c := buffers[worker]
		if c == nil {
			c = &collector{p: p, weights: weights, byTarget: byTarget, relabel: relabel, keys: huge.Make[uint64](tileEdges)[:0]}
			if weights != nil {
				c.carried = huge.Make[float32](tileEdges)[:0]
			}
			buffers[worker] = c
		}
		errs[i] = parts[i].Run(ctx, c)
		c.flush()
		tiles[i], c.tiles = c.tiles, nil
	})
	if err == nil {
		err = firstError(errs)
	}
	if err == nil {
		err = p.checkEnds(byTarget)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range tiles {
		p.tiles = append(p.tiles, t...)
	}
	return p, nil
}

// flush splits what is in the buffer into a new tile.
func (c *collector) flush() {
	if len(c.keys) == 0 {
		return
	}
	t := tile{keys: huge.Make[uint64](len(c.keys))}
	if c.weights != nil {
		t.weights = huge.Make[float32](len(c.keys))
	}
	t.ends = c.splitter.split(c.p, c.keys, c.carried, t.keys, t.weights)
	c.tiles = append(c.tiles, t)
	c.keys, c.carried = c.keys[:0], c.carried[:0]
}

// Rows packs rows.
func (c *collector) Rows(r Rows) {
	for i := range len(r.Offsets) - 1 {
		lo, hi := r.Offsets[i], r.Offsets[i+1]
		for lo < hi {
			if len(c.keys) == cap(c.keys) {
				c.flush()
			}
			// As much of the row as there is room for.
			end := min(hi, lo+uint64(cap(c.keys)-len(c.keys)))
			c.row(r.First+uint32(i), r.Targets[lo:end], r.Reversed != c.byTarget)
			if c.weights != nil {
				c.carried = append(c.carried, c.weights[lo:end]...)
			}
			lo = end
		}
	}
}

// row packs edges between a vertex and its neighbours, which become the rows if
// swapped.
func (c *collector) row(v uint32, neighbours []uint32, swapped bool) {
	at := len(c.keys)
	c.keys = c.keys[:at+len(neighbours)]
	keys := c.keys[at:]
	switch {
	case c.relabel != nil && swapped:
		v = c.relabel[v]
		for i, u := range neighbours {
			keys[i] = Pack(c.relabel[u], v)
		}
	case c.relabel != nil:
		v = c.relabel[v]
		for i, u := range neighbours {
			keys[i] = Pack(v, c.relabel[u])
		}
	case swapped:
		for i, u := range neighbours {
			keys[i] = Pack(u, v)
		}
	default:
		for i, u := range neighbours {
			keys[i] = Pack(v, u)
		}
	}
}

// Square packs pairs.
func (c *collector) Square(s Square) {
	for pairs := s.Pairs; len(pairs) > 0; {
		if len(c.keys) == cap(c.keys) {
			c.flush()
		}
		at := len(c.keys)
		n := min(len(pairs), cap(c.keys)-at)
		c.keys = c.keys[:at+n]
		keys := c.keys[at:]
		for i, p := range pairs[:n] {
			x, y := s.X|uint32(p.X), s.Y|uint32(p.Y)
			if c.relabel != nil {
				x, y = c.relabel[x], c.relabel[y]
			}
			if c.byTarget {
				x, y = y, x
			}
			keys[i] = Pack(x, y)
		}
		pairs = pairs[n:]
	}
}

// ToCSR brings the edges of any order into vertex order, as [Build] does. The
// weights of a [CSR] are kept. It needs 8 bytes an edge for a while, 12 with weights.
func ToCSR(ctx context.Context, e EdgeMap, opt BuildOptions) (*CSR, Stats, error) {
	var weights []float32
	if c, ok := e.(*CSR); ok {
		weights = c.Weights
	}
	p, err := collect(ctx, e, weights, par.Threads(opt.Threads), opt.Reversed, nil)
	if err != nil {
		return nil, Stats{}, fmt.Errorf("build vertex order: %w", err)
	}
	return p.rows(ctx, rowOptions{reversed: opt.Reversed, dedup: opt.Dedup})
}

// Transpose gives the same edges with rows by their other end: the in-edges of
// each vertex for a CSR of out-edges, and the reverse. It needs the result and 8
// bytes an edge for a while, 12 with weights.
func Transpose(ctx context.Context, c *CSR, threads int) (*CSR, error) {
	p, err := collect(ctx, c, c.Weights, par.Threads(threads), !c.Reversed, nil)
	if err != nil {
		return nil, fmt.Errorf("transpose: %w", err)
	}
	// Rows come in ascending order, so the columns of the transpose do.
	t, _, err := p.rows(ctx, rowOptions{reversed: !c.Reversed, inOrder: true})
	return t, err
}

// Relabel gives the graph in which vertex v of c is called number[v]. Number
// must be a permutation of the vertices.
func Relabel(ctx context.Context, c *CSR, number []uint32, threads int) (*CSR, error) {
	if len(number) != c.Vertices() {
		return nil, fmt.Errorf("relabel: %d new numbers, expected %d", len(number), c.Vertices())
	}
	seen := make([]bool, len(number))
	for v, to := range number {
		if int(to) >= len(number) || seen[to] {
			return nil, fmt.Errorf("relabel: vertex %d becomes %d, which is taken or not below %d", v, to, len(number))
		}
		seen[to] = true
	}
	p, err := collect(ctx, c, c.Weights, par.Threads(threads), c.Reversed, number)
	if err != nil {
		return nil, fmt.Errorf("relabel: %w", err)
	}
	r, _, err := p.rows(ctx, rowOptions{reversed: c.Reversed})
	return r, err
}
