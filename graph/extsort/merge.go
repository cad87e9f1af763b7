package extsort

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"runtime/debug"
	"slices"
	"sort"

	"weir/graph/order"
	"weir/internal/par"
	"weir/internal/progress"
	"weir/internal/radix"
)

// Merge hands out all edges in ascending order of their key, and then removes
// what it needed; the sorter is closed. Edges that were added to be renumbered
// are, by number, which may be nil where there are none. Emit gets keys in the
// form that [Order] tells, with weights if there are any; the slices are valid
// during the call, and emit may change them. An error of emit ends the merge
// and is returned as it is.
//
// Equal edges with different weights come in no particular order, but in the
// same one for the same calls and options.
func (s *Sorter) Merge(ctx context.Context, number Renumberer, emit func(keys []uint64, weights []float32) error) (stats order.Stats, err error) {
	if s.closed {
		return stats, errors.New("sort edges: the sorter is closed")
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.settle(); err != nil {
		return stats, err
	}
	readers, err := s.openAll(ctx, number)
	if err != nil {
		return stats, err
	}
	stage := progress.Start(ctx, "merge runs", s.edges, progress.Edges)
	defer stage.Done()
	out := output{emit: emit, dedup: s.opt.Dedup, weighted: s.opt.Weighted}
	err = s.merge(ctx, readers, func(b *batch) error {
		stage.Add(int64(len(b.keys)))
		return out.take(b.keys, b.weights)
	})
	if err == nil {
		err = out.end()
	}
	return order.Stats{Edges: s.edges - out.dropped, SelfLoops: s.loops, Duplicates: out.duplicates}, err
}

// openAll makes readers of all edges, of which at most fan are runs on disk.
func (s *Sorter) openAll(ctx context.Context, number Renumberer) (readers []*runReader, err error) {
	if s.made == 0 {
		b := s.filling
		if b == nil {
			return nil, ctx.Err()
		}
		for _, raw := range []bool{false, true} {
			keys, weights := b.part(raw)
			if err := s.sort(ctx, keys, weights); err != nil {
				return nil, err
			}
			r := s.memoryReader(keys, weights, nil)
			if raw {
				r.number = number
			}
			readers = append(readers, r)
		}
		s.scratch = buffer{}
		return readers, nil
	}
	if b := s.filling; b != nil && b.final+b.raw > 0 {
		if err := s.flush(ctx); err != nil {
			return nil, err
		}
		if err := s.settle(); err != nil {
			return nil, err
		}
	}
	// The merge needs as much memory again.
	s.filling, s.spare, s.scratch = nil, nil, buffer{}
	debug.FreeOSMemory()
	for len(s.runs) > s.layout.fan {
		if err := s.cascade(ctx); err != nil {
			return nil, err
		}
	}
	for _, r := range s.runs {
		reader, err := s.openRun(r, number)
		if err != nil {
			closeAll(readers)
			return nil, err
		}
		readers = append(readers, reader)
	}
	return readers, nil
}

func closeAll(readers []*runReader) {
	for _, r := range readers {
		r.close()
	}
}

// cascade merges as many of the oldest runs as needed or possible into one.
func (s *Sorter) cascade(ctx context.Context) error {
	raw := 0
	for _, r := range s.runs {
		if r.raw {
			raw++
		}
	}
	kind := raw > len(s.runs)-raw
	want := min(len(s.runs)-s.layout.fan+1, s.layout.fan)
	var group, rest []*run
	first := -1 // where the result belongs in rest
	for _, r := range s.runs {
		if r.raw == kind && len(group) < want {
			if first < 0 {
				first = len(rest)
			}
			group = append(group, r)
		} else {
			rest = append(rest, r)
		}
	}
	var readers []*runReader
	for _, r := range group {
		// Renumbering keeps the order, so it can wait for the last merge.
		reader, err := s.openRun(r, nil)
		if err != nil {
			closeAll(readers)
			return err
		}
		readers = append(readers, reader)
	}
	w, err := s.newRun(kind)
	if err != nil {
		closeAll(readers)
		return err
	}
	edges := int64(0)
	for _, r := range group {
		edges += r.edges
	}
	stage := progress.Start(ctx, "merge some runs", edges, progress.Edges)
	defer stage.Done()
	err = s.merge(ctx, readers, func(b *batch) error {
		stage.Add(int64(len(b.keys)))
		return w.write(ctx, b.keys, b.weights)
	})
	merged, closeErr := w.close()
	if err = cmp.Or(err, closeErr); err != nil { // the same, said twice, if both
		return err
	}
	for _, r := range group {
		r.forget()
	}
	s.runs = slices.Insert(rest, first, merged)
	return nil
}

// sort puts keys into the order's form and sorts them.
func (s *Sorter) sort(ctx context.Context, keys []uint64, weights []float32) error {
	err := par.Range(ctx, s.threads, len(keys), 1<<16, func(_, lo, hi int) {
		switch part := keys[lo:hi]; s.opt.Order {
		case ByTarget:
			for i, k := range part {
				part[i] = bits.RotateLeft64(k, 32)
			}
		case AlongCurve:
			for i, k := range part {
				part[i] = order.Position(uint32(k>>32), uint32(k))
			}
		}
	})
	if err != nil || slices.IsSorted(keys) {
		return err
	}
	if len(s.scratch.keys) < len(keys) {
		s.scratch = *s.newBuffer(len(keys))
	}
	return s.radix(ctx, keys, weights, &s.scratch)
}

func (s *Sorter) radix(ctx context.Context, keys []uint64, weights []float32, scratch *buffer) error {
	if weights == nil {
		return radix.Parallel(ctx, s.threads, keys, scratch.keys)
	}
	return radix.ParallelPairs(ctx, s.threads, keys, weights, scratch.keys, scratch.weights)
}

// A batch is edges that no run has smaller ones than.
type batch struct {
	keys    []uint64
	weights []float32
}

// merge hands the edges of readers to emit, batch by batch, sorted, and closes
// the readers. The next batch is made while emit has the last one.
func (s *Sorter) merge(ctx context.Context, readers []*runReader, emit func(*batch) error) error {
	defer closeAll(readers)
	ctx, cancel := context.WithCancel(ctx)
	room := 2 * s.layout.block * len(readers)
	free, full := make(chan *batch, 2), make(chan *batch)
	for range cap(free) {
		b := &batch{keys: make([]uint64, 0, room)}
		if s.opt.Weighted {
			b.weights = make([]float32, 0, room)
		}
		free <- b
	}
	var failed error
	go func() {
		defer close(full)
		failed = s.gather(ctx, readers, free, full)
	}()
	var err error
	for b := range full {
		if err == nil {
			if err = emit(b); err != nil {
				cancel()
			}
		}
		free <- b
	}
	cancel()
	if err == nil {
		err = failed
	}
	return err
}

// gather makes batches of the edges of readers.
func (s *Sorter) gather(ctx context.Context, readers []*runReader, free, full chan *batch) error {
	scratch := make([]byte, blockBytes(s.layout.block, s.opt.Weighted))
	sorting := s.newBuffer(2 * s.layout.block * len(readers))
	active := slices.Clone(readers)
	for {
		for _, r := range active {
			if err := r.load(scratch); err != nil {
				return err
			}
		}
		active = slices.DeleteFunc(active, func(r *runReader) bool { return r.lo == r.hi })
		if len(active) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		// What a run has not loaded yet is not below the last that it has.
		bound, bounded := ^uint64(0), false
		for _, r := range active {
			if r.left > 0 {
				bound, bounded = min(bound, r.keys[r.hi-1]), true
			}
		}
		b := <-free
		b.keys, b.weights = b.keys[:0], b.weights[:0]
		for _, r := range active {
			loaded := r.keys[r.lo:r.hi]
			n := len(loaded)
			if bounded && loaded[n-1] > bound {
				n = sort.Search(n, func(i int) bool { return loaded[i] > bound })
			}
			b.keys = append(b.keys, loaded[:n]...)
			if r.weights != nil {
				b.weights = append(b.weights, r.weights[r.lo:r.lo+n]...)
			}
			r.lo += n
		}
		if !slices.IsSorted(b.keys) {
			if err := s.radix(ctx, b.keys, b.weights, sorting); err != nil {
				return err
			}
		}
		full <- b
	}
}
