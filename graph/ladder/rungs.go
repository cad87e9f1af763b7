package ladder

import (
	"context"
	"unsafe"

	"weir/graph/algo"
	"weir/graph/order"
	"weir/internal/huge"
)

// propagate is the rung of label propagation.
func propagate(ctx context.Context, g Graph) ([]uint32, error) {
	found, err := algo.LabelPropagation(ctx, g.Rows, algo.ComponentsOptions{Threads: 1})
	return found.Labels, err
}

// forest is a union-find over vertices that links edges as a kernel.
type forest interface {
	order.Kernel
	// roots is the root of each vertex.
	roots() []uint32
}

// unite runs the edges past f.
func unite(ctx context.Context, edges order.EdgeMap, f forest) ([]uint32, error) {
	if err := edges.Run(ctx, f); err != nil {
		return nil, err
	}
	return f.roots(), nil
}

// identity is a new forest of single vertices, padded to whole sides of squares, so
// that no vertex of a square lies outside of it.
func identity(g Graph) []uint32 {
	parent := huge.Make[uint32](order.PadVertices(g.Rows.Vertices()))
	for v := range parent {
		parent[v] = uint32(v)
	}
	return parent
}

// weighted is the union-find of textbooks: the root of smaller rank is hung below
// the other, and finding halves the paths.
type weighted struct {
	n            int
	parent, rank []uint32
}

func newWeighted(g Graph) *weighted {
	parent := identity(g)
	return &weighted{n: g.Rows.Vertices(), parent: parent, rank: huge.Make[uint32](len(parent))}
}

func (f *weighted) find(v uint32) uint32 {
	for {
		p := f.parent[v]
		if p == v {
			return v
		}
		p = f.parent[p]
		f.parent[v] = p
		v = p
	}
}

func (f *weighted) union(v, u uint32) {
	v, u = f.find(v), f.find(u)
	switch {
	case v == u:
	case f.rank[v] < f.rank[u]:
		f.parent[v] = u
	case f.rank[v] > f.rank[u]:
		f.parent[u] = v
	default:
		f.parent[u] = v
		f.rank[v]++
	}
}

func (f *weighted) Rows(r order.Rows) {
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		for _, u := range r.Targets[lo:hi] {
			f.union(r.First+uint32(i), u)
		}
		lo = hi
	}
}

func (f *weighted) Square(s order.Square) {
	for _, p := range s.Pairs {
		f.union(s.X|uint32(p.X), s.Y|uint32(p.Y))
	}
}

func (f *weighted) roots() []uint32 {
	for v := range f.n {
		f.parent[v] = f.find(uint32(v))
	}
	return f.parent[:f.n]
}

// array is a slice whose indices are not checked. It is only ever asked for vertices
// of squares that its padded slice covers, and for those that were stored in it.
type array struct{ base unsafe.Pointer }

func view(s []uint32) array { return array{unsafe.Pointer(unsafe.SliceData(s))} }

// at is element v.
func (a array) at(v uint32) *uint32 { return (*uint32)(unsafe.Add(a.base, 4*uintptr(v))) }

// unchecked is weighted without the checks of indices.
type unchecked struct {
	*weighted
	parent, rank array
}

func newUnchecked(g Graph) *unchecked {
	f := newWeighted(g)
	return &unchecked{f, view(f.parent), view(f.rank)}
}

// find is the root of v.
func (a array) find(v uint32) uint32 {
	for {
		p := *a.at(v)
		if p == v {
			return v
		}
		p = *a.at(p)
		*a.at(v) = p
		v = p
	}
}

func (f *unchecked) Square(s order.Square) {
	for _, p := range s.Pairs {
		v, u := f.parent.find(s.X|uint32(p.X)), f.parent.find(s.Y|uint32(p.Y))
		if v == u {
			continue
		}
		above, below := f.rank.at(v), f.rank.at(u)
		switch {
		case *above < *below:
			*f.parent.at(v) = u
		case *above > *below:
			*f.parent.at(u) = v
		default:
			*f.parent.at(u) = v
			*above++
		}
	}
}

// small has no ranks: the larger root is hung below the smaller one, which in
// graphs of random numbering gives trees as shallow.
type small struct {
	n      int
	slice  []uint32
	parent array
}

func newSmall(g Graph) *small {
	parent := identity(g)
	return &small{g.Rows.Vertices(), parent, view(parent)}
}

func (f *small) union(v, u uint32) {
	if v, u = f.parent.find(v), f.parent.find(u); v != u {
		*f.parent.at(max(v, u)) = min(v, u)
	}
}

// Rows links rows; the ladder only climbs squares with it.
func (f *small) Rows(r order.Rows) {
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		for _, u := range r.Targets[lo:hi] {
			f.union(r.First+uint32(i), u)
		}
		lo = hi
	}
}

func (f *small) Square(s order.Square) {
	for _, p := range s.Pairs {
		f.union(s.X|uint32(p.X), s.Y|uint32(p.Y))
	}
}

func (f *small) roots() []uint32 {
	for v := range f.n {
		f.slice[v] = f.parent.find(uint32(v))
	}
	return f.slice[:f.n]
}

// batched is small in two steps over a batch of edges. The first reads the parents of
// both ends and keeps the edges where they differ: its loads do not wait for one
// another, so that many cache misses are under way at once, which is a prefetch in
// software, and it has no branch to mispredict. The second links what was kept,
// whose parents are in cache by then.
type batched struct {
	*small
	kept [batchEdges]order.Pair
}

const batchEdges = 256

func newBatched(g Graph) *batched { return &batched{small: newSmall(g)} }

func (f *batched) Square(s order.Square) {
	// A 16-bit index into an array of 65536 elements needs no check.
	xs := (*[order.SquareSide]uint32)(f.slice[s.X:])
	ys := (*[order.SquareSide]uint32)(f.slice[s.Y:])
	for pairs := s.Pairs; len(pairs) > 0; {
		batch := pairs[:min(len(pairs), batchEdges)]
		pairs = pairs[len(batch):]
		kept := 0
		for _, p := range batch {
			f.kept[kept%batchEdges] = p
			if xs[p.X] != ys[p.Y] {
				kept++
			}
		}
		for _, p := range f.kept[:kept] {
			f.union(s.X|uint32(p.X), s.Y|uint32(p.Y))
		}
	}
}
