// Collatz finds the number whose Collatz sequence is longest: halve what is even, triple and add
// one to what is odd, until it is 1. All numbers go around one loop together; the round in which a number leaves
// it is the length of its sequence.
//
//	go run ./examples/collatz -w 2 -below 1000000
package main

import (
	"flag"
	"fmt"
	"os"

	"weir/timely"
)

func main() {
	config := timely.Flags(flag.CommandLine)
	below := flag.Uint64("below", 1000, "`number` up to which sequences start")
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return collatz(w, *below) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "collatz:", err)
		os.Exit(1)
	}
}

// walk is a number on its way, and where it began.
type walk struct{ Start, At uint64 }

// length is how many steps the sequence from a number has.
type length struct{ Start, Steps uint64 }

// longer is the longer sequence, or of two of equal length the one that starts lower.
func longer(so length, batch []length) length {
	for _, l := range batch {
		if l.Steps > so.Steps || l.Steps == so.Steps && l.Start < so.Start {
			so = l
		}
	}
	return so
}

func collatz(w *timely.Worker, below uint64) error {
	w.Dataflow("collatz", func(s *timely.Scope) {
		starts := timely.ToStream(s, func(yield func(walk) bool) {
			for n := uint64(w.Index()) + 1; n < below; n += uint64(w.Peers()) {
				if !yield(walk{n, n}) {
					return
				}
			}
		})
		starts.Iterate("steps", func(x timely.Stream[walk]) (again timely.Stream[walk], out timely.Stream[length]) {
			done, on := x.Branch(func(x walk) bool { return x.At == 1 })
			again = on.Map(func(x walk) walk {
				if x.At%2 == 0 {
					return walk{x.Start, x.At / 2}
				}
				return walk{x.Start, 3*x.At + 1}
			})
			// Records do not know the round they are in, but the time of their batch does.
			out = done.Unary("steps", timely.Pipeline[walk](), func(in *timely.Reader[walk], out *timely.Writer[length], _ *timely.Notificator) {
				for t, batch, ok := in.Next(); ok; t, batch, ok = in.Next() {
					for _, x := range batch {
						out.Send(t, length{x.Start, t[1]}) // t[0] is the epoch, t[1] the round
					}
				}
			})
			return again, out
		}).
			Accumulate(length{}, longer).               // of each worker,
			Exchange(func(length) uint64 { return 0 }). // sent to the first,
			Accumulate(length{}, longer).               // of all.
			Inspect(func(_ timely.Time, l length) {
				fmt.Printf("%d takes %d steps\n", l.Start, l.Steps)
			})
	})
	return nil // the dataflow runs to its end
}
