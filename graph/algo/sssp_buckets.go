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

const (
	// bucketWindow is the number of buckets in view.
	bucketWindow = 1 << 10
	// bucketChunk is the number of entries that memory is handed out for at a time,
	// and that a goroutine takes at a time.
	bucketChunk = 1 << 9
)

// bucket is a bag of entries in chunks: nothing is copied when it grows, and its
// memory serves any other bucket once it is empty.
type bucket[T distance] struct {
	open []waiting[T] // being filled
	full [][]waiting[T]
}

// buckets hold entries by distance: bucket i those from base + i·width on. What
// lies beyond the last bucket waits unordered in far, until all before is done;
// then the window moves there. So neither heavy weights nor narrow buckets make
// the memory grow.
type buckets[T distance] struct {
	base  T
	shift uint    // log2 of the width, if T is an integer
	scale float64 // 1 / width, if not
	slots [bucketWindow]bucket[T]
	far   bucket[T]
	free  [][]waiting[T] // empty chunks
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

// push adds an entry. Few edges lead to one: inlined it would only take
// registers from the loop around it.
//
//go:noinline
func (b *buckets[T]) push(d T, v uint32) {
	to := &b.far
	if i := b.slot(d); i < bucketWindow {
		to = &b.slots[i]
	}
	b.pushTo(to, waiting[T]{d, v})
}

func (b *buckets[T]) pushTo(to *bucket[T], e waiting[T]) {
	if len(to.open) == cap(to.open) {
		b.extend(to)
	}
	to.open = append(to.open, e)
	b.count++
}

// extend gives a bucket another chunk to fill.
func (b *buckets[T]) extend(to *bucket[T]) {
	if len(to.open) > 0 {
		to.full = append(to.full, to.open)
	}
	if last := len(b.free) - 1; last >= 0 {
		to.open = b.free[last]
		b.free = b.free[:last]
	} else {
		to.open = make([]waiting[T], 0, bucketChunk)
	}
}

// take removes all entries of a bucket and appends their chunks to chunks. They
// go back by recycle.
func (b *buckets[T]) take(from *bucket[T], chunks [][]waiting[T]) [][]waiting[T] {
	for _, c := range from.full {
		b.count -= len(c)
	}
	chunks = append(chunks, from.full...)
	clear(from.full)
	from.full = from.full[:0]
	if len(from.open) > 0 {
		b.count -= len(from.open)
		chunks = append(chunks, from.open)
	}
	from.open = nil
	return chunks
}

// recycle takes chunks back whose entries are done.
func (b *buckets[T]) recycle(chunks [][]waiting[T]) {
	for _, c := range chunks {
		b.free = append(b.free, c[:0])
	}
}

// size is the number of entries of bucket i, at least.
func (b *buckets[T]) size(i uint) int {
	return len(b.slots[i].open) + len(b.slots[i].full)*bucketChunk
}

// first is the first bucket from i on that is not empty, or bucketWindow.
func (b *buckets[T]) first(i uint) uint {
	for i < bucketWindow && len(b.slots[i].open) == 0 {
		i++
	}
	return i
}

// purge drops the stale entries: what is left is at most one a vertex.
func (b *buckets[T]) purge(dist []T) {
	for i := range len(b.slots) + 1 {
		from := &b.far
		if i < len(b.slots) {
			from = &b.slots[i]
		}
		chunks := b.take(from, nil)
		for _, c := range chunks {
			for _, e := range c {
				if dist[e.v] == e.d {
					b.pushTo(from, e)
				}
			}
			b.recycle([][]waiting[T]{c})
		}
	}
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
