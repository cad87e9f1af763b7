package main

import (
	"time"

	"weir/timely"
)

// order is what the first worker has all do next.
type order struct {
	Rounds uint64
	Last   bool
}

// repeat has all workers do rounds: more and more of them, until they take a good part of the length,
// and then as many as take the length, which are those that count. All must call it alike. The
// orders go through a dataflow, which has nothing to do meanwhile.
func repeat(w *timely.Worker, length time.Duration, found *record, rounds func(n uint64) error) error {
	var orders *timely.Input[order]
	var heard timely.Probe
	var told, now order
	w.Dataflow("orders", func(s *timely.Scope) {
		orders = timely.NewInput[order](s)
		orders.Stream().Broadcast().Inspect(func(_ timely.Time, o order) { told = o }).Probe(&heard)
	})
	planned := order{Rounds: 1}
	for !now.Last {
		if w.Index() == 0 {
			orders.Send(planned)
		}
		epoch := orders.Epoch()
		orders.AdvanceTo(epoch + 1)
		if err := w.StepUntil(heard.Passed(timely.Epoch(epoch))); err != nil {
			return err
		}
		now = told // which may change before the rounds are over here, if they are for the first worker
		begin := time.Now()
		if err := rounds(now.Rounds); err != nil {
			return err
		}
		took := time.Since(begin)
		if now.Last && w.Index() == 0 {
			found.set(now.Rounds, took)
		}
		planned = planned.after(took, length)
	}
	orders.Close()
	return nil
}

// warm is the least number of rounds by which to plan those that count: the first of all are slower.
const warm = 8

// after is the next order where these rounds took so long.
func (o order) after(took, length time.Duration) order {
	if took < length/8 || o.Rounds < warm {
		return order{Rounds: 2 * o.Rounds}
	}
	return order{Rounds: max(uint64(float64(o.Rounds)*float64(length)/float64(took)), 1), Last: true}
}
