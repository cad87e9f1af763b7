// Package generate makes graphs of known shape, as large as one likes, from a
// few numbers.
//
// Every edge is a function of the seed and of its own index, so a graph is the
// same whatever the number of threads, any part of it can be made alone, and
// nothing is kept in memory but the chunk at hand:
//
//	spec := generate.Spec{Kind: generate.RMAT, Scale: 20, Seed: 1}
//	err := generate.Generate(ctx, spec, 0, func(edges []uint64, _ []float32) error {
//		for _, e := range edges {
//			source, target := uint32(e>>32), uint32(e)
//			...
//		}
//		return nil
//	})
//
// An undirected graph is made with each edge once, in one direction; whoever
// stores it adds the other. Random kinds may hold self-loops and duplicates
// where their text says so, as their definitions do.
package generate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kind names a family of graphs.
type Kind string

// The kinds. Each names the fields of [Spec] that it reads beside Seed and
// Weights; where a field is zero its default holds.
const (
	// RMAT is the recursive matrix of Chakrabarti, Zhan and Faloutsos (2004) with
	// the parameters of Graph500: skewed degrees as in social and web graphs.
	// Scale, EdgeFactor or Edges, A, B, C, D, Noise, PlainIDs. Has self-loops and duplicates.
	RMAT Kind = "rmat"
	// Kronecker is RMAT under the name it has where it is read as undirected.
	Kronecker Kind = "kronecker"
	// Uniform is the Erdős–Rényi graph G(n, m): both ends of each edge are drawn
	// uniformly. Scale or Vertices, EdgeFactor or Edges. Has self-loops and duplicates.
	Uniform Kind = "uniform"
	// Grid is a two-dimensional lattice, Rows × Columns, with edges to the right
	// and down. A road network's diameter, without its irregularity.
	Grid Kind = "grid"
	// Chain is 0 → 1 → 2 → …. Scale or Vertices.
	Chain Kind = "chain"
	// Star is 0 → 1, 0 → 2, …. Scale or Vertices.
	Star Kind = "star"
	// Complete has an edge from each vertex to each of a higher number. Scale or Vertices.
	Complete Kind = "complete"
	// Preferential is preferential attachment after Barabási and Albert (1999):
	// vertices arrive one after the other and link to Degree earlier ones, chosen
	// in proportion to their degree. Scale or Vertices, Degree. Has duplicates.
	Preferential Kind = "preferential"
	// SmallWorld is a ring after Watts and Strogatz (1998) in which each vertex
	// is linked to Degree neighbours, and each link is moved to a random vertex with
	// probability Rewire. Scale or Vertices, Degree, Rewire. Has duplicates.
	SmallWorld Kind = "smallworld"
	// Bipartite has edges drawn uniformly from the first Left vertices to the
	// rest. Scale or Vertices, Left, EdgeFactor or Edges. Has duplicates.
	Bipartite Kind = "bipartite"
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{RMAT, Kronecker, Uniform, Grid, Chain, Star, Complete, Preferential, SmallWorld, Bipartite}
}

// Spec says which graph to make. Only Kind and a size are needed.
type Spec struct {
	Kind Kind

	// Scale is the base-2 logarithm of the number of vertices.
	Scale int
	// Vertices is the number of vertices, for kinds that need no power of two.
	Vertices int64
	// EdgeFactor is the number of edges for each vertex; 16 if neither it nor Edges is set.
	EdgeFactor float64
	// Edges is the number of edges, instead of EdgeFactor.
	Edges int64

	Seed uint64

	// A, B, C and D are the probabilities of the quadrants of an RMAT graph; all
	// zero stands for 0.57, 0.19, 0.19, 0.05. They are scaled to sum to 1.
	A, B, C, D float64
	// Noise, in [0, 1], varies the quadrants from level to level, which smooths
	// the steps that RMAT's degree distribution has otherwise (Seshadhri, Pinar
	// and Kolda, 2011).
	Noise float64
	// PlainIDs leaves an RMAT graph's vertices as the recursion numbers them,
	// heavy ones first, instead of shuffling them.
	PlainIDs bool

	// Rows and Columns are the sides of a grid.
	Rows, Columns int64
	// Degree is the number of links of a new vertex (Preferential, 8 by default) or
	// of each vertex of the ring (SmallWorld, even, 16 by default).
	Degree int
	// Rewire is the probability that a link of a small world is moved.
	Rewire float64
	// Left is the number of vertices on the left of a bipartite graph; half of
	// them by default.
	Left int64

	// Weights are given to the edges if its Max is not zero.
	Weights Weights
}

// Weights says what weights edges have: uniform between Min and Max, both
// included; whole numbers if Whole is set.
type Weights struct {
	Min, Max float32
	Whole    bool
}

// maker fills dst with the edges of index first, first+1, …, packed as
// source<<32 | target. It is called from several goroutines at once.
type maker interface {
	fill(dst []uint64, first int64)
}

// Size is the number of vertices and of edges that the graph will have, or says
// what is wrong with the spec.
func (s Spec) Size() (vertices, edges int64, err error) {
	_, vertices, edges, err = s.plan()
	return vertices, edges, err
}

