// Package radix sorts integers, alone or with a value each, without comparing
// them.
//
// A sort by the lowest digit first moves every key once for each digit. It is
// fastest while two copies of the keys fit the cache, so more keys than that are
// first split by their highest digit. Bits that are equal in all keys belong to
// no digit. Few keys go to the comparison sort of package slices.
//
// Pairs are sorted by their keys alone, and stably.
package radix

import (
	"context"
	"math/bits"
	"slices"
	"unsafe"

	"weir/internal/par"
)

// Key is what can be sorted.
type Key interface{ uint32 | uint64 }

// Value is what a key can carry.
type Value interface{ uint32 | uint64 | float32 }

const (
	// few is the number of keys from which moving digits beats comparing.
	few = 768
	// fewPairs is the same for pairs, whose alternative is insertion.
	fewPairs = 48
	// cacheBytes is the size of keys and values above which a split comes first.
	cacheBytes = 1 << 20
	// digitBits and splitBits are the widths of a digit in the cache, and of the
	// split at most: as many streams as the first-level cache and the TLB can write.
	digitBits = 11
	splitBits = 8
	// splitKeys is the number of keys that a split leaves together at least; far
	// fewer would be sorted by comparing.
	splitKeys = 4 << 10
	// parallelMin is the number of keys below which goroutines do not pay.
	parallelMin = 1 << 16
)

// Sort sorts keys in ascending order. Scratch is overwritten; where it is
// shorter than keys (it may be nil) Sort makes its own.
func Sort[K Key](keys, scratch []K) {
	sort(table[K, uint32]{keys: keys}, table[K, uint32]{keys: scratch})
}

// SortPairs sorts keys and moves values along; pairs of equal keys keep their
// order. Scratch is as in [Sort].
func SortPairs[K Key, V Value](keys []K, values []V, keyScratch []K, valueScratch []V) {
	values = values[:len(keys):len(keys)]
	sort(table[K, V]{keys, values}, table[K, V]{keyScratch, valueScratch})
}

// Parallel is [Sort] on several goroutines. When ctx is done it stops early,
// with keys partly moved to scratch, and returns ctx's error.
func Parallel[K Key](ctx context.Context, threads int, keys, scratch []K) error {
	return parallel(ctx, threads, table[K, uint32]{keys: keys}, table[K, uint32]{keys: scratch})
}

// ParallelPairs is [SortPairs] on several goroutines, with [Parallel]'s warning.
func ParallelPairs[K Key, V Value](ctx context.Context, threads int, keys []K, values []V, keyScratch []K, valueScratch []V) error {
	values = values[:len(keys):len(keys)]
	return parallel(ctx, threads, table[K, V]{keys, values}, table[K, V]{keyScratch, valueScratch})
}

// A table is keys, with a value each or without values.
type table[K Key, V Value] struct {
	keys   []K
	values []V // nil, or as long as keys
}

func (t table[K, V]) slice(lo, hi int) table[K, V] {
	t.keys = t.keys[lo:hi]
	if t.values != nil {
		t.values = t.values[lo:hi]
	}
	return t
}

func (t table[K, V]) copyTo(to table[K, V]) {
	copy(to.keys, t.keys)
	copy(to.values, t.values)
}

// bytes is the size of t's elements.
func (t table[K, V]) bytes() int {
	var k K
	var v V
	return len(t.keys)*int(unsafe.Sizeof(k)) + len(t.values)*int(unsafe.Sizeof(v))
}

// scratch makes other as long as t.
func (t table[K, V]) scratch(other table[K, V]) table[K, V] {
	if len(other.keys) < len(t.keys) {
		other.keys = make([]K, len(t.keys))
	}
	if len(other.values) < len(t.values) {
		other.values = make([]V, len(t.values))
	}
	other.keys = other.keys[:len(t.keys)]
	other.values = other.values[:len(t.values)]
	if t.values == nil {
		other.values = nil
	}
	return other
}

// small sorts few elements where they are, and says whether they were few.
func (t table[K, V]) small() bool {
	if t.values == nil {
		if len(t.keys) >= few {
			return false
		}
		slices.Sort(t.keys)
		return true
	}
	if len(t.keys) >= fewPairs {
		return false
	}
	keys, values := t.keys, t.values
	for i := 1; i < len(keys); i++ {
		k, v, j := keys[i], values[i], i
		for ; j > 0 && keys[j-1] > k; j-- {
			keys[j], values[j] = keys[j-1], values[j-1]
		}
		keys[j], values[j] = k, v
	}
	return true
}

// varying has the bits that are not equal in all keys.
func (t table[K, V]) varying() K {
	or, and := extent(t.keys)
	return or &^ and
}

func extent[K Key](keys []K) (or, and K) {
	and = ^and
	for _, k := range keys {
		or |= k
		and &= k
	}
	return or, and
}

