package graph

import (
	"context"
	"errors"
	"fmt"

	"weir/graph/extsort"
	"weir/graph/order"
	"weir/graph/store"
	"weir/internal/progress"
)

// streamEdges is how many edges are handed on at a time.
const streamEdges = 1 << 16

// stream hands out all edges, packed, with their weights if there are any.
func (g *Graph) stream(ctx context.Context, emit func([]uint64, []float32) error) error {
	o := g.cheapest()
	edges, err := g.Map(ctx, o)
	if err != nil {
		return err
	}
	stage := progress.Start(ctx, "sort edges", g.Edges, progress.Edges)
	defer stage.Done()
	if rows, ok := edges.(*order.CSR); ok {
		return streamRows(ctx, rows, stage, emit)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	k := &packer{emit: emit, stage: stage, stop: stop}
	err = edges.Run(ctx, k)
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// streamRows hands out the edges of rows; a kernel would not see their weights.
func streamRows(ctx context.Context, rows *order.CSR, stage *progress.Stage, emit func([]uint64, []float32) error) error {
	if err := rows.Verify(); err != nil {
		return err
	}
	edges := make([]uint64, 0, streamEdges)
	first := uint64(0) // the index of edges[0]
	flush := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var weights []float32
		if rows.Weights != nil {
			weights = rows.Weights[first : first+uint64(len(edges))]
		}
		err := emit(edges, weights)
		stage.Add(int64(len(edges)))
		first += uint64(len(edges))
		edges = edges[:0]
		return err
	}
	for v := range uint32(rows.Vertices()) {
		for _, u := range rows.Neighbours(v) {
			source, target := v, u
			if rows.Reversed {
				source, target = u, v
			}
			edges = append(edges, order.Pack(source, target))
			if len(edges) == cap(edges) {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// packer is a kernel that packs edges and hands them on.
type packer struct {
	emit   func([]uint64, []float32) error
	stage  *progress.Stage
	stop   context.CancelCauseFunc
	edges  []uint64
	failed bool
}

// Rows is never called: rows have weights, which a kernel does not see, and are
// streamed by themselves.
func (p *packer) Rows(order.Rows) {}

// Square hands on the edges of one square.
func (p *packer) Square(s order.Square) {
	p.edges = p.edges[:0]
	for _, e := range s.Pairs {
		p.edges = append(p.edges, order.Pack(s.X|uint32(e.X), s.Y|uint32(e.Y)))
	}
	p.stage.Add(int64(len(p.edges)))
	if p.failed {
		return
	}
	if err := p.emit(p.edges, nil); err != nil {
		p.failed = true
		p.stop(err)
	}
}

// rowWriter streams sorted edges into the sections of rows.
type rowWriter struct {
	offsets, ids, weights *store.SectionWriter
	rows                  uint64 // how many there are
	row                   uint64 // offsets of the rows below are written
	edges                 uint64
	offsetBuf             []uint64
	idBuf                 []uint32
}

// newRows begins the sections of rows, which will hold the given number of edges.
func (x *external) newRows(w *store.Writer, reversed bool, edges int64) (*rowWriter, error) {
	r := &rowWriter{rows: uint64(x.graph.Vertices)}
	offsets, ids, weights := store.OutOffsets, store.OutTargets, store.OutWeights
	if reversed {
		offsets, ids, weights = store.InOffsets, store.InSources, store.InWeights
	}
	var err error
	if r.offsets, err = w.Section(offsets, 8*(int64(r.rows)+1)); err != nil {
		return nil, err
	}
	if r.ids, err = w.Section(ids, 4*edges); err != nil {
		return nil, err
	}
	if x.graph.Weighted {
		if r.weights, err = w.Section(weights, 4*edges); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add appends edges, packed row first and ascending.
func (r *rowWriter) add(keys []uint64, weights []float32) error {
	r.idBuf = r.idBuf[:0]
	for _, k := range keys {
		if k>>32 >= r.row {
			if err := r.reach(k >> 32); err != nil {
				return err
			}
		}
		r.idBuf = append(r.idBuf, uint32(k))
		r.edges++
	}
	if err := r.ids.WriteSlice(r.idBuf); err != nil {
		return err
	}
	if r.weights != nil {
		return r.weights.WriteSlice(weights)
	}
	return nil
}

// reach writes the offsets of rows up to and with the given one.
func (r *rowWriter) reach(row uint64) error {
	for ; r.row <= row; r.row++ {
		r.offsetBuf = append(r.offsetBuf, r.edges)
		if len(r.offsetBuf) >= streamEdges {
			if err := r.offsets.WriteSlice(r.offsetBuf); err != nil {
				return err
			}
			r.offsetBuf = r.offsetBuf[:0]
		}
	}
	return nil
}

func (r *rowWriter) close() error {
	if err := r.reach(r.rows); err != nil {
		return err
	}
	if err := r.offsets.WriteSlice(r.offsetBuf); err != nil {
		return err
	}
	err := errors.Join(r.offsets.Close(), r.ids.Close())
	if r.weights != nil {
		err = errors.Join(err, r.weights.Close())
	}
	return err
}

// writeSquares streams edges along the curve into Hilbert order, compressed
// Hilbert order, or both.
func (x *external) writeSquares(ctx context.Context, w *store.Writer, s *extsort.Sorter, plain, compressed bool) error {
	c := &squareWriter{n: x.graph.Vertices, data: order.Compressed{N: x.graph.Vertices}}
	var err error
	if plain {
		if c.pairs, err = w.Section(store.HilbertPairs, 4*x.graph.Edges); err != nil {
			return err
		}
	}
	c.compress = compressed
	if _, err = s.Merge(ctx, nil, func(positions []uint64, _ []float32) error { return c.add(ctx, positions) }); err != nil {
		return err
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	if plain {
		if err := c.pairs.Close(); err != nil {
			return err
		}
		squares, err := w.Section(store.HilbertSquares, int64(len(c.squares)*8))
		if err != nil {
			return err
		}
		if err := errors.Join(squares.WriteSlice(c.squares), squares.Close()); err != nil {
			return err
		}
	}
	if compressed {
		return w.WriteCompressed(ctx, &c.data)
	}
	return nil
}

// squareWriter gathers positions on the curve into squares. The compressed edges
// are held in memory, two or three bytes an edge.
type squareWriter struct {
	n        int
	pairs    *store.SectionWriter // nil where only compressed edges are wanted
	compress bool
	squares  []order.Extent
	data     order.Compressed

	piece order.Hilbert // edges not written yet: whole blocks of compressed edges
}

func (c *squareWriter) add(ctx context.Context, positions []uint64) error {
	p := &c.piece
	for _, position := range positions {
		source, target := order.Point(position)
		square := order.Extent{X: uint16(source >> 16), Y: uint16(target >> 16)}
		if n := len(c.squares); n == 0 || c.squares[n-1].X != square.X || c.squares[n-1].Y != square.Y {
			c.squares = append(c.squares, square)
		}
		if n := len(p.Squares); n == 0 || p.Squares[n-1].X != square.X || p.Squares[n-1].Y != square.Y {
			p.Squares = append(p.Squares, square)
			p.Starts = append(p.Starts, uint64(len(p.Pairs)))
		}
		last := &c.squares[len(c.squares)-1]
		if last.Count == 1<<32-1 {
			return fmt.Errorf("square (%d, %d) has more than %d edges", square.X, square.Y, uint32(1<<32-1))
		}
		last.Count++
		p.Squares[len(p.Squares)-1].Count++
		p.Pairs = append(p.Pairs, order.Pair{X: uint16(source), Y: uint16(target)})
		if len(p.Pairs) == 16*order.CompressedBlockEdges {
			if err := c.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the piece.
func (c *squareWriter) flush(ctx context.Context) error {
	p := &c.piece
	if len(p.Pairs) == 0 {
		return nil
	}
	if c.pairs != nil {
		if err := c.pairs.WriteSlice(p.Pairs); err != nil {
			return err
		}
	}
	if c.compress {
		p.N = c.n
		p.Starts = append(p.Starts, uint64(len(p.Pairs)))
		part, err := order.Compress(ctx, p, 0)
		if err != nil {
			return err
		}
		for _, b := range part.Blocks {
			b.Offset += uint64(len(c.data.Data))
			c.data.Blocks = append(c.data.Blocks, b)
		}
		c.data.Data = append(c.data.Data, part.Data...)
		c.data.M += part.M
	}
	p.Squares, p.Starts, p.Pairs = p.Squares[:0], p.Starts[:0], p.Pairs[:0]
	return nil
}
