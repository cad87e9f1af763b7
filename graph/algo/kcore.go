package algo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// KCoreOptions are the choices of [KCore].
type KCoreOptions struct {
	// Threads is the number of goroutines; 0 means all processors.
	Threads int
}

// KCoreResult are the cores of a graph.
type KCoreResult struct {
	// Core holds for each vertex the largest k such that it belongs to the k-core:
	// the largest part of the graph in which every vertex has at least k edges.
	Core []uint32
	// Max is the largest of them, and Innermost the number of vertices that have
	// it.
	Max, Innermost int
}

// KCore finds the core number of every vertex. In holds the transposed rows, or
// is out itself for an undirected graph whose rows hold every edge both ways.
// In a directed graph a vertex has its edges out and its edges in, so that two
// vertices with edges both ways have two between them; loops and all but one of
// equal edges do not count. These are the numbers of networkx's core_number.
//
// Vertices are peeled off in levels (Batagelj and Zaversnik, 2003; in the form
// of Kabir and Madduri's PKC, 2017): level k removes vertices of k edges until
// none are left, each taking an edge from its neighbours. Vertices still there
// are looked at once a level, which is at most once an edge, so the time is
// proportional to the number of edges.
//
// Memory beside the graph: 4 bytes a vertex for Core, 8 while it runs, 12 with
// more than one thread.
func KCore(ctx context.Context, out, in *order.CSR, opt KCoreOptions) (*KCoreResult, error) {
	r, err := kcore(ctx, out, in, opt)
	if err != nil {
		return nil, fmt.Errorf("find cores: %w", err)
	}
	return r, nil
}

// errTransposed is the answer to algorithms that need all neighbours of a vertex
// and were not given them.
var errTransposed = errors.New("no transposed rows given: need them, or for an undirected graph the same rows again")

func kcore(ctx context.Context, out, in *order.CSR, opt KCoreOptions) (*KCoreResult, error) {
	if err := checkGraph(out, in); err != nil {
		return nil, err
	}
	if in == nil {
		return nil, errTransposed
	}
	in = oneIfShared(out, in)
	n := out.Vertices()
	p := &peeling{threads: par.Threads(opt.Threads), rows: []*order.CSR{out}}
	if in != out {
		p.rows = append(p.rows, in)
	}
	p.degree = huge.Make[uint32](n)
	p.alive = huge.Make[uint32](n)
	p.queue = huge.Make[uint32](n)
	if p.threads > 1 {
		p.spare = huge.Make[uint32](n)
	}
	stage := progress.Start(ctx, "cores", int64(n), progress.Items)
	defer stage.Done()
	if err := p.countDegrees(ctx); err != nil {
		return nil, err
	}
	if err := p.run(ctx, stage); err != nil {
		return nil, err
	}
	r := &KCoreResult{Core: p.degree}
	for _, k := range p.degree {
		switch {
		case int(k) > r.Max:
			r.Max, r.Innermost = int(k), 1
		case int(k) == r.Max:
			r.Innermost++
		}
	}
	return r, nil
}

// peeling is a search for cores under way.
type peeling struct {
	rows    []*order.CSR // of which a vertex has its neighbours
	threads int
	// degree is the number of edges of a vertex to those still there; it ends as
	// the vertex's core number.
	degree []uint32
	alive  []uint32 // vertices that may still be there
	spare  []uint32 // into which alive is copied by several goroutines
	queue  []uint32 // vertices to remove in this level
}

const (
	// kcoreParallel is the number of vertices from which several goroutines share
	// them.
	kcoreParallel = 1 << 11
	kcoreGrain    = 1 << 6
	kcoreScan     = 1 << 13
	kcoreCheck    = 1 << 12
)

// countDegrees counts the edges of every vertex, equal ones once.
func (p *peeling) countDegrees(ctx context.Context) error {
	tooMany := atomic.Int64{}
	tooMany.Store(-1)
	err := par.Range(ctx, p.threads, len(p.degree), kcoreScan, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			v, count := uint32(i), 0
			for _, rows := range p.rows {
				before := uint32(NoVertex)
				for _, u := range rows.Neighbours(v) {
					if u != before && u != v {
						count++
					}
					before = u
				}
			}
			if count > math.MaxInt32 {
				tooMany.Store(int64(v))
			}
			p.degree[v], p.alive[v] = uint32(count), v
		}
	})
	if v := tooMany.Load(); v >= 0 {
		return fmt.Errorf("vertex %d has 2³¹ edges or more: can count fewer", v)
	}
	return err
}

// run peels level by level.
func (p *peeling) run(ctx context.Context, stage *progress.Stage) error {
	for k := uint32(0); len(p.alive) > 0; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		tail, least, err := p.scan(ctx, k)
		if err != nil {
			return err
		}
		if tail == 0 {
			k = least - 1 // no vertex has fewer edges
			continue
		}
		removed, err := p.peel(ctx, k, tail)
		if err != nil {
			return err
		}
		stage.Add(int64(removed))
	}
	return nil
}

