package algo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// SSSPOptions are the choices of [SSSP]. The zero value uses all processors and
// chooses the width of buckets by itself.
type SSSPOptions struct {
	// Threads is the number of goroutines; 0 means all processors.
	Threads int
	// Delta is the width of a bucket, in the unit of the weights; 0 means one
	// chosen from the average weight and degree. Where all weights are integers it
	// is rounded down to a power of two. It changes the time, never the result.
	Delta float64
}

// SSSPResult is what [SSSP] found.
type SSSPResult struct {
	// Dist holds the length of a shortest way from the source to each vertex; +Inf
	// where there is none.
	Dist []float64
	// Reached is the number of vertices that are at a finite distance.
	Reached int
	// Delta is the width of a bucket that was used; 0 where all weights are 1 and
	// the search went breadth-first.
	Delta float64
	// Edges is the number of edges looked at: at least the edges out of the
	// vertices reached, and more where buckets are wide.
	Edges int64
}

// SSSP finds the length of the shortest way from source to every vertex along
// out. Nil weights are all 1. If an edge that can be reached has a negative
// weight or NaN, the error names the first edge that has.
//
// Lengths are added along the way in float64. Rounding a sum never changes the
// order of two sums with the same last edge, so a shortest length is well
// defined, and the result is the same to the last bit for every Delta and every
// number of threads, and that of Dijkstra's algorithm. Where all weights are
// integers below 2²⁴ and the lengths stay below 2³² they are added as uint32
// instead, which gives the same numbers faster.
//
// It is delta-stepping (Meyer and Sanders, 2003) with fused buckets (Zhang et
// al., CGO 2020): vertices wait in buckets of similar distance, and a bucket is
// worked on until it stays empty before the next one.
//
// Memory beside the graph: 8 bytes a vertex for Dist, 4 more in integers, and 8
// (16 in float64) for each waiting entry, of which there are at most some 4 a vertex.
func SSSP(ctx context.Context, out *order.CSR, source uint32, opt SSSPOptions) (*SSSPResult, error) {
	r, err := sssp(ctx, out, source, opt)
	if err != nil {
		return nil, fmt.Errorf("find shortest paths from %d: %w", source, err)
	}
	return r, nil
}

func sssp(ctx context.Context, out *order.CSR, source uint32, opt SSSPOptions) (*SSSPResult, error) {
	if err := checkGraph(out, nil); err != nil {
		return nil, err
	}
	if err := checkVertex(out, "source", source); err != nil {
		return nil, err
	}
	if math.IsNaN(opt.Delta) || opt.Delta < 0 {
		return nil, fmt.Errorf("delta is %v: need a positive width, or 0 to choose one", opt.Delta)
	}
	threads := par.Threads(opt.Threads)
	if out.Weights == nil {
		return ssspUnit(ctx, out, source, threads)
	}
	sample := sampleWeights(out)
	delta := opt.Delta
	if delta == 0 {
		delta = sample.delta
	}
	stage := progress.Start(ctx, "shortest paths", 0, progress.Edges)
	defer stage.Done()
	if sample.integral {
		width := uint32(1) << uint(math.Log2(min(max(delta, 1), 1<<31)))
		s := newStepping(out, threads, width)
		err := s.run(ctx, source, stage)
		if err == nil {
			return s.result(float64(width)), nil
		}
		if !errors.Is(err, errUnfit) {
			return nil, err
		}
	}
	// A width of zero or infinity would divide nothing.
	delta = min(max(delta, math.SmallestNonzeroFloat32), math.MaxFloat32)
	s := newStepping(out, threads, delta)
	if err := s.run(ctx, source, stage); err != nil {
		if errors.Is(err, errUnfit) {
			return nil, weightError(out)
		}
		return nil, err
	}
	return s.result(delta), nil
}

// ssspUnit finds distances where every edge has length 1.
func ssspUnit(ctx context.Context, out *order.CSR, source uint32, threads int) (*SSSPResult, error) {
	b, err := BFS(ctx, out, nil, source, BFSOptions{Threads: threads})
	if err != nil {
		return nil, err
	}
	dist := huge.Make[float64](len(b.Depth))
	for v, d := range b.Depth {
		dist[v] = float64(d)
		if d == Unreached {
			dist[v] = math.Inf(1)
		}
	}
	return &SSSPResult{Dist: dist, Reached: b.Reached, Edges: b.Edges}, nil
}

// weightSample is what a sample says of the weights of a graph.
type weightSample struct {
	integral bool    // all may be integers from 0 to maxIntegral
	delta    float64 // a good width of buckets
}

// sampleWeights looks at some of the weights. The width is that of average
// weight over average degree, as Meyer and Sanders prove good for random
// weights; vertices without edges do not count.
func sampleWeights(out *order.CSR) weightSample {
	const samples = 1 << 12
	s := weightSample{integral: true, delta: 1}
	var sum float64
	var count int
	for i := 0; i < len(out.Weights); i += len(out.Weights)/samples + 1 {
		w := out.Weights[i]
		s.integral = s.integral && w >= 0 && w <= maxIntegral && w == float32(int32(w))
		if w >= 0 && w <= math.MaxFloat32 {
			sum += float64(w)
			count++
		}
	}
	if sum == 0 {
		return s
	}
	n, rows, looked := out.Vertices(), 0, 0
	for v := 0; v < n; v += n/samples + 1 {
		looked++
		if out.Offsets[v] != out.Offsets[v+1] {
			rows++
		}
	}
	degree := float64(out.Edges()) / max(float64(n)*float64(rows)/float64(looked), 1)
	s.delta = sum / float64(count) / max(degree, 1)
	return s
}

// weightError names the first edge that has a weight below zero or none.
func weightError(out *order.CSR) error {
	i := slices.IndexFunc(out.Weights, func(w float32) bool { return !(w >= 0) })
	from := sort.Search(out.Vertices(), func(v int) bool { return out.Offsets[v+1] > uint64(i) })
	return fmt.Errorf("edge from %d to %d has weight %v: need weights of 0 or more", from, out.Targets[i], out.Weights[i])
}
