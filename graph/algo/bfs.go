package algo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// NoVertex marks the absence of a vertex in results that name one for each
// vertex. It is no vertex's number: see [order.MaxVertices].
const NoVertex = math.MaxUint32

// Unreached is the depth of a vertex that a search did not reach.
const Unreached = -1

// BFSOptions are the choices of a breadth-first search. The zero value searches
// on all processors and records depths.
type BFSOptions struct {
	// Threads is the number of goroutines; 0 means all processors.
	Threads int
	// Parents asks for the search tree.
	Parents bool
	// NoDepths leaves the depths out.
	NoDepths bool
	// Alpha and Beta say when to change direction; 0 means 15 and 18. The search
	// goes bottom-up when the frontier's edges are more than 1/Alpha of those not
	// yet looked at, and back when the frontier shrinks below 1/Beta of the
	// vertices.
	Alpha, Beta int
}

// BFSResult is what a breadth-first search found.
type BFSResult struct {
	// Depth holds the number of edges from the source to each vertex, or
	// [Unreached]; nil if not wanted.
	Depth []int32
	// Parent holds for each vertex the one before it on a shortest way from the
	// source, or [NoVertex]; the source is its own parent. Nil if not wanted.
	// Where there are several shortest ways, which one depends on the direction
	// of the search and, with several threads, on timing.
	Parent []uint32
	// Reached is the number of vertices reached, the source among them.
	Reached int
	// Levels is one more than the largest depth.
	Levels int
	// Edges is the number of edges looked at; less than the edges of what was
	// reached where the search went bottom-up.
	Edges int64
}

// BFS searches breadth-first from source along out. In holds the transposed
// rows, out itself for an undirected graph; it may be nil, then the search only
// goes top-down. The result is the same for every number of threads but for
// the choice among equally good parents.
//
// It is the direction-optimising search of Beamer, Asanović and Patterson (SC
// 2012): while the frontier is large, unvisited vertices look for a parent in
// it instead of the frontier looking at all its edges. A level costs no more
// than its frontier unless that frontier holds a good part of the graph, so
// that graphs of long diameter are not scanned once a level.
//
// Memory beside the graph: 4 bytes a vertex for each of Depth and Parent, and
// 4.4 while it runs.
func BFS(ctx context.Context, out, in *order.CSR, source uint32, opt BFSOptions) (*BFSResult, error) {
	if err := checkGraph(out, in); err != nil {
		return nil, fmt.Errorf("search breadth-first: %w", err)
	}
	if err := checkVertex(out, "source", source); err != nil {
		return nil, fmt.Errorf("search breadth-first: %w", err)
	}
	b := newBFS(out, in, opt)
	stage := progress.Start(ctx, "breadth-first search", int64(out.Vertices()), progress.Items)
	defer stage.Done()
	if err := b.run(ctx, source, stage); err != nil {
		return nil, fmt.Errorf("search breadth-first from %d: %w", source, err)
	}
	return &BFSResult{Depth: b.depth, Parent: b.parent, Reached: b.reached, Levels: int(b.level), Edges: b.examined}, nil
}

// oneIfShared is out if in has the same storage, as the transposed rows of an undirected
// graph do that was opened by package graph, and else in.
func oneIfShared(out, in *order.CSR) *order.CSR {
	if in == nil || in == out || len(in.Offsets) != len(out.Offsets) || len(in.Targets) != len(out.Targets) ||
		&in.Offsets[0] != &out.Offsets[0] || len(in.Targets) > 0 && &in.Targets[0] != &out.Targets[0] {
		return in
	}
	return out
}

// checkGraph verifies the storage of out and of in, which may be nil, and that
// they can be of one graph.
func checkGraph(out, in *order.CSR) error {
	if out == nil {
		return errors.New("no edges given: need the rows of a graph, have nil")
	}
	for _, rows := range []*order.CSR{out, in} {
		if rows != nil && len(rows.Offsets)-1 != rows.Vertices() {
			return fmt.Errorf("the rows of %d vertices of %d: expected those of all", len(rows.Offsets)-1, rows.Vertices())
		}
	}
	if err := out.Verify(); err != nil {
		return err
	}
	if in == nil || in == out {
		return nil
	}
	if in.Vertices() != out.Vertices() || in.Edges() != out.Edges() {
		return fmt.Errorf("rows of %d vertices and %d edges do not belong to transposed rows of %d vertices and %d edges",
			out.Vertices(), out.Edges(), in.Vertices(), in.Edges())
	}
	return in.Verify()
}

// checkVertex says whether v is a vertex; what names its part in the search.
func checkVertex(g *order.CSR, what string, v uint32) error {
	if n := g.Vertices(); int64(v) >= int64(n) {
		return fmt.Errorf("%s vertex %d is out of range: the graph has %d vertices", what, v, n)
	}
	return nil
}

