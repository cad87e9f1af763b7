package algo

import (
	"context"
	"fmt"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/par"
	"weir/internal/progress"
)

// UnionFind finds connected components in one pass over the edges in any order.
//
// It links by number and splices paths while it walks them, which is Rem's
// algorithm, the fastest of those compared by Patwary, Blair and Manne,
// "Experiments on Union-Find Algorithms for the Disjoint-Set Data Structure" (SEA
// 2010). With several threads all share one forest and link with compare-and-swap,
// as in Dhulipala, Hong and Shun, "ConnectIt" (VLDB 2020).
func UnionFind(ctx context.Context, edges order.EdgeMap, opt ComponentsOptions) (Components, error) {
	n, threads := edges.Vertices(), par.Threads(opt.Threads)
	f := newForest(order.PadVertices(n))
	parts := edges.Split(threads)
	stage := progress.Start(ctx, "union-find", edges.Edges(), progress.Edges)
	defer stage.Done()
	err := eachPart(parts, func(i int) error {
		if len(parts) == 1 {
			return parts[i].Run(ctx, &unionKernel{f: f, stage: stage})
		}
		return parts[i].Run(ctx, &sharedUnionKernel{f: f, stage: stage})
	})
	if err != nil {
		return Components{}, fmt.Errorf("union-find: %w", err)
	}
	c, err := f.components(ctx, n, threads)
	if err != nil {
		return Components{}, fmt.Errorf("union-find: %w", err)
	}
	return c, nil
}

// unionKernel links on one thread. Once most vertices are below the root of the
// giant component, nearly every edge ends at the first comparison, and the branch is
// predicted.
type unionKernel struct {
	f     forest
	stage *progress.Stage
}

func (k *unionKernel) Rows(r order.Rows) {
	f := k.f
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		v := r.First + uint32(i)
		parent := f[v]
		for _, u := range r.Targets[lo:hi] {
			if f[u] != parent {
				f.link(v, u)
				parent = f[v]
			}
		}
		lo = hi
	}
	k.stage.Add(int64(lo - r.Offsets[0]))
}

func (k *unionKernel) Square(s order.Square) {
	f := k.f
	// A 16-bit index into an array of 65536 elements needs no check.
	xs := (*[order.SquareSide]uint32)(f[s.X:])
	ys := (*[order.SquareSide]uint32)(f[s.Y:])
	for _, p := range packed(s.Pairs) {
		if xs[p.x()] != ys[p.y()] {
			f.link(s.X|uint32(p.x()), s.Y|uint32(p.y()))
		}
	}
	k.stage.Add(int64(len(s.Pairs)))
}

// link joins the trees of x and y.
func (f forest) link(x, y uint32) {
	px, py := f[x], f[y]
	for px != py {
		if px < py {
			x, y, px, py = y, x, py, px
		}
		// The parent of x is the larger one: x may be hung below y's, whether x is a
		// root, which ends the walk, or not, when it goes on from x's old parent.
		f[x] = py
		if x == px {
			return
		}
		x, px = px, f[px]
	}
}

// sharedUnionKernel links in a forest that other threads link in too.
type sharedUnionKernel struct {
	f     forest
	stage *progress.Stage
}

func (k *sharedUnionKernel) Rows(r order.Rows) {
	f := k.f
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		v := r.First + uint32(i)
		for _, u := range r.Targets[lo:hi] {
			if atomic.LoadUint32(&f[v]) != atomic.LoadUint32(&f[u]) {
				f.linkShared(v, u)
			}
		}
		lo = hi
	}
	k.stage.Add(int64(lo - r.Offsets[0]))
}

func (k *sharedUnionKernel) Square(s order.Square) {
	f := k.f
	xs := (*[order.SquareSide]uint32)(f[s.X:])
	ys := (*[order.SquareSide]uint32)(f[s.Y:])
	for _, p := range packed(s.Pairs) {
		if atomic.LoadUint32(&xs[p.x()]) != atomic.LoadUint32(&ys[p.y()]) {
			f.linkShared(s.X|uint32(p.x()), s.Y|uint32(p.y()))
		}
	}
	k.stage.Add(int64(len(s.Pairs)))
}

// linkShared is link for several threads. Parents only ever become smaller, so a
// swap that fails shows that somebody else got further; the walk then looks again.
// A splice takes x's tree away from its old parent before the two are joined again
// by the rest of the walk: trees are right once all walks have ended.
func (f forest) linkShared(x, y uint32) {
	for {
		px, py := atomic.LoadUint32(&f[x]), atomic.LoadUint32(&f[y])
		if px == py {
			return
		}
		if px < py {
			x, y, px, py = y, x, py, px
		}
		if atomic.CompareAndSwapUint32(&f[x], px, py) {
			if x == px {
				return
			}
			x = px
		}
	}
}
