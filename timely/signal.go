package timely

import (
	"sync"
	"sync/atomic"
)

// signals are calls for operators to be run that come from other goroutines.
type signals struct {
	some atomic.Bool
	mu   sync.Mutex
	list []func()
}

func (s *signals) add(f func()) {
	s.mu.Lock()
	s.list = append(s.list, f)
	s.some.Store(true)
	s.mu.Unlock()
}

// handle does what was called for. It returns whether anything was.
func (s *signals) handle() bool {
	if !s.some.Load() {
		return false
	}
	s.mu.Lock()
	list := s.list
	s.list = nil
	s.some.Store(false)
	s.mu.Unlock()
	for _, f := range list {
		f()
	}
	return true
}

// Waker returns a function that has the operator run soon, and wakes the worker for
// it if it sleeps. Unlike [Operator.Activate], any goroutine may call it, at any time: one that
// reads from a network or a disk, say, so that the worker need not wait for it.
func (o *Operator) Waker() func() {
	w := o.scope.builder.flow.worker
	var pending atomic.Bool
	wake := func() {
		pending.Store(false) // before the run, so that a call during the run counts
		o.Activate()
	}
	return func() {
		if pending.CompareAndSwap(false, true) {
			w.signals.add(wake)
			w.peer.Wake()
		}
	}
}

// AtEnd has f called on the worker when the dataflow is over: when it is dropped, or the run
// ends, by an error or otherwise. It is for what an operator must close.
func (o *Operator) AtEnd(f func()) {
	d := o.scope.builder.flow
	d.ends = append(d.ends, f)
}

// end runs what waits for the end of the dataflow.
func (d *Dataflow) end() {
	ends := d.ends
	d.ends = nil
	for _, f := range ends {
		f()
	}
}
