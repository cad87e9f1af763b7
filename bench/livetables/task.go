package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weir/differential"
	"weir/internal/latency"
	"weir/timely"
)

// gcPercent is how much the heap may grow between two collections, in percent of what is live: as much as "weir live"
// lets it.
const gcPercent = 30

// task is what one process measures.
type task struct {
	Question string
	Workers  int
	Vertices int
	Edges    int
	Batches  []int         // how many changes are made at a time, one after the other
	Length   time.Duration // of each
	Rounds   int           // of each, at least
	Collect  time.Duration // from one collection of garbage to the next that is asked for; 0 is none
}

func (t task) graph() graph { return graph{uint32(t.Vertices), t.Edges} }

// measured is what came of a task.
type measured struct {
	Load   float64 // seconds until the first answer
	Used   float64 // processor seconds of that; 0 where the system does not tell
	Memory uint64  // most bytes of the process that were resident until then; 0 where the system does not tell
	State  state   // then
	Phases []phase
	Pauses []pause // of garbage collection, of all phases
}

// state is what the indices of all workers keep.
type state struct{ Changes, Bytes int }

func (s *state) add(w *timely.Worker) {
	size := differential.Stats(w)
	s.Changes += size.Edits
	s.Bytes += size.Bytes
}

// phase is changes, so many at a time.
type phase struct {
	Batch     int
	Rounds    int
	Seconds   float64
	Used      float64           // processor seconds of all workers; 0 where the system does not tell
	Latencies latency.Histogram // from the introduction of a batch until all of its effects were known
	// ByChanged is the same for the rounds that changed few answers, more, and so on: see changedMost.
	ByChanged [len(changedMost) + 1]latency.Histogram
}

// changedMost is how many answers change at most in a round of each class; what changes more is in a class of its own.
var changedMost = [...]int64{10, 100, 1000, 10_000, 100_000}

// add notes a round.
func (p *phase) add(took time.Duration, changed int64) {
	p.Rounds++
	p.Latencies.Add(took)
	class, _ := slices.BinarySearch(changedMost[:], changed)
	p.ByChanged[class].Add(took)
}

// used is processor microseconds a change.
func (p phase) used() float64 { return 1e6 * p.Used / float64(p.Batch) / float64(p.Rounds) }

// rate is how many changes were made in a second.
func (p phase) rate() float64 { return float64(p.Batch) * float64(p.Rounds) / p.Seconds }

// record is where the workers of a process put what they find.
type record struct {
	mu      sync.Mutex
	out     measured
	total   uint64 // the sum of the answers
	changes int
	ends    []atomic.Uint64 // the last epoch of each phase, once the first worker knows it
	changed atomic.Int64    // answers, in the present round
}

// measurePart does a task, and prints what came of it.
func measurePart(ctx context.Context, t task, stdout io.Writer) error {
	debug.SetGCPercent(gcPercent)
	found := &record{ends: make([]atomic.Uint64, len(t.Batches))}
	cfg := timely.Threads(t.Workers)
	cfg.Context = ctx
	begin := time.Now()
	var before pauses
	if err := timely.Run(cfg, func(w *timely.Worker) error {
		f, err := newFlow(w, t.Question, t.graph(), &found.changed)
		if err != nil {
			return err
		}
		if err := f.load(); err != nil {
			return err
		}
		found.mu.Lock()
		found.out.State.add(w)
		found.mu.Unlock()
		if w.Index() == 0 {
			found.out.Load, found.out.Used = time.Since(begin).Seconds(), processorTime().Seconds()
			found.out.Memory = peakMemory()
			runtime.GC() // what loading has left
			before = readPauses()
			defer t.collect()()
		}
		for i := range t.Batches {
			p, err := t.phase(f, found, i)
			if err != nil {
				return err
			}
			if w.Index() == 0 {
				found.out.Phases = append(found.out.Phases, p)
			}
		}
		found.mu.Lock()
		defer found.mu.Unlock()
		found.total += f.total
		found.changes = f.changes
		return nil
	}); err != nil {
		return err
	}
	found.out.Pauses = readPauses().since(before)
	if err := t.check(found.total, found.changes); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(found.out)
}

// check makes the answers anew.
func (t task) check(total uint64, changes int) error {
	if want := questions[t.Question].naive(t.graph(), changes); total != want {
		return fmt.Errorf("after %d changes the answers of %s add up to %#x, expected %#x", changes, t.Question, total, want)
	}
	return nil
}

// phase makes changes, round after round. The first worker decides, before it ends a round, that this is the last.
func (t task) phase(f *flow, found *record, number int) (phase, error) {
	p := phase{Batch: t.Batches[number]}
	begin, used := time.Now(), processorTime()
	for last := false; !last; {
		epoch := f.edges.Epoch()
		round := time.Now()
		if f.worker.Index() == 0 && p.Rounds+1 >= t.Rounds && round.Sub(begin) >= t.Length {
			found.ends[number].Store(epoch)
		}
		f.rewire(p.Batch)
		if err := f.confirm(); err != nil {
			return p, err
		}
		took := time.Since(round)
		if f.worker.Index() == 0 {
			// No worker is ahead: the next round's answers need the next changes of this one.
			p.add(took, found.changed.Swap(0))
		} else {
			p.Rounds++
		}
		last = found.ends[number].Load() == epoch
	}
	p.Seconds, p.Used = time.Since(begin).Seconds(), (processorTime() - used).Seconds()
	return p, nil
}

// collect has garbage collected at intervals, until the function that it returns is called.
func (t task) collect() (stop func()) {
	if t.Collect == 0 {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for tick := time.NewTicker(t.Collect); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				runtime.GC()
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}