// bfs is a search under way.
type bfs struct {
	out, in *order.CSR
	n       int
	threads int
	alpha   uint64
	beta    int

	depth  []int32  // nil if not wanted
	parent []uint32 // nil if not wanted

	// visited has a bit for each vertex that need not be looked at any more: the
	// reached ones, those beyond n in the last word, and, once a bottom-up step
	// saw them, those without edges in.
	visited []uint64
	// queue holds a top-down frontier and what follows it. A vertex enters at most
	// once, so n elements are enough and no level has to make room for another.
	queue []uint32
	// front and next are the frontiers of bottom-up steps; made by the first.
	front, next []uint64

	workers  []bfsWorker
	level    int32 // the depth being filled
	reached  int
	examined int64
}

func newBFS(out, in *order.CSR, opt BFSOptions) *bfs {
	n := out.Vertices()
	b := &bfs{out: out, in: in, n: n, threads: par.Threads(opt.Threads), alpha: 15, beta: 18}
	if opt.Alpha > 0 {
		b.alpha = uint64(opt.Alpha)
	}
	if opt.Beta > 0 {
		b.beta = opt.Beta
	}
	if !opt.NoDepths {
		b.depth = huge.Make[int32](n)
		fill(b.depth, Unreached)
	}
	if opt.Parents {
		b.parent = huge.Make[uint32](n)
		fill(b.parent, NoVertex)
	}
	b.visited = huge.Make[uint64]((n + 63) / 64)
	if n%64 != 0 {
		b.visited[n/64] = ^uint64(0) << (n % 64)
	}
	b.queue = huge.Make[uint32](n)
	b.workers = make([]bfsWorker, b.threads)
	return b
}

// fill sets every element to x, by doubling copies, which run at the speed of
// memory.
func fill[T any](s []T, x T) {
	if len(s) == 0 {
		return
	}
	s[0] = x
	for done := 1; done < len(s); done *= 2 {
		copy(s[done:], s[:done])
	}
}

// run searches from source, level by level.
func (b *bfs) run(ctx context.Context, source uint32, stage *progress.Stage) error {
	b.visited[source>>6] |= 1 << (source & 63)
	if b.depth != nil {
		b.depth[source] = 0
	}
	if b.parent != nil {
		b.parent[source] = source
	}
	b.queue[0] = source
	b.reached, b.level = 1, 1
	stage.Add(1)

	lo, hi := 0, 1 // the frontier is queue[lo:hi]
	scout := uint64(b.out.Degree(source))
	unseen := uint64(b.out.Edges())
	// A bottom-up step passes over the whole bitmap and the offsets of all
	// unvisited vertices: not worth it for a frontier of fewer edges than that.
	least := uint64(b.n / 32)
	for lo < hi {
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.level == math.MaxInt32 {
			return fmt.Errorf("depth exceeds %d levels", math.MaxInt32)
		}
		if b.in != nil && scout > least && scout > unseen/b.alpha {
			tail, err := b.bottomUpLevels(ctx, lo, hi, stage)
			if err != nil {
				return err
			}
			lo, hi, scout = hi, tail, 0
			continue
		}
		unseen -= min(unseen, scout)
		tail, edges, err := b.topDown(ctx, lo, hi)
		if err != nil {
			return err
		}
		b.reached += tail - hi
		stage.Add(int64(tail - hi))
		lo, hi, scout = hi, tail, edges
		if lo < hi {
			b.level++
		}
	}
	return nil
}

// bottomUpLevels takes the frontier queue[lo:hi] and goes bottom-up until the
// frontier has become small; it leaves that behind hi in the queue and returns
// its end.
func (b *bfs) bottomUpLevels(ctx context.Context, lo, hi int, stage *progress.Stage) (tail int, err error) {
	if b.front == nil {
		b.front = huge.Make[uint64](len(b.visited))
		b.next = huge.Make[uint64](len(b.visited))
	} else {
		clear(b.front)
	}
	for _, v := range b.queue[lo:hi] {
		b.front[v>>6] |= 1 << (v & 63)
	}
	for awake, before := hi-lo, 0; ; {
		before = awake
		if awake, err = b.bottomUp(ctx); err != nil {
			return hi, err
		}
		b.front, b.next = b.next, b.front
		b.reached += awake
		stage.Add(int64(awake))
		if awake == 0 {
			return hi, nil
		}
		b.level++
		growing := awake >= before && awake > b.n/1024
		if !growing && awake <= b.n/b.beta {
			break
		}
	}
	tail = hi
	for w, word := range b.front {
		for ; word != 0; word &= word - 1 {
			b.queue[tail] = uint32(w<<6 + bits.TrailingZeros64(word))
			tail++
		}
	}
	return tail, nil
}
