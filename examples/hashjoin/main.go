// Hashjoin joins two streams of pairs by their keys: each worker keeps what has come on either side in
// a hash table, and looks for what comes in that of the other.
//
//	go run ./examples/hashjoin -w 2 -keys 100000 -records 1000000
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"weir/timely"
)

func main() {
	config := timely.Flags(flag.CommandLine)
	keys := flag.Uint64("keys", 100, "`number` of keys")
	records := flag.Int("records", 1000, "`number` of random pairs on each side")
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return run(w, *keys, *records) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hashjoin:", err)
		os.Exit(1)
	}
}

type (
	pair   struct{ Key, Value uint64 }
	joined struct{ Key, Left, Right uint64 }
)

func run(w *timely.Worker, keys uint64, records int) error {
	var probe timely.Probe
	matches, sum := 0, uint64(0)
	w.Dataflow("hashjoin", func(s *timely.Scope) {
		join(pairs(s, 1, keys, records), pairs(s, 2, keys, records)).
			InspectBatch(func(_ timely.Time, batch []joined) {
				matches += len(batch)
				for _, j := range batch {
					sum += j.Left ^ j.Right
				}
			}).
			Probe(&probe)
	})
	if err := w.StepUntil(probe.Done); err != nil {
		return err
	}
	fmt.Printf("worker %d: %d matches, sum %d\n", w.Index(), matches, sum)
	return nil
}

// pairs is this worker's share of a side.
func pairs(s *timely.Scope, seed, keys uint64, records int) timely.Stream[pair] {
	w := s.Worker()
	return timely.ToStream(s, func(yield func(pair) bool) {
		random := rand.New(rand.NewPCG(seed, 0))
		for i := range records {
			p := pair{random.Uint64N(keys), random.Uint64N(1 << 32)}
			if i%w.Peers() == w.Index() && !yield(p) {
				return
			}
		}
	})
}

// join is the pairs of values of equal keys and times. Nothing waits for a time to be over:
// whichever of two pairs comes later finds the other.
func join(left, right timely.Stream[pair]) timely.Stream[joined] {
	type table = map[uint64][]uint64
	tables := map[timely.Time]*[2]table{}
	at := func(t timely.Time, n *timely.Notificator) *[2]table {
		if tables[t] == nil {
			tables[t] = &[2]table{{}, {}}
			n.NotifyAt(t) // to forget them
		}
		return tables[t]
	}
	byKey := timely.ByHash(func(p pair) uint64 { return timely.HashUint64(p.Key) })
	return left.Binary(right, "join", byKey, byKey,
		func(left, right *timely.Reader[pair], out *timely.Writer[joined], n *timely.Notificator) {
			for side, in := range []*timely.Reader[pair]{left, right} {
				for t, batch, ok := in.Next(); ok; t, batch, ok = in.Next() {
					both := at(t, n)
					mine, other := both[side], both[1-side]
					buf := out.Buffer(t)
					for _, p := range batch {
						mine[p.Key] = append(mine[p.Key], p.Value)
						for _, v := range other[p.Key] {
							j := joined{p.Key, p.Value, v}
							if side == 1 {
								j.Left, j.Right = v, p.Value
							}
							if buf = append(buf, j); len(buf) == timely.BatchLen {
								buf = out.Flush(buf)
							}
						}
					}
					out.Put(buf)
				}
			}
			for t, ok := n.Next(); ok; t, ok = n.Next() {
				delete(tables, t)
			}
		})
}
