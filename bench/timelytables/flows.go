package main

import (
	"math/rand/v2"
	"time"

	"weir/timely"
)

// send is a round of an input: numbers are made and sent, in one slice, and everybody waits until they are through.
type send struct {
	input *timely.Input[uint64]
	probe timely.Probe
	data  []uint64
	next  uint64
	// apart has records sent one by one.
	apart bool
}

func (s *send) round(w *timely.Worker) error {
	next := s.next
	s.next += uint64(len(s.data))
	if s.apart {
		for range s.data {
			s.input.Send(next)
			next++
		}
	} else {
		for i := range s.data {
			s.data[i] = next + uint64(i)
		}
		s.input.Send(s.data...)
	}
	epoch := s.input.Epoch()
	s.input.AdvanceTo(epoch + 1)
	for s.probe.LessEqual(timely.Epoch(epoch)) {
		if err := w.StepOrPark(0); err != nil {
			return err
		}
	}
	return nil
}

func (s *send) rounds(w *timely.Worker) func(n uint64) error {
	return func(n uint64) error {
		for range n {
			if err := s.round(w); err != nil {
				return err
			}
		}
		return nil
	}
}

// exchange has each worker send records to all.
func exchange(w *timely.Worker, t task, found *record) error {
	s := send{data: make([]uint64, t.Records), apart: t.Work == "one by one"}
	w.Dataflow("exchange", func(scope *timely.Scope) {
		s.input = timely.NewInput[uint64](scope)
		s.input.Stream().Exchange(func(x uint64) uint64 { return x }).Probe(&s.probe)
	})
	return repeat(w, t.Length, found, s.rounds(w))
}

// barrier is a loop of notifications alone: a worker goes on to the next round when all have ended this one.
func barrier(w *timely.Worker, t task, found *record) error {
	return repeat(w, t.Length, found, func(n uint64) error {
		var done timely.Probe
		w.Dataflow("barrier", func(s *timely.Scope) {
			loop := s.Loop("rounds")
			v := timely.LoopVariable[struct{}](loop, 0)
			op := timely.NewOperator(loop, "barrier")
			op.Input(v.Stream(), timely.Pipeline[struct{}]())
			_, out := op.Output[struct{}]()
			first := op.InitialCapability()
			notify := op.Notificator()
			op.Build(func() {
				if first != nil {
					notify.NotifyAt(first.Time())
					first.Drop()
					first = nil
				}
				for at, ok := notify.Next(); ok; at, ok = notify.Next() {
					if at[1]++; at[1] < n {
						notify.NotifyAt(at)
					}
				}
			})
			v.Set(out)
			out.Leave(s).Probe(&done)
		})
		return w.StepUntil(done.Done)
	})
}

// operators is a chain of n that do next to nothing.
func operators(s timely.Stream[uint64], n int) timely.Stream[uint64] {
	for range n {
		s = s.Map(func(x uint64) uint64 { return x + 1 })
	}
	return s
}

// chain has rounds go through a chain of operators, empty or with records.
func chain(w *timely.Worker, t task, found *record) error {
	s := send{data: make([]uint64, t.Records)}
	w.Dataflow("chain", func(scope *timely.Scope) {
		s.input = timely.NewInput[uint64](scope)
		operators(s.input.Stream(), t.Operators).Probe(&s.probe)
	})
	return repeat(w, t.Length, found, s.rounds(w))
}

// beside has rounds of an exchange in the same dataflow as a chain of operators, which has nothing
// to do with it.
func beside(w *timely.Worker, t task, found *record) error {
	s := send{data: make([]uint64, t.Records)}
	w.Dataflow("beside", func(scope *timely.Scope) {
		s.input = timely.NewInput[uint64](scope)
		s.input.Stream().Exchange(func(x uint64) uint64 { return x }).Probe(&s.probe)
		operators(timely.NewInput[uint64](scope).Stream(), t.Operators)
	})
	return repeat(w, t.Length, found, s.rounds(w))
}

// idle has records go through one after the other of many dataflows, each a chain of as many operators.
func idle(w *timely.Worker, t task, found *record) error {
	flows := make([]send, t.Operators)
	for i := range flows {
		s := &flows[i]
		s.data = make([]uint64, t.Records)
		w.Dataflow("chain", func(scope *timely.Scope) {
			s.input = timely.NewInput[uint64](scope)
			operators(s.input.Stream(), t.Operators).Probe(&s.probe)
		})
	}
	turn := 0
	return repeat(w, t.Length, found, func(n uint64) error {
		for range n {
			if err := flows[turn].round(w); err != nil {
				return err
			}
			turn = (turn + 1) % len(flows)
		}
		return nil
	})
}

// edge is an edge of a graph.
type edge struct{ A, B uint32 }

// unionFind keeps a spanning forest of a stream of edges: each worker drops those of its edges that
// join nothing, and the first does the same with what is left of all. It is the same program on one worker.
func unionFind(w *timely.Worker, t task, found *record) error {
	var input *timely.Input[edge]
	var done timely.Probe
	w.Dataflow("union-find", func(s *timely.Scope) {
		input = timely.NewInput[edge](s)
		few := forest(input.Stream(), t.Vertices)
		forest(few.Exchange(func(edge) uint64 { return 0 }), t.Vertices).Probe(&done)
	})
	begin := time.Now()
	const batch = 100_000 // edges, between steps
	random := rand.New(rand.NewPCG(1, uint64(w.Index())))
	for sent := w.Index(); sent < t.Edges; {
		for end := sent + batch*w.Peers(); sent < min(end, t.Edges); sent += w.Peers() {
			input.Send(edge{random.Uint32N(uint32(t.Vertices)), random.Uint32N(uint32(t.Vertices))})
		}
		input.AdvanceTo(input.Epoch() + 1)
		if _, err := w.Step(); err != nil {
			return err
		}
	}
	input.Close()
	if err := w.StepUntil(done.Done); err != nil {
		return err
	}
	if w.Index() == 0 {
		found.set(uint64(t.Edges), time.Since(begin))
	}
	return nil
}

// forest passes on the edges that join two trees. Vertices rank by a hash of their number, and paths are
// halved as they are gone.
func forest(edges timely.Stream[edge], vertices int) timely.Stream[edge] {
	parent := make([]uint32, vertices)
	for i := range parent {
		parent[i] = uint32(i)
	}
	find := func(x uint32) uint32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	return edges.Filter(func(e edge) bool {
		a, b := find(e.A), find(e.B)
		if a == b {
			return false
		}
		const odd = 0x9e3779b1 // a bijection of 32 bits
		if a*odd < b*odd {
			a, b = b, a
		}
		parent[a] = b
		return true
	})
}
