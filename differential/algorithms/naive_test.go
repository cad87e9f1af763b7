package algorithms_test

import (
	"cmp"
	"maps"
	"slices"
)

// graph is the model: the edges and roots that are there, and answers worked out from nothing, in the
// dumbest way.
type graph struct {
	edges map[edge]int64
	roots map[uint32]int64
}

func newGraph() *graph { return &graph{map[edge]int64{}, map[uint32]int64{}} }

func (g *graph) clone() *graph { return &graph{maps.Clone(g.edges), maps.Clone(g.roots)} }

func (g *graph) apply(c change) {
	if c.isRoot {
		g.roots[c.edge.Key] += c.weight
	} else {
		g.edges[c.edge] += c.weight
	}
}

// list is the different edges that are there, in order.
func (g *graph) list() []edge {
	var list []edge
	for e, n := range g.edges {
		if n > 0 {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b edge) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
	return list
}

// vertices is the ends of edges and the roots.
func (g *graph) vertices() []uint32 {
	var list []uint32
	for _, e := range g.list() {
		list = append(list, e.Key, e.Value)
	}
	for v, n := range g.roots {
		if n > 0 {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (g *graph) distances(length func(a, b uint32) uint32) map[answer]int {
	dist := map[uint32]uint32{}
	for v, n := range g.roots {
		if n > 0 {
			dist[v] = 0
		}
	}
	for range len(g.vertices()) + 1 {
		for _, e := range g.list() {
			if d, ok := dist[e.Key]; ok {
				if old, ok := dist[e.Value]; !ok || d+length(e.Key, e.Value) < old {
					dist[e.Value] = d + length(e.Key, e.Value)
				}
			}
		}
	}
	answers := map[answer]int{}
	for v, d := range dist {
		answers[answer{int64(v), int64(d)}] = 1
	}
	return answers
}

// reaches is which vertices can be reached from which, in no steps or more.
func (g *graph) reaches() map[edge]bool {
	vertices := g.vertices()
	reached := map[edge]bool{}
	for _, v := range vertices {
		reached[edge{Key: v, Value: v}] = true
	}
	for _, e := range g.list() {
		reached[e] = true
	}
	for _, via := range vertices {
		for _, a := range vertices {
			for _, b := range vertices {
				if reached[edge{Key: a, Value: via}] && reached[edge{Key: via, Value: b}] {
					reached[edge{Key: a, Value: b}] = true
				}
			}
		}
	}
	return reached
}

// least is the least vertex that is together with each.
func (g *graph) least(together func(a, b uint32) bool) map[answer]int {
	answers := map[answer]int{}
	for _, v := range g.vertices() {
		for _, w := range g.vertices() {
			if together(v, w) {
				answers[answer{int64(v), int64(w)}] = 1
				break
			}
		}
	}
	return answers
}

func (g *graph) strong() map[answer]int {
	reached := g.reaches()
	return g.least(func(a, b uint32) bool { return reached[edge{Key: a, Value: b}] && reached[edge{Key: b, Value: a}] })
}

func (g *graph) components() map[answer]int {
	both := g.clone()
	for e, n := range g.edges {
		both.edges[edge{Key: e.Value, Value: e.Key}] += n
	}
	return both.strong()
}

// ranks is what surfers there are, of 100 for each vertex at a damping of 0.85, until nothing changes or the
// rounds are over.
func (g *graph) ranks(rounds int) map[answer]int { return g.surf(15, 85, 100, rounds) }

// halfRanks is the ranks after so many rounds, of 1000 surfers for each vertex at a damping of 0.5.
func (g *graph) halfRanks(rounds int) map[answer]int { return g.surf(500, 1, 2, rounds) }

func (g *graph) surf(anyway, share, of int64, rounds int) map[answer]int {
	degree, rank := map[uint32]int64{}, map[uint32]int64{}
	for e, n := range g.edges {
		if n > 0 {
			degree[e.Key] += n
			rank[e.Key], rank[e.Value] = 0, 0
		}
	}
	for range rounds {
		next := map[uint32]int64{}
		for v := range rank {
			next[v] = anyway
		}
		for e, n := range g.edges {
			if n > 0 {
				next[e.Value] += n * (rank[e.Key] * share / (of * degree[e.Key]))
			}
		}
		same := maps.Equal(rank, next)
		if rank = next; same {
			break
		}
	}
	answers := map[answer]int{}
	for v, r := range rank {
		answers[answer{int64(v), r}] = 1
	}
	return answers
}

// neighbours is whether two vertices have an edge, in either direction.
func (g *graph) neighbours(a, b uint32) bool {
	return a != b && (g.edges[edge{Key: a, Value: b}] > 0 || g.edges[edge{Key: b, Value: a}] > 0)
}

func (g *graph) core(k int) map[answer]int {
	left := g.vertices()
	for {
		before := len(left)
		left = slices.DeleteFunc(slices.Clone(left), func(v uint32) bool {
			n := 0
			for _, w := range left {
				if g.neighbours(v, w) {
					n++
				}
			}
			return n < k
		})
		if len(left) == before {
			break
		}
	}
	answers := map[answer]int{}
	for _, v := range left {
		answers[answer{int64(v)}] = 1
	}
	return answers
}

func (g *graph) triangles() map[answer]int {
	answers := map[answer]int{}
	for _, a := range g.vertices() {
		for _, b := range g.vertices() {
			for _, c := range g.vertices() {
				if a < b && b < c && g.neighbours(a, b) && g.neighbours(b, c) && g.neighbours(a, c) {
					answers[answer{int64(a), int64(b), int64(c)}] = 1
				}
			}
		}
	}
	return answers
}
