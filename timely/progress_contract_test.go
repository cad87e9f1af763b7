package timely

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// This file checks what operators are promised: that they are notified of each time that
// they asked for, once, in order, and when nothing more can come at it.

// watched is a record of these tests. Fuel is how often it may go around loops.
type watched struct {
	id   uint64
	fuel int
}

// contract gathers what is wrong, over all workers.
type contract struct {
	mu      sync.Mutex
	wrong   []string
	told    int
	records int
}

func (c *contract) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// noticing is an operator that asks to be notified, of times that follow from the
// records, and sends a record when it is. It hands all that comes on.
func (c *contract) noticing(name string, s Stream[watched], pact Pact[watched], other Stream[watched]) Stream[watched] {
	asked := map[Time]bool{}
	var told []Time
	depth := s.scope.depth
	worker := s.scope.Worker()
	come := func(in *Reader[watched], out *Writer[watched], n *Notificator) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			for _, u := range told {
				if t.LessEqual(u) {
					c.fail("worker %d, %s: records come at %v after the notification of %v", worker.Index(), name, t, u)
				}
			}
			for _, r := range data {
				at := t
				switch r.id % 4 {
				case 0:
					at[r.id/4%uint64(depth)] += r.id % 3
				case 1:
					continue
				}
				asked[at] = true
				n.NotifyAt(at)
			}
			c.mu.Lock()
			c.records += len(data)
			c.mu.Unlock()
			in.Keep()
			out.Pass(t, data)
		}
	}
	notify := func(out *Writer[watched], n *Notificator) {
		for t, ok := n.Next(); ok; t, ok = n.Next() {
			if !asked[t] {
				c.fail("worker %d, %s: it is notified of %v, which it has not asked for or has been told of", worker.Index(), name, t)
			}
			delete(asked, t)
			for _, u := range told {
				if t.LessEqual(u) {
					c.fail("worker %d, %s: it is notified of %v after %v", worker.Index(), name, t, u)
				}
			}
			told = append(told, t)
			if t[0]%2 == 0 {
				out.Send(t, watched{id: t[0] + 7, fuel: 0})
			}
			if later := t; t[0] < 3 {
				// Once it is told it may ask again, and be told, with no message in between.
				later[0] += 5
				if !asked[later] {
					asked[later] = true
					n.NotifyAt(later)
				}
			}
		}
	}
	s.scope.builder.flow.ends = append(s.scope.builder.flow.ends, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told += len(told)
		for t := range asked {
			c.wrong = append(c.wrong, fmt.Sprintf("worker %d, %s: it is never notified of %v", worker.Index(), name, t))
		}
	})
	if other.out == nil {
		return s.Unary(name, pact, func(in *Reader[watched], out *Writer[watched], n *Notificator) {
			come(in, out, n)
			notify(out, n)
		})
	}
	return s.Binary(other, name, pact, Pipeline[watched](), func(left, right *Reader[watched], out *Writer[watched], n *Notificator) {
		notify(out, n) // before, for a change: what comes now is not over
		come(left, out, n)
		come(right, out, n)
	})
}

// part is a part of a random dataflow.
type part struct {
	kind int // 0 to 3 are operators, with different pacts, 4 is one with two inputs, 5 a loop
	body []part
}

func drawParts(t *rapid.T, deep int) []part {
	kinds := 4
	if deep > 0 {
		kinds = 5
	}
	parts := make([]part, rapid.IntRange(1, 3).Draw(t, "parts"))
	for i := range parts {
		if parts[i].kind = rapid.IntRange(0, kinds).Draw(t, "kind"); parts[i].kind == 5 {
			parts[i].body = drawParts(t, deep-1)
		}
	}
	return parts
}

func (c *contract) build(name string, s Stream[watched], parts []part) Stream[watched] {
	byID := ByHash(func(r watched) uint64 { return r.id })
	before := s
	for i, p := range parts {
		name := fmt.Sprintf("%s.%d", name, i)
		switch now := s; p.kind {
		case 0, 1:
			s = c.noticing(name, s, Pipeline[watched](), Stream[watched]{})
		case 2:
			s = c.noticing(name, s, byID, Stream[watched]{})
		case 3:
			s = s.Exchange(func(r watched) uint64 { return r.id / 2 })
		case 4:
			s = c.noticing(name, s, byID, before)
			before = now
		case 5:
			outer := s.scope
			loop := outer.Loop(name)
			v := LoopVariable[watched](loop, 0)
			all := c.build(name, s.Enter(loop).Concat(v.Stream()), p.body)
			again, out := all.Branch(func(r watched) bool { return r.fuel > 0 && r.id%3 > 0 })
			v.Set(again.Map(func(r watched) watched { return watched{r.id + 1, r.fuel - 1} }))
			s = out.Leave(outer)
			before = s
		}
	}
	return s
}

func TestNotifications(t *testing.T) {
	var records, told int
	rapid.Check(t, func(t *rapid.T) {
		threads := rapid.IntRange(1, 3).Draw(t, "threads")
		parts := drawParts(t, 2)
		// Each worker's records, and how far it goes after each.
		type send struct{ id, advance, steps uint64 }
		draw := rapid.Custom(func(t *rapid.T) send {
			return send{rapid.Uint64Range(0, 40).Draw(t, "id"), rapid.Uint64Range(0, 2).Draw(t, "advance"), rapid.Uint64Range(0, 3).Draw(t, "steps")}
		})
		plan := make([][]send, threads)
		for i := range plan {
			plan[i] = rapid.SliceOfN(draw, 0, 15).Draw(t, "plan")
		}
		var c contract
		err := Run(Threads(threads), func(w *Worker) error {
			w.batch = 1 + len(parts)%3
			var in *Input[watched]
			w.Dataflow("notifications", func(s *Scope) {
				in = NewInput[watched](s)
				c.build("part", in.Stream(), parts)
			})
			for _, p := range plan[w.Index()] {
				in.Send(watched{p.id, int(p.id % 4)})
				in.AdvanceTo(in.Epoch() + p.advance)
				for range p.steps {
					if _, err := w.Step(); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil || c.wrong != nil {
			slices.Sort(c.wrong)
			t.Fatalf("%v %q", err, c.wrong)
		}
		records += c.records
		told += c.told
	})
	t.Logf("%d records, %d notifications", records, told)
}

// TestNotifyWhenOver asks for a time that is over already, by a capability that was
// kept: nothing more happens that would have the operator run.
func TestNotifyWhenOver(t *testing.T) {
	for _, threads := range []int{1, 2} {
		var told gather[Time]
		err := Run(Threads(threads), func(w *Worker) error {
			var in *Input[int]
			w.Dataflow("late", func(s *Scope) {
				in = NewInput[int](s)
				op := NewOperator(s, "late")
				r := op.Input(in.Stream(), Pipeline[int]())
				op.Output[int]()
				right := op.InitialCapability()
				n := op.Notificator()
				op.Build(func() {
					for at, ok := n.Next(); ok; at, ok = n.Next() {
						told.add(at)
					}
					for _, _, ok := r.Next(); ok; _, _, ok = r.Next() {
					}
					if len(r.Frontier()) == 0 && !right.gone {
						n.NotifyAt(Epoch(3))
						right.Drop()
					}
				})
			})
			return nil
		})
		if err != nil || len(told.list) != threads {
			t.Errorf("%d threads: told of %v, %v", threads, told.list, err)
		}
	}
}
