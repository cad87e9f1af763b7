package timely

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"
)

// A dataflow without operators ends at once: no worker sleeps over it.
func TestEmptyDataflow(t *testing.T) {
	for threads := 1; threads <= 3; threads++ {
		cfg := Threads(threads)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		cfg.Context = ctx
		err := Run(cfg, func(w *Worker) error {
			d := w.Dataflow("nothing", func(*Scope) {})
			return w.StepUntil(d.Done)
		})
		cancel()
		if err != nil {
			t.Errorf("%d workers: %v", threads, err)
		}
	}
}

// A panic in a source of Replay, which has a goroutine of its own, is an error as others are.
func TestReplayPanics(t *testing.T) {
	cfg := Threads(2)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cfg.Context = ctx
	var events iter.Seq2[Event[int], error] = func(yield func(Event[int], error) bool) {
		if yield(Event[int]{Data: []int{1}}, nil) {
			panic("torn tape")
		}
	}
	err := Run(cfg, func(w *Worker) error {
		w.Dataflow("replayed", func(s *Scope) {
			if w.Index() == 0 {
				Replay(s, events)
			} else {
				Replay[int](s)
			}
		})
		return nil
	})
	for _, part := range []string{`operator "replay" of dataflow "replayed"`, "the events panicked: torn tape", "end_test.go"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

// What operators have begun ends, though their dataflow is never completed.
func TestEndOfUnfinishedDataflow(t *testing.T) {
	ended := 0
	err := Run(Threads(1), func(w *Worker) error {
		w.Dataflow("torn", func(s *Scope) {
			NewOperator(s, "beginner").AtEnd(func() { ended++ })
			panic("out of ideas")
		})
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "out of ideas") || ended != 1 {
		t.Errorf("error %v, and %d ends, want a panic and 1", err, ended)
	}
}

// TestLateEmit calls emit after the function that got it has returned: the record
// has no time any more, and must not vanish in silence.
func TestLateEmit(t *testing.T) {
	var late func(int)
	for name, build := range map[string]func(Stream[int]){
		"flatmap": func(s Stream[int]) { s.FlatMap(func(x int, emit func(int)) { late = emit }) },
		"state machine": func(s Stream[int]) {
			s.StateMachine(func(x int) int { return x }, func(_ int, _ *int, _ int, emit func(int)) bool { late = emit; return false })
		},
	} {
		err := Run(Threads(1), func(w *Worker) error {
			var in *Input[int]
			late = nil
			w.Dataflow("late", func(s *Scope) {
				in = NewInput[int](s)
				build(in.Stream())
			})
			in.Send(1)
			in.AdvanceTo(1)
			if err := w.StepUntil(func() bool { return late != nil }); err != nil {
				return err
			}
			late(2)
			return nil
		})
		if !errors.As(err, new(*MisuseError)) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, expected a misuse", name, err)
		}
	}
}

// TestSendOutside sends by a capability while the operator does not run and nothing else would have
// it run again: the records go on their way all the same.
func TestSendOutside(t *testing.T) {
	for name, send := range map[string]func(out *Writer[int]){
		"slice":  func(out *Writer[int]) { out.Send(Epoch(3), 7) },
		"batch":  func(out *Writer[int]) { out.Pass(Epoch(3), []int{7}) },
		"buffer": func(out *Writer[int]) { out.Put(append(out.Buffer(Epoch(3)), 7)) },
	} {
		var got Results[int]
		err := runFor(t, 5*time.Second, Threads(2), func(w *Worker) error {
			var out *Writer[int]
			var right *Capability
			var probe Probe
			w.Dataflow("outside", func(s *Scope) {
				op := NewOperator(s, "remote controlled")
				var stream Stream[int]
				out, stream = op.Output[int]()
				right = op.InitialCapability()
				op.Build(func() {})
				stream.Exchange(func(x int) uint64 { return uint64(x) }).Collect(&got).Probe(&probe)
			})
			for range 10 { // until nothing is left to do
				if _, err := w.Step(); err != nil {
					return err
				}
			}
			send(out)
			if err := w.StepUntil(func() bool { return got.Len() == 2 }); err != nil {
				return err
			}
			right.Drop()
			return w.StepUntil(probe.Done)
		})
		if at := got.At(Epoch(3)); err != nil || len(at) != 2 || at[0] != 7 {
			t.Errorf("%s: got %v and %v, want 7 twice", name, at, err)
		}
	}
}
