package algo

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"unsafe"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// errUnfit says that a weight or a distance does not fit in the type in which
// lengths are added.
var errUnfit = errors.New("a length does not fit")

const (
	// ssspParallel is the number of entries from which a bucket is worth more than
	// one goroutine.
	ssspParallel = 1 << 10
	// ssspFuse is the number of entries up to which a goroutine goes on with its
	// own part of the bucket instead of sharing it out again.
	ssspFuse = 1 << 10
	// ssspCheck is the number of chunks between two looks at whether the search is
	// cancelled.
	ssspCheck = 1 << 3
)

// stepping is a delta-stepping search under way.
type stepping[T distance] struct {
	out     *order.CSR
	dist    []T
	width   T // of a bucket
	limit   T // the largest distance to which any weight can be added
	workers []*stepWorker[T]
	edges   int64
	chunks  [][]waiting[T] // of the bucket being worked on
}

// stepWorker is what belongs to one goroutine.
type stepWorker[T distance] struct {
	buckets  buckets[T]
	examined int64
	bad      bool // met a weight or a distance that T does not hold
}

// newStepping prepares a search with buckets of the given width.
func newStepping[T distance](out *order.CSR, threads int, width T) *stepping[T] {
	s := &stepping[T]{out: out, width: width, limit: infinite[T]()}
	if isInteger[T]() {
		s.limit -= maxIntegral + 1
	}
	s.dist = huge.Make[T](out.Vertices())
	fill(s.dist, infinite[T]())
	s.workers = make([]*stepWorker[T], threads)
	for i := range s.workers {
		s.workers[i] = new(stepWorker[T])
		s.workers[i].buckets.move(0, width)
	}
	return s
}

// run finds all distances.
func (s *stepping[T]) run(ctx context.Context, source uint32, stage *progress.Stage) error {
	s.dist[source] = 0
	s.workers[0].buckets.push(0, source)
	for {
		for i := s.first(0); i < bucketWindow; i = s.first(i) {
			if err := s.empty(ctx, i, stage); err != nil {
				return err
			}
		}
		if !s.moveWindow() {
			return nil
		}
	}
}

// first is the first bucket from i on that is not empty with every worker.
func (s *stepping[T]) first(i uint) uint {
	least := uint(bucketWindow)
	for _, w := range s.workers {
		least = min(least, w.buckets.first(i))
	}
	return least
}

// moveWindow moves all windows to what waits beyond, and says whether anything
// does.
func (s *stepping[T]) moveWindow() bool {
	var far []waiting[T]
	for _, w := range s.workers {
		chunks := w.buckets.take(&w.buckets.far, nil)
		for _, c := range chunks {
			for _, e := range c {
				if s.dist[e.v] == e.d {
					far = append(far, e)
				}
			}
		}
		w.buckets.recycle(chunks)
	}
	if len(far) == 0 {
		return false
	}
	base, width := nextWindow(far, s.width)
	for i, w := range s.workers {
		w.buckets.move(base, width)
		for _, e := range far[len(far)*i/len(s.workers) : len(far)*(i+1)/len(s.workers)] {
			w.buckets.push(e.d, e.v)
		}
	}
	return true
}

