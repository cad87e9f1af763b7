package timely

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOwnIsOneAWorker(t *testing.T) {
	type counter struct{ n int }
	err := Run(Threads(3), func(w *Worker) error {
		Own[counter](w).n += w.Index()
		Own[counter](w).n++
		if n := Own[counter](w).n; n != w.Index()+1 {
			t.Errorf("worker %d has counted to %d", w.Index(), n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFailNamesTheOperator(t *testing.T) {
	broken := errors.New("broken")
	err := Run(Threads(2), func(w *Worker) error {
		w.Dataflow("d", func(s *Scope) {
			op := NewOperator(s, "fragile")
			op.Build(func() {
				if w.Index() == 1 {
					Fail(broken)
				}
			})
		})
		return w.StepUntil(func() bool { return false })
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "fragile") || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("got %v", err)
	}
}

// What is put off runs only when nothing else does, once each time it asks, and before the worker sleeps.
func TestActivateIdle(t *testing.T) {
	err := Run(Threads(1), func(w *Worker) error {
		var log []string
		var busy *Operator
		rounds := 0
		w.Dataflow("d", func(s *Scope) {
			hold := NewOperator(s, "hold")
			hold.Output[int]()
			hold.InitialCapability()
			hold.Build(func() {})
			busy = NewOperator(s, "busy")
			busy.Build(func() {
				if log = append(log, "busy"); len(log) < 5 {
					busy.Activate()
				}
			})
			upkeep := NewOperator(s, "upkeep")
			upkeep.Build(func() {
				if rounds++; rounds > 1 {
					log = append(log, "upkeep")
				}
				if rounds < 4 {
					upkeep.ActivateIdle()
					upkeep.ActivateIdle()
				}
			})
		})
		if err := w.StepOrPark(0); err != nil {
			return err
		}
		for range 20 {
			if err := w.StepOrPark(time.Microsecond); err != nil {
				return err
			}
		}
		if want := []string{"busy", "busy", "busy", "busy", "busy", "upkeep", "upkeep", "upkeep"}; !slices.Equal(log, want) {
			t.Errorf("got %v, expected %v", log, want)
		}
		w.flows[0].Drop()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
