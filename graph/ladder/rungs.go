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

// identity is a new forest of n single vertices.
func identity(n int) []uint32 {
	parent := huge.Make[uint32](n)
	for v := range parent {
		parent[v] = uint32(v)
	}
	return parent
}

// weighted is the union-find of textbooks: the root of smaller rank is hung below
// the other, and finding halves the paths.
type weighted struct{ parent, rank []uint32 }

func newWeighted(g Graph) *weighted {
	n := g.Rows.Vertices()
	return &weighted{parent: identity(n), rank: huge.Make[uint32](n)}
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
	for v := range f.parent {
		f.parent[v] = f.find(uint32(v))
	}
	return f.parent
}

// array is a slice whose indices are not checked. It is only ever asked for
// vertices of its graph, which the order of the edges has checked.
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
	slice  []uint32
	parent array
}

func newSmall(g Graph) *small {
	parent := identity(g.Rows.Vertices())
	return &small{parent, view(parent)}
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
	for v := range f.slice {
		f.slice[v] = f.parent.find(uint32(v))
	}
	return f.slice
}
