package algo

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// LCCOptions are the choices of [LCC].
type LCCOptions struct {
	// Threads is the number of goroutines; 0 means all processors.
	Threads int
}

// LCCResult is how well the neighbours of each vertex know one another.
type LCCResult struct {
	// Coefficients holds the local clustering coefficient of each vertex: of all
	// ordered pairs of its neighbours, the part that has an edge from the first to
	// the second; 0 where it has fewer than two neighbours.
	Coefficients []float64
	// Links holds the number of those pairs. In an undirected graph it is twice
	// the number of triangles that the vertex is in.
	Links []uint64
	// Neighbours holds the number of neighbours, in either direction.
	Neighbours []uint32
	// Average is the mean of the coefficients of all vertices.
	Average float64
}

// LCC finds the local clustering coefficient of every vertex as LDBC Graphalytics
// defines it: neighbours are those in either direction, each once and without
// the vertex itself; edges between them count in their direction, equal ones
// once. In holds the transposed rows, or is out itself for an undirected graph,
// whose edges go both ways.
//
// It finds triangles as [Triangles] does, but one by one. Memory beside the
// graph: the oriented copy of 4 bytes an edge (5 if directed) and 40 bytes a
// vertex, at most as much again for bitmaps (twice that if directed), and for
// each thread half a megabyte and a bit a vertex (two if directed).
func LCC(ctx context.Context, out, in *order.CSR, opt LCCOptions) (*LCCResult, error) {
	r, err := lcc(ctx, out, in, par.Threads(opt.Threads))
	if err != nil {
		return nil, fmt.Errorf("find clustering coefficients: %w", err)
	}
	return r, nil
}

func lcc(ctx context.Context, out, in *order.CSR, threads int) (*LCCResult, error) {
	if err := checkGraph(out, in); err != nil {
		return nil, err
	}
	if in == nil {
		return nil, errTransposed
	}
	in = oneIfShared(out, in)
	directed := in != out
	o, err := orient(ctx, out, in, threads, directed)
	if err != nil {
		return nil, err
	}
	n := len(o.vertex)
	stage := progress.Start(ctx, "clustering coefficients", int64(len(o.targets)), progress.Edges)
	defer stage.Done()
	h := newHubs(o)
	links := huge.Make[uint64](n) // by rank
	counters := make([]*linkCounter, threads)
	err = par.Range(ctx, threads, n, triangleGrain, func(worker, lo, hi int) {
		if counters[worker] == nil {
			counters[worker] = newLinkCounter(o, h, links, directed)
		}
		for r := lo; r < hi; r++ {
			counters[worker].count(uint32(r))
		}
		stage.Add(int64(o.offsets[hi] - o.offsets[lo]))
	})
	if err != nil {
		return nil, err
	}
	for _, c := range counters {
		if c != nil {
			for r, x := range c.near {
				links[r] += x
			}
		}
	}
	result := &LCCResult{
		Coefficients: huge.Make[float64](n),
		Links:        huge.Make[uint64](n),
		Neighbours:   o.degree,
	}
	var sum float64
	for r, v := range o.vertex {
		x := links[r]
		if !directed {
			x *= 2
		}
		result.Links[v] = x
		if d := float64(o.degree[v]); d > 1 {
			result.Coefficients[v] = float64(x) / (d * (d - 1))
		}
	}
	for _, c := range result.Coefficients {
		sum += c
	}
	if n > 0 {
		result.Average = sum / float64(n)
	}
	return result, nil
}

// linkCounter finds triangles on one goroutine. In an undirected graph it counts
// them for each of their vertices, in a directed one it counts for each the
// directions of the edge between the other two.
type linkCounter struct {
	o    *oriented
	hubs *hubs
	mark []uint64 // the row being worked on as a bitmap; else empty
	// markBoth has a bit for those of its edges that go both ways; nil if the graph
	// is undirected.
	markBoth []uint64
	near     []uint64 // what was found for the ranks that have bitmaps
	links    []uint64 // what was found for the others, by all goroutines
}

func newLinkCounter(o *oriented, h *hubs, links []uint64, directed bool) *linkCounter {
	c := &linkCounter{o: o, hubs: h, links: links}
	words := (len(o.vertex) + 63) / 64
	c.mark = huge.Make[uint64](words)
	c.near = make([]uint64, h.count)
	if directed {
		c.markBoth = huge.Make[uint64](words)
	}
	return c
}

