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
// vertex, as much again for bitmaps (twice that if directed), and for each
// thread half a megabyte and a bit a vertex (a byte if directed).
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
// triangles, in a directed one the directions of the edge opposite to a vertex.
type linkCounter struct {
	o    *oriented
	hubs *hubs
	mark []uint64 // the row being worked on as a bitmap; else empty
	// ways holds for each marked rank the directions of its edge to the row's
	// vertex; nil if the graph is undirected.
	ways  []uint8
	near  []uint64 // what was found for the ranks that have bitmaps
	links []uint64 // what was found for the others, by all goroutines
}

func newLinkCounter(o *oriented, h *hubs, links []uint64, directed bool) *linkCounter {
	c := &linkCounter{o: o, hubs: h, links: links}
	c.mark = huge.Make[uint64]((len(o.vertex) + 63) / 64)
	c.near = make([]uint64, h.count)
	if directed {
		c.ways = huge.Make[uint8](len(o.vertex))
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

// count finds the triangles whose vertex of fewest edges has rank r.
func (c *linkCounter) count(r uint32) {
	row := c.o.row(r)
	if len(row) < 2 {
		return
	}
	mark := c.mark
	for _, b := range row {
		mark[b>>6] |= 1 << (b & 63)
	}
	if c.ways == nil {
		c.undirected(r, row)
	} else {
		ways := c.o.ways[c.o.offsets[r]:c.o.offsets[r+1]]
		for i, b := range row {
			c.ways[b] = ways[i]
		}
		c.directed(r, row)
	}
	for _, b := range row {
		mark[b>>6] = 0
	}
}

// undirected counts triangles.
func (c *linkCounter) undirected(r uint32, row []uint32) {
	// As in triangleCounter.count, the beginning is looked at in words.
	words, split := 0, 0
	for i, b := range row {
		if w := int(b>>6) + 1; i+1 >= w {
			words, split = w, i+1
		}
	}
	near, mark := c.near, c.mark
	var all uint64
	for i, second := range row {
		var found uint64
		if second >= c.hubs.count {
			for _, b := range c.o.row(second) {
				if mark[b>>6]>>(b&63)&1 != 0 {
					c.add(b, 1)
					found++
				}
			}
		} else {
			bitmap := c.hubs.row(second)
			first := bitmap[:min(words, len(bitmap))]
			marked := mark[:len(first)]
			for j, w := range first {
				for w &= marked[j]; w != 0; w &= w - 1 {
					near[j<<6+bits.TrailingZeros64(w)]++
					found++
				}
			}
			for _, b := range row[min(split, i):i] {
				bit := bitmap[b>>6] >> (b & 63) & 1
				near[b] += bit
				found += bit
			}
		}
		c.add(second, found)
		all += found
	}
	c.add(r, all)
}

// directed counts, for each vertex of a triangle, the directions of the edge
// between the other two.
func (c *linkCounter) directed(r uint32, row []uint32) {
	var all uint64
	for _, second := range row {
		toSecond := uint64(c.ways[second])
		var found uint64
		ways := c.o.ways[c.o.offsets[second]:c.o.offsets[second+1]]
		for i, b := range c.o.row(second) {
			if c.mark[b>>6]>>(b&63)&1 == 0 {
				continue
			}
			all += uint64(ways[i])
			found += uint64(c.ways[b])
			c.add(b, toSecond)
		}
		c.add(second, found)
	}
	c.add(r, all)
}
