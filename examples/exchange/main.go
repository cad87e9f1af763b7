// Exchange measures how fast workers pass numbers to one another: in each round every
// worker sends some, they are spread over all workers, and nobody goes on before all have arrived.
//
//	go run ./examples/exchange -w 2 -rounds 1000 -records 100000
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"weir/timely"
)

func main() {
	config := timely.Flags(flag.CommandLine)
	rounds := flag.Uint64("rounds", 1000, "`number` of rounds")
	records := flag.Uint64("records", 1000, "`number` of records that each worker sends in a round")
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return exchange(w, *rounds, *records) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "exchange:", err)
		os.Exit(1)
	}
}

func exchange(w *timely.Worker, rounds, records uint64) error {
	var input *timely.Input[uint64]
	var probe timely.Probe
	received := 0
	w.Dataflow("exchange", func(s *timely.Scope) {
		input = timely.NewInput[uint64](s)
		input.Stream().
			Exchange(func(x uint64) uint64 { return x }).
			InspectBatch(func(_ timely.Time, batch []uint64) { received += len(batch) }).
			Probe(&probe)
	})
	numbers := make([]uint64, records)
	for i := range numbers {
		numbers[i] = uint64(i)
	}
	start := time.Now()
	for round := range rounds {
		input.Send(numbers...)
		input.AdvanceTo(round + 1)
		if err := w.StepUntil(probe.Passed(timely.Epoch(round))); err != nil {
			return err
		}
	}
	took := time.Since(start).Seconds()
	fmt.Printf("worker %d: received %d records, %.0f rounds/s, %.1f M records/s\n",
		w.Index(), received, float64(rounds)/took, float64(received)/took/1e6)
	return nil
}
