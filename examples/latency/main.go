// Latency measures how long events take through a dataflow that they come to at a fixed
// rate, whether or not those before them are done (an open loop: a slow dataflow meets a queue, as it would
// outside). It prints the distribution of the times from when an event was due to when
// all workers knew it to be done.
//
//	go run ./examples/latency -w 2 -rate 100000 -for 5s
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"weir/timely"
)

func main() {
	config := timely.Flags(flag.CommandLine)
	rate := flag.Int("rate", 10_000, "`events` a second, over all workers")
	length := flag.Duration("for", time.Second, "how long")
	tick := flag.Duration("tick", 100*time.Microsecond, "length of an epoch: events that are due in it are sent together")
	flag.Parse()
	cfg, err := config()
	if err == nil && (*rate <= 0 || *tick <= 0) {
		err = fmt.Errorf("-rate %d -tick %v: expected more than 0", *rate, *tick)
	}
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return measure(w, *rate, *length, *tick) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		os.Exit(1)
	}
}

func measure(w *timely.Worker, rate int, length, tick time.Duration) error {
	var input *timely.Input[uint64]
	var probe timely.Probe
	w.Dataflow("latency", func(s *timely.Scope) {
		input = timely.NewInput[uint64](s)
		input.Stream().Exchange(timely.HashUint64).Probe(&probe)
	})
	// Event n is due at n/rate seconds, on worker n modulo their number.
	due := func(n int) time.Duration { return time.Duration(float64(n) / float64(rate) * 1e9) }
	events := int(length.Seconds() * float64(rate))
	sent, done := w.Index(), w.Index()
	latencies := make([]time.Duration, 0, events/w.Peers()+1)
	start := time.Now()
	for done < events {
		now := time.Since(start)
		for ; sent < events && due(sent) <= now; sent += w.Peers() {
			input.AdvanceTo(uint64(due(sent) / tick))
			input.Send(uint64(sent))
		}
		if sent >= events {
			input.Close()
		} else {
			input.AdvanceTo(max(input.Epoch(), uint64(now/tick)))
		}
		for ; done < sent && done < events && !probe.LessEqual(timely.Epoch(uint64(due(done)/tick))); done += w.Peers() {
			latencies = append(latencies, time.Since(start)-due(done))
		}
		wait := time.Millisecond
		if sent < events {
			wait = max(min(due(sent)-time.Since(start), tick), time.Microsecond)
		}
		if err := w.StepOrPark(wait); err != nil {
			return err
		}
	}
	slices.Sort(latencies)
	line := fmt.Sprintf("worker %d: %d events", w.Index(), len(latencies))
	for _, p := range []float64{50, 90, 99, 99.9, 100} {
		if n := len(latencies); n > 0 {
			line += fmt.Sprintf(", %g%% in %v", p, latencies[min(int(p/100*float64(n)), n-1)].Round(time.Microsecond))
		}
	}
	fmt.Println(line) // at once, since all workers print
	return nil
}