// empty works on bucket i until it stays empty.
func (s *stepping[T]) empty(ctx context.Context, i uint, stage *progress.Stage) error {
	for {
		entries, waits := 0, 0
		for _, w := range s.workers {
			entries += w.buckets.size(i)
			waits += w.buckets.count
		}
		if entries == 0 {
			return nil
		}
		if waits > 4*len(s.dist)+1<<16 {
			for _, w := range s.workers {
				w.buckets.purge(s.dist)
			}
			continue
		}
		if len(s.workers) == 1 {
			s.emptyOne(ctx, i)
		} else {
			s.share(ctx, i, entries)
		}
		var examined int64
		for _, w := range s.workers {
			if w.bad {
				return errUnfit
			}
			examined += w.examined
			w.examined = 0
		}
		s.edges += examined
		stage.Add(examined)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// emptyOne takes what bucket i holds now, on one goroutine without atomics.
func (s *stepping[T]) emptyOne(ctx context.Context, i uint) {
	w := s.workers[0]
	s.chunks = w.buckets.take(&w.buckets.slots[i], s.chunks[:0])
	for k, c := range s.chunks {
		if w.bad || k%ssspCheck == 0 && ctx.Err() != nil {
			break
		}
		s.relax(w, c, false)
	}
	w.buckets.recycle(s.chunks)
}

// share takes what bucket i holds now with every worker and shares it out.
func (s *stepping[T]) share(ctx context.Context, i uint, entries int) {
	s.chunks = s.chunks[:0]
	for _, w := range s.workers {
		s.chunks = w.buckets.take(&w.buckets.slots[i], s.chunks)
	}
	threads := len(s.workers)
	if entries < ssspParallel {
		threads = 1
	}
	var next atomic.Int64
	par.Each(threads, func(worker int) {
		w := s.workers[worker]
		var own [][]waiting[T]
		for ctx.Err() == nil && !w.bad {
			k := int(next.Add(1)) - 1
			if k >= len(s.chunks) {
				break
			}
			s.relax(w, s.chunks[k], threads > 1)
		}
		for n := w.buckets.size(i); 0 < n && n < ssspFuse && ctx.Err() == nil && !w.bad; n = w.buckets.size(i) {
			own = w.buckets.take(&w.buckets.slots[i], own[:0])
			for _, c := range own {
				s.relax(w, c, threads > 1)
			}
			w.buckets.recycle(own)
		}
	})
	for k, w := range s.workers {
		w.buckets.recycle(s.chunks[len(s.chunks)*k/len(s.workers) : len(s.chunks)*(k+1)/len(s.workers)])
	}
}

// relax offers the neighbours of every vertex of entries the way through it;
// shared says that other goroutines do the same.
func (s *stepping[T]) relax(w *stepWorker[T], entries []waiting[T], shared bool) {
	offsets, targets, weights, dist, limit := s.out.Offsets, s.out.Targets, s.out.Weights, s.dist, s.limit
	row := relaxRow[T]
	if shared {
		row = relaxRowShared[T]
	}
	examined := 0
	for _, e := range entries {
		if load(&dist[e.v]) != e.d {
			continue
		}
		lo, hi := offsets[e.v], offsets[e.v+1]
		if e.d > limit || !row(targets[lo:hi], weights[lo:hi], e.d, dist, &w.buckets) {
			w.bad = true
			break
		}
		examined += int(hi - lo)
	}
	w.examined += int64(examined)
}

// relaxRow offers each vertex of row the way of length from and then its weight.
// It says whether T holds all weights, which it finds out without branches: that
// costs next to nothing beside the memory that a search waits for, where a pass
// over all weights before it would be a tenth of its time. Being a function of
// its own it has the registers that its loop needs.
//
//go:noinline
func relaxRow[T distance](row []uint32, weights []float32, from T, dist []T, b *buckets[T]) bool {
	weights = weights[:len(row)]
	integer := isInteger[T]()
	var top, fraction uint32
	for j, v := range row {
		d, w := from, weights[j]
		if integer {
			i := int32(w)
			top = max(top, math.Float32bits(w))
			fraction |= math.Float32bits(float32(i)) ^ math.Float32bits(w)
			d += T(i)
		} else {
			top = max(top, math.Float32bits(w+0)) // -0 + 0 is +0
			d += T(w)
		}
		if d < dist[v] {
			dist[v] = d
			b.push(d, v)
		}
	}
	return fits[T](top, fraction)
}

// relaxRowShared is relaxRow where other goroutines do the same.
//
//go:noinline
func relaxRowShared[T distance](row []uint32, weights []float32, from T, dist []T, b *buckets[T]) bool {
	weights = weights[:len(row)]
	integer := isInteger[T]()
	var top, fraction uint32
	for j, v := range row {
		d, w, at := from, weights[j], &dist[v]
		if integer {
			i := int32(w)
			top = max(top, math.Float32bits(w))
			fraction |= math.Float32bits(float32(i)) ^ math.Float32bits(w)
			d += T(i)
		} else {
			top = max(top, math.Float32bits(w+0)) // -0 + 0 is +0
			d += T(w)
		}
		for old := load(at); d < old; old = load(at) {
			if swap(at, old, d) {
				b.push(d, v)
				break
			}
		}
	}
	return fits[T](top, fraction)
}

// maxIntegral is the largest weight that is added as an integer: up to it
// float32 holds all of them.
const maxIntegral = 1<<24 - 1

// fits says whether T holds weights of which top are the largest bits and
// fraction is 0 if all are integers. NaN and negative numbers have larger bits
// than +Inf.
func fits[T distance](top, fraction uint32) bool {
	if isInteger[T]() {
		return fraction == 0 && top <= math.Float32bits(maxIntegral)
	}
	return top <= math.Float32bits(float32(math.Inf(1)))
}

// load reads a distance that other goroutines change.
func load[T distance](at *T) T {
	if isInteger[T]() {
		return T(atomic.LoadUint32((*uint32)(unsafe.Pointer(at))))
	}
	return T(math.Float64frombits(atomic.LoadUint64((*uint64)(unsafe.Pointer(at)))))
}

// swap replaces a distance if it is still old.
func swap[T distance](at *T, old, new T) bool {
	if isInteger[T]() {
		return atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(at)), uint32(old), uint32(new))
	}
	return atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(at)), math.Float64bits(float64(old)), math.Float64bits(float64(new)))
}

// result hands over the distances as float64.
func (s *stepping[T]) result(delta float64) *SSSPResult {
	r := &SSSPResult{Delta: delta, Edges: s.edges}
	if dist, ok := any(s.dist).([]float64); ok {
		r.Dist = dist
		for _, d := range dist {
			if d <= math.MaxFloat64 {
				r.Reached++
			}
		}
		return r
	}
	r.Dist = huge.Make[float64](len(s.dist))
	unreached := math.Float64bits(math.Inf(1))
	for v, d := range s.dist {
		bits, one := math.Float64bits(float64(d)), 1
		if d == infinite[T]() {
			bits, one = unreached, 0
		}
		r.Dist[v] = math.Float64frombits(bits)
		r.Reached += one
	}
	return r
}
