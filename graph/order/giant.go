package order

import (
	"context"

	"weir/internal/par"
	"weir/internal/radix"
)

// giant sorts a bucket that is too large for one goroutine and its scratch, as
// the rows of hubs make: all goroutines place the edges in their rows straight
// from the tiles, and then sort the rows.
func (r *rowSorter) giant(ctx context.Context, b int) error {
	first, end := r.span(b)
	start, offsets := r.starts[b], r.out.Offsets[first:end]
	share := func(w int) []tile {
		return r.tiles[len(r.tiles)*w/r.threads : len(r.tiles)*(w+1)/r.threads]
	}
	places := make([][]uint64, r.threads)
	par.Each(r.threads, func(w int) {
		places[w] = make([]uint64, end-first)
		loops := int64(0)
		for _, t := range share(w) {
			lo, hi := t.part(b)
			for _, k := range t.keys[lo:hi] {
				row, column := uint32(k>>32), uint32(k)
				places[w][row-uint32(first)]++
				if row == column {
					loops++
				}
			}
		}
		r.selfLoops.Add(loops)
	})
	at := start
	for v := range offsets {
		offsets[v] = at
		for w := range places {
			places[w][v], at = at, at+places[w][v]
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	par.Each(r.threads, func(w int) {
		next := places[w]
		for _, t := range share(w) {
			lo, hi := t.part(b)
			for i := lo; i < hi; i++ {
				k := t.keys[i]
				row := uint32(k>>32) - uint32(first)
				at := next[row]
				next[row]++
				r.out.Targets[at] = uint32(k)
				if r.weighed {
					r.out.Weights[at] = t.weights[i]
				}
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.sortRows(ctx, first, end, r.starts[b+1]); err != nil {
		return err
	}

	targets, weights := r.out.Targets[start:r.starts[b+1]], []float32(nil)
	if r.weighed {
		weights = r.out.Weights[start:r.starts[b+1]]
	}
	r.kept[b] = uint64(len(targets))
	duplicates := countRepeats(targets, offsets)
	r.duplicates.Add(duplicates)
	if r.dedup && duplicates > 0 {
		r.kept[b] = dedupRows(targets, weights, offsets, start)
	}
	return nil
}

// sortRows sorts each of the rows of vertices first to end; the last of them
// ends at edge limit. Long rows are sorted by all goroutines, one after the other.
func (r *rowSorter) sortRows(ctx context.Context, first, end int, limit uint64) error {
	if r.inOrder {
		return nil
	}
	const long = 1 << 20
	row := func(v int) (targets []uint32, weights []float32) {
		lo, hi := r.out.Offsets[v], limit
		if v+1 < end {
			hi = r.out.Offsets[v+1]
		}
		if r.weighed {
			weights = r.out.Weights[lo:hi]
		}
		return r.out.Targets[lo:hi], weights
	}
	type scratch struct {
		targets []uint32
		weights []float32
	}
	scratches := make([]scratch, r.threads)
	err := par.Range(ctx, r.threads, end-first, 16, func(worker, lo, hi int) {
		s := &scratches[worker]
		for v := first + lo; v < first+hi; v++ {
			targets, weights := row(v)
			if len(targets) >= long {
				continue
			}
			if len(s.targets) < len(targets) {
				s.targets, s.weights = make([]uint32, 2*len(targets)), make([]float32, 2*len(weights))
			}
			if r.weighed {
				radix.SortPairs(targets, weights, s.targets, s.weights)
			} else {
				radix.Sort(targets, s.targets)
			}
		}
	})
	for v := first; v < end && err == nil; v++ {
		if targets, weights := row(v); len(targets) < long {
			continue
		} else if r.weighed {
			err = radix.ParallelPairs(ctx, r.threads, targets, weights, nil, nil)
		} else {
			err = radix.Parallel(ctx, r.threads, targets, nil)
		}
	}
	return err
}
