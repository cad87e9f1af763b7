// Barrier measures how fast workers agree that all have come to the same point, with
// no records at all: each asks to be told when round after round is over everywhere.
//
//	go run ./examples/barrier -w 2 -rounds 100000
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
	rounds := flag.Uint64("rounds", 10_000, "`number` of rounds")
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return barrier(w, *rounds) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "barrier:", err)
		os.Exit(1)
	}
}

func barrier(w *timely.Worker, rounds uint64) error {
	var probe timely.Probe
	passed := uint64(0)
	w.Dataflow("barrier", func(s *timely.Scope) {
		loop := s.Loop("rounds")
		v := timely.LoopVariable[struct{}](loop, 0)
		op := timely.NewOperator(loop, "barrier")
		// Whatever is sent at a time comes back a round later, on some worker: so the
		// operator hears of the end of a round only once all workers have left it.
		op.Input(v.Stream(), timely.Pipeline[struct{}]())
		_, out := op.Output[struct{}]()
		right := op.InitialCapability()
		notify := op.Notificator()
		op.Build(func() {
			if right != nil {
				notify.NotifyAt(right.Time())
				right.Drop()
				right = nil
			}
			for t, ok := notify.Next(); ok; t, ok = notify.Next() {
				if passed++; passed < rounds {
					t[1]++
					notify.NotifyAt(t)
				}
			}
		})
		v.Set(out)
		out.Leave(s).Probe(&probe)
	})
	start := time.Now()
	if err := w.StepUntil(probe.Done); err != nil {
		return err
	}
	fmt.Printf("worker %d: %d rounds, %.0f rounds/s\n", w.Index(), passed, float64(passed)/time.Since(start).Seconds())
	return nil
}
