package algo

import (
	"unsafe"

	"weir/graph/order"
	"weir/internal/huge"
)

// rankedUnion is union-find as one would first write it: a parent and a rank for
// each vertex, in words, and trees linked by rank.
type rankedUnion struct {
	n       int
	parents []int
	ranks   []int
}

func newRankedUnion(n int) *rankedUnion {
	// Padded, so that the next rung may view the sides of squares.
	padded := order.PadVertices(n)
	k := &rankedUnion{n: n, parents: huge.Make[int](padded), ranks: huge.Make[int](padded)}
	for v := range k.parents {
		k.parents[v] = v
	}
	return k
}

func (k *rankedUnion) union(x, y int) {
	for k.parents[x] != x {
		x = k.parents[x]
	}
	for k.parents[y] != y {
		y = k.parents[y]
	}
	if x == y {
		return
	}
	if k.ranks[x] < k.ranks[y] {
		x, y = y, x
	}
	k.parents[y] = x
	if k.ranks[x] == k.ranks[y] {
		k.ranks[x]++
	}
}

func (k *rankedUnion) Rows(r order.Rows) {
	for i := range len(r.Offsets) - 1 {
		for _, u := range r.Targets[r.Offsets[i]:r.Offsets[i+1]] {
			k.union(int(r.First)+i, int(u))
		}
	}
}

func (k *rankedUnion) Square(s order.Square) {
	for _, p := range s.Pairs {
		k.union(int(s.X|uint32(p.X)), int(s.Y|uint32(p.Y)))
	}
}

// labels names each component by its smallest vertex.
func (k *rankedUnion) labels() []uint32 {
	smallest := make([]uint32, k.n)
	labels := make([]uint32, k.n)
	for v := range k.n {
		root := v
		for k.parents[root] != root {
			root = k.parents[root]
		}
		k.parents[v] = root
		labels[v] = uint32(root)
	}
	for v := k.n - 1; v >= 0; v-- {
		smallest[labels[v]] = uint32(v)
	}
	for v, root := range labels {
		labels[v] = smallest[root]
	}
	return labels
}

// uncheckedUnion is rankedUnion without bounds checks. The ends of an edge are below
// the padded length, because the sides of its square are; and a parent is below it,
// because only such ends were ever stored.
type uncheckedUnion struct{ rankedUnion }

func newUncheckedUnion(n int) *uncheckedUnion { return &uncheckedUnion{*newRankedUnion(n)} }

// words is an array so long that no 32-bit index into it needs a check. It is a view
// of a shorter one.
type words = [1 << 32]int

// The view is longer than what it views, which -race would object to.
//
//go:nocheckptr
func (k *uncheckedUnion) Square(s order.Square) {
	_, _ = (*[order.SquareSide]int)(k.parents[s.X:]), (*[order.SquareSide]int)(k.parents[s.Y:])
	parents := (*words)(unsafe.Pointer(unsafe.SliceData(k.parents)))
	ranks := (*words)(unsafe.Pointer(unsafe.SliceData(k.ranks)))
	for _, p := range s.Pairs {
		x, y := s.X|uint32(p.X), s.Y|uint32(p.Y)
		for parents[x] != int(x) {
			x = uint32(parents[x])
		}
		for parents[y] != int(y) {
			y = uint32(parents[y])
		}
		if x == y {
			continue
		}
		if ranks[x] < ranks[y] {
			x, y = y, x
		}
		parents[y] = int(x)
		if ranks[x] == ranks[y] {
			ranks[x]++
		}
	}
}

// smallUnion needs 4 bytes a vertex: trees are linked by number, so there is no
// rank, and parents are of the size of a vertex. Walks splice what they pass.
type smallUnion struct{ f forest }

func (k smallUnion) Rows(r order.Rows) {
	for i := range len(r.Offsets) - 1 {
		for _, u := range r.Targets[r.Offsets[i]:r.Offsets[i+1]] {
			k.f.link(r.First+uint32(i), u)
		}
	}
}

func (k smallUnion) Square(s order.Square) {
	for _, p := range s.Pairs {
		k.f.link(s.X|uint32(p.X), s.Y|uint32(p.Y))
	}
}

// batchUnion is smallUnion in two steps over a batch of edges. The first reads the
// parents of both ends and keeps the edges that differ: its loads do not wait for
// one another, so that many cache misses are under way at once, which is a prefetch
// in software, and it has no branch to mispredict. The second links what was kept,
// whose parents are in cache by then.
type batchUnion struct {
	f    forest
	kept [unionBatch][2]uint32
}

const unionBatch = 256

func (k *batchUnion) Rows(r order.Rows) {
	for i := range len(r.Offsets) - 1 {
		v := r.First + uint32(i)
		for row := r.Targets[r.Offsets[i]:r.Offsets[i+1]]; len(row) > 0; {
			batch := row[:min(len(row), unionBatch)]
			row = row[len(batch):]
			kept := 0
			for _, u := range batch {
				k.kept[kept%unionBatch] = [2]uint32{v, u}
				if k.f[v] != k.f[u] {
					kept++
				}
			}
			k.link(kept)
		}
	}
}

func (k *batchUnion) Square(s order.Square) {
	xs := (*[order.SquareSide]uint32)(k.f[s.X:])
	ys := (*[order.SquareSide]uint32)(k.f[s.Y:])
	for pairs := packed(s.Pairs); len(pairs) > 0; {
		batch := pairs[:min(len(pairs), unionBatch)]
		pairs = pairs[len(batch):]
		kept := 0
		for _, p := range batch {
			k.kept[kept%unionBatch] = [2]uint32{s.X | uint32(p.x()), s.Y | uint32(p.y())}
			if xs[p.x()] != ys[p.y()] {
				kept++
			}
		}
		k.link(kept)
	}
}

func (k *batchUnion) link(kept int) {
	for _, e := range k.kept[:kept] {
		k.f.link(e[0], e[1])
	}
}
