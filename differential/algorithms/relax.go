package algorithms

import (
	"math/bits"

	"weir/differential"
	"weir/timely"
)

// relax is the least label that comes to each vertex: those of begin, and those that an edge makes of the label
// of its source, round after round. Step makes of a vertex, its label and the far end of an edge the target and
// a label for it; it must not make a label that is less than the one it is made of, or the loop may have no
// end.
//
// The labels in the loop have one index, which is that of the minimum: the edges are joined with it, and
// the proposals that come of it are what is reduced. To let the labels themselves go around would index them again.
func relax[V, E, L comparable](name string, edges differential.Keyed[V, E], begin func(loop *timely.Scope) differential.Keyed[V, L],
	step func(from V, label L, edge E) (V, L),
) differential.Keyed[V, L] {
	outer := edges.Scope()
	loop := outer.Loop(name)
	labels := begin(loop)
	none := differential.Pairs(labels).Filter(func(differential.Pair[V, L]) bool { return false })
	proposals := differential.NewVariable(loop, none)
	least := differential.ByPair(proposals.Collection()).Concat(labels).Min()
	proposals.Set(differential.Pairs(least.Join(edges.Enter(loop), step)))
	return least.Leave(outer)
}

// BFS is how many edges away from the nearest root each vertex is that can be reached from one: a breadth-first
// search along the edges.
//
// It takes as many rounds as the farthest vertex is away, and keeps E distances that edges proposed, and V. A
// change costs in proportion to the vertices whose distance it changes, and their edges; an edge that is on no
// shortest path costs the same however large the graph is.
//
// It is the example of McSherry's post "Differential graph computation" (2015-05-12).
func BFS[V comparable](edges differential.Keyed[V, V], roots differential.Collection[V]) differential.Keyed[V, uint32] {
	return relax("bfs", edges, func(loop *timely.Scope) differential.Keyed[V, uint32] {
		return roots.KeyBy(func(v V) (V, uint32) { return v, 0 }).Enter(loop)
	}, func(_ V, d uint32, to V) (V, uint32) { return to, d + 1 })
}

// Reach is the vertices that can be reached from a root along the edges, the roots among them, each once.
//
// It costs and keeps as [BFS] does: that a vertex is reached has to be unlearned where an edge goes, and only
// what was learned round after round, rather than from one another, can be.
func Reach[V comparable](edges differential.Keyed[V, V], roots differential.Collection[V]) differential.Collection[V] {
	return relax("reach", edges, func(loop *timely.Scope) differential.Keyed[V, struct{}] {
		return roots.KeyBy(func(v V) (V, struct{}) { return v, struct{}{} }).Enter(loop)
	}, func(_ V, _ struct{}, to V) (V, struct{}) { return to, struct{}{} }).Keys()
}

// Hop is an edge with a length, as seen from its source.
type Hop[V comparable] struct {
	To     V
	Length uint32
}

// ShortestPaths is the length of a shortest path to each vertex from the nearest root: the least sum of the
// lengths of the edges on a path (Bellman-Ford).
//
// It takes as many rounds as the shortest paths have edges at most, and keeps E lengths that edges proposed, V, and
// those of earlier rounds, where a vertex was reached by few edges before it was reached by short ones.
func ShortestPaths[V comparable](edges differential.Keyed[V, Hop[V]], roots differential.Collection[V]) differential.Keyed[V, uint64] {
	return relax("shortest paths", edges, func(loop *timely.Scope) differential.Keyed[V, uint64] {
		return roots.KeyBy(func(v V) (V, uint64) { return v, 0 }).Enter(loop)
	}, func(_ V, d uint64, h Hop[V]) (V, uint64) { return h.To, d + uint64(h.Length) })
}

// Propagate is the least label that comes to each vertex along the edges, of those that vertices have to begin
// with: label propagation. Labels are in the order of [differential.Keyed.Min].
//
// Where round is not nil, a label sets out only in the round that it says: if those that win go first, nobody
// is told of the others, and V labels are kept rather than one for each round in which a vertex changed its
// mind. See [Logarithmic]. It must grow with the label, but that is a matter of speed: the answer is the same.
//
// It keeps E labels that edges proposed, and V. The prioritised rounds are those of McSherry's post "Differential
// graph computation" (2015-05-12).
func Propagate[V, L comparable](edges differential.Keyed[V, V], labels differential.Keyed[V, L], round func(L) uint64) differential.Keyed[V, L] {
	return relax("propagate", edges, func(loop *timely.Scope) differential.Keyed[V, L] {
		if round == nil {
			return labels.Enter(loop)
		}
		return labels.EnterAt(loop, func(_ V, label L) uint64 { return round(label) })
	}, func(_ V, label L, to V) (V, L) { return to, label })
}

// phase is how many rounds a label has to itself, before those of the next magnitude set out. Where it needs
// more they mix, which is only slower.
const phase = 256

// Logarithmic is the round in which a numeric label sets out: 0 first, then 1, then 2 and 3, then 4 to 7, and
// so on, with time enough between.
func Logarithmic[L ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint](label L) uint64 {
	return phase * uint64(bits.Len64(uint64(label)))
}

// Components is the least vertex that each vertex is connected with, by edges in either direction: vertices of
// equal results are a connected component. The vertices should be all that there are: [Ends], if nothing else
// says. Round is as in [Propagate], for a label that is a vertex; nil is all at once.
//
// It keeps 2E edges, in both directions, and 2E labels that edges proposed, and V. The cost of a change is that
// of the labels it changes: to break a large component in two, or to join two, relabels one of them.
func Components[V comparable](edges differential.Keyed[V, V], vertices differential.Collection[V], round func(V) uint64) differential.Keyed[V, V] {
	return Propagate(BothWays(edges), self(vertices), round)
}

// BothWays is the edges and their reverses.
func BothWays[V comparable](edges differential.Keyed[V, V]) differential.Keyed[V, V] {
	return edges.Concat(Reverse(edges))
}

// Reverse is the edges in the other direction.
func Reverse[V comparable](edges differential.Keyed[V, V]) differential.Keyed[V, V] {
	return edges.MapPairs(func(a, b V) (V, V) { return b, a })
}

// Ends is the sources and targets of edges, each vertex as often as it is one.
func Ends[V comparable](edges differential.Keyed[V, V]) differential.Collection[V] {
	return edges.Keys().Concat(edges.Map(func(_, to V) V { return to }))
}

// self is every vertex with itself as its label.
func self[V comparable](vertices differential.Collection[V]) differential.Keyed[V, V] {
	return vertices.KeyBy(func(v V) (V, V) { return v, v })
}
