package timely

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestToStream(t *testing.T) {
	var got Results[int]
	err := Run(Threads(2), func(w *Worker) error {
		list := make([]int, 5000)
		for i := range list {
			list[i] = i*2 + w.Index()
		}
		w.Dataflow("list", func(s *Scope) { ToStream(s, slices.Values(list)).Collect(&got) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Sorted(slices.Values(got.At(Time{})))
	if len(all) != 10_000 || all[0] != 0 || all[9999] != 9999 || got.Len() != 10_000 {
		t.Errorf("got %d records", len(all))
	}
}

// TestSourceIsBounded checks that no source is further ahead of the probe than it may be.
func TestSourceIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threads := rapid.IntRange(1, 3).Draw(t, "threads")
		ahead := rapid.Uint64Range(0, 3).Draw(t, "ahead")
		gap := rapid.Uint64Range(1, 5).Draw(t, "gap")
		var got Results[uint64]
		err := Run(Threads(threads), func(w *Worker) error {
			var probe Probe
			w.Dataflow("bounded", func(s *Scope) {
				Source(s, "numbers", func(yield func(uint64, []uint64) bool) {
					for i := range uint64(20) {
						if !yield(i*gap, []uint64{i, i}) {
							return
						}
					}
				}, SourceOptions{Behind: &probe, Ahead: ahead}).
					Inspect(func(at Time, x uint64) {
						for _, f := range probe.Frontier() {
							if f[0]+ahead < at[0] {
								t.Errorf("epoch %d is made while the probe is at %v, %d ahead are allowed", at[0], f, ahead)
							}
						}
					}).
					Exchange(HashUint64).Collect(&got).Probe(&probe)
			})
			return w.StepUntil(probe.Done)
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(20) {
			if n := len(got.At(Epoch(i * gap))); n != 2*threads {
				t.Fatalf("%d records at %d", n, i*gap)
			}
		}
	})
}

// TestSourceIsStopped checks that an iterator that is not at its end when the run fails
// or its dataflow is dropped is told so.
func TestSourceIsStopped(t *testing.T) {
	trouble := errors.New("trouble")
	for _, drop := range []bool{false, true} {
		stopped := 0
		err := Run(Threads(1), func(w *Worker) error {
			flow := w.Dataflow("endless", func(s *Scope) {
				Source(s, "ones", func(yield func(uint64, []int) bool) {
					defer func() { stopped++ }()
					for yield(0, []int{1}) {
					}
				}, SourceOptions{})
			})
			for range 3 {
				if _, err := w.Step(); err != nil {
					return err
				}
			}
			if drop {
				flow.Drop()
				return nil
			}
			return trouble
		})
		if stopped != 1 || drop != (err == nil) || !drop && !errors.Is(err, trouble) {
			t.Errorf("drop %v: stopped %d times, %v", drop, stopped, err)
		}
	}
}

func TestSourceGoesBack(t *testing.T) {
	err := Run(Threads(1), func(w *Worker) error {
		w.Dataflow("back", func(s *Scope) {
			Source(s, "numbers", func(yield func(uint64, []int) bool) { _ = yield(2, []int{1}) && yield(1, nil) }, SourceOptions{})
		})
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "goes back from epoch 2 to 1") {
		t.Errorf("got %v", err)
	}
}

// TestWaker has goroutines fill a queue that an operator of a sleeping worker empties.
func TestWaker(t *testing.T) {
	const writers, each = 4, 100
	var got Results[int]
	var feeding sync.WaitGroup
	err := Run(Threads(2), func(w *Worker) error {
		var mu sync.Mutex
		var queue []int
		var feed func()
		left := writers * each
		w.Dataflow("feed", func(s *Scope) {
			op := NewOperator(s, "feed")
			out, stream := op.Output[int]()
			right := op.InitialCapability()
			wake := op.Waker()
			op.Build(func() {
				mu.Lock()
				defer mu.Unlock()
				if len(queue) == 0 {
					return // an earlier run took what it was woken for, maybe the last of all
				}
				out.SendSlice(right.Time(), queue)
				if left -= len(queue); left == 0 {
					right.Drop()
				}
				queue = queue[:0]
			})
			stream.Collect(&got)
			feed = func() {
				for i := range each {
					mu.Lock()
					queue = append(queue, i)
					mu.Unlock()
					wake()
				}
			}
		})
		for range writers {
			feeding.Go(feed)
		}
		return nil
	})
	feeding.Wait()
	if err != nil || got.Len() != 2*writers*each {
		t.Errorf("%d records, %v", got.Len(), err)
	}
}

// TestUnorderedInput sends at random times, and checks that each time is over no earlier than
// it may be, and no later than it must.
func TestUnorderedInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threads := rapid.IntRange(1, 3).Draw(t, "threads")
		plan := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint64Range(0, 6), 3, 3), 0, 30).Draw(t, "plan")
		var sent, got Results[uint64]
		err := Run(Threads(threads), func(w *Worker) error {
			var in *UnorderedInput[uint64]
			var probe Probe
			w.Dataflow("unordered", func(s *Scope) {
				loop := s.Loop("second axis")
				in = NewUnorderedInput[uint64](loop)
				in.Stream().Exchange(HashUint64).
					Accumulate(0, func(so uint64, batch []uint64) uint64 { return so + uint64(len(batch)) }).
					Collect(&got).Probe(&probe)
			})
			for i, p := range plan {
				at := Time{p[0], p[1]}
				switch open := in.Frontier(); {
				case !open.LessEqual(at):
				case p[2] < 4:
					in.Send(at, uint64(i))
					sent.add(at, []uint64{uint64(i)})
				default: // all that is not at or before this time stays open
					var next []Time
					for _, t := range open {
						next = append(next, t.Join(Time{p[0] + 1, 0}), t.Join(Time{0, p[1] + 1}))
					}
					in.AdvanceTo(next...)
				}
			}
			in.Close()
			in.Close()
			if in.Frontier() != nil {
				return fmt.Errorf("a closed input is open from %v", in.Frontier())
			}
			return w.StepUntil(probe.Done)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range sent.Times() {
			total := uint64(0)
			for _, n := range got.At(at) {
				total += n
			}
			if total != uint64(len(sent.At(at))) {
				t.Errorf("at %v: %d records came of %d", at, total, len(sent.At(at)))
			}
		}
	})
}

func TestUnorderedMisuse(t *testing.T) {
	for _, c := range []struct {
		use  func(in *UnorderedInput[int])
		want string
	}{
		{func(in *UnorderedInput[int]) { in.AdvanceTo(Time{3}); in.Send(Time{2}, 1) }, "sent at (2) to an unordered input that is open from [(3)] on"},
		{func(in *UnorderedInput[int]) { in.AdvanceTo(Time{3}); in.AdvanceTo(Time{1}) }, "open from [(3)] on goes to (1)"},
		{func(in *UnorderedInput[int]) { in.Close(); in.Send(Time{2}, 1) }, "open from [] on"},
	} {
		err := Run(Threads(1), func(w *Worker) error {
			var in *UnorderedInput[int]
			w.Dataflow("misuse", func(s *Scope) { in = NewUnorderedInput[int](s) })
			c.use(in)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, new(*MisuseError)) {
			t.Errorf("got %v, expected %q", err, c.want)
		}
	}
	err := Run(Threads(1), func(w *Worker) error {
		w.Dataflow("early", func(s *Scope) { NewInput[int](s).Send(1) })
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), `sent to an input of dataflow "early" before it is built`) {
		t.Errorf("got %v", err)
	}
}
