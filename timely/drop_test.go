package timely

import (
	"runtime"
	"testing"
	"time"
)

// counted is a dataflow that counts what comes out of it.
type counted struct {
	flow  *Dataflow
	in    *Input[uint64]
	probe Probe
	n     int
}

func newCounted(w *Worker, name string) *counted {
	c := &counted{}
	c.flow = w.Dataflow(name, func(s *Scope) {
		c.in = NewInput[uint64](s)
		c.in.Stream().Exchange(HashUint64).
			Inspect(func(Time, uint64) { c.n++ }).
			Exchange(func(x uint64) uint64 { return x }).
			Probe(&c.probe)
	})
	return c
}

// round sends records in an epoch, and waits until all have come.
func (c *counted) round(w *Worker, records int) error {
	for i := range records {
		c.in.Send(uint64(i))
	}
	epoch := c.in.Epoch()
	c.in.AdvanceTo(epoch + 1)
	return w.StepUntil(c.probe.Passed(Epoch(epoch)))
}

// TestDrop drops a dataflow with messages on their way while another one runs on, and
// builds a new one afterwards.
func TestDrop(t *testing.T) {
	for _, threads := range []int{1, 2, 4} {
		var total gather[int]
		err := runFor(t, 10*time.Second, Threads(threads), func(w *Worker) error {
			stays := newCounted(w, "stays")
			for range 20 {
				goes := newCounted(w, "goes")
				if err := goes.round(w, 100); err != nil {
					return err
				}
				for i := range uint64(5000) {
					goes.in.Send(i)
				}
				goes.in.AdvanceTo(2)
				for range w.Index() {
					if _, err := w.Step(); err != nil {
						return err
					}
				}
				goes.flow.Drop()
				goes.flow.Drop()
				goes.in.Close()
				if !goes.flow.Done() || goes.probe.LessEqual(Time{}) {
					t.Error("a dropped dataflow is not done")
				}
				if err := stays.round(w, 1000); err != nil {
					return err
				}
			}
			stays.in.Close()
			if err := w.StepUntil(stays.probe.Done); err != nil {
				return err
			}
			total.add(stays.n)
			return nil
		})
		if err != nil {
			t.Fatalf("%d threads: %v", threads, err)
		}
		sum := 0
		for _, n := range total.list {
			sum += n
		}
		if want := 20 * 1000 * threads; sum != want {
			t.Errorf("%d threads: the dataflow that stays counted %d records, expected %d", threads, sum, want)
		}
	}
}

// TestDropFromWithin has an operator drop its own dataflow, with the worker in the middle of it.
func TestDropFromWithin(t *testing.T) {
	ended := 0
	err := runFor(t, 5*time.Second, Threads(1), func(w *Worker) error {
		var in *Input[int]
		var flow *Dataflow
		flow = w.Dataflow("goes", func(s *Scope) {
			in = NewInput[int](s)
			op := NewOperator(s, "dropper")
			r := op.Input(in.Stream(), Pipeline[int]())
			out, stream := op.Output[int]()
			op.Build(func() {
				for at, data, ok := r.Next(); ok; at, data, ok = r.Next() {
					flow.Drop()
					out.SendSlice(at, data)
				}
			})
			op.AtEnd(func() { ended++ })
			stream.Inspect(func(Time, int) {})
		})
		in.Send(1, 2, 3)
		return w.StepUntil(flow.Done)
	})
	if err != nil || ended != 1 {
		t.Errorf("got %v, ended %d times", err, ended)
	}
}

