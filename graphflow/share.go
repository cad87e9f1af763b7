package graphflow

import (
	"context"
	"errors"
	"math/bits"

	"weir/graph/order"
	"weir/internal/huge"
)

// share is the edges of one worker: those whose source it owns, in rows of one
// destination each. Rows are ordered by the owner of their destination first, and by its number
// there.
type share struct {
	locals  []uint32 // of each row: the number of its destination at the owner
	lengths []uint32 // of each row: how many edges it has
	sources []uint32 // of each edge: the number of its source at this worker
	tasks   []task
}

// task is the rows for one range of vertices of one worker.
type task struct {
	to, part         uint32
	row, rows        int // the first, and how many
	firstEdge, edges int
}

// split returns v divided by n, and the remainder.
func (d divider) split(v uint32) (quotient, remainder uint32) {
	if d.n == 1 {
		return v, 0
	}
	q, _ := bits.Mul64(d.inverse, uint64(v))
	return uint32(q), v - uint32(q*d.n)
}

// owned is how many of n vertices worker me of so many owns.
func owned(n, workers, me int) int { return (n - me + workers - 1) / workers }

var errRows = errors.New("the edges do not come as rows of destinations")

// newShare picks a worker's edges from the rows of all destinations. Where keep says so for a
// worker, there is a task for each range of its vertices, though it have no rows.
func newShare(ctx context.Context, in order.EdgeMap, workers, me int, keep func(to int) bool) (*share, error) {
	d := newDivider(workers)
	count := &counter{divider: d, me: uint32(me), rows: make([]int, workers), edges: make([]int, workers)}
	if err := in.Run(ctx, count); err != nil {
		return nil, err
	}
	if count.wrong {
		return nil, errRows
	}
	f := &filler{divider: d, me: uint32(me), row: make([]int, workers), edge: make([]int, workers)}
	rows, edges := 0, 0
	for to := range workers {
		f.row[to], f.edge[to] = rows, edges
		rows += count.rows[to]
		// The filler writes one element too many, which must not be another's.
		edges += count.edges[to] + 1
	}
	f.share = &share{locals: huge.Make[uint32](rows), lengths: huge.Make[uint32](rows), sources: huge.Make[uint32](edges)}
	if err := in.Run(ctx, f); err != nil {
		return nil, err
	}
	f.share.plan(in.Vertices(), workers, me, count, keep)
	return f.share, nil
}

// counter counts rows and edges by the owner of their destination.
type counter struct {
	divider
	me          uint32
	rows, edges []int
	wrong       bool
}

func (c *counter) Square(order.Square) { c.wrong = true }

func (c *counter) Rows(r order.Rows) {
	if !r.Reversed {
		c.wrong = true
		return
	}
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		n := 0
		if c.n == 1 {
			n = int(hi - lo)
		} else {
			for _, s := range r.Targets[lo:hi] {
				if _, owner := c.split(s); owner == c.me {
					n++
				}
			}
		}
		if n > 0 {
			_, to := c.split(r.First + uint32(i))
			c.rows[to]++
			c.edges[to] += n
		}
		lo = hi
	}
}

// filler fills in rows and edges, at the places next for each owner.
type filler struct {
	divider
	me        uint32
	row, edge []int
	share     *share
}

func (f *filler) Square(order.Square) {}

func (f *filler) Rows(r order.Rows) {
	lo := r.Offsets[0]
	for i, hi := range r.Offsets[1:] {
		if lo == hi {
			continue
		}
		local, to := f.split(r.First + uint32(i))
		at := f.edge[to]
		out := f.share.sources[at:]
		n := 0
		if f.n == 1 {
			n = copy(out, r.Targets[lo:hi])
		} else {
			for _, s := range r.Targets[lo:hi] {
				q, owner := f.split(s)
				out[n] = q // and over it the next, unless it is ours
				if owner == f.me {
					n++
				}
			}
		}
		lo = hi
		if n > 0 {
			row := f.row[to]
			f.share.locals[row], f.share.lengths[row] = local, uint32(n)
			f.row[to]++
			f.edge[to] = at + n
		}
	}
}

// plan cuts the rows into tasks. All workers get of theirs in turn, so that all have something to
// add up all the time, and the workers begin with different ones.
func (s *share) plan(vertices, workers, me int, count *counter, keep func(to int) bool) {
	row, edge := make([]int, workers), make([]int, workers)
	rows, edges := 0, 0
	for to := range workers {
		row[to], edge[to] = rows, edges
		rows += count.rows[to]
		edges += count.edges[to] + 1
		count.rows[to] = rows // where they end
	}
	parts := (owned(vertices, workers, 0) + partSize - 1) / partSize
	for part := range parts {
		for i := range workers {
			to := (me + 1 + i) % workers
			if part*partSize >= owned(vertices, workers, to) {
				continue
			}
			t := task{to: uint32(to), part: uint32(part), row: row[to], firstEdge: edge[to]}
			for end := uint32(part+1) * partSize; row[to] < count.rows[to] && s.locals[row[to]] < end; row[to]++ {
				edge[to] += int(s.lengths[row[to]])
			}
			t.rows, t.edges = row[to]-t.row, edge[to]-t.firstEdge
			if t.rows > 0 || keep(to) {
				s.tasks = append(s.tasks, t)
			}
		}
	}
}