// plan checks the spec and returns who makes its edges.
func (s Spec) plan() (m maker, vertices, edges int64, err error) {
	fail := func(format string, args ...any) (maker, int64, int64, error) {
		return nil, 0, 0, fmt.Errorf("generate %s: "+format, append([]any{s.Kind}, args...)...)
	}
	if !slices.Contains(Kinds(), s.Kind) {
		names := make([]string, len(Kinds()))
		for i, k := range Kinds() {
			names[i] = string(k)
		}
		return nil, 0, 0, fmt.Errorf("generate: no kind of graph is called %q; there are %s", s.Kind, strings.Join(names, ", "))
	}
	if err := s.Weights.check(); err != nil {
		return fail("%w", err)
	}
	n, err := s.vertices()
	if err != nil {
		return fail("%w", err)
	}
	switch s.Kind {
	case RMAT, Kronecker, Uniform, Bipartite:
		if edges, err = s.edges(n); err != nil {
			return fail("%w", err)
		}
	}
	switch s.Kind {
	case RMAT, Kronecker:
		m, err = newRMAT(s)
	case Uniform:
		m = uniform{key: key(s.Seed, streamEnds), n: uint64(n)}
	case Bipartite:
		m, err = newBipartite(s, n)
	case Grid:
		edges = s.Rows*(s.Columns-1) + (s.Rows-1)*s.Columns
		m = grid{rows: s.Rows, columns: s.Columns}
	case Chain:
		edges, m = n-1, chain{}
	case Star:
		edges, m = n-1, star{}
	case Complete:
		if n > maxEdges/n {
			return fail("all edges between %d vertices: want at most 2^48 edges", n)
		}
		edges, m = n*(n-1)/2, complete{n: n}
	case Preferential:
		m, edges, err = newPreferential(s, n)
	case SmallWorld:
		m, edges, err = newSmallWorld(s, n)
	}
	if err != nil {
		return fail("%w", err)
	}
	return m, n, edges, nil
}

// vertices checks and returns the number of vertices.
func (s Spec) vertices() (int64, error) {
	if s.Kind == Grid {
		if s.Rows < 1 || s.Columns < 1 || s.Rows > maxVertices || s.Columns > maxVertices/s.Rows {
			return 0, fmt.Errorf("a grid of %d × %d: want at least 1 row and 1 column, and at most %d vertices", s.Rows, s.Columns, int64(maxVertices))
		}
		return s.Rows * s.Columns, nil
	}
	if s.Scale != 0 {
		if s.Scale < 1 || s.Scale > maxScale {
			return 0, fmt.Errorf("scale %d: want 1 to %d", s.Scale, maxScale)
		}
		if s.Vertices != 0 && s.Vertices != 1<<s.Scale {
			return 0, fmt.Errorf("scale %d and %d vertices: give one of them", s.Scale, s.Vertices)
		}
		return 1 << s.Scale, nil
	}
	if s.Kind == RMAT || s.Kind == Kronecker {
		if s.Vertices < 2 || s.Vertices&(s.Vertices-1) != 0 || s.Vertices > 1<<maxScale {
			return 0, fmt.Errorf("%d vertices: want a scale, or a power of two up to 2^%d", s.Vertices, maxScale)
		}
		return s.Vertices, nil
	}
	if s.Vertices < 1 || s.Vertices > maxVertices {
		return 0, fmt.Errorf("%d vertices: want a scale, or 1 to %d vertices", s.Vertices, int64(maxVertices))
	}
	return s.Vertices, nil
}

// A vertex is a uint32, and so is the number of vertices: these are the largest
// number of them and the largest power of two of them.
const (
	maxVertices = 1<<32 - 1
	maxScale    = 31
)

// maxEdges bounds the edges of a graph: far more than a disk holds, and no sum
// of a few of them overflows.
const maxEdges = 1 << 48

// edges checks and returns the number of edges where it may be chosen.
func (s Spec) edges(n int64) (int64, error) {
	if s.Edges != 0 && s.EdgeFactor != 0 {
		return 0, fmt.Errorf("%d edges and an edge factor of %v: give one of them", s.Edges, s.EdgeFactor)
	}
	if s.Edges < 0 || s.Edges > maxEdges {
		return 0, fmt.Errorf("%d edges: want 0 to 2^48", s.Edges)
	}
	if s.Edges != 0 {
		return s.Edges, nil
	}
	factor := s.EdgeFactor
	if factor == 0 {
		factor = 16
	}
	if m := math.Round(factor * float64(n)); m >= 0 && m <= maxEdges {
		return int64(m), nil
	}
	return 0, fmt.Errorf("an edge factor of %v for %d vertices: want 0 to 2^48 edges", s.EdgeFactor, n)
}

// Generate makes the graph and calls emit with its edges in order of their
// index, in chunks packed as source<<32 | target; weights has the same length, or
// is nil where the spec asks for none. Both slices are reused: they are valid only
// during the call. emit is called from one goroutine at a time while up to
// threads others (0: all processors) prepare the chunks that follow.
//
// It returns the first error of emit, or ctx's.
func Generate(ctx context.Context, spec Spec, threads int, emit func(edges []uint64, weights []float32) error) error {
	m, _, edges, err := spec.plan()
	if err != nil {
		return err
	}
	return stream(ctx, chunker{maker: m, edges: edges, weights: spec.Weights, key: key(spec.Seed, streamWeights)}, threads, emit)
}
