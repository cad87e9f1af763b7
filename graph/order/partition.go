package order

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"weir/internal/huge"
)

// maxBuckets is the number of streams that a split writes to: more would no
// longer fit the first-level cache and the TLB.
const maxBuckets = 1 << 10

// These are variables only so that tests reach every path with small graphs.
var (
	// tileEdges is the number of edges that are split at a time: the piece and
	// its copy should be near the size of a second-level cache.
	tileEdges = 1 << 18
	// bucketEdges is the number of edges of a bucket that two copies of fit a
	// second-level cache.
	bucketEdges = 1 << 16
	// giantEdges is the number of edges from which a bucket is sorted by all
	// goroutines together, row by row, so that its copies need no memory.
	giantEdges = 1 << 22
)

// A partition is the first half of a sort by row: all edges as packed keys
// (row<<32 | column), in tiles that are each split by the high bits of the row.
// Bucket b is the b-th part of all tiles, one after the other; since splitting is
// stable its edges are in the order in which they came.
type partition struct {
	n       int
	threads int
	shift   uint // bucket of a row: row >> shift
	buckets int
	weighed bool
	tiles   []tile
	bad     atomic.Pointer[uint64] // a key with an end that is not below n
}

// A tile is a piece of the edges, split: bucket b is keys[ends[b-1]:ends[b]].
type tile struct {
	keys    []uint64
	weights []float32
	ends    []uint32
}

func newPartition(n int, edges int64, threads int, weighed bool) *partition {
	p := &partition{n: n, threads: threads, weighed: weighed}
	want := min(max(edges/int64(bucketEdges), int64(n)>>16, 1), maxBuckets)
	for int64(max(n-1, 0)>>p.shift)+1 > want {
		p.shift++
	}
	p.buckets = max(n-1, 0)>>p.shift + 1
	return p
}

// part is bucket b of the tile.
func (t *tile) part(b int) (lo, hi uint32) {
	if b > 0 {
		lo = t.ends[b-1]
	}
	return lo, t.ends[b]
}

// A splitter is what one goroutine needs to split tiles.
type splitter struct {
	count   [maxBuckets]uint32
	keys    []uint64
	weights []float32
}

// swap splits keys, which become the splitter's scratch for the next tile where
// their length allows it, so that the edges are never held twice.
func (s *splitter) swap(p *partition, keys []uint64, weights []float32) tile {
	if s.keys == nil {
		s.keys = huge.Make[uint64](tileEdges)
		if p.weighed {
			s.weights = huge.Make[float32](tileEdges)
		}
	}
	t := tile{keys: s.keys[:len(keys)]}
	if p.weighed {
		t.weights = s.weights[:len(keys)]
	}
	t.ends = s.split(p, keys, weights, t.keys, t.weights)
	if len(keys) == tileEdges {
		s.keys, s.weights = keys, weights
		return t
	}
	copy(keys, t.keys)
	copy(weights, t.weights)
	t.keys, t.weights = keys, weights
	return t
}

// split moves the edges to dst in order of their bucket, and returns where each
// bucket ends.
func (s *splitter) split(p *partition, src []uint64, weights []float32, dst []uint64, dstWeights []float32) []uint32 {
	count, shift := &s.count, p.shift+32
	clear(count[:])
	// An end is below n if its difference to the last vertex has no sign.
	last, signs := uint64(p.n)-1, uint64(0)
	for _, k := range src {
		signs |= (last - k>>32) | (last - k&(1<<32-1))
		count[k>>(shift&63)&(maxBuckets-1)]++
	}
	if signs>>63 != 0 {
		p.blame(src)
		return make([]uint32, p.buckets)
	}
	at := uint32(0)
	for b, c := range count {
		count[b] = at
		at += c
	}
	if weights == nil {
		for _, k := range src {
			b := k >> (shift & 63) & (maxBuckets - 1)
			dst[count[b]] = k
			count[b]++
		}
	} else {
		for i, k := range src {
			b := k >> (shift & 63) & (maxBuckets - 1)
			at := count[b]
			dst[at], dstWeights[at] = k, weights[i]
			count[b] = at + 1
		}
	}
	return append([]uint32(nil), count[:p.buckets]...)
}

// blame remembers one of the keys that have an end out of range.
func (p *partition) blame(keys []uint64) {
	for _, k := range keys {
		if k>>32 >= uint64(p.n) || k&(1<<32-1) >= uint64(p.n) {
			p.bad.CompareAndSwap(nil, &k)
			return
		}
	}
}

// checkEnds says whether an edge was out of range. Swapped says that rows are
// targets.
func (p *partition) checkEnds(swapped bool) error {
	bad := p.bad.Load()
	if bad == nil {
		return nil
	}
	k := *bad
	if swapped {
		k = bits.RotateLeft64(k, 32)
	}
	return fmt.Errorf("edge from vertex %d to %d, expected vertices below %d", k>>32, uint32(k), p.n)
}
