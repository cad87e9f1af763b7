package algo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// Float is the precision of ranks. Half the bytes are half the cache misses, so
// float32 is about as much faster.
type Float interface{ ~float32 | ~float64 }

// Dangling says what becomes of the rank of vertices that have no out-edges.
type Dangling int

const (
	// DropDangling loses it, as the published single-threaded programs do.
	DropDangling Dangling = iota
	// RedistributeDangling shares it equally among all vertices.
	RedistributeDangling
)

// PageRankOptions tells [PageRank] which of the forms of the algorithm to compute.
// The zero value is the textbook form of the COST paper: every rank starts at 0
// and is set to 0.15 plus 0.85 times the sum of rank/outdegree of the in-neighbours,
// 20 times (the first time hands out nothing but the 0.15, yet costs a pass over
// the edges, and counts).
//
// Normalised and RedistributeDangling together are the form of LDBC Graphalytics
// and of NetworkX, in which ranks sum to 1.
type PageRankOptions struct {
	Iterations int     // at most this many; 0 means 20
	Damping    float64 // in (0, 1); 0 means 0.85
	// Tolerance stops early once an iteration changes the ranks by less than this
	// in all (the L1 norm of the change). 0 runs all iterations.
	Tolerance float64
	Dangling  Dangling
	// Normalised starts at 1/N rather than 0 and hands out (1-damping)/N rather
	// than 1-damping.
	Normalised bool
	Threads    int // 0 means all processors
	// OutDegrees, where known, saves a pass over the edges. It is only read.
	OutDegrees []uint32
}

// PageRankResult holds the ranks and how they came about.
type PageRankResult[T Float] struct {
	Ranks      []T             // by vertex
	Iterations int             // done
	Delta      float64         // L1 norm of the last iteration's change
	Times      []time.Duration // of each iteration
}

// PageRank ranks vertices by the edges into them. It runs over any order; see
// [PageRankOptions] for what exactly it computes.
//
// Orders differ in speed and in the sequence of additions, so their results
// differ by rounding, as they do between numbers of threads; at the same order and
// number of threads they are the same bits. Over rows of in-neighbours (a reversed
// [order.CSR]), and over [order.Hilbert] unless few vertices have most edges, every
// target belongs to one thread; over other orders each thread adds to sums of its
// own, and no more threads do than that the sums take the memory of the edges.
func PageRank[T Float](ctx context.Context, edges order.EdgeMap, opt PageRankOptions) (PageRankResult[T], error) {
	r, err := newRanking[T](ctx, edges, opt)
	if err != nil {
		return PageRankResult[T]{}, fmt.Errorf("pagerank: %w", err)
	}
	if err := r.run(ctx); err != nil {
		return PageRankResult[T]{}, fmt.Errorf("pagerank: %w", err)
	}
	return r.result, nil
}

// ranking is the state of one computation. Its arrays are padded to whole square
// sides and lie on huge pages.
type ranking[T Float] struct {
	opt     PageRankOptions
	n       int
	threads int
	edges   int64

	base T // what each vertex is handed in this iteration
	each float64
	last bool // whether settle has to measure the change

	rank []T
	inv  []T // damping/outdegree; 0 for dangling vertices
	// Each edge adds src of its source to acc of its target. Owned parts settle
	// targets while others still read src, and so write to next.
	src, next, acc []T

	owned  []ownedPart     // parts that share no target, or else
	shared []order.EdgeMap // one part a thread, each with sums of its own:
	sums   [][]T           // sums[0] is acc
	tally  []tally         // what settling found, by piece

	result PageRankResult[T]
}

// tally is what settling a range of vertices found. Each range has its own, and
// they are added in order, so that the sums do not depend on timing.
type tally struct{ delta, dangling float64 }

func (o *PageRankOptions) check(n int) error {
	switch {
	case o.Iterations < 0:
		return fmt.Errorf("iterations is %d, expected 0 or more", o.Iterations)
	case !(o.Damping >= 0 && o.Damping < 1):
		return fmt.Errorf("damping is %v, expected a number in (0, 1)", o.Damping)
	case !(o.Tolerance >= 0):
		return fmt.Errorf("tolerance is %v, expected 0 or more", o.Tolerance)
	case o.Dangling != DropDangling && o.Dangling != RedistributeDangling:
		return fmt.Errorf("dangling is %d, expected DropDangling or RedistributeDangling", o.Dangling)
	case o.OutDegrees != nil && len(o.OutDegrees) != n:
		return fmt.Errorf("%d out-degrees for %d vertices", len(o.OutDegrees), n)
	}
	if o.Iterations == 0 {
		o.Iterations = 20
	}
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	return nil
}

func newRanking[T Float](ctx context.Context, edges order.EdgeMap, opt PageRankOptions) (*ranking[T], error) {
	n := edges.Vertices()
	if err := opt.check(n); err != nil {
		return nil, err
	}
	if opt.OutDegrees == nil {
		var err error
		if opt.OutDegrees, err = order.OutDegrees(ctx, edges, opt.Threads); err != nil {
			return nil, err
		}
	}
	padded := order.PadVertices(n)
	r := &ranking[T]{
		opt: opt, n: n, threads: par.Threads(opt.Threads), edges: edges.Edges(),
		each: 1 - opt.Damping,
		rank: huge.Make[T](padded), inv: huge.Make[T](padded),
		src: huge.Make[T](padded), acc: huge.Make[T](padded),
	}
	if opt.Normalised {
		r.each /= float64(max(n, 1))
	}
	if r.owned = ownedParts(edges, r.threads); r.owned != nil {
		r.next = huge.Make[T](padded)
		r.tally = make([]tally, len(r.owned))
	} else {
		r.shared = edges.Split(order.Shares(edges, r.threads))
		r.sums = [][]T{r.acc}
		for len(r.sums) < len(r.shared) {
			r.sums = append(r.sums, huge.Make[T](padded))
		}
		r.tally = make([]tally, (n+vertexGrain-1)/vertexGrain)
	}
	return r, r.start(ctx)
}

