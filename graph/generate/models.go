package generate

import "fmt"

// uniform draws both ends from all n vertices.
type uniform struct{ key, n uint64 }

func (u uniform) fill(dst []uint64, first int64) {
	for i := range dst {
		e := 2 * (uint64(first) + uint64(i))
		dst[i] = below(at(u.key, e), u.n)<<32 | below(at(u.key, e+1), u.n)
	}
}

// bipartite draws the source from the left vertices and the target from those
// on the right, which follow them.
type bipartite struct{ key, left, right uint64 }

func newBipartite(s Spec, n int64) (bipartite, error) {
	left := s.Left
	if left == 0 {
		left = n / 2
	}
	if left < 1 || left >= n {
		return bipartite{}, fmt.Errorf("%d of %d vertices on the left: want at least one on each side", left, n)
	}
	return bipartite{key: key(s.Seed, streamEnds), left: uint64(left), right: uint64(n - left)}, nil
}

func (b bipartite) fill(dst []uint64, first int64) {
	for i := range dst {
		e := 2 * (uint64(first) + uint64(i))
		dst[i] = below(at(b.key, e), b.left)<<32 | (b.left + below(at(b.key, e+1), b.right))
	}
}

// preferential attaches vertices one after the other. To choose a vertex in
// proportion to its degree is to choose one end of the edges so far (Batagelj and
// Brandes, 2005); that end may be a choice itself, which is made again from its
// own random number instead of being looked up (Sanders and Schulz, 2016), so
// that nothing is stored. A look back takes two steps on average.
type preferential struct {
	key    uint64
	degree int64
	clique int64 // edges among the first degree+1 vertices, which know all earlier ones
}

func newPreferential(s Spec, n int64) (preferential, int64, error) {
	d := int64(s.Degree)
	if d == 0 {
		d = 8
	}
	if d < 1 || d >= n {
		return preferential{}, 0, fmt.Errorf("degree %d for %d vertices: want 1 to one less than the vertices", d, n)
	}
	if d > maxEdges/n {
		return preferential{}, 0, fmt.Errorf("degree %d for %d vertices: want at most 2^48 edges", d, n)
	}
	p := preferential{key: key(s.Seed, streamEnds), degree: d, clique: d * (d + 1) / 2}
	return p, p.clique + (n-d-1)*d, nil
}

// source is the vertex that made edge e.
func (p preferential) source(e int64) int64 {
	if e < p.clique {
		return triangleRow(e) + 1
	}
	return p.degree + 1 + (e-p.clique)/p.degree
}

// target is the vertex that edge e was attached to.
func (p preferential) target(e int64) int64 {
	for {
		if e < p.clique {
			row := triangleRow(e)
			return e - row*(row+1)/2
		}
		before := e - (e-p.clique)%p.degree // edges of the vertices before this one
		end := int64(below(at(p.key, uint64(e)), uint64(2*before)))
		e = end / 2
		if end%2 == 0 {
			return p.source(e)
		}
	}
}

func (p preferential) fill(dst []uint64, first int64) {
	for i := range dst {
		e := first + int64(i)
		dst[i] = uint64(p.source(e))<<32 | uint64(p.target(e))
	}
}

// smallWorld links each vertex of a ring to its next half-degree neighbours,
// unless the link is moved.
type smallWorld struct {
	key, n, half uint64
	rewire       float64
}

func newSmallWorld(s Spec, n int64) (smallWorld, int64, error) {
	d := int64(s.Degree)
	if d == 0 {
		d = 16
	}
	if d < 2 || d%2 != 0 || d >= n {
		return smallWorld{}, 0, fmt.Errorf("degree %d for %d vertices: want an even number below the number of vertices", d, n)
	}
	if d > maxEdges/n {
		return smallWorld{}, 0, fmt.Errorf("degree %d for %d vertices: want at most 2^48 edges", d, n)
	}
	if !(s.Rewire >= 0 && s.Rewire <= 1) {
		return smallWorld{}, 0, fmt.Errorf("rewire %v: want a probability", s.Rewire)
	}
	return smallWorld{key: key(s.Seed, streamEnds), n: uint64(n), half: uint64(d / 2), rewire: s.Rewire}, n * d / 2, nil
}

func (w smallWorld) fill(dst []uint64, first int64) {
	for i := range dst {
		e := uint64(first) + uint64(i)
		v := e / w.half
		step := e%w.half + 1
		if unit(at(w.key, 2*e)) < w.rewire {
			step = 1 + below(at(w.key, 2*e+1), w.n-1) // anywhere but v itself
		}
		u := v + step
		if u >= w.n {
			u -= w.n
		}
		dst[i] = v<<32 | u
	}
}
