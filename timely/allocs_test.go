package timely

import (
	"math"
	"runtime"
	"testing"
)

// TestOperatorsDoNotAllocate counts, once buffers are there to be used again, how often memory is allocated for a
// batch on its way through operators: not at all, but for the few times that a time and what workers tell one another of it
// take. Each round has 64 batches and one time.
func TestOperatorsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	type stream = Stream[uint64]
	for _, c := range []struct {
		name    string
		threads int
		build   func(s stream) stream
	}{
		{"map", 1, func(s stream) stream { return s.Map(func(x uint64) uint64 { return x + 1 }) }},
		{"map to another type", 1, func(s stream) stream {
			return s.Map(func(x uint64) [2]uint32 { return [2]uint32{uint32(x), 1} }).Map(func(x [2]uint32) uint64 { return uint64(x[0]) })
		}},
		{"map in place", 1, func(s stream) stream { return s.MapInPlace(func(x *uint64) { *x++ }) }},
		{"flatmap", 1, func(s stream) stream {
			return s.FlatMap(func(x uint64, emit func(uint64)) {
				if x%2 == 0 {
					emit(x)
					emit(x + 1)
				}
			})
		}},
		{"filter", 1, func(s stream) stream { return s.Filter(func(x uint64) bool { return x%3 != 0 }) }},
		{"inspect", 1, func(s stream) stream { return s.Inspect(func(Time, uint64) {}) }},
		{"exchange on 1", 1, func(s stream) stream { return s.Exchange(HashUint64) }},
		{"exchange on 2", 2, func(s stream) stream { return s.Exchange(HashUint64) }},
		{"exchange on 3", 3, func(s stream) stream { return s.Exchange(HashUint64) }},
		{"broadcast", 2, func(s stream) stream { return s.Broadcast() }},
		{"concat", 1, func(s stream) stream { return s.Concat(s.Filter(func(x uint64) bool { return x%2 == 0 }), s) }},
		{"partition", 1, func(s stream) stream {
			p := s.Partition(3, func(x uint64) int { return int(x % 3) })
			return p[0].Concat(p[1]) // the third goes nowhere
		}},
		{"branch", 1, func(s stream) stream {
			yes, no := s.Branch(func(x uint64) bool { return x%3 == 0 })
			return yes.Concat(no)
		}},
		{"delay", 1, func(s stream) stream {
			return s.Delay(func(t Time, x uint64) Time { return Epoch(t[0] + x&1) })
		}},
		{"count", 1, func(s stream) stream { return s.Count() }},
		{"aggregate", 2, func(s stream) stream {
			return s.Aggregate(func(x uint64) uint64 { return x % 100 }, func(n *uint64, _ uint64) { *n++ }, func(_, n uint64) uint64 { return n })
		}},
		{"distinct", 2, func(s stream) stream { return Distinct(s.Map(func(x uint64) uint64 { return x % 100 })) }},
		{"state machine", 2, func(s stream) stream {
			return s.StateMachine(func(x uint64) uint64 { return x % 100 }, func(_ uint64, n *uint64, x uint64, emit func(uint64)) bool {
				*n += x
				emit(*n)
				return false
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// What else runs on the machine decides how far workers are apart, and with it how long
			// queues grow: the least of a few counts.
			const limit = 0.05
			least := math.Inf(1)
			for try := 0; try < 4 && least > limit; try++ {
				least = min(least, allocationsPerBatch(t, c.threads, c.build))
			}
			t.Logf("%.4f allocations a batch", least)
			if least > limit {
				t.Errorf("%g allocations a batch of %d records", least, BatchLen)
			}
		})
	}
}

// allocationsPerBatch counts them for some batches in which everything has its size already.
func allocationsPerBatch(t *testing.T, threads int, build func(Stream[uint64]) Stream[uint64]) float64 {
	var before, after runtime.MemStats
	const batches = 64 // a round
	const warm, measured = 10, 20
	err := Run(Threads(threads), func(w *Worker) error {
		var in *Input[uint64]
		var probe Probe
		w.Dataflow("allocs", func(s *Scope) {
			in = NewInput[uint64](s)
			build(in.Stream()).InspectBatch(func(Time, []uint64) {}).Probe(&probe)
		})
		batch := make([]uint64, BatchLen)
		for i := range batch {
			batch[i] = uint64(i)
		}
		for round := range uint64(warm + measured) {
			if round == warm && w.Index() == 0 {
				runtime.ReadMemStats(&before)
			}
			for range batches {
				in.Send(batch...)
				if _, err := w.Step(); err != nil {
					return err
				}
			}
			in.AdvanceTo(round + 1)
			if err := w.StepUntil(probe.Passed(Epoch(round))); err != nil {
				return err
			}
		}
		if w.Index() == 0 {
			runtime.ReadMemStats(&after)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(after.Mallocs-before.Mallocs) / float64(measured*batches*threads)
}