// start sets the ranks before the first iteration and what they hand out.
func (r *ranking[T]) start(ctx context.Context) error {
	var first T
	if r.opt.Normalised {
		first = T(1 / float64(max(r.n, 1)))
	}
	err := par.Range(ctx, r.threads, r.n, vertexGrain, func(_, lo, hi int) {
		for v, deg := range r.opt.OutDegrees[lo:hi] {
			if deg != 0 {
				r.inv[lo+v] = T(r.opt.Damping / float64(deg))
			}
			r.rank[lo+v] = first
			r.src[lo+v] = first * r.inv[lo+v]
		}
	})
	if err != nil {
		return err
	}
	dangling := 0
	if first != 0 && r.opt.Dangling == RedistributeDangling {
		for _, deg := range r.opt.OutDegrees {
			if deg == 0 {
				dangling++
			}
		}
	}
	r.setBase(float64(dangling) * float64(first))
	return nil
}

// setBase computes what each vertex gets in the next iteration whatever its
// in-edges are, from the mass of the dangling vertices.
func (r *ranking[T]) setBase(dangling float64) {
	base := r.each
	if r.opt.Dangling == RedistributeDangling {
		base += r.opt.Damping * dangling / float64(max(r.n, 1))
	}
	r.base = T(base)
}

func (r *ranking[T]) run(ctx context.Context) error {
	stage := progress.Start(ctx, "pagerank", int64(r.opt.Iterations)*r.edges, progress.Edges)
	defer stage.Done()
	for i := range r.opt.Iterations {
		begin := time.Now()
		r.last = i == r.opt.Iterations-1
		if err := r.iterate(ctx); err != nil {
			return fmt.Errorf("iteration %d: %w", i+1, err)
		}
		var sum tally
		for _, t := range r.tally {
			sum.delta += t.delta
			sum.dangling += t.dangling
		}
		r.setBase(sum.dangling)
		r.result.Iterations, r.result.Delta = i+1, sum.delta
		r.result.Times = append(r.result.Times, time.Since(begin))
		stage.Add(r.edges)
		if r.opt.Tolerance > 0 && sum.delta < r.opt.Tolerance {
			break
		}
	}
	r.result.Ranks = r.rank[:r.n:r.n]
	return nil
}

func (r *ranking[T]) iterate(ctx context.Context) error {
	if r.owned != nil {
		err := r.iterateOwned(ctx)
		r.src, r.next = r.next, r.src
		return err
	}
	err := eachPart(r.shared, func(i int) error {
		return r.shared[i].Run(ctx, &rankKernel[T]{src: r.src, acc: r.sums[i]})
	})
	if err != nil {
		return err
	}
	return par.Range(ctx, r.threads, r.n, vertexGrain, func(_, lo, hi int) {
		for _, more := range r.sums[1:] {
			acc := r.acc[lo:hi]
			for v, x := range more[lo:hi] {
				acc[v] += x
			}
			clear(more[lo:hi])
		}
		r.tally[lo/vertexGrain] = r.settle(lo, hi, r.src)
	})
}

// iterateOwned lets threads take part after part; whoever ran a part settles its
// targets at once, while they are in cache.
func (r *ranking[T]) iterateOwned(ctx context.Context) error {
	errs := make([]error, r.threads)
	err := par.Range(ctx, r.threads, len(r.owned), 1, func(worker, i, _ int) {
		part := &r.owned[i]
		if err := part.edges.Run(ctx, &rankKernel[T]{src: r.src, acc: r.acc}); err != nil {
			errs[worker] = errors.Join(errs[worker], err)
			return
		}
		r.tally[i] = r.settle(part.lo, part.hi, r.next)
	})
	if err != nil {
		return err
	}
	return errors.Join(errs...)
}

// settle ends an iteration for vertices lo to hi: it turns the sums into ranks and
// the ranks into what they hand out in the next iteration, and clears the sums.
func (r *ranking[T]) settle(lo, hi int, src []T) tally {
	acc, rank, inv, src := r.acc[lo:hi], r.rank[lo:hi], r.inv[lo:hi], src[lo:hi]
	base := r.base
	if r.opt.Tolerance == 0 && r.opt.Dangling == DropDangling && !r.last {
		for v, sum := range acc {
			x := base + sum
			rank[v] = x
			src[v] = x * inv[v]
		}
		clear(acc)
		return tally{}
	}
	var t tally
	for v, sum := range acc {
		x := base + sum
		t.delta += max(float64(x-rank[v]), float64(rank[v]-x))
		if inv[v] == 0 {
			t.dangling += float64(x)
		}
		rank[v] = x
		src[v] = x * inv[v]
	}
	clear(acc)
	return t
}
