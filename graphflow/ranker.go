package graphflow

import (
	"time"

	"weir/timely"
)

// ranker is the operator of a worker that hands out the ranks of its vertices, a few ranges at a
// time, and adds up what the others hand out. It has gone around once when all have:
// it learns that from the frontier of its input, and nobody waits for anything else.
//
// The first time around nobody hands out anything, so that all begin at the same time.
type ranker struct {
	layout
	process *process
	share   *share
	opt     PageRankOptions
	pool    pool

	worker *timely.Worker
	op     *timely.Operator
	in     *timely.Reader[block]
	direct *timely.Writer[block]  // to the owners
	shared *timely.Writer[block]  // to those who combine it with that of others
	done   *timely.Writer[answer] // to the first worker
	right  *timely.Capability     // nil at the end
	round  int
	next   int         // the first task that is not done in this round
	early  [][]block   // blocks of the next round
	ends   []time.Time // when each round was over

	base          float32
	src, acc, inv []float32
}

// run does what there is to do: it is called when blocks come or the frontier moves, and after
// a slice of work.
func (r *ranker) run() {
	r.receive()
	if r.right == nil {
		return
	}
	if r.right.Time()[1] == uint64(r.round) {
		if r.round > 0 {
			r.handOut()
		}
		if r.round > 0 && r.next < len(r.share.tasks) {
			r.op.Activate()
			return
		}
		r.right.Downgrade(timely.Time{0, uint64(r.round + 1)})
	}
	if !r.in.Frontier().LessEqual(r.right.Time()) {
		r.endRound()
		r.op.Activate()
	}
}

// receive adds up the blocks that came. Those of the next round can come before this
// worker hears that the others have ended this one.
func (r *ranker) receive() {
	for t, blocks, ok := r.in.Next(); ok; t, blocks, ok = r.in.Next() {
		if t[1] != uint64(r.round+1) {
			r.in.Keep()
			r.early = append(r.early, blocks)
			continue
		}
		r.add(blocks)
	}
}

func (r *ranker) add(blocks []block) {
	for _, b := range blocks {
		if r.opt.Aggregate == AggregateNone {
			addRuns(r.acc, b.updates)
		} else {
			addUpdates(r.acc, b.updates)
		}
		r.pool.put(b.updates)
	}
}

// handOut does tasks until there were enough edges.
func (r *ranker) handOut() {
	t := r.right.Time()
	direct, shared := r.direct.Buffer(t), r.shared.Buffer(t)
	for edges := 0; edges < sliceEdges && r.next < len(r.share.tasks); r.next++ {
		task := r.share.tasks[r.next]
		edges += task.edges
		leaves := !r.near(task.to)
		if r.opt.Aggregate == AggregateNone {
			left := task.edges
			send := func(updates []update) []update {
				r.process.traffic.add(task.to, len(updates))
				if direct = append(direct, block{task.to, task.part, updates}); len(direct) >= timely.BatchLen {
					direct = r.direct.Flush(direct)
				}
				left -= len(updates)
				return r.pool.take(left, leaves)
			}
			rest := r.share.edgeUpdates(task, r.src, r.pool.take(left, leaves), send)
			if len(rest) > 0 {
				rest = send(rest)
			}
			r.pool.put(rest)
			continue
		}
		combines := r.combines(task.to)
		b := block{task.to, task.part, r.share.sumRows(task, r.src, r.pool.take(task.rows, leaves && !combines))}
		if combines {
			if shared = append(shared, b); len(shared) >= timely.BatchLen {
				shared = r.shared.Flush(shared)
			}
			continue
		}
		r.process.traffic.add(task.to, len(b.updates))
		if direct = append(direct, b); len(direct) >= timely.BatchLen {
			direct = r.direct.Flush(direct)
		}
	}
	r.direct.Put(direct)
	r.shared.Put(shared)
}

// endRound makes ranks of the sums.
func (r *ranker) endRound() {
	r.ends = append(r.ends, time.Now())
	r.next = 0
	if r.round == r.opt.Iterations {
		for v, sum := range r.acc {
			r.src[v] = r.base + sum
		}
		r.finish()
		return
	}
	if r.round > 0 {
		settle(r.base, r.acc, r.inv, r.src)
	}
	r.process.ended(r.me, r.round, r.ends)
	r.round++
	early := r.early
	r.early = nil
	for _, blocks := range early {
		r.add(blocks)
	}
}

// finish sends the ranks and, before any worker of the process does, what it has sent up to now.
func (r *ranker) finish() {
	t := r.right.Time()
	r.process.report.Do(func() { r.done.Send(t, r.report()) })
	for lo := 0; lo < len(r.src); lo += answerLen {
		hi := min(lo+answerLen, len(r.src))
		r.done.Send(t, answer{worker: uint32(r.me), first: uint32(lo), ranks: r.src[lo:hi:hi]})
	}
	r.process.ended(r.me, r.round, r.ends)
	r.right.Drop()
	r.right = nil
}

// report says what the process has sent. That is complete, though other workers of the process may not
// have come as far: the frontier that ended the last round has passed all updates of all workers, also
// those that are combined on their way.
func (r *ranker) report() answer {
	traffic := r.process.traffic
	a := answer{worker: uint32(r.me), last: true, traffic: ProcessTraffic{Updates: traffic.updates.Load(), Bound: traffic.bound()}}
	for _, s := range r.worker.Stats() {
		a.wire += s.WireBytes
	}
	return a
}

// combining says that workers of this process combine what they send.
func (r *ranker) combining() bool {
	return r.opt.Aggregate == AggregateProcess && r.threads > 1 && r.workers > r.threads
}

// combines says so of what goes to a worker.
func (r *ranker) combines(to uint32) bool { return r.combining() && !r.near(to) }