// TestManyDataflows builds and ends many, which leaves no memory behind but what the mesh
// keeps for a channel.
func TestManyDataflows(t *testing.T) {
	err := runFor(t, 30*time.Second, Threads(2), func(w *Worker) error {
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		many := func(n int) error {
			for i := range n {
				c := newCounted(w, "short")
				if err := c.round(w, 2000); err != nil {
					return err
				}
				if i%2 == 0 {
					c.flow.Drop()
				} else {
					c.in.Close()
					if err := w.StepUntil(c.flow.Done); err != nil {
						return err
					}
				}
			}
			return nil
		}
		if err := many(50); err != nil {
			return err
		}
		before := heap()
		const n = 500
		if err := many(n); err != nil {
			return err
		}
		if len(w.flows) != 0 {
			t.Errorf("%d dataflows are left", len(w.flows))
		}
		if w.Index() == 0 {
			if after := heap(); after > before+n*8<<10+4<<20 {
				t.Errorf("%d dataflows leave %d kB behind", n, (after-before)>>10)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSeveralDataflows has records go from one dataflow to another by hand.
func TestSeveralDataflows(t *testing.T) {
	for _, threads := range []int{1, 3} {
		var sums Results[uint64]
		err := runFor(t, 10*time.Second, Threads(threads), func(w *Worker) error {
			var second *UnorderedInput[uint64] // since a record may come of an epoch that this worker is not in yet
			first := &counted{}
			w.Dataflow("second", func(s *Scope) {
				second = NewUnorderedInput[uint64](s)
				second.Stream().Exchange(func(uint64) uint64 { return 0 }).
					Accumulate(0, func(sum uint64, batch []uint64) uint64 {
						for _, x := range batch {
							sum += x
						}
						return sum
					}).Collect(&sums)
			})
			w.Dataflow("first", func(s *Scope) {
				first.in = NewInput[uint64](s)
				first.in.Stream().Exchange(HashUint64).Inspect(func(at Time, x uint64) { second.Send(at, x) }).Probe(&first.probe)
			})
			for epoch := range uint64(5) {
				for i := range uint64(1000) {
					first.in.Send(i)
				}
				first.in.AdvanceTo(epoch + 1)
				if err := w.StepUntil(first.probe.Passed(Epoch(epoch))); err != nil {
					return err
				}
				second.AdvanceTo(Epoch(epoch + 1))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for epoch := range uint64(5) {
			if got := sums.At(Epoch(epoch)); len(got) != 1 || got[0] != uint64(threads)*999*500 {
				t.Errorf("%d threads: epoch %d sums to %v", threads, epoch, got)
			}
		}
	}
}

// TestLeftMessages has operators that leave what comes: one takes a batch each run and is run
// again, one takes nothing until the other input is over, and must not spin.
func TestLeftMessages(t *testing.T) {
	err := runFor(t, 10*time.Second, Threads(1), func(w *Worker) error {
		var slow, gate *Input[int]
		var probe Probe
		runs, batches, late := 0, 0, 0
		w.Dataflow("left", func(s *Scope) {
			slow, gate = NewInput[int](s), NewInput[int](s)
			one := NewOperator(s, "one at a time")
			r := one.Input(slow.Stream(), Pipeline[int]())
			out, stream := one.Output[int]()
			one.Build(func() {
				if at, data, ok := r.Next(); ok {
					batches++
					out.SendSlice(at, data)
				}
			})
			stream.Binary(gate.Stream(), "wait", Pipeline[int](), Pipeline[int](),
				func(left, right *Reader[int], out *Writer[int], n *Notificator) {
					runs++
					for _, _, ok := right.Next(); ok; _, _, ok = right.Next() {
					}
					if len(right.Frontier()) > 0 {
						return
					}
					for _, data, ok := left.Next(); ok; _, data, ok = left.Next() {
						late += len(data)
					}
				}).Probe(&probe)
		})
		for range 100 {
			slow.Send(1)
			slow.AdvanceTo(slow.Epoch() + 1)
		}
		slow.Close()
		for busy := true; busy; {
			var err error
			if busy, err = w.Step(); err != nil {
				return err
			}
		}
		if batches != 100 || runs > 1000 || late != 0 {
			t.Errorf("%d of 100 batches were taken, and the one that waits was run %d times and has taken %d", batches, runs, late)
		}
		gate.Close()
		if err := w.StepUntil(probe.Done); err != nil {
			return err
		}
		if late != 100 {
			t.Errorf("%d of 100 records came in the end", late)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCapabilityFromOutside has the program drop an operator's capability between steps.
func TestCapabilityFromOutside(t *testing.T) {
	for _, threads := range []int{1, 2} {
		err := runFor(t, 5*time.Second, Threads(threads), func(w *Worker) error {
			var probe Probe
			var held *Capability
			w.Dataflow("held", func(s *Scope) {
				op := NewOperator(s, "holder")
				_, stream := op.Output[int]()
				held = op.InitialCapability()
				op.Build(func() {})
				stream.Probe(&probe)
			})
			for epoch := range uint64(5) {
				if !probe.LessEqual(Epoch(epoch)) {
					t.Errorf("epoch %d is over", epoch)
				}
				held.Downgrade(Epoch(epoch + 1))
				if err := w.StepUntil(probe.Passed(Epoch(epoch))); err != nil {
					return err
				}
			}
			held.Drop()
			return w.StepUntil(probe.Done)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
