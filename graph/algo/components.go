package algo

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"weir/internal/huge"
	"weir/internal/par"
)

// ComponentsOptions is for all ways to find connected components.
type ComponentsOptions struct {
	Threads int // 0 means all processors
}

// Components says which vertices are connected, the direction of edges ignored.
// It is the same, bit for bit, whichever algorithm, order and number of threads
// found it.
type Components struct {
	// Labels holds, by vertex, the smallest vertex of its component.
	Labels []uint32
	// Count is the number of components. A vertex without edges is one.
	Count int
}

// ComponentSize is the label of a component and its number of vertices.
type ComponentSize struct {
	Label    uint32 `json:"label"`
	Vertices int64  `json:"vertices"`
}

// Largest returns the k largest components, or all if there are fewer: largest
// first, and of the same size the one of the smaller label first.
func (c Components) Largest(k int) []ComponentSize {
	k = max(k, 0)
	sizes := make([]uint32, len(c.Labels))
	for _, label := range c.Labels {
		sizes[label]++
	}
	var top []ComponentSize // sorted, at most k
	for label, n := range sizes {
		s := ComponentSize{uint32(label), int64(n)}
		if n == 0 || len(top) == k && (k == 0 || largerFirst(top[k-1], s) < 0) {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, s, largerFirst)
		top = slices.Insert(top, at, s)
		top = top[:min(k, len(top))]
	}
	return top
}

func largerFirst(a, b ComponentSize) int {
	return cmp.Or(cmp.Compare(b.Vertices, a.Vertices), cmp.Compare(a.Label, b.Label))
}

// forest is a parent for each vertex, never above the vertex itself: so there is no
// cycle, and the root of a tree is the smallest vertex in it. All ways to find
// components but label propagation grow one. Linking by number needs no ranks
// beside the parents, hence the smallest footprint there is.
//
// It is padded to whole square sides, each extra vertex being its own root.
type forest []uint32

func newForest(n int) forest {
	f := huge.Make[uint32](n)
	for v := range f {
		f[v] = uint32(v)
	}
	return f
}

// root walks up from v.
func (f forest) root(v uint32) uint32 {
	for {
		parent := atomic.LoadUint32(&f[v])
		if parent == v {
			return v
		}
		v = parent
	}
}

// components flattens the forest of n vertices, which it keeps, to labels.
func (f forest) components(ctx context.Context, n, threads int) (Components, error) {
	f = f[:n:n]
	var count atomic.Int64
	err := par.Range(ctx, threads, n, vertexGrain, func(_, lo, hi int) {
		roots := 0
		for v := uint32(lo); v < uint32(hi); v++ {
			parent := atomic.LoadUint32(&f[v])
			if parent == v {
				roots++
			} else if top := f.root(parent); top != parent {
				atomic.StoreUint32(&f[v], top)
			}
		}
		count.Add(int64(roots))
	})
	if err != nil {
		return Components{}, err
	}
	return Components{Labels: f, Count: int(count.Load())}, nil
}
