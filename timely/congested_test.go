package timely

import (
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"weir/mesh"
)

// TestCongested has the worker of one process send to that of another which does not take anything
// for a while: whatever makes records stops, sleeps, and goes on when there is room.
func TestCongested(t *testing.T) {
	const total, outstanding = 200_000, 64 << 10
	batches := func(made *atomic.Int64) iter.Seq2[uint64, []uint64] {
		return func(yield func(uint64, []uint64) bool) {
			for n := 0; n < total; n += 1000 {
				made.Add(1000)
				if !yield(0, make([]uint64, 1000)) {
					return
				}
			}
		}
	}
	for _, c := range []struct {
		name string
		// feed builds what makes records. It returns what the program is to do on worker 0.
		feed func(s *Scope, made *atomic.Int64) (Stream[uint64], func(w *Worker) error)
	}{
		{"source", func(s *Scope, made *atomic.Int64) (Stream[uint64], func(*Worker) error) {
			return Source(s, "source", batches(made), SourceOptions{}), nil
		}},
		{"to stream", func(s *Scope, made *atomic.Int64) (Stream[uint64], func(*Worker) error) {
			return ToStream(s, func(yield func(uint64) bool) {
				for range total {
					if made.Add(1); !yield(0) {
						return
					}
				}
			}), nil
		}},
		{"replay", func(s *Scope, made *atomic.Int64) (Stream[uint64], func(*Worker) error) {
			return Replay(s, func(yield func(Event[uint64], error) bool) {
				for _, data := range batches(made) {
					if !yield(Event[uint64]{Data: data}, nil) {
						return
					}
				}
				yield(Event[uint64]{}, nil)
			}), nil
		}},
		{"input", func(s *Scope, made *atomic.Int64) (Stream[uint64], func(*Worker) error) {
			in := NewInput[uint64](s)
			return in.Stream(), func(w *Worker) error {
				for _, data := range batches(made) {
					in.Send(data...)
					if _, err := w.Step(); err != nil {
						return err
					}
					for w.Congested() {
						if err := w.StepOrPark(0); err != nil {
							return err
						}
					}
				}
				return nil
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			configs, _ := processes(t, 2, 1)
			for i := range configs {
				configs[i].Outstanding = outstanding
			}
			var made, come atomic.Int64
			stuck := make(chan struct{}) // closed once worker 0 has nothing to do
			errs := runAll(configs, func(w *Worker) error {
				var feed func(*Worker) error
				w.Dataflow("congested", func(s *Scope) {
					var nothing atomic.Int64
					stream, f := c.feed(s, map[bool]*atomic.Int64{true: &made, false: &nothing}[w.Index() == 0])
					feed = f
					stream.Filter(func(uint64) bool { return w.Index() == 0 }).Exchange(func(uint64) uint64 { return 1 }).
						InspectBatch(func(_ Time, data []uint64) { come.Add(int64(len(data))) })
				})
				if w.Index() == 1 {
					<-stuck
					return nil
				}
				// The worker sleeps while it is congested: whether it is, another goroutine has to see.
				var released atomic.Bool
				go func() {
					defer close(stuck)
					defer released.Store(true)
					for late := time.Now().Add(10 * time.Second); !w.Congested(); time.Sleep(time.Millisecond) {
						if time.Now().After(late) {
							t.Error("the worker is not congested though the other takes nothing")
							return
						}
					}
					time.Sleep(50 * time.Millisecond)
					if n := made.Load(); n > total/2 || !w.Congested() {
						t.Errorf("%d of %d records were made while nobody took any; congested: %v", n, total, w.Congested())
					}
				}()
				if feed != nil {
					return feed(w)
				}
				steps := 0
				for ; !released.Load(); steps++ {
					if err := w.StepOrPark(10 * time.Millisecond); err != nil {
						return err
					}
				}
				if steps > 5000 {
					t.Errorf("the worker was stepped %d times, though it has nothing to do while it is congested", steps)
				}
				return nil
			})
			if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
				t.Fatalf("process %d: %v", i, errs[i])
			}
			if made.Load() != total || come.Load() != total {
				t.Errorf("%d of %d records were made, and %d came", made.Load(), total, come.Load())
			}
		})
	}
}

// TestStats has each process count what it sends.
func TestStats(t *testing.T) {
	configs, _ := processes(t, 2, 2)
	errs := runAll(configs, func(w *Worker) error {
		var in *Input[uint64]
		var probe Probe
		w.Dataflow("stats", func(s *Scope) {
			in = NewInput[uint64](s)
			in.Stream().Exchange(func(x uint64) uint64 { return x }).Probe(&probe)
		})
		for x := range uint64(4000) {
			in.Send(x)
		}
		in.AdvanceTo(1)
		if err := w.StepUntil(probe.Passed(Epoch(0))); err != nil {
			return err
		}
		me := w.Index() / 2
		for process, s := range w.Stats() {
			switch {
			case process == me && s != (mesh.Stats{}):
				t.Errorf("process %d has sent itself %+v", process, s)
			case process != me && (s.SentBytes < 8*4000 || s.ReceivedBytes < 8*4000 || s.WireBytes <= s.SentBytes || s.SentMessages == 0):
				t.Errorf("process %d of 2 has sent and received %+v", me, s)
			}
		}
		return nil
	})
	for i, err := range errs {
		if err != nil {
			t.Errorf("process %d: %v", i, err)
		}
	}
}
