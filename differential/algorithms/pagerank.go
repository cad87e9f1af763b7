package algorithms

import (
	"weir/differential"
	"weir/timely"
)

// PageRankOptions say how to rank. The zero value is a good choice.
type PageRankOptions struct {
	// Surfers is how many units of rank a vertex of average rank has; 0 is 100,000. The more there are, the
	// finer the ranks, and the farther a change spreads before it is less than one.
	Surfers int64
	// Damping is the share of its rank that a vertex hands on, in thousandths; 0 is 850.
	Damping int64
	// Rounds is how many rounds to do; 0 is until nothing changes.
	Rounds uint64
}

// PageRank is the rank of each of the vertices, in whole surfers: a vertex gets (1 - damping) surfers, and of
// each edge into it what the source hands on, damping times its rank divided by its out-degree, rounded down.
// What vertices without edges out have is lost. The vertices should be all that there are: [Ends], if nothing
// else says.
//
// Whole numbers are what makes it exact under changes: the ranks are those of the edges alone, not of how they
// came to be, and it comes to an end. Ranks begin at 0 and only grow, to the least that satisfy the equation.
// (From above they might go around in circles.) Divided by Surfers they are those of "weir graph pagerank"
// after as many iterations, but for what is lost by rounding: of all vertices together less than 1/(1-damping)
// surfers for each edge.
//
// It keeps the edges, and for each round the ranks that changed in it and what they hand on: with ranks that
// all change in each of R rounds, 3RV records, and R grows with the logarithm of Surfers. That a rank
// is how often a vertex is in a collection, of surfers, is the idea of McSherry's post of 2017-08-21.
func PageRank[V comparable](edges differential.Keyed[V, V], vertices differential.Collection[V], opt PageRankOptions) differential.Keyed[V, int64] {
	if opt.Surfers == 0 {
		opt.Surfers = 100_000
	}
	if opt.Damping == 0 {
		opt.Damping = 850
	}
	const whole = 1000
	anyway := opt.Surfers * (whole - opt.Damping) / whole
	degrees := edges.Count()
	// Each vertex as often as it has surfers.
	base := times(vertices.Distinct(), anyway)
	none := base.Filter(func(V) bool { return false })
	return differential.Frequencies(none.IterateN(opt.Rounds, func(loop *timely.Scope, ranks differential.Collection[V]) differential.Collection[V] {
		push := degrees.Enter(loop).Join(unit(ranks), func(v V, degree int64, _ struct{}) (V, int64) { return v, degree }).
			Threshold(func(_ V, degree, rank int64) int64 {
				// rank * damping / whole / degree, without the product of large numbers
				return (rank/whole*opt.Damping + rank%whole*opt.Damping/whole) / degree
			})
		pushed := edges.Enter(loop).JoinMap(push, func(_, to V, _ int64) V { return to })
		return pushed.Concat(base.Enter(loop)).Consolidate()
	}))
}

// times is the collection with all weights n times what they are.
func times[D comparable](c differential.Collection[D], n int64) differential.Collection[D] {
	return differential.FromUpdates(c.Updates().Map(func(u differential.Update[D]) differential.Update[D] {
		u.Weight *= n
		return u
	}))
}

// unit has the records as keys.
func unit[D comparable](c differential.Collection[D]) differential.Keyed[D, struct{}] {
	return c.KeyBy(func(x D) (D, struct{}) { return x, struct{}{} })
}
