// Hello sends numbers from the first worker to all, one a round, and waits in each
// round until everybody has got theirs.
//
//	go run ./examples/hello -w 2
package main

import (
	"flag"
	"fmt"
	"os"

	"weir/timely"
)

func main() {
	config := timely.Flags(flag.CommandLine)
	rounds := flag.Uint64("rounds", 10, "`number` of rounds")
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return hello(w, *rounds) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}

// hello is run by every worker.
func hello(w *timely.Worker, rounds uint64) error {
	// Each worker builds the same dataflow: an input, an exchange of records between the
	// workers by their value, a look at what comes, and a probe, which
	// knows how far everything has come.
	var input *timely.Input[uint64]
	var probe timely.Probe
	w.Dataflow("hello", func(s *timely.Scope) {
		input = timely.NewInput[uint64](s)
		input.Stream().
			Exchange(func(x uint64) uint64 { return x }).
			Inspect(func(t timely.Time, x uint64) { fmt.Printf("worker %d: hello %d\n", w.Index(), x) }).
			Probe(&probe)
	})
	for round := range rounds {
		if w.Index() == 0 {
			input.Send(round)
		}
		input.AdvanceTo(round + 1) // no more records of this round from here
		if err := w.StepUntil(probe.Passed(timely.Epoch(round))); err != nil {
			return err
		}
	}
	return nil
}
