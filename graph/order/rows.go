package order

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// digitBits is the most bits that a pass of the sort by column looks at.
const digitBits = 11

type rowOptions struct {
	reversed bool
	dedup    bool
	inOrder  bool // the columns of each row come in ascending order
}

// A rowSorter is the second half of a sort by row: it sorts each bucket of a
// partition into its place in the result.
type rowSorter struct {
	*partition
	rowOptions
	out        *CSR
	starts     []uint64 // of each bucket in out.Targets; one more than buckets
	kept       []uint64 // edges left of each bucket
	selfLoops  atomic.Int64
	duplicates atomic.Int64
}

// rows finishes the sort. The partition's tiles are spent.
func (p *partition) rows(ctx context.Context, opt rowOptions) (*CSR, Stats, error) {
	r := &rowSorter{partition: p, rowOptions: opt, starts: make([]uint64, p.buckets+1), kept: make([]uint64, p.buckets)}
	for i := range p.tiles {
		for b := range p.buckets {
			lo, hi := p.tiles[i].part(b)
			r.starts[b+1] += uint64(hi - lo)
		}
	}
	for b := range p.buckets {
		r.starts[b+1] += r.starts[b]
	}
	edges := r.starts[p.buckets]
	r.out = &CSR{Offsets: huge.Make[uint64](p.n + 1), Targets: huge.Make[uint32](int(edges)), Reversed: opt.reversed}
	if p.weighed {
		r.out.Weights = huge.Make[float32](int(edges))
	}
	if p.n == 0 {
		return r.out, Stats{}, ctx.Err()
	}
	stage := progress.Start(ctx, "sort rows", int64(edges), progress.Edges)
	defer stage.Done()

	workers := make([]rowWorker, p.threads)
	err := par.Range(ctx, p.threads, p.buckets, 1, func(worker, b, _ int) {
		if size := r.starts[b+1] - r.starts[b]; size < uint64(giantEdges) {
			r.bucket(b, &workers[worker])
			stage.Add(int64(size))
		}
	})
	for b := range p.buckets {
		if size := r.starts[b+1] - r.starts[b]; size >= uint64(giantEdges) && err == nil {
			err = r.giant(ctx, b)
			stage.Add(int64(size))
		}
	}
	if err != nil {
		return nil, Stats{}, err
	}
	r.out.Offsets[p.n] = edges
	if r.dedup && r.duplicates.Load() > 0 {
		r.closeGaps()
	}
	return r.out, Stats{
		Edges:      r.out.Edges(),
		SelfLoops:  r.selfLoops.Load(),
		Duplicates: r.duplicates.Load(),
	}, nil
}

// span is the rows of bucket b.
func (r *rowSorter) span(b int) (lo, hi int) {
	return b << r.shift, min((b+1)<<r.shift, r.n)
}

// A rowWorker is the scratch of one goroutine.
type rowWorker struct {
	keys    [2][]uint64
	weights [2][]float32
	rows    []uint32
	digits  [3][1 << digitBits]uint32
}

func (w *rowWorker) grow(edges, rows int, weighed bool) {
	if len(w.keys[0]) < edges {
		for i := range w.keys {
			w.keys[i] = huge.Make[uint64](edges + edges/4)
			if weighed {
				w.weights[i] = huge.Make[float32](edges + edges/4)
			}
		}
	}
	if len(w.rows) < rows {
		w.rows = make([]uint32, rows)
	}
}

// bucket sorts bucket b by column, digit by digit, then by row into its place.
func (r *rowSorter) bucket(b int, w *rowWorker) {
	first, end := r.span(b)
	start, size := r.starts[b], int(r.starts[b+1]-r.starts[b])
	w.grow(size, end-first, r.weighed)
	columnBits := bits.Len(uint(r.n - 1))
	passes := (columnBits + digitBits - 1) / digitBits
	width := uint(0)
	if r.inOrder {
		passes = 0
	} else if passes > 0 {
		width = uint((columnBits + passes - 1) / passes)
	}

	r.count(b, w, first, end, width)
	at := uint64(start)
	rows := w.rows[:end-first]
	for i, c := range rows {
		r.out.Offsets[first+i] = at
		rows[i] = uint32(at - start)
		at += uint64(c)
	}

	targets, weights := r.out.Targets[start:start+uint64(size)], []float32(nil)
	if r.weighed {
		weights = r.out.Weights[start : start+uint64(size)]
	}
	if passes == 0 {
		for i := range r.tiles {
			t := &r.tiles[i]
			lo, hi := t.part(b)
			placeRows(t.keys[lo:hi], t.weightsOf(lo, hi), targets, weights, rows, uint32(first))
		}
	} else {
		for i := range r.tiles {
			t := &r.tiles[i]
			lo, hi := t.part(b)
			scatterDigit(t.keys[lo:hi], t.weightsOf(lo, hi), w.keys[0], w.weights[0], &w.digits[0], 0, width)
		}
		for pass := 1; pass < passes; pass++ {
			from, to := (pass-1)&1, pass&1
			scatterDigit(w.keys[from][:size], w.weights[from], w.keys[to], w.weights[to], &w.digits[pass], uint(pass)*width, width)
		}
		from := (passes - 1) & 1
		placeRows(w.keys[from][:size], w.weights[from], targets, weights, rows, uint32(first))
	}
	r.kept[b] = uint64(size)
	duplicates := countRepeats(targets, r.out.Offsets[first:end])
	r.duplicates.Add(duplicates)
	if r.dedup && duplicates > 0 {
		r.kept[b] = dedupRows(targets, weights, r.out.Offsets[first:end], start)
	}
}

