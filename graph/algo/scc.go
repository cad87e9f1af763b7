package algo

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// SCCOptions are the choices of [SCC].
type SCCOptions struct {
	// Threads is the number of goroutines; 0 means all processors.
	Threads int
	// Tarjan asks for Tarjan's algorithm alone, on one thread, which needs no
	// transposed rows.
	Tarjan bool
}

// SCCResult are the strongly connected components of a graph.
type SCCResult struct {
	// Labels holds for each vertex the smallest vertex of its component.
	Labels []uint32
	// Count is the number of components, Largest the number of vertices of the
	// largest one, Trivial the number of those of one vertex.
	Count, Largest, Trivial int
}

// SCC finds the strongly connected components: two vertices belong together if
// each can be reached from the other along out. In holds the transposed rows;
// without them, or on request, it is Tarjan's algorithm on one thread. The
// result is the same whichever way it is found.
//
// With transposed rows it begins as Multistep (Slota, Rajamanickam and Madduri,
// IPDPS 2014): vertices without edges out or in are components of their own;
// the component of the vertex with most edges, in real graphs most of what is
// left, is what is reached from it both forwards and backwards. No other
// component has vertices in two of: what was reached forwards, what was reached
// backwards, what was not reached. Tarjan's algorithm takes these three at the
// same time. It does without recursion.
//
// Memory beside the graph: 4 bytes a vertex for Labels, 9 while it runs, and up
// to 20 for the deepest way that Tarjan's algorithm follows.
func SCC(ctx context.Context, out, in *order.CSR, opt SCCOptions) (*SCCResult, error) {
	r, err := scc(ctx, out, in, opt)
	if err != nil {
		return nil, fmt.Errorf("find strongly connected components: %w", err)
	}
	return r, nil
}

