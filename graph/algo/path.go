package algo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"weir/graph/order"
	"weir/internal/huge"
)

// PathOptions are the choices of [Path].
type PathOptions struct {
	// Unweighted counts edges even where they have weights.
	Unweighted bool
}

// PathResult is a shortest way between two vertices.
type PathResult struct {
	// Vertices are those along the way, both ends among them; nil if there is no
	// way.
	Vertices []uint32
	// Length is the sum of the weights along the way, added from its start, or the
	// number of edges; +Inf if there is no way.
	Length float64
	// Edges is the number of edges looked at.
	Edges int64
}

// Path finds a shortest way along out from one vertex to another. In holds the
// transposed rows, out itself for an undirected graph; it may be nil, but with
// it the search runs from both ends and looks at far less. Weights must not be
// negative; nil weights are all 1. Which of several shortest ways is found is
// always the same.
//
// It is a search breadth-first or Dijkstra's, from both ends (Pohl, 1971), on
// one thread. A length found from both ends is compared as the sum of two sums,
// so that among ways that differ by less than their rounding any may be found.
//
// Memory beside the graph: 8 bytes a vertex that is reached, 24 with weights;
// 8 more a waiting vertex.
func Path(ctx context.Context, out, in *order.CSR, from, to uint32, opt PathOptions) (*PathResult, error) {
	p, err := path(ctx, out, in, from, to, opt)
	if err != nil {
		return nil, fmt.Errorf("find a path from %d to %d: %w", from, to, err)
	}
	return p, nil
}

func path(ctx context.Context, out, in *order.CSR, from, to uint32, opt PathOptions) (*PathResult, error) {
	if err := checkGraph(out, in); err != nil {
		return nil, err
	}
	if err := checkVertex(out, "start", from); err != nil {
		return nil, err
	}
	if err := checkVertex(out, "end", to); err != nil {
		return nil, err
	}
	weighted := out.Weights != nil && !opt.Unweighted
	if weighted && in != nil && in.Weights == nil {
		return nil, fmt.Errorf("rows have weights, transposed rows have none: need both")
	}
	if from == to {
		return &PathResult{Vertices: []uint32{from}}, nil
	}
	ends := [2]*pathEnd{newPathEnd(out, from, weighted), nil}
	if in != nil {
		ends[1] = newPathEnd(in, to, weighted)
	}
	var meet uint32
	var err error
	if weighted {
		meet, err = meetWeighted(ctx, ends, to)
	} else {
		meet, err = meetLevels(ctx, ends, to)
	}
	if err != nil {
		return nil, err
	}
	r := &PathResult{Length: math.Inf(1), Edges: ends[0].examined}
	if ends[1] != nil {
		r.Edges += ends[1].examined
	}
	if meet == NoVertex {
		return r, nil
	}
	r.Vertices = ends[0].trace(meet)
	slices.Reverse(r.Vertices)
	if ends[1] != nil {
		r.Vertices = append(r.Vertices, ends[1].trace(meet)[1:]...)
	}
	r.Length = float64(len(r.Vertices) - 1)
	if weighted {
		r.Length = 0
		for i, v := range r.Vertices[1:] {
			r.Length += lightest(out, r.Vertices[i], v)
		}
	}
	return r, nil
}

// lightest is the smallest weight of the edges from u to v, of which there is
// one at least.
func lightest(g *order.CSR, u, v uint32) float64 {
	row := g.Neighbours(u)
	w := float32(math.Inf(1))
	for i := sort.Search(len(row), func(i int) bool { return row[i] >= v }); i < len(row) && row[i] == v; i++ {
		w = min(w, g.Weights[g.Offsets[u]+uint64(i)])
	}
	return float64(w)
}

// pathEnd is the search from one end.
type pathEnd struct {
	rows *order.CSR
	// before holds one more than the vertex before each reached one, so that
	// memory nobody wrote to says "not reached".
	before   []uint32
	frontier []uint32  // of the search breadth-first
	edges    uint64    // out of the frontier
	dist     []float64 // of Dijkstra's, valid where before is set
	heap     pathHeap
	examined int64
}

func newPathEnd(rows *order.CSR, at uint32, weighted bool) *pathEnd {
	p := &pathEnd{rows: rows, before: huge.Make[uint32](rows.Vertices())}
	p.before[at] = at + 1
	if weighted {
		p.dist = huge.Make[float64](rows.Vertices())
		p.heap = pathHeap{{0, at}}
	} else {
		p.frontier = []uint32{at}
		p.edges = uint64(rows.Degree(at))
	}
	return p
}

