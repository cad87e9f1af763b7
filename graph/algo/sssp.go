package algo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync/atomic"

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
// out, whose weights must not be negative or NaN; nil weights are all 1.
//
// Lengths are added along the way in float64. Rounding a sum never changes the
// order of two sums with the same last edge, so a shortest length is well
// defined, and the result is the same to the last bit for every Delta and every
// number of threads, and that of Dijkstra's algorithm. Where all weights are
// integers up to 2²³ and the lengths stay below 2³² they are added as uint32
// instead, which gives the same numbers faster.
//
// It is delta-stepping (Meyer and Sanders, 2003) with fused buckets (Zhang et
// al., CGO 2020): vertices wait in buckets of similar distance, and a bucket is
// worked on until it stays empty before the next one.
//
// Memory beside the graph: 8 bytes a vertex for Dist, 4 more in integers, and 8
// (16 in float64) for each waiting entry, of which there are at most 4 a vertex.
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
	kind, err := scanWeights(ctx, out, threads)
	if err != nil {
		return nil, err
	}
	delta := opt.Delta
	if delta == 0 {
		delta = kind.delta
	}
	stage := progress.Start(ctx, "shortest paths", 0, progress.Edges)
	defer stage.Done()
	if kind.integral {
		width := uint32(1) << uint(math.Log2(min(max(delta, 1), 1<<31)))
		s := newStepping(out, threads, width, uint32(kind.largest))
		err := s.run(ctx, source, stage)
		if err == nil {
			return s.result(float64(width)), nil
		}
		if !errors.Is(err, errDistance) {
			return nil, err
		}
	}
	// A width of zero or infinity would divide nothing.
	delta = min(max(delta, math.SmallestNonzeroFloat32), math.MaxFloat32)
	s := newStepping(out, threads, delta, 0)
	if err := s.run(ctx, source, stage); err != nil {
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

// weightKind is what there is to know about the weights of a graph.
type weightKind struct {
	integral bool    // all are integers from 0 to maxIntegral
	largest  float32 // the largest
	delta    float64 // a good width of buckets
}

// maxIntegral is the largest weight that is added as an integer: beyond it the
// test for a fraction below does not hold.
const maxIntegral = 1 << 23

// scanWeights looks at all weights once. It returns an error that names the
// first edge that has none to walk along.
func scanWeights(ctx context.Context, out *order.CSR, threads int) (weightKind, error) {
	weights := out.Weights[:len(out.Targets)]
	var fraction atomic.Bool
	var top atomic.Uint32 // bits of the largest: those of positive floats are ordered as they are
	bad := atomic.Int64{}
	bad.Store(math.MaxInt64)
	const grain = 1 << 16
	err := par.Range(ctx, threads, len(weights), grain, func(_, lo, hi int) {
		part := weights[lo:hi]
		largest := largestBits(part)
		// A negative number, not least -0, and a NaN have larger bits than +Inf.
		if largest > math.Float32bits(float32(math.Inf(1))) {
			largest = 0
			for i, w := range part {
				if !(w >= 0) {
					lowerTo(&bad, int64(lo+i))
					return
				}
				if w > 0 {
					largest = max(largest, math.Float32bits(w))
				}
			}
		}
		for old := top.Load(); largest > old && !top.CompareAndSwap(old, largest); old = top.Load() {
		}
		if !fraction.Load() && hasFraction(part) {
			fraction.Store(true)
		}
	})
	if err != nil {
		return weightKind{}, err
	}
	if at := bad.Load(); at != math.MaxInt64 {
		return weightKind{}, weightError(out, int(at))
	}
	largest := math.Float32frombits(top.Load())
	return weightKind{
		integral: largest <= maxIntegral && !fraction.Load(),
		largest:  largest,
		delta:    chooseDelta(out),
	}, nil
}

// weightError names edge i, which has a weight below zero or none.
func weightError(out *order.CSR, i int) error {
	from := sort.Search(out.Vertices(), func(v int) bool { return out.Offsets[v+1] > uint64(i) })
	return fmt.Errorf("edge from %d to %d has weight %v: need weights of 0 or more", from, out.Targets[i], out.Weights[i])
}

// lowerTo makes x the smaller of itself and y.
func lowerTo(x *atomic.Int64, y int64) {
	for old := x.Load(); y < old && !x.CompareAndSwap(old, y); old = x.Load() {
	}
}

// largestBits is the largest of the weights' bits taken as integers.
func largestBits(weights []float32) uint32 {
	var a, b, c, d uint32
	for ; len(weights) >= 4; weights = weights[4:] {
		a = max(a, math.Float32bits(weights[0]))
		b = max(b, math.Float32bits(weights[1]))
		c = max(c, math.Float32bits(weights[2]))
		d = max(d, math.Float32bits(weights[3]))
	}
	for _, w := range weights {
		a = max(a, math.Float32bits(w))
	}
	return max(a, b, c, d)
}

// hasFraction says whether any weight is not an integer up to maxIntegral.
func hasFraction(weights []float32) bool {
	for _, w := range weights {
		// Adding 2²³ to less leaves no bit for a fraction.
		if whole := (w + maxIntegral) - maxIntegral; whole != w {
			return true
		}
	}
	return false
}

// chooseDelta chooses a width from a sample of the weights: that of average
// weight over average degree, as Meyer and Sanders prove good for random
// weights. Vertices without edges do not count.
func chooseDelta(out *order.CSR) float64 {
	const samples = 1 << 12
	var sum float64
	var count int
	for i := 0; i < len(out.Weights); i += len(out.Weights)/samples + 1 {
		if w := out.Weights[i]; w <= math.MaxFloat32 {
			sum += float64(w)
			count++
		}
	}
	if sum == 0 {
		return 1
	}
	n, rows, looked := out.Vertices(), 0, 0
	for v := 0; v < n; v += n/samples + 1 {
		looked++
		if out.Offsets[v] != out.Offsets[v+1] {
			rows++
		}
	}
	degree := float64(out.Edges()) / max(float64(n)*float64(rows)/float64(looked), 1)
	return sum / float64(count) / max(degree, 1)
}
