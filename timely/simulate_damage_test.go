package timely

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// damage is something wrong with the protocol.
type damage struct {
	name string
	// tear makes several messages of one, which should have been told as one.
	tear func(rng *rand.Rand, batch []pointChange) [][]pointChange
	// overtake has a message arrive before one that was sent before it.
	overtake bool
	// worker changes a worker that has built its dataflow.
	worker func(rng *rand.Rand, w *simWorker)
}

// only are the changes that keep says so of.
func only(batch []pointChange, keep func(pointChange) bool) []pointChange {
	return slices.DeleteFunc(slices.Clone(batch), func(c pointChange) bool { return !keep(c) })
}

// TestOracleHasTeeth damages the protocol in all ways in which a mistake could, and expects
// that the oracle finds it.
func TestOracleHasTeeth(t *testing.T) {
	for _, d := range []damage{
		{name: "consumption is told before production", tear: func(_ *rand.Rand, batch []pointChange) [][]pointChange {
			return [][]pointChange{
				only(batch, func(c pointChange) bool { return c.delta < 0 }),
				only(batch, func(c pointChange) bool { return c.delta > 0 }),
			}
		}},
		{name: "a batch is told in two parts", tear: func(rng *rand.Rand, batch []pointChange) [][]pointChange {
			n := rng.IntN(len(batch) + 1)
			return [][]pointChange{batch[:n], batch[n:]}
		}},
		{name: "batches overtake one another", overtake: true},
		{name: "a batch is told twice", tear: func(_ *rand.Rand, batch []pointChange) [][]pointChange {
			return [][]pointChange{batch, batch}
		}},
		{name: "one in ten batches is lost", tear: func(rng *rand.Rand, batch []pointChange) [][]pointChange {
			if rng.IntN(10) == 0 {
				return nil
			}
			return [][]pointChange{batch}
		}},
		{name: "one in ten productions is not told", tear: func(rng *rand.Rand, batch []pointChange) [][]pointChange {
			return [][]pointChange{only(batch, func(c pointChange) bool { return c.delta < 0 || rng.IntN(10) > 0 })}
		}},
		{name: "one in ten consumptions is not told", tear: func(rng *rand.Rand, batch []pointChange) [][]pointChange {
			return [][]pointChange{only(batch, func(c pointChange) bool { return c.delta > 0 || rng.IntN(10) > 0 })}
		}},
		{name: "productions are told to be an epoch later", tear: func(_ *rand.Rand, batch []pointChange) [][]pointChange {
			batch = slices.Clone(batch)
			for i := range batch {
				if batch[i].delta > 0 {
					batch[i].time[0]++
				}
			}
			return [][]pointChange{batch}
		}},
		{name: "a worker does not know of a path", worker: func(rng *rand.Rand, w *simWorker) {
			steps := w.flow.tracker.steps
			at := rng.IntN(len(steps))
			steps[at] = nil
			w.flow.tracker.shorten()
		}},
		{name: "a worker believes paths to be longer", worker: func(rng *rand.Rand, w *simWorker) {
			for _, list := range w.flow.tracker.steps {
				for i := range list {
					if rng.IntN(4) == 0 {
						list[i].summary.Add[0]++
					}
				}
			}
			w.flow.tracker.shorten()
		}},
		{name: "an operator forgets to tell what it took", worker: func(rng *rand.Rand, w *simWorker) {
			n := w.flow.nodes[rng.IntN(len(w.flow.nodes))]
			n.inputs = nil
		}},
	} {
		const enough, seeds = 3, 400
		found, tried, first := 0, uint64(0), ""
		for ; tried < seeds && found < enough; tried++ {
			if wrong, _ := simulate(t, tried, d); wrong != "" {
				found++
				first = cmp.Or(first, fmt.Sprintf("seed %d: %s", tried, wrong))
			}
		}
		t.Logf("%s: found by %d of %d seeds; %.300s", d.name, found, tried, first)
		if found < enough {
			t.Errorf("%s: only %d of %d seeds find it", d.name, found, tried)
		}
	}
}
