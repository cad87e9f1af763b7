package algorithms

import (
	"weir/differential"
	"weir/timely"
)

// SCC is the least vertex of each vertex's strongly connected component: of those that it can reach, and from
// which it can be reached. The vertices should be all that there are: [Ends], if nothing else says. Round is as
// in [Propagate].
//
// It takes away, until nothing is left to take, all edges whose ends do not have the same label where labels
// are propagated forward, then where they are propagated backward: an edge within a component always has. What
// has no edge into it, or none out of it, gets no label, and goes first ("trimming"). It is the algorithm of
// the module "scc" of the Rust library differential-dataflow: loops in a loop, two deeper than its own scope.
//
// It keeps for each round of the outer loop what changed in it: some seven records for an edge and a few more
// for each that is not within a component. A change costs what it changes of the labels of any round, which may
// be much: a component that falls apart is labelled anew.
func SCC[V comparable](edges differential.Keyed[V, V], vertices differential.Collection[V], round func(V) uint64) differential.Keyed[V, V] {
	return Propagate(Cycles(edges, round), self(vertices), round)
}

// Cycles is the edges within strongly connected components: those on a cycle. It costs and keeps what [SCC] does.
func Cycles[V comparable](edges differential.Keyed[V, V], round func(V) uint64) differential.Keyed[V, V] {
	back := Reverse(edges)
	return edges.Iterate(func(loop *timely.Scope, inner differential.Keyed[V, V]) differential.Keyed[V, V] {
		return agreeing(agreeing(inner, edges.Enter(loop), round), back.Enter(loop), round)
	})
}

// agreeing is those of edges whose ends have the same label where the targets' labels go along the edges of by;
// in the other direction.
func agreeing[V comparable](by, edges differential.Keyed[V, V], round func(V) uint64) differential.Keyed[V, V] {
	labels := Propagate(by, self(edges.Map(func(_, to V) V { return to })), round)
	half := edges.Join(labels, func(from, to, label V) (V, differential.Pair[V, V]) {
		return to, differential.Pair[V, V]{Key: from, Value: label}
	})
	return differential.ByPair(half.JoinFlat(labels, func(to V, half differential.Pair[V, V], label V, emit func(differential.Pair[V, V])) {
		if half.Value == label {
			emit(differential.Pair[V, V]{Key: to, Value: half.Key})
		}
	}))
}
