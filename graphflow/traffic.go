package graphflow

import (
	"math/bits"
	"sync/atomic"
)

// layout is who owns what: workers are numbered through the processes, as many in each.
type layout struct {
	vertices, workers, me int
	process, threads      int
}

// near says that a worker is of this process.
func (l layout) near(worker uint32) bool { return int(worker)/l.threads == l.process }

// traffic counts, for all workers of a process, what leaves it.
type traffic struct {
	layout
	updates atomic.Int64 // that left the process
	reached []atomic.Uint64
}

// newTraffic counts for a process whose workers have a layout like l.
func newTraffic(l layout) *traffic {
	t := &traffic{layout: l}
	if l.workers > l.threads {
		t.reached = make([]atomic.Uint64, (l.vertices+63)/64)
	}
	return t
}

// add counts updates on their way to a worker.
func (t *traffic) add(to uint32, n int) {
	if !t.near(to) {
		t.updates.Add(int64(n))
	}
}

// reach notes the vertices of other processes that a share has edges to.
func (t *traffic) reach(s *share) {
	if t.reached == nil {
		return
	}
	for _, task := range s.tasks {
		if t.near(task.to) {
			continue
		}
		for _, local := range s.locals[task.row : task.row+task.rows] {
			v := int(local)*t.workers + int(task.to)
			t.reached[v/64].Or(1 << (v % 64))
		}
	}
}

// bound is the number of vertices of other processes that there are edges to: less updates cannot
// leave the process in an iteration.
func (t *traffic) bound() (n int64) {
	for i := range t.reached {
		n += int64(bits.OnesCount64(t.reached[i].Load()))
	}
	return n
}
