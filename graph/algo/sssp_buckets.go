package algo

import (
	"math"
	"slices"
	"unsafe"
)

// distance is a number in which lengths are added.
type distance interface{ uint32 | float64 }

// infinite is the distance of a vertex that was not reached.
func infinite[T distance]() T {
	var inf any
	if isInteger[T]() {
		inf = uint32(math.MaxUint32)
	} else {
		inf = math.Inf(1)
	}
	return inf.(T)
}

// isInteger says which of the two T is; the compiler knows.
func isInteger[T distance]() bool {
	var zero T
	return unsafe.Sizeof(zero) == 4
}

// waiting is an entry of a bucket: v was reached at distance d. It is stale once
// v has a shorter one.
type waiting[T distance] struct {
	d T
	v uint32
}

// bucketWindow is the number of buckets in view.
const bucketWindow = 1 << 10

// buckets hold entries by distance: bucket i those from base + i·width on. What
// lies beyond the last bucket waits unordered in far, until all before is done;
// then the window moves there. So neither heavy weights nor narrow buckets make
// the memory grow.
type buckets[T distance] struct {
	base  T
	shift uint    // log2 of the width, if T is an integer
	scale float64 // 1 / width, if not
	slots [bucketWindow][]waiting[T]
	far   []waiting[T]
	free  [][]waiting[T] // emptied buckets, to be filled again
	count int            // entries
}

// move empties the window and lets it begin at base.
func (b *buckets[T]) move(base, width T) {
	b.base = base
	if isInteger[T]() {
		b.shift = uint(math.Log2(float64(width)))
	} else {
		b.scale = 1 / float64(width)
	}
}

// slot is the bucket of distance d, at least bucketWindow if that is beyond.
func (b *buckets[T]) slot(d T) uint {
	if isInteger[T]() {
		return uint(uint32(d)-uint32(b.base)) >> (b.shift & 31)
	}
	x := float64(d-b.base) * b.scale
	if x >= bucketWindow {
		return bucketWindow
	}
	return uint(int64(x))
}

// push adds an entry.
func (b *buckets[T]) push(d T, v uint32) {
	to := &b.far
	if i := b.slot(d); i < bucketWindow {
		to = &b.slots[i]
		if *to == nil {
			b.refill(to)
		}
	}
	*to = append(*to, waiting[T]{d, v})
	b.count++
}

// refill gives an empty bucket the memory of one emptied before.
func (b *buckets[T]) refill(to *[]waiting[T]) {
	if last := len(b.free) - 1; last >= 0 {
		*to = b.free[last]
		b.free = b.free[:last]
	} else {
		*to = make([]waiting[T], 0, 64)
	}
}

// take removes all entries of bucket i. They go back by recycle.
func (b *buckets[T]) take(i uint) []waiting[T] {
	entries := b.slots[i]
	b.slots[i] = nil
	b.count -= len(entries)
	return entries
}

func (b *buckets[T]) recycle(entries []waiting[T]) {
	b.free = append(b.free, entries[:0])
}

// first is the first bucket from i on that is not empty, or bucketWindow.
func (b *buckets[T]) first(i uint) uint {
	for i < bucketWindow && len(b.slots[i]) == 0 {
		i++
	}
	return i
}

// purge drops the stale entries: what is left is at most one a vertex.
func (b *buckets[T]) purge(dist []T) {
	b.count = 0
	for i := range b.slots {
		if len(b.slots[i]) > 0 {
			b.slots[i] = valid(b.slots[i], dist)
			b.count += len(b.slots[i])
		}
	}
	b.far = valid(b.far, dist)
	b.count += len(b.far)
}

// valid keeps the entries that are not stale.
func valid[T distance](entries []waiting[T], dist []T) []waiting[T] {
	return slices.DeleteFunc(entries, func(e waiting[T]) bool { return dist[e.v] != e.d })
}

// nextWindow chooses where a window goes that is to hold at least a quarter of
// the entries, and no narrower buckets than width. Wide enough a window makes
// the number of moves small even if weights differ by orders of magnitude.
func nextWindow[T distance](far []waiting[T], width T) (base, newWidth T) {
	base = far[0].d
	for _, e := range far {
		base = min(base, e.d)
	}
	const samples = 256
	var sample []T
	for i := 0; i < len(far); i += len(far)/samples + 1 {
		sample = append(sample, far[i].d)
	}
	slices.Sort(sample)
	quarter := sample[len(sample)/4]
	for newWidth = width; float64(quarter-base) >= float64(newWidth)*(bucketWindow-1); {
		newWidth *= 2
	}
	return base, newWidth
}
