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

// unionBatch edges are looked at before those that may matter are linked.
const unionBatch = 1024

// unionKernel links on one thread, in two steps over a batch of edges. The first
// reads the parents of both ends and keeps the edges that differ: its loads do not
// wait for one another, so that many cache misses are under way at once (a prefetch
// in software), and it has no branch to mispredict. The second links what was kept,
// now in cache.
type unionKernel struct {
	f     forest
	stage *progress.Stage
	kept  [unionBatch]order.Pair
	ends  [unionBatch]uint32
}

func (k *unionKernel) Rows(r order.Rows) {
	f := k.f
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		v := r.First + uint32(i)
		for row := r.Targets[lo:hi]; len(row) > 0; {
			batch := row[:min(len(row), unionBatch)]
			row = row[len(batch):]
			if len(batch) < 8 {
				for _, u := range batch {
					if f[u] != f[v] {
						f.link(v, u)
					}
				}
				continue
			}
			root, kept := f[v], 0
			for _, u := range batch {
				k.ends[kept&(unionBatch-1)] = u
				if f[u] != root {
					kept++
				}
			}
			for _, u := range k.ends[:kept] {
				f.link(v, u)
			}
		}
		lo = hi
	}
	k.stage.Add(int64(lo - r.Offsets[0]))
}

func (k *unionKernel) Square(s order.Square) {
	f := k.f
	xs := (*[order.SquareSide]uint32)(f[s.X:])
	ys := (*[order.SquareSide]uint32)(f[s.Y:])
	for pairs := s.Pairs; len(pairs) > 0; {
		batch := pairs[:min(len(pairs), unionBatch)]
		pairs = pairs[len(batch):]
		kept := 0
		for _, p := range batch {
			k.kept[kept&(unionBatch-1)] = p
			if xs[p.X] != ys[p.Y] {
				kept++
			}
		}
		for _, p := range k.kept[:kept] {
			f.link(s.X|uint32(p.X), s.Y|uint32(p.Y))
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
	for _, p := range s.Pairs {
		if atomic.LoadUint32(&xs[p.X]) != atomic.LoadUint32(&ys[p.Y]) {
			f.linkShared(s.X|uint32(p.X), s.Y|uint32(p.Y))
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