// add adds to what rank r has.
func (c *linkCounter) add(r uint32, x uint64) {
	if r < uint32(len(c.near)) {
		c.near[r] += x
	} else if x > 0 {
		atomic.AddUint64(&c.links[r], x)
	}
}

// count finds the triangles whose vertex of fewest edges has rank r. Its third
// vertex is first, the second one lies between them in rank.
func (c *linkCounter) count(r uint32) {
	row, ways := c.o.row(r), c.o.waysOf(r)
	if len(row) < 2 {
		return
	}
	// As in triangleCounter.count, the beginning is looked at in words.
	words, split := 0, 0
	for i, b := range row {
		c.mark[b>>6] |= 1 << (b & 63)
		if ways != nil && ways[i] == 2 {
			c.markBoth[b>>6] |= 1 << (b & 63)
		}
		if w := int(b>>6) + 1; i+1 >= w {
			words, split = w, i+1
		}
	}
	var own uint64
	for i, second := range row {
		one := uint64(1)
		if ways != nil {
			one = uint64(ways[i])
		}
		var found linkTally
		switch {
		case second >= c.hubs.count:
			found = c.far(second, one)
		default:
			found = c.wordwise(second, words, one)
			if i > split {
				found.add(c.bitwise(second, row[split:i], one))
			}
		}
		c.add(second, found.second)
		own += found.own
	}
	c.add(r, own)
	for _, b := range row {
		c.mark[b>>6] = 0
		if ways != nil {
			c.markBoth[b>>6] = 0
		}
	}
}

// linkTally is what the triangles of one edge, from the row's vertex to a second
// one, add to these two.
type linkTally struct{ own, second uint64 }

func (t *linkTally) add(u linkTally) {
	t.own += u.own
	t.second += u.second
}

// wordwise finds the triangles with a third vertex in the first words of the
// bitmap of second; one is what each adds to that vertex.
func (c *linkCounter) wordwise(second uint32, words int, one uint64) linkTally {
	bitmap := c.hubs.row(second)
	bitmap = bitmap[:min(words, len(bitmap))]
	mark, near := c.mark[:len(bitmap)], c.near
	var hits, own, other int
	if c.markBoth == nil {
		for i, w := range bitmap {
			w &= mark[i]
			hits += bits.OnesCount64(w)
			for ; w != 0; w &= w - 1 {
				near[i<<6+bits.TrailingZeros64(w)]++
			}
		}
		return linkTally{uint64(hits), uint64(hits)}
	}
	both, markBoth := c.hubs.rowBoth(second)[:len(bitmap)], c.markBoth[:len(bitmap)]
	for i, w := range bitmap {
		w &= mark[i]
		hits += bits.OnesCount64(w)
		own += bits.OnesCount64(w & both[i])
		other += bits.OnesCount64(w & markBoth[i])
		for ; w != 0; w &= w - 1 {
			near[i<<6+bits.TrailingZeros64(w)] += one
		}
	}
	return linkTally{uint64(hits + own), uint64(hits + other)}
}

// bitwise finds the triangles with a third vertex in list, by the bitmap of
// second.
func (c *linkCounter) bitwise(second uint32, list []uint32, one uint64) linkTally {
	bitmap, near := c.hubs.row(second), c.near
	var found linkTally
	if c.markBoth == nil {
		for _, b := range list {
			bit := bitmap[b>>6] >> (b & 63) & 1
			near[b] += bit
			found.own += bit
		}
		found.second = found.own
		return found
	}
	both := c.hubs.rowBoth(second)
	for _, b := range list {
		bit := bitmap[b>>6] >> (b & 63) & 1
		near[b] += bit * one
		found.own += bit + both[b>>6]>>(b&63)&1
		found.second += bit + bit&(c.markBoth[b>>6]>>(b&63))
	}
	return found
}

// far finds the triangles of second where it has no bitmap.
func (c *linkCounter) far(second uint32, one uint64) (found linkTally) {
	ways := c.o.waysOf(second)
	for i, b := range c.o.row(second) {
		if c.mark[b>>6]>>(b&63)&1 == 0 {
			continue
		}
		c.add(b, one)
		if ways == nil {
			found.add(linkTally{1, 1})
			continue
		}
		found.add(linkTally{uint64(ways[i]), 1 + c.markBoth[b>>6]>>(b&63)&1})
	}
	return found
}
