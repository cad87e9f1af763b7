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

// errDistance says that a length does not fit in a uint32.
var errDistance = errors.New("distance overflows 32 bits")

const (
	// ssspParallel is the number of entries from which a bucket is worth more than
	// one goroutine.
	ssspParallel = 1 << 10
	// ssspFuse is the number of entries up to which a goroutine goes on with its
	// own part of the bucket instead of sharing it out again.
	ssspFuse = 1 << 10
	// ssspGrain is the number of entries a goroutine takes at a time.
	ssspGrain = 1 << 7
	// ssspCheck is the number of entries between two looks at whether the search
	// is cancelled.
	ssspCheck = 1 << 12
)

// stepping is a delta-stepping search under way.
type stepping[T distance] struct {
	out     *order.CSR
	dist    []T
	width   T // of a bucket
	limit   T // the largest distance to which any weight can be added
	workers []*stepWorker[T]
	edges   int64
	reached int
}

// stepWorker is what belongs to one goroutine.
type stepWorker[T distance] struct {
	buckets  buckets[T]
	examined int64
	overflow bool
}

// newStepping prepares a search with buckets of the given width; largest is the
// largest weight if T is an integer.
func newStepping[T distance](out *order.CSR, threads int, width, largest T) *stepping[T] {
	s := &stepping[T]{out: out, width: width, limit: infinite[T]()}
	if isInteger[T]() {
		s.limit -= largest + 1
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
		b := &w.buckets
		far = append(far, valid(b.far, s.dist)...)
		b.far, b.count = b.far[:0], 0
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
			entries += len(w.buckets.slots[i])
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
			if w.overflow {
				return errDistance
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
	entries := w.buckets.take(i)
	for rest := entries; len(rest) > 0 && ctx.Err() == nil && !w.overflow; {
		part := rest[:min(ssspCheck, len(rest))]
		s.relax(w, part)
		rest = rest[len(part):]
	}
	w.buckets.recycle(entries)
}

// share takes what bucket i holds now with every worker and shares it out.
func (s *stepping[T]) share(ctx context.Context, i uint, entries int) {
	taken := make([][]waiting[T], 0, len(s.workers))
	frontier := make([]waiting[T], 0, entries)
	for _, w := range s.workers {
		if part := w.buckets.take(i); len(part) > 0 {
			frontier = append(frontier, part...)
			taken = append(taken, part)
		}
	}
	for k, part := range taken {
		s.workers[k].buckets.recycle(part)
	}
	threads := len(s.workers)
	if entries < ssspParallel {
		threads = 1
	}
	var next atomic.Int64
	par.Each(threads, func(worker int) {
		w := s.workers[worker]
		for ctx.Err() == nil && !w.overflow {
			lo := int(next.Add(ssspGrain)) - ssspGrain
			if lo >= len(frontier) {
				break
			}
			s.relaxShared(w, frontier[lo:min(lo+ssspGrain, len(frontier))])
		}
		for n := len(w.buckets.slots[i]); 0 < n && n < ssspFuse && ctx.Err() == nil && !w.overflow; n = len(w.buckets.slots[i]) {
			own := w.buckets.take(i)
			s.relaxShared(w, own)
			w.buckets.recycle(own)
		}
	})
}

// length is a weight as a distance.
func length[T distance](w float32) T {
	if isInteger[T]() {
		return T(int32(w))
	}
	return T(w)
}

// relax offers the neighbours of every vertex of entries the way through it.
func (s *stepping[T]) relax(w *stepWorker[T], entries []waiting[T]) {
	offsets, targets, weights, dist, limit := s.out.Offsets, s.out.Targets, s.out.Weights, s.dist, s.limit
	b := &w.buckets
	examined := 0
	for _, e := range entries {
		if dist[e.v] != e.d {
			continue
		}
		if e.d > limit {
			w.overflow = true
			break
		}
		lo, hi := offsets[e.v], offsets[e.v+1]
		row := targets[lo:hi]
		lengths := weights[lo:hi][:len(row)]
		examined += len(row)
		for j, v := range row {
			if d := e.d + length[T](lengths[j]); d < dist[v] {
				dist[v] = d
				b.push(d, v)
			}
		}
	}
	w.examined += int64(examined)
}

// relaxShared is relax where other goroutines do the same.
func (s *stepping[T]) relaxShared(w *stepWorker[T], entries []waiting[T]) {
	offsets, targets, weights, dist, limit := s.out.Offsets, s.out.Targets, s.out.Weights, s.dist, s.limit
	b := &w.buckets
	examined := 0
	for _, e := range entries {
		if load(&dist[e.v]) != e.d {
			continue
		}
		if e.d > limit {
			w.overflow = true
			break
		}
		lo, hi := offsets[e.v], offsets[e.v+1]
		row := targets[lo:hi]
		lengths := weights[lo:hi][:len(row)]
		examined += len(row)
		for j, v := range row {
			d := e.d + length[T](lengths[j])
			for at := &dist[v]; ; {
				old := load(at)
				if d >= old {
					break
				}
				if swap(at, old, d) {
					b.push(d, v)
					break
				}
			}
		}
	}
	w.examined += int64(examined)
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
	inf := infinite[T]()
	for v, d := range s.dist {
		if d == inf {
			r.Dist[v] = math.Inf(1)
			continue
		}
		r.Dist[v] = float64(d)
		r.Reached++
	}
	return r
}