// scan drops from alive the vertices removed in levels before k, moves those of
// degree k to the queue, and returns their number and the least degree of the
// others.
func (p *peeling) scan(ctx context.Context, k uint32) (tail int, least uint32, err error) {
	if p.threads == 1 || len(p.alive) < 4*kcoreScan {
		keep, tail, least := p.scanPiece(p.alive, p.queue, k)
		p.alive = p.alive[:keep]
		return tail, least, nil
	}
	var keeps, tails atomic.Int64
	var floor atomic.Uint32
	floor.Store(math.MaxUint32)
	// Whole pieces go through memory of each goroutine's own.
	queues := make([][]uint32, p.threads)
	err = par.Range(ctx, p.threads, len(p.alive), kcoreScan, func(worker, lo, hi int) {
		if queues[worker] == nil {
			queues[worker] = make([]uint32, kcoreScan)
		}
		piece := p.alive[lo:hi]
		keep, tail, least := p.scanPiece(piece, queues[worker], k)
		at := keeps.Add(int64(keep)) - int64(keep)
		copy(p.spare[at:], piece[:keep])
		at = tails.Add(int64(tail)) - int64(tail)
		copy(p.queue[at:], queues[worker][:tail])
		for old := floor.Load(); least < old && !floor.CompareAndSwap(old, least); old = floor.Load() {
		}
	})
	p.alive, p.spare = p.spare[:keeps.Load()], p.alive[:cap(p.alive)]
	return int(tails.Load()), floor.Load(), err
}

// scanPiece is scan for a piece of alive, which it moves together at its start.
func (p *peeling) scanPiece(piece, queue []uint32, k uint32) (keep, tail int, least uint32) {
	least = math.MaxUint32
	for _, v := range piece {
		switch d := p.degree[v]; {
		case d > k:
			piece[keep] = v
			keep++
			least = min(least, d)
		case d == k:
			queue[tail] = v
			tail++
		}
	}
	return keep, tail, least
}

// peel removes the vertices queue[:tail] and those that get down to k edges by
// that, and returns their number.
func (p *peeling) peel(ctx context.Context, k uint32, tail int) (int, error) {
	for head := 0; head < tail; {
		if p.threads > 1 && tail-head >= kcoreParallel {
			end := tail
			var err error
			if tail, err = p.peelShared(ctx, k, head, tail); err != nil {
				return head, err
			}
			head = end
			continue
		}
		if err := ctx.Err(); err != nil {
			return head, err
		}
		end := min(head+kcoreCheck, tail)
		for ; head < end; head++ {
			tail = p.remove(p.queue[head], k, tail)
		}
	}
	return tail, nil
}

// remove takes v's edges from its neighbours and puts those behind tail that
// get down to k.
func (p *peeling) remove(v, k uint32, tail int) int {
	degree, queue := p.degree, p.queue
	for _, rows := range p.rows {
		before := v // no loops
		for _, u := range rows.Neighbours(v) {
			if d := degree[u]; d > k && u != before {
				degree[u] = d - 1
				if d-1 == k {
					queue[tail] = u
					tail++
				}
			}
			before = u
		}
	}
	return tail
}

// peelShared removes queue[head:tail] on all goroutines and returns the end of
// what follows from that.
func (p *peeling) peelShared(ctx context.Context, k uint32, head, tail int) (int, error) {
	var end atomic.Int64
	end.Store(int64(tail))
	buffers := make([][]uint32, p.threads)
	flush := func(worker int) {
		b := buffers[worker]
		at := end.Add(int64(len(b))) - int64(len(b))
		copy(p.queue[at:], b)
		buffers[worker] = b[:0]
	}
	frontier := p.queue[head:tail]
	err := par.Range(ctx, p.threads, len(frontier), kcoreGrain, func(worker, lo, hi int) {
		b := buffers[worker]
		for _, v := range frontier[lo:hi] {
			b = p.removeShared(v, k, b)
		}
		buffers[worker] = b
		if len(b) >= bfsBuffer {
			flush(worker)
		}
	})
	for worker := range buffers {
		flush(worker)
	}
	return int(end.Load()), err
}

// removeShared is remove where other goroutines do the same.
func (p *peeling) removeShared(v, k uint32, buffer []uint32) []uint32 {
	degree := p.degree
	for _, rows := range p.rows {
		before := v
		for _, u := range rows.Neighbours(v) {
			if u != before && atomic.LoadUint32(&degree[u]) > k {
				// Exactly one goroutine brings it down to k. Those that come late give
				// back what they took.
				switch d := atomic.AddUint32(&degree[u], math.MaxUint32); {
				case d == k:
					buffer = append(buffer, u)
				case int32(d-k) < 0:
					atomic.AddUint32(&degree[u], 1)
				}
			}
			before = u
		}
	}
	return buffer
}
