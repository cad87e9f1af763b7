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
	err := Run(Threads(1), func(w *Worker) error {
		var in *Input[int]
		var late func(int)
		w.Dataflow("late", func(s *Scope) {
			in = NewInput[int](s)
			in.Stream().FlatMap(func(x int, emit func(int)) { late = emit })
		})
		in.Send(1)
		if _, err := w.Step(); err != nil {
			return err
		}
		late(2)
		return nil
	})
	if !errors.As(err, new(*MisuseError)) {
		t.Errorf("got %v, expected a misuse", err)
	}
}