func sort[K Key, V Value](t, scratch table[K, V]) {
	if t.small() {
		return
	}
	scratch = t.scratch(scratch)
	vary := t.varying()
	if t.bytes() < cacheBytes || bits.Len64(uint64(vary)) <= digitBits {
		if lowestFirst(t, scratch, vary) {
			scratch.copyTo(t)
		}
		return
	}
	var room [1 << splitBits]int
	shift, at := splitDigit(len(t.keys), vary, &room)
	countDigit(t.keys, shift, at)
	starts(at)
	scatter(t, scratch, shift, at)
	lo := 0
	for _, hi := range at {
		settle(scratch.slice(lo, hi), t.slice(lo, hi), vary&(1<<shift-1))
		lo = hi
	}
}

// splitDigit is the highest digit of n keys that differ in the bits of vary, of a
// width that suits n, and the places for it.
func splitDigit[K Key](n int, vary K, room *[1 << splitBits]int) (shift uint, at []int) {
	width := min(max(bits.Len(uint(n/splitKeys))-1, 1), splitBits)
	return uint(max(bits.Len64(uint64(vary))-width, 0)), room[:1<<width]
}

// settle sorts from, whose keys differ in the bits of vary at most, into to.
func settle[K Key, V Value](from, to table[K, V], vary K) {
	if from.small() || !lowestFirst(from, to, vary) {
		from.copyTo(to)
	}
}

// lowestFirst sorts by one digit after the other, moving everything to the other
// table each time, and says whether it ended in b rather than in a.
func lowestFirst[K Key, V Value](a, b table[K, V], vary K) (inB bool) {
	var at [1 << digitBits]int
	for pos := uint(0); vary>>pos != 0; {
		pos += uint(bits.TrailingZeros64(uint64(vary >> pos)))
		// The bits that are left share the digits that they need evenly.
		left := bits.Len64(uint64(vary >> pos))
		digits := (left + digitBits - 1) / digitBits
		width := uint((left + digits - 1) / digits)
		places := at[:1<<width]
		clear(places)
		countDigit(a.keys, pos, places)
		starts(places)
		scatter(a, b, pos, places)
		a, b, inB = b, a, !inB
		pos += width
	}
	return inB
}

// countDigit adds the number of keys of each digit to count, whose length is the
// power of two that the digit ranges over.
func countDigit[K Key](keys []K, shift uint, count []int) {
	mask := K(len(count) - 1)
	for _, k := range keys {
		count[k>>(shift&63)&mask]++
	}
}

// starts turns the count of each digit into the sum of those before it.
func starts(count []int) {
	at := 0
	for i, c := range count {
		count[i] = at
		at += c
	}
}

// scatter moves from to to, stably in order of a digit; at holds where the next
// key of each digit goes.
func scatter[K Key, V Value](from, to table[K, V], shift uint, at []int) {
	mask := K(len(at) - 1)
	dst := to.keys
	if from.values == nil {
		for _, k := range from.keys {
			d := k >> (shift & 63) & mask
			dst[at[d]] = k
			at[d]++
		}
		return
	}
	values, dstValues := from.values, to.values
	for i, k := range from.keys {
		d := k >> (shift & 63) & mask
		j := at[d]
		dst[j], dstValues[j] = k, values[i]
		at[d] = j + 1
	}
}

// parallel splits the pieces of all goroutines into common buckets, and then
// sorts the buckets.
func parallel[K Key, V Value](ctx context.Context, threads int, t, scratch table[K, V]) error {
	n := len(t.keys)
	if threads <= 1 || n < parallelMin {
		sort(t, scratch)
		return ctx.Err()
	}
	scratch = t.scratch(scratch)
	piece := func(w int) (lo, hi int) { return n / threads * w, n/threads*(w+1) + n%threads*((w+1)/threads) }
	ors, ands := make([]K, threads), make([]K, threads)
	par.Each(threads, func(w int) {
		lo, hi := piece(w)
		ors[w], ands[w] = extent(t.keys[lo:hi])
	})
	or, and := ors[0], ands[0]
	for w := range threads {
		or, and = or|ors[w], and&ands[w]
	}
	vary := or &^ and
	rooms := make([][1 << splitBits]int, threads)
	var shift uint
	at := make([][]int, threads)
	for w := range threads {
		shift, at[w] = splitDigit(n, vary, &rooms[w])
	}
	par.Each(threads, func(w int) {
		lo, hi := piece(w)
		countDigit(t.keys[lo:hi], shift, at[w])
	})
	sum, digits := 0, len(at[0])
	bounds := make([]int, digits+1)
	for d := range digits {
		bounds[d] = sum
		for w := range threads {
			at[w][d], sum = sum, sum+at[w][d]
		}
	}
	bounds[digits] = n
	if err := ctx.Err(); err != nil {
		return err
	}
	par.Each(threads, func(w int) {
		lo, hi := piece(w)
		scatter(t.slice(lo, hi), scratch, shift, at[w])
	})
	return par.Range(ctx, threads, digits, 1, func(_, d, _ int) {
		lo, hi := bounds[d], bounds[d+1]
		settle(scratch.slice(lo, hi), t.slice(lo, hi), vary&(1<<shift-1))
	})
}