// count makes the histograms of all passes at once, those of the columns as
// starting places, and counts self-loops.
func (r *rowSorter) count(b int, w *rowWorker, first, end int, width uint) {
	rows, loops := w.rows[:end-first], int64(0)
	clear(rows)
	clear(w.digits[:])
	mask := uint32(1)<<width - 1
	d0, d1, d2 := &w.digits[0], &w.digits[1], &w.digits[2]
	for i := range r.tiles {
		t := &r.tiles[i]
		lo, hi := t.part(b)
		for _, k := range t.keys[lo:hi] {
			row, column := uint32(k>>32), uint32(k)
			rows[row-uint32(first)]++
			if row == column {
				loops++
			}
			if width != 0 {
				d0[column&mask&(1<<digitBits-1)]++
				d1[column>>(width&31)&mask&(1<<digitBits-1)]++
			}
		}
		if 2*width < uint(bits.Len(uint(r.n-1))) && width != 0 {
			for _, k := range t.keys[lo:hi] {
				d2[uint32(k)>>(2*width&31)&(1<<digitBits-1)]++
			}
		}
	}
	for i := range w.digits {
		at := uint32(0)
		for d, c := range w.digits[i] {
			w.digits[i][d] = at
			at += c
		}
	}
	r.selfLoops.Add(loops)
}

func (t *tile) weightsOf(lo, hi uint32) []float32 {
	if t.weights == nil {
		return nil
	}
	return t.weights[lo:hi]
}

// scatterDigit is one stable pass of a radix sort by the width bits from shift.
// Places holds where the next key of each digit goes.
func scatterDigit(src []uint64, weights []float32, dst []uint64, dstWeights []float32, places *[1 << digitBits]uint32, shift, width uint) {
	mask := uint32(1)<<(width&31) - 1
	if weights == nil {
		for _, k := range src {
			d := uint32(k) >> (shift & 31) & mask & (1<<digitBits - 1)
			dst[places[d]] = k
			places[d]++
		}
		return
	}
	for i, k := range src {
		d := uint32(k) >> (shift & 31) & mask & (1<<digitBits - 1)
		at := places[d]
		dst[at], dstWeights[at] = k, weights[i]
		places[d] = at + 1
	}
}

// placeRows is the last pass: it leaves only the columns. Rows holds where the
// next edge of each row goes; the first is that of vertex first.
func placeRows(src []uint64, weights []float32, targets []uint32, dstWeights []float32, rows []uint32, first uint32) {
	if dstWeights == nil {
		for _, k := range src {
			row := uint32(k>>32) - first
			at := rows[row]
			targets[at] = uint32(k)
			rows[row] = at + 1
		}
		return
	}
	for i, k := range src {
		row := uint32(k>>32) - first
		at := rows[row]
		targets[at], dstWeights[at] = uint32(k), weights[i]
		rows[row] = at + 1
	}
}

// countRepeats counts the columns that equal the one before them in their row.
// Offsets are the starts of the rows of targets.
func countRepeats(targets []uint32, offsets []uint64) int64 {
	if len(targets) == 0 {
		return 0
	}
	repeats := int64(0)
	for i, t := range targets[1:] {
		if t == targets[i] {
			repeats++
		}
	}
	base := offsets[0]
	for i, lo := range offsets[1:] {
		at := lo - base
		// The first of a row may equal the last of the row before.
		if lo != offsets[i] && at < uint64(len(targets)) && targets[at] == targets[at-1] {
			repeats--
		}
	}
	return repeats
}

// dedupRows closes each row up over its repeats, and the rows over one another,
// and sets offsets to the new starts. It returns the number of edges left.
func dedupRows(targets []uint32, weights []float32, offsets []uint64, start uint64) uint64 {
	at, lo := 0, 0
	for i := range offsets {
		hi := len(targets)
		if i+1 < len(offsets) {
			hi = int(offsets[i+1] - start)
		}
		row := at
		for e := lo; e < hi; e++ {
			if at > row && targets[at-1] == targets[e] {
				if weights != nil {
					weights[at-1] = Lighter(weights[at-1], weights[e])
				}
				continue
			}
			targets[at] = targets[e]
			if weights != nil {
				weights[at] = weights[e]
			}
			at++
		}
		offsets[i], lo = start+uint64(row), hi
	}
	return uint64(at)
}

// Lighter is the smaller of two weights, and not a NaN if it can be avoided: the
// weight that stays where of equal edges one is kept.
func Lighter(a, b float32) float32 {
	if a <= b || math.IsNaN(float64(b)) {
		return a
	}
	return b
}

// closeGaps moves the buckets together after duplicates were taken out.
func (r *rowSorter) closeGaps() {
	c, at := r.out, uint64(0)
	for b := range r.buckets {
		start, kept := r.starts[b], r.kept[b]
		copy(c.Targets[at:], c.Targets[start:start+kept])
		if c.Weights != nil {
			copy(c.Weights[at:], c.Weights[start:start+kept])
		}
		first, end := r.span(b)
		for v := first; v < end; v++ {
			c.Offsets[v] -= start - at
		}
		at += kept
	}
	c.Offsets[r.n] = at
	c.Targets = slices.Clip(c.Targets[:at])
	if c.Weights != nil {
		c.Weights = slices.Clip(c.Weights[:at])
	}
}
