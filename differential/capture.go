package differential

import (
	"fmt"
	"slices"

	"weir/timely"
)

// Capture calls to once for each time at which the share of this worker changes, when the time is over, with
// what changes: weights of equal records are added up, and no weight is 0. A time comes after those
// that it is after. The slice is to's until it returns. An error ends the run. It makes an index of the records.
func (c Collection[D]) Capture(to func(timely.Time, []Weighted[D]) error) {
	capture(flattenWholes[D](arrange(c.updates, "capture", wholes[D](c.Scope()))), to)
}

// Gather is as [Collection.Capture], of the shares of all workers, on the first. Nothing is called on the others.
func (c Collection[D]) Gather(to func(timely.Time, []Weighted[D]) error) {
	f := wholes[D](c.Scope())
	f.hash = func(*D) uint64 { return 0 }
	capture(flattenWholes[D](arrange(c.updates, "gather", f)), to)
}

// capture shows the updates of an index, time by time: the index adds a time in one batch.
func capture[D comparable](updates timely.Stream[Update[D]], to func(timely.Time, []Weighted[D]) error) {
	type update = Update[D]
	op := timely.NewOperator(updates.Scope(), "capture")
	in := op.Input(updates, timely.Pipeline[update]())
	op.Watch()
	var waiting []update
	var changes []Weighted[D]
	op.Build(func() {
		for _, data, ok := in.Next(); ok; _, data, ok = in.Next() {
			waiting = append(waiting, data...)
		}
		if len(waiting) == 0 {
			return
		}
		frontier := in.Frontier()
		slices.SortStableFunc(waiting, func(a, b update) int { return a.Time.Compare(b.Time) })
		kept := waiting[:0]
		for i := 0; i < len(waiting); {
			t := waiting[i].Time
			first := i
			for i++; i < len(waiting) && waiting[i].Time == t; i++ {
			}
			if frontier.LessEqual(t) {
				kept = append(kept, waiting[first:i]...)
				continue
			}
			changes = changes[:0]
			for _, u := range waiting[first:i] {
				changes = append(changes, Weighted[D]{u.Data, u.Weight})
			}
			if err := to(t, changes); err != nil {
				timely.Fail(fmt.Errorf("capture changes at %v: %w", t, err))
			}
		}
		clear(waiting[len(kept):])
		waiting = kept
	})
}
