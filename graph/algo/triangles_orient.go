package algo

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
)

// oriented is the simple undirected view of a graph in which every edge is kept
// once: vertices are ranked by degree, the largest first, and row r holds the
// ranks below r of the neighbours of the vertex of rank r, ascending. However
// many edges a vertex has, few of its neighbours have more: no row is longer
// than the square root of twice the number of edges.
type oriented struct {
	offsets []uint64
	targets []uint32
	// ways holds for each target how many of the two directions the edge has; nil
	// if nobody asked.
	ways   []uint8
	vertex []uint32 // of each rank
	degree []uint32 // of each vertex, in the simple view
}

// row is the row of rank r.
func (o *oriented) row(r uint32) []uint32 { return o.targets[o.offsets[r]:o.offsets[r+1]] }

// waysOf holds the directions of the edges of rank r; nil if nobody asked.
func (o *oriented) waysOf(r uint32) []uint8 {
	if o.ways == nil {
		return nil
	}
	return o.ways[o.offsets[r]:o.offsets[r+1]]
}

// orientGrain is the number of vertices a goroutine takes at a time.
const orientGrain = 1 << 10

// orientOwners is the largest number of goroutines that fill rows: each of them
// looks at all edges.
const orientOwners = 8

// orient makes the oriented copy of the graph with rows out and transposed rows
// in, on the given number of goroutines.
func orient(ctx context.Context, out, in *order.CSR, threads int, ways bool) (*oriented, error) {
	in = oneIfShared(out, in)
	n := out.Vertices()
	o := &oriented{
		offsets: huge.Make[uint64](n + 1),
		vertex:  huge.Make[uint32](n),
		degree:  huge.Make[uint32](n),
	}
	views := make([]simpleView, threads)
	for i := range views {
		views[i] = simpleView{out: out, in: in, complex: true, wantWays: ways}
	}
	err := par.Range(ctx, threads, n, orientGrain, func(worker, lo, hi int) {
		view := &views[worker]
		for v := uint32(lo); v < uint32(hi); v++ {
			if in == out && isSimple(out.Neighbours(v), v) {
				o.degree[v] = uint32(out.Degree(v))
				continue
			}
			o.degree[v] = uint32(len(view.row(v)))
			view.complex = true
		}
	})
	if err != nil {
		return nil, err
	}
	simple := !slices.ContainsFunc(views, func(v simpleView) bool { return v.complex })
	for i := range views {
		views[i].complex = !simple
	}
	rank := o.rank()
	err = par.Range(ctx, threads, n, orientGrain, func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			r, count := rank[i], uint64(0)
			for _, u := range views[worker].row(uint32(i)) {
				if rank[u] < r {
					count++
				}
			}
			o.offsets[r+1] = count
		}
	})
	if err != nil {
		return nil, err
	}
	for r := range n {
		o.offsets[r+1] += o.offsets[r]
	}
	o.targets = huge.Make[uint32](int(o.offsets[n]))
	if ways {
		o.ways = huge.Make[uint8](len(o.targets))
	}
	next := huge.Make[uint64](n)
	copy(next, o.offsets)
	owners := min(threads, orientOwners)
	par.Each(owners, func(worker int) {
		// An owner's rows hold about as many elements as any other's.
		cut := func(i int) uint32 {
			goal := o.offsets[n] * uint64(i) / uint64(owners)
			return uint32(sort.Search(n, func(r int) bool { return o.offsets[r] >= goal }))
		}
		lo, hi := cut(worker), cut(worker+1)
		if worker == owners-1 {
			hi = uint32(n)
		}
		o.scatter(ctx, lo, hi, rank, next, &views[worker])
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for r, end := range next {
		if end != o.offsets[r+1] {
			return nil, fmt.Errorf("an edge of vertex %d is in the rows of only one direction: expected it in those of its other end too", o.vertex[r])
		}
	}
	return o, nil
}

// rank ranks the vertices by a counting sort, and returns the rank of each.
func (o *oriented) rank() []uint32 {
	var top uint32
	for _, d := range o.degree {
		top = max(top, d)
	}
	next := make([]uint32, int(top)+2) // of each degree, the next rank
	for _, d := range o.degree {
		next[top-d+1]++
	}
	for i := range top + 1 {
		next[i+1] += next[i]
	}
	rank := huge.Make[uint32](len(o.degree))
	for v, d := range o.degree {
		r := next[top-d]
		next[top-d]++
		rank[v], o.vertex[r] = r, uint32(v)
	}
	return rank
}

// scatter fills rows lo to hi. It goes through all vertices by rank and adds
// each to the rows of its neighbours of higher rank, so that rows are ascending
// without being sorted.
func (o *oriented) scatter(ctx context.Context, lo, hi uint32, rank []uint32, next []uint64, view *simpleView) {
	targets, ways := o.targets, o.ways
	limit := o.offsets[hi] // beyond which only rows that do not fit would reach
	for r, v := range o.vertex {
		if r%orientGrain == 0 && ctx.Err() != nil {
			return
		}
		from := max(lo, uint32(r)+1)
		for i, u := range view.row(v) {
			k := rank[u]
			if k-from >= hi-from || from >= hi {
				continue
			}
			at := next[k]
			next[k] = at + 1
			if at >= limit {
				continue
			}
			targets[at] = uint32(r)
			if ways != nil {
				ways[at] = view.ways[i]
			}
		}
	}
}

// simpleView hands out rows of the simple undirected view of a graph.
type simpleView struct {
	out, in *order.CSR
	buffer  []uint32
	complex bool // not all rows are as they should be
	// ways holds for each element of the last row the number of directions of its
	// edge, if wanted.
	wantWays bool
	ways     []uint8
}

// row is all neighbours of v but itself, each once, ascending; valid until the
// next call.
func (s *simpleView) row(v uint32) []uint32 {
	s.buffer, s.ways = s.buffer[:0], s.ways[:0]
	a := s.out.Neighbours(v)
	if s.in == s.out {
		if s.complex {
			before := v
			for _, u := range a {
				if u != before && u != v {
					s.buffer = append(s.buffer, u)
				}
				before = u
			}
			a = s.buffer
		}
		for s.wantWays && len(s.ways) < len(a) {
			s.ways = append(s.ways, 2) // an undirected edge goes both ways
		}
		return a
	}
	b := s.in.Neighbours(v)
	for len(a) > 0 || len(b) > 0 {
		var u uint32
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			u = a[0]
		default:
			u = b[0]
		}
		ways := uint8(0)
		for i := 0; len(a) > 0 && a[0] == u; i++ {
			a, ways = a[1:], ways|1
		}
		for i := 0; len(b) > 0 && b[0] == u; i++ {
			b, ways = b[1:], ways|2
		}
		if u != v {
			s.buffer = append(s.buffer, u)
			s.ways = append(s.ways, 1+ways>>1&ways)
		}
	}
	return s.buffer
}

// isSimple says that the row of v holds neither v nor a neighbour twice.
func isSimple(row []uint32, v uint32) bool {
	before := v
	for _, u := range row {
		if u == before || u == v {
			return false
		}
		before = u
	}
	return true
}
