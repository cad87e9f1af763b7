package timely

import (
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gather collects what all workers see, safely.
type gather[D any] struct {
	mu   sync.Mutex
	list []D
}

func (g *gather[D]) add(x D) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(g.list, x)
}

func TestExchangeInEpochs(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		var seen gather[[2]uint64]
		err := Run(Threads(threads), func(w *Worker) error {
			var in *Input[uint64]
			var probe Probe
			w.Dataflow("exchange", func(s *Scope) {
				in = NewInput[uint64](s)
				in.Stream().
					Exchange(func(x uint64) uint64 { return x }).
					Inspect(func(at Time, x uint64) {
						if int(x%uint64(threads)) != w.Index() {
							t.Errorf("record %d came to worker %d", x, w.Index())
						}
						seen.add([2]uint64{at[0], x})
					}).
					Probe(&probe)
			})
			for epoch := range uint64(10) {
				for i := range uint64(3000) {
					in.Send(epoch*10_000 + i*uint64(threads) + uint64(w.Index()))
				}
				in.AdvanceTo(epoch + 1)
				if err := w.StepUntil(probe.Passed(Epoch(epoch))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(seen.list) != 10*3000*threads {
			t.Errorf("%d threads: saw %d records", threads, len(seen.list))
		}
	}
}

// TestCollatz goes around a loop until nothing is left.
func TestCollatz(t *testing.T) {
	for _, threads := range []int{1, 2, 4} {
		var rounds gather[[2]uint64]
		err := Run(Threads(threads), func(w *Worker) error {
			var in *Input[uint64]
			var probe Probe
			w.Dataflow("collatz", func(s *Scope) {
				in = NewInput[uint64](s)
				loop := s.Loop("steps")
				v := LoopVariable[uint64](loop, 0)
				all := in.Stream().Enter(loop).Concat(v.Stream()).Exchange(func(x uint64) uint64 { return x })
				v.Set(all.Filter(func(x uint64) bool { return x != 1 }).Map(func(x uint64) uint64 {
					if x%2 == 0 {
						return x / 2
					}
					return 3*x + 1
				}))
				all.Filter(func(x uint64) bool { return x == 1 }).
					Inspect(func(at Time, x uint64) { rounds.add([2]uint64{at[0], at[1]}) }).
					Leave(s).Probe(&probe)
			})
			if w.Index() == 0 {
				for i := range uint64(50) {
					in.Send(i + 1)
				}
			}
			in.AdvanceTo(1)
			return w.StepUntil(probe.Passed(Epoch(0)))
		})
		if err != nil {
			t.Fatal(err)
		}
		var want, got []uint64
		for x := uint64(1); x <= 50; x++ {
			n := uint64(0)
			for y := x; y != 1; n++ {
				if y%2 == 0 {
					y /= 2
				} else {
					y = 3*y + 1
				}
			}
			want = append(want, n)
		}
		for _, r := range rounds.list {
			got = append(got, r[1])
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: rounds %v, expected %v", threads, got, want)
		}
	}
}