func scc(ctx context.Context, out, in *order.CSR, opt SCCOptions) (*SCCResult, error) {
	if err := checkGraph(out, in); err != nil {
		return nil, err
	}
	n := out.Vertices()
	if uint64(n) >= sccDone {
		return nil, fmt.Errorf("%d vertices: can number fewer than %d", n, uint32(sccDone))
	}
	s := &sccSearch{
		out: out, in: in, n: n, threads: par.Threads(opt.Threads),
		stage:  progress.Start(ctx, "strongly connected components", int64(n), progress.Items),
		labels: huge.Make[uint32](n),
	}
	defer s.stage.Done()
	var err error
	if in == nil || opt.Tarjan || n == 0 {
		s.low = huge.Make[uint32](n)
		err = s.tarjan(ctx, nil, 0)
	} else {
		err = s.multistep(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.result(), nil
}

// sccSearch is a search for components under way.
type sccSearch struct {
	out, in *order.CSR
	n       int
	threads int
	stage   *progress.Stage
	labels  []uint32
	// low is, in Tarjan's algorithm, 0 for a vertex not yet visited, sccDone for
	// one whose component is known, and else the smallest number of a vertex known
	// to be reached from it.
	low []uint32
}

const sccDone = math.MaxUint32

// The parts into which the component of the pivot cuts what it leaves.
const (
	partRest     = iota // not reached
	partForward         // reached forwards
	partBackward        // reached backwards
	sccParts
)

// multistep finds the trivial and the largest component, then the others.
func (s *sccSearch) multistep(ctx context.Context) error {
	pivot, found := s.pivot()
	if !found {
		for v := range s.labels {
			s.labels[v] = uint32(v)
		}
		s.stage.Add(int64(s.n))
		return nil
	}
	forward, err := s.reach(ctx, s.out, s.in, pivot)
	if err != nil {
		return err
	}
	backward, err := s.reach(ctx, s.in, s.out, pivot)
	if err != nil {
		return err
	}
	s.low = huge.Make[uint32](s.n)
	parts := huge.Make[uint8](s.n)
	largest := uint32(NoVertex)
	var known, left int
	for v := range uint32(s.n) {
		if s.trivial(v) {
			s.labels[v], s.low[v] = v, sccDone
			known++
			continue
		}
		f, b := forward[v>>6]>>(v&63)&1, backward[v>>6]>>(v&63)&1
		if f&b != 0 {
			largest = min(largest, v)
			s.labels[v], s.low[v] = largest, sccDone
			known++
			continue
		}
		parts[v] = uint8(f*partForward + b*partBackward)
		left++
	}
	s.stage.Add(int64(known))
	if s.threads == 1 || left < sccParallel {
		return s.tarjan(ctx, nil, 0)
	}
	errs := make([]error, sccParts)
	_ = par.Range(ctx, s.threads, sccParts, 1, func(_, part, _ int) {
		errs[part] = s.tarjan(ctx, parts, uint8(part))
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// sccParallel is the number of vertices from which it is worth to take the
// parts at the same time.
const sccParallel = 1 << 12

// trivial says that v has no edges out or none in, so that it is a component.
func (s *sccSearch) trivial(v uint32) bool { return s.out.Degree(v) == 0 || s.in.Degree(v) == 0 }

// pivot chooses the vertex of most edges out times edges in.
func (s *sccSearch) pivot() (v uint32, found bool) {
	var best uint64
	for u := range uint32(s.n) {
		hi, product := bits.Mul64(uint64(s.out.Degree(u)), uint64(s.in.Degree(u)))
		if hi != 0 {
			return u, true
		}
		if product > best {
			best, v = product, u
		}
	}
	return v, best > 0
}

// reach marks what is reached from v. Trivial components may be marked too.
func (s *sccSearch) reach(ctx context.Context, out, in *order.CSR, v uint32) ([]uint64, error) {
	b := newBFS(out, in, BFSOptions{Threads: s.threads, NoDepths: true})
	if err := b.run(ctx, v, nil); err != nil {
		return nil, err
	}
	return b.visited, nil
}

// sccFrame is a vertex on the way that the search follows.
type sccFrame struct {
	next  uint64 // the edge to look at next
	v     uint32
	index uint32 // v's number in the order of visits
}

// sccCheck is the number of steps between two looks at whether the search is
// cancelled.
const sccCheck = 1 << 16

// tarjan finds the components of the vertices of one part, or of all if parts
// is nil, as far as they are not done. It is Tarjan's algorithm in the form of
// Pearce (2016): a vertex is on the stack only once the search has left it, and
// one number a vertex is enough.
func (s *sccSearch) tarjan(ctx context.Context, parts []uint8, part uint8) error {
	offsets, targets, low, labels := s.out.Offsets, s.out.Targets, s.low, s.labels
	var frames []sccFrame
	var stack []uint32
	var index uint32
	reported := 0
	if err := ctx.Err(); err != nil {
		return err
	}
	steps := 0
	for root := range uint32(s.n) {
		if low[root] != 0 || parts != nil && parts[root] != part {
			continue
		}
		index++
		low[root] = index
		frames = append(frames, sccFrame{offsets[root], root, index})
	follow:
		for len(frames) > 0 {
			if steps++; steps%sccCheck == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
				s.stage.Add(int64(int(index) - reported))
				reported = int(index)
			}
			f := &frames[len(frames)-1]
			v, end, lowest := f.v, offsets[f.v+1], low[f.v]
			for i, w := range targets[f.next:end] {
				if parts != nil && parts[w] != part {
					continue
				}
				switch l := low[w]; {
				case l == 0:
					low[v] = lowest
					f.next += uint64(i) + 1
					index++
					low[w] = index
					frames = append(frames, sccFrame{offsets[w], w, index})
					continue follow
				case l < lowest:
					lowest = l
				}
			}
			low[v] = lowest
			first := f.index
			frames = frames[:len(frames)-1]
			if lowest != first {
				// V belongs to the component of a vertex further up.
				stack = append(stack, v)
				up := frames[len(frames)-1].v
				low[up] = min(low[up], lowest)
				continue
			}
			bottom, smallest := len(stack), v
			for bottom > 0 && low[stack[bottom-1]] >= first {
				bottom--
				smallest = min(smallest, stack[bottom])
			}
			low[v], labels[v] = sccDone, smallest
			for _, w := range stack[bottom:] {
				low[w], labels[w] = sccDone, smallest
			}
			stack = stack[:bottom]
		}
	}
	s.stage.Add(int64(int(index) - reported))
	return nil
}

// result counts what was found.
func (s *sccSearch) result() *SCCResult {
	r := &SCCResult{Labels: s.labels}
	sizes := s.low
	if sizes == nil {
		r.Count, r.Trivial, r.Largest = s.n, s.n, min(s.n, 1)
		return r
	}
	clear(sizes)
	for _, l := range s.labels {
		sizes[l]++
	}
	for _, size := range sizes {
		if size == 0 {
			continue
		}
		r.Count++
		if size == 1 {
			r.Trivial++
		}
		r.Largest = max(r.Largest, int(size))
	}
	return r
}
