package algo

import (
	"context"
	"fmt"
	"math/rand/v2"

	"weir/graph/order"
	"weir/internal/par"
	"weir/internal/progress"
)

const (
	afforestFirst   = 2    // neighbours of each vertex that are linked first
	afforestSamples = 1024 // vertices whose trees are looked at to guess the largest
	afforestGrain   = 1 << 12
)

// Afforest finds connected components over rows on all threads, mostly without
// looking at the edges: it links two neighbours of each vertex, guesses from a
// sample which component is the giant one, and then links the other neighbours only
// of vertices outside it. Sutton, Ben-Nun and Barak, "Optimizing Parallel Graph
// Connectivity Computation via Subgraph Sampling" (IPDPS 2018).
//
// An edge may be left out only if its other end would look at it, so the rows of
// both directions are needed: in holds those of out transposed, or is out itself
// where every edge is stored both ways. Where in is nil no edge is left out.
func Afforest(ctx context.Context, out, in *order.CSR, opt ComponentsOptions) (Components, error) {
	c, err := afforest(ctx, out, in, par.Threads(opt.Threads))
	if err != nil {
		return Components{}, fmt.Errorf("afforest: %w", err)
	}
	return c, nil
}

func afforest(ctx context.Context, out, in *order.CSR, threads int) (Components, error) {
	if err := checkGraph(out, in); err != nil {
		return Components{}, err
	}
	n := out.Vertices()
	stage := progress.Start(ctx, "afforest", int64(n)*2, progress.Items)
	defer stage.Done()
	f := newForest(n)
	// Both neighbours in one pass, and no flattening after it: links splice, so that
	// trees are flat enough, and a pass over the vertices costs more than the walks.
	err := par.Range(ctx, threads, n, afforestGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			row := out.Neighbours(uint32(v))
			for _, u := range row[:min(afforestFirst, len(row))] {
				f.linkShared(uint32(v), u)
			}
		}
		stage.Add(int64(hi - lo))
	})
	if err != nil {
		return Components{}, err
	}
	giant, known := f.frequent()
	known = known && in != nil
	in = oneIfShared(out, in)
	err = par.Range(ctx, threads, n, afforestGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			if known && f.root(uint32(v)) == giant {
				continue
			}
			row := out.Neighbours(uint32(v))
			for _, u := range row[min(afforestFirst, len(row)):] {
				f.linkShared(uint32(v), u)
			}
			if in != nil && in != out {
				for _, u := range in.Neighbours(uint32(v)) {
					f.linkShared(uint32(v), u)
				}
			}
		}
		stage.Add(int64(hi - lo))
	})
	if err != nil {
		return Components{}, err
	}
	return f.components(ctx, n, threads)
}

// frequent is the commonest root in a sample, which is the same places at each
// call. A wrong guess costs time only.
func (f forest) frequent() (root uint32, ok bool) {
	if len(f) == 0 {
		return 0, false
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(f))))
	counts := map[uint32]int{}
	for range afforestSamples {
		r := f.root(uint32(rng.IntN(len(f))))
		counts[r]++
		if c := counts[r]; c > counts[root] || c == counts[root] && r < root {
			root = r
		}
	}
	return root, true
}
