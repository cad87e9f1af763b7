package algo

import (
	"context"
	"fmt"
	"math/bits"
	"sort"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// TriangleOptions are the choices of [Triangles].
type TriangleOptions struct {
	// Threads is the number of goroutines; 0 means all processors.
	Threads int
}

// TriangleResult is what [Triangles] counted, in the simple undirected view of
// the graph.
type TriangleResult struct {
	// Triangles is the number of sets of three vertices with an edge between each
	// two.
	Triangles int64
	// Wedges is the number of pairs of edges that share a vertex: three a triangle
	// and one for each open one.
	Wedges int64
	// Edges is the number of edges between different vertices, each counted once.
	Edges int64
}

// Transitivity is the global clustering coefficient: the part of the wedges
// that are closed to triangles, 0 where there are none.
func (r *TriangleResult) Transitivity() float64 {
	if r.Wedges == 0 {
		return 0
	}
	return 3 * float64(r.Triangles) / float64(r.Wedges)
}

// Triangles counts the triangles of the simple undirected view of a graph: loops
// do not count, nor do directions, and equal edges count once. In holds the
// transposed rows, or is out itself for an undirected graph whose rows hold
// every edge both ways.
//
// It looks at every pair of neighbours of a vertex that both have more edges
// than it (Latapy, 2008), and asks whether they are neighbours. The answer is a
// bit for the vertices with most edges, whose rows are kept as bitmaps too: for
// whole words of such neighbours it is one AND, so that in a graph of uneven
// degrees many pairs are asked about at once.
//
// Memory beside the graph: the oriented copy of 4 bytes an edge of the simple
// view and 28 bytes a vertex, at most as much for the bitmaps, and a bit a
// vertex for each thread.
func Triangles(ctx context.Context, out, in *order.CSR, opt TriangleOptions) (*TriangleResult, error) {
	r, err := triangles(ctx, out, in, par.Threads(opt.Threads))
	if err != nil {
		return nil, fmt.Errorf("count triangles: %w", err)
	}
	return r, nil
}

func triangles(ctx context.Context, out, in *order.CSR, threads int) (*TriangleResult, error) {
	if err := checkGraph(out, in); err != nil {
		return nil, err
	}
	if in == nil {
		return nil, errTransposed
	}
	o, err := orient(ctx, out, in, threads, false)
	if err != nil {
		return nil, err
	}
	stage := progress.Start(ctx, "triangles", int64(len(o.targets)), progress.Edges)
	defer stage.Done()
	h := newHubs(o)
	counters := make([]*triangleCounter, threads)
	err = par.Range(ctx, threads, len(o.vertex), triangleGrain, func(worker, lo, hi int) {
		if counters[worker] == nil {
			counters[worker] = &triangleCounter{o: o, hubs: h, mark: huge.Make[uint64]((len(o.vertex) + 63) / 64)}
		}
		for r := lo; r < hi; r++ {
			counters[worker].count(uint32(r))
		}
		stage.Add(int64(o.offsets[hi] - o.offsets[lo]))
	})
	if err != nil {
		return nil, err
	}
	r := &TriangleResult{Edges: int64(len(o.targets))}
	for _, c := range counters {
		if c != nil {
			r.Triangles += c.triangles
		}
	}
	for _, d := range o.degree {
		r.Wedges += int64(d) * (int64(d) - 1) / 2
	}
	return r, nil
}

const (
	// triangleGrain is the number of vertices a goroutine takes at a time.
	triangleGrain = 1 << 6
	// hubsMost bounds the number of rows that are kept as bitmaps too.
	hubsMost = 1 << 16
)

// hubs are the rows of the vertices of most edges as bitmaps, one after the
// other: that of rank r has a bit for each rank below it.
type hubs struct {
	count uint32
	words []uint64
	both  []uint64 // has a bit if the edge goes both ways; nil if nobody asked
}

// newHubs makes bitmaps for as many vertices as fit in the memory of the copy.
func newHubs(o *oriented) *hubs {
	h := &hubs{count: uint32(min(len(o.vertex), hubsMost))}
	limit := uint64(len(o.targets)) / 2
	h.count = uint32(sort.Search(int(h.count), func(r int) bool { return hubStart(uint32(r)+1) > limit }))
	h.words = huge.Make[uint64](int(hubStart(h.count)))
	if o.ways != nil {
		h.both = huge.Make[uint64](len(h.words))
	}
	for r := range h.count {
		words, ways := h.row(r), o.waysOf(r)
		for i, b := range o.row(r) {
			words[b>>6] |= 1 << (b & 63)
			if ways != nil && ways[i] == 2 {
				h.rowBoth(r)[b>>6] |= 1 << (b & 63)
			}
		}
	}
	return h
}

// hubStart is the word with which the bitmap of rank r begins: those before it
// take 0 words, then 64 times 1, 64 times 2 and so on.
func hubStart(r uint32) uint64 {
	before := uint64(max(r, 1) - 1)
	q := before / 64
	return 32*q*(q+1) + before%64*(q+1)
}

// row is the bitmap of rank r.
func (h *hubs) row(r uint32) []uint64 { return h.words[hubStart(r):hubStart(r+1)] }

// rowBoth is the bitmap of those edges of rank r that go both ways.
func (h *hubs) rowBoth(r uint32) []uint64 { return h.both[hubStart(r):hubStart(r+1)] }

// triangleCounter counts on one goroutine.
type triangleCounter struct {
	o         *oriented
	hubs      *hubs
	mark      []uint64 // the row being worked on as a bitmap; else empty
	triangles int64
	touched   uint32 // keeps reads that only fetch memory
}

// count counts the triangles whose vertex of fewest edges has rank r.
func (t *triangleCounter) count(r uint32) {
	row := t.o.row(r)
	if len(row) < 2 {
		return
	}
	mark := t.mark
	// The first words of the bitmap are looked at as words, as far as they hold
	// an element each on average; split is the number of elements there.
	words, split := 0, 0
	for i, b := range row {
		mark[b>>6] |= 1 << (b & 63)
		if w := int(b>>6) + 1; i+1 >= w {
			words, split = w, i+1
		}
	}
	near := row[:sort.Search(len(row), func(i int) bool { return row[i] >= t.hubs.count })]
	found := t.countFar(row[len(near):])
	for i, c := range near {
		bitmap := t.hubs.row(c)
		if i <= split {
			found += countCommon(bitmap[:min(words, len(bitmap))], mark)
			continue
		}
		found += countCommon(bitmap[:words], mark) + countMarked(bitmap, row[split:i])
	}
	for _, b := range row {
		mark[b>>6] = 0
	}
	t.triangles += found
}

// farBatch is the number of rows that are fetched from memory at a time.
const farBatch = 32

// countFar counts the marked elements in the rows of the ranks in list, which
// have no bitmaps. Such rows are short, and each is somewhere else in memory:
// their ends, then their first elements are read before any is gone through,
// so that the processor waits for many at the same time.
func (t *triangleCounter) countFar(list []uint32) (found int64) {
	offsets, targets := t.o.offsets, t.o.targets
	var rows [farBatch][]uint32
	for len(list) > 0 {
		n := min(len(list), farBatch)
		for i, c := range list[:n] {
			rows[i] = targets[offsets[c]:offsets[c+1]]
		}
		var touched uint32
		for _, row := range rows[:n] {
			if len(row) > 0 {
				touched |= row[0]
			}
		}
		t.touched = touched
		for _, row := range rows[:n] {
			found += countMarked(t.mark, row)
		}
		list = list[n:]
	}
	return found
}

// countCommon counts the bits set in both bitmaps; b is at least as long as a.
func countCommon(a, b []uint64) (n int64) {
	b = b[:len(a)]
	for i, w := range a {
		n += int64(bits.OnesCount64(w & b[i]))
	}
	return n
}

// countMarked counts the elements of row that are marked in a bitmap.
func countMarked(mark []uint64, row []uint32) (n int64) {
	for _, b := range row {
		n += int64(mark[b>>6] >> (b & 63) & 1)
	}
	return n
}
