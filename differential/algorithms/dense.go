package algorithms

import (
	"cmp"

	"weir/differential"
	"weir/timely"
)

// simple is the edges as an undirected simple graph: once in each direction, and none from a vertex to itself.
func simple[V comparable](edges differential.Keyed[V, V]) differential.Keyed[V, V] {
	return BothWays(edges).Filter(func(a, b V) bool { return a != b }).Distinct()
}

// KCore is the vertices of the k-core: of the largest part of the graph in which each vertex has k neighbours
// or more. Edges have no direction. With k below 1 there is nothing to ask: it is 1 then.
//
// It takes away, round after round, those with too few neighbours that are left, and keeps 4E records for what
// the graph is as a simple one, and a record for each edge, in the round in which its source goes.
func KCore[V comparable](edges differential.Keyed[V, V], k int64) differential.Collection[V] {
	k = max(k, 1)
	graph := simple(edges)
	return graph.Keys().Distinct().Iterate(func(loop *timely.Scope, left differential.Collection[V]) differential.Collection[V] {
		// A vertex that has enough neighbours left is left itself, by induction: it had as many in each round before.
		neighbours := graph.Enter(loop).JoinMap(unit(left), func(_, to V, _ struct{}) V { return to })
		enough := unit(neighbours).Threshold(func(_ V, _ struct{}, n int64) int64 {
			if n >= k {
				return 1
			}
			return 0
		})
		return enough.Keys()
	})
}

// Triangle is three vertices of which each two have an edge, in ascending order.
type Triangle[V comparable] struct{ A, B, C V }

// Triangles is all of them. Edges have no direction.
//
// It keeps 3E edges and all pairs of edges from the same vertex to greater ones; a change costs in proportion
// to the edges of its ends. Package motif, which looks at no pair in vain, does better where vertices have many
// edges.
func Triangles[V cmp.Ordered](edges differential.Keyed[V, V]) differential.Collection[Triangle[V]] {
	up := edges.Filter(func(a, b V) bool { return a != b }).
		MapPairs(func(a, b V) (V, V) { return min(a, b), max(a, b) }).Distinct()
	wedges := differential.ByPair(up.JoinFlat(up, func(a, b, c V, emit func(differential.Pair[differential.Pair[V, V], V])) {
		if b < c {
			emit(differential.Pair[differential.Pair[V, V], V]{Key: differential.Pair[V, V]{Key: b, Value: c}, Value: a})
		}
	}))
	closing := unit(differential.Pairs(up))
	return wedges.JoinMap(closing, func(bc differential.Pair[V, V], a V, _ struct{}) Triangle[V] { return Triangle[V]{a, bc.Key, bc.Value} })
}