func (p *pathEnd) reached(v uint32) bool { return p.before[v] != 0 }

// trace lists the vertices from v back to this end.
func (p *pathEnd) trace(v uint32) []uint32 {
	way := []uint32{v}
	for p.before[v] != v+1 {
		v = p.before[v] - 1
		way = append(way, v)
	}
	return way
}

// meetLevels searches breadth-first by whole levels, always the frontier of
// fewer edges, and returns the first vertex that both ends reach. As long as
// they have not met, every way is longer than their depths together, so the
// first meeting is on a shortest one.
func meetLevels(ctx context.Context, ends [2]*pathEnd, to uint32) (uint32, error) {
	for {
		p, other := ends[0], ends[1]
		if other != nil && other.edges < p.edges {
			p, other = other, p
		}
		if len(p.frontier) == 0 {
			return NoVertex, nil
		}
		var next []uint32
		p.edges = 0
		for i, u := range p.frontier {
			if i%pathCheck == 0 {
				if err := ctx.Err(); err != nil {
					return NoVertex, err
				}
			}
			row := p.rows.Neighbours(u)
			p.examined += int64(len(row))
			for _, v := range row {
				if p.reached(v) {
					continue
				}
				p.before[v] = u + 1
				if other != nil && other.reached(v) || other == nil && v == to {
					return v, nil
				}
				next = append(next, v)
				p.edges += uint64(p.rows.Degree(v))
			}
		}
		p.frontier = next
	}
}

// pathCheck is the number of vertices between two looks at whether the search
// is cancelled.
const pathCheck = 1 << 10

// meetWeighted runs Dijkstra's algorithm from the ends, always the one of the
// smaller distance, until no way through what is left can be shorter than the
// best meeting, and returns that.
func meetWeighted(ctx context.Context, ends [2]*pathEnd, to uint32) (uint32, error) {
	meet, best := uint32(NoVertex), math.Inf(1)
	for steps := 0; ; steps++ {
		if steps%pathCheck == 0 {
			if err := ctx.Err(); err != nil {
				return NoVertex, err
			}
		}
		p, other := ends[0], ends[1]
		p.dropStale()
		if other == nil {
			if len(p.heap) == 0 {
				return NoVertex, nil
			}
			if p.heap[0].v == to {
				return to, nil
			}
		} else {
			other.dropStale()
			if len(p.heap) == 0 || len(other.heap) == 0 || p.heap[0].d+other.heap[0].d >= best {
				return meet, nil
			}
			if other.heap[0].d < p.heap[0].d {
				p, other = other, p
			}
		}
		e := p.heap.pop()
		lo := p.rows.Offsets[e.v]
		row := p.rows.Neighbours(e.v)
		p.examined += int64(len(row))
		for i, v := range row {
			w := p.rows.Weights[lo+uint64(i)]
			if !(w >= 0) {
				from, to := e.v, v
				if p == ends[1] {
					from, to = to, from
				}
				return NoVertex, fmt.Errorf("edge from %d to %d has weight %v: need weights of 0 or more", from, to, w)
			}
			d := e.d + float64(w)
			if math.IsInf(d, 1) || p.reached(v) && d >= p.dist[v] {
				continue
			}
			p.before[v], p.dist[v] = e.v+1, d
			p.heap.push(pathEntry{d, v})
			if other != nil && other.reached(v) && d+other.dist[v] < best {
				meet, best = v, d+other.dist[v]
			}
		}
	}
}

// dropStale removes entries at the top of vertices that have a shorter distance.
func (p *pathEnd) dropStale() {
	for len(p.heap) > 0 && p.dist[p.heap[0].v] != p.heap[0].d {
		p.heap.pop()
	}
}

// pathEntry is a vertex that waits at a distance.
type pathEntry struct {
	d float64
	v uint32
}

// pathHeap is a heap with four children a node, the smallest distance on top.
type pathHeap []pathEntry

func (h *pathHeap) push(e pathEntry) {
	*h = append(*h, e)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 4
		if s[up].d <= e.d {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = e
}

func (h *pathHeap) pop() pathEntry {
	s := *h
	top, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	i := 0
	for 4*i+1 < len(s) {
		least := 4*i + 1
		for c := least + 1; c < min(4*i+5, len(s)); c++ {
			if s[c].d < s[least].d {
				least = c
			}
		}
		if last.d <= s[least].d {
			break
		}
		s[i] = s[least]
		i = least
	}
	if len(s) > 0 {
		s[i] = last
	}
	return top
}
