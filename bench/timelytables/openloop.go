package main

import (
	"time"

	"weir/internal/latency"
	"weir/timely"
)

// openLoop has events come at a fixed rate, whether or not those before them are done: so a dataflow
// that is late meets a queue, as it would outside. A latency is from when an event was due until
// its worker knew that all workers are done with its time. Workers do not sleep meanwhile.
func openLoop(w *timely.Worker, t task, found *record) error {
	var input *timely.Input[uint64]
	var probe timely.Probe
	w.Dataflow("open loop", func(s *timely.Scope) {
		input = timely.NewInput[uint64](s)
		input.Stream().Exchange(timely.HashUint64).Probe(&probe)
	})
	// Event n is due at n/rate seconds, on worker n modulo their number. An epoch is when the first
	// event in it was due, in nanoseconds, and 1: so no worker holds up others between events.
	due := func(n int) time.Duration { return time.Duration(float64(n) / float64(t.Rate) * 1e9) }
	events := int(t.Length.Seconds() * float64(t.Rate))
	counted := due(events / 5)
	sent, done := w.Index(), w.Index()
	type batch struct {
		epoch uint64
		end   int // the first event that is not in it or those before
	}
	var waiting []batch // for all workers to be done with them
	var latencies latency.Histogram
	input.AdvanceTo(1)
	if err := w.StepUntil(probe.Passed(timely.Epoch(0))); err != nil { // all are there
		return err
	}
	begin := found.start()
	input.AdvanceTo(uint64(due(sent)) + 1)
	for done < events {
		now := time.Since(begin)
		// The longer something waits, the more events go together, so that there is not most to agree on
		// while there is least time for it.
		age := time.Duration(0)
		if len(waiting) > 0 {
			age = now - due(done)
		}
		if sent < events && now-due(sent) >= age/4 {
			for ; sent < events && due(sent) <= now; sent += w.Peers() {
				input.Send(uint64(sent))
			}
			waiting = append(waiting, batch{input.Epoch(), sent})
			if sent < events {
				input.AdvanceTo(max(uint64(due(sent)), input.Epoch()) + 1)
			} else {
				input.Close()
			}
		}
		if _, err := w.Step(); err != nil {
			return err
		}
		now = time.Since(begin)
		for len(waiting) > 0 && !probe.LessEqual(timely.Epoch(waiting[0].epoch)) {
			for ; done < waiting[0].end; done += w.Peers() {
				if due(done) >= counted {
					latencies.Add(now - due(done))
				}
			}
			waiting = waiting[1:]
		}
	}
	found.add(latencies)
	if w.Index() == 0 {
		found.set(uint64(events), time.Since(begin))
	}
	return nil
}
