package timely

import (
	"flag"
	"runtime"
	"testing"
)

// TestNoAllocation sends batches through operators of all sorts, which must not allocate once
// their buffers are there.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const records = 10_000
	for _, threads := range []int{1, 2} {
		err := Run(Threads(threads), func(w *Worker) error {
			var in *Input[uint64]
			var probe Probe
			w.Dataflow("steady", func(s *Scope) {
				in = NewInput[uint64](s)
				start := in.Stream().Map(func(x uint64) uint64 { return x + 1 })
				start.Exchange(HashUint64).
					Filter(func(x uint64) bool { return x%3 > 0 }).
					Concat(start).
					Unary("notified", ByHash(func(x uint64) uint64 { return x }), func(in *Reader[uint64], out *Writer[uint64], n *Notificator) {
						for at, data, ok := in.Next(); ok; at, data, ok = in.Next() {
							n.NotifyAt(at)
							out.SendSlice(at, data)
						}
						for _, ok := n.Next(); ok; _, ok = n.Next() {
						}
					}).
					Inspect(func(Time, uint64) {}).
					Probe(&probe)
			})
			data := make([]uint64, records)
			for i := range data {
				data[i] = uint64(i)
			}
			epoch := uint64(0)
			round := func() {
				in.Send(data...)
				epoch++
				in.AdvanceTo(epoch)
				for probe.LessEqual(Epoch(epoch - 1)) {
					if err := w.StepOrPark(0); err != nil {
						return
					}
				}
			}
			const warm, runs = 200, 1000
			for range warm {
				round()
			}
			var before, after runtime.MemStats
			if w.Index() == 0 {
				runtime.ReadMemStats(&before)
			}
			for range runs {
				round()
			}
			if w.Index() == 0 {
				runtime.ReadMemStats(&after)
				// Over all workers. The slabs of progress are few enough to vanish in it.
				perRound := float64(after.Mallocs-before.Mallocs) / runs
				t.Logf("%d threads: %.3f allocations a round of %d records a worker", threads, perRound, records)
				if perRound > 1 {
					t.Errorf("%d threads: %.2f allocations a round of %d records a worker", threads, perRound, records)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRoundsDoNotAllocate is about the rounds themselves.
func TestRoundsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	err := Run(Threads(1), func(w *Worker) error {
		c := newCounted(w, "rounds")
		for range 100 {
			if err := c.round(w, 1); err != nil {
				return err
			}
		}
		passed := func() bool { return !c.probe.LessEqual(Epoch(c.in.Epoch() - 1)) }
		if n := testing.AllocsPerRun(1000, func() {
			c.in.Send(1)
			c.in.AdvanceTo(c.in.Epoch() + 1)
			w.StepUntil(passed)
		}); n > 0 {
			t.Errorf("%v allocations a round", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var flatRounds = flag.Int("rounds", 100_000, "rounds of TestFlatMemory")

// TestFlatMemory runs many rounds, after which there must not be more memory in use.
func TestFlatMemory(t *testing.T) {
	rounds := *flatRounds
	if testing.Short() || raceEnabled {
		rounds /= 10
	}
	for _, threads := range []int{1, 2} {
		err := Run(Threads(threads), func(w *Worker) error {
			c := newCounted(w, "rounds")
			heap := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			var before uint64
			for i := range rounds {
				if i == rounds/10 && w.Index() == 0 {
					before = heap()
				}
				if err := c.round(w, 3); err != nil {
					return err
				}
			}
			if w.Index() == 0 {
				after := heap()
				t.Logf("%d threads: %d kB in use after %d rounds, %d kB after %d", threads, before>>10, rounds/10, after>>10, rounds)
				if after > before+2<<20 { // as much as buffers may take
					t.Errorf("%d threads: %d rounds leave %d kB behind", threads, rounds, (after-before)>>10)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
