// Risky follows which customers of a bank are connected to a fraudster through any number of transactions, while
// transactions come and grow old, and suspicions come and turn out to be wrong. Who was marked
// only because of others who should not have been is unmarked with them: changing the marks would never
// do that, since the marks keep one another alive.
//
//	go run ./examples/risky -w 2 -customers 100000 -transactions 20000
//
// It is the example of McSherry's post "Differential dataflow" (2015-04-07).
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"weir/differential"
	"weir/timely"
)

func main() {
	config := timely.Flags(flag.CommandLine)
	customers := flag.Uint("customers", 1000, "`number` of customers")
	transactions := flag.Int("transactions", 100, "`number` of transactions each month")
	months := flag.Uint64("months", 24, "`number` of months")
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return follow(w, uint32(*customers), *transactions, *months) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "risky:", err)
		os.Exit(1)
	}
}

// old is how many months a transaction counts, and a suspicion that is wrong.
const old = 6

type transaction struct{ Payer, Payee uint32 }

func follow(w *timely.Worker, customers uint32, transactions int, months uint64) error {
	var payments *differential.Input[transaction]
	var suspects *differential.Input[uint32]
	w.Dataflow("risky", func(s *timely.Scope) {
		var paid differential.Collection[transaction]
		var frauds differential.Collection[uint32]
		payments, paid = differential.NewInput[transaction](s)
		suspects, frauds = differential.NewInput[uint32](s)
		both := paid.FlatMap(func(t transaction, emit func(transaction)) {
			emit(t)
			emit(transaction{t.Payee, t.Payer})
		})
		partners := both.KeyBy(func(t transaction) (uint32, uint32) { return t.Payer, t.Payee })
		risky := frauds.Iterate(func(loop *timely.Scope, marked differential.Collection[uint32]) differential.Collection[uint32] {
			next := partners.Enter(loop).
				JoinMap(marked.KeyBy(func(x uint32) (uint32, bool) { return x, true }), func(_, partner uint32, _ bool) uint32 { return partner })
			return next.Concat(frauds.Enter(loop)).Distinct()
		})
		count := 0 // on the first worker
		risky.Gather(func(t timely.Time, changes []differential.Weighted[uint32]) error {
			more, fewer := 0, 0
			for _, c := range changes {
				if c.Weight > 0 {
					more++
				} else {
					fewer++
				}
			}
			count += more - fewer
			fmt.Printf("month %d: %d risky customers, %d more and %d no more\n", t[0], count, more, fewer)
			return nil
		})
	})
	random := rand.New(rand.NewPCG(1, 1)) // the same on all workers, of which each takes its share
	for month := range months {
		payments.AdvanceTo(month)
		suspects.AdvanceTo(month)
		for i := range transactions {
			t := transaction{random.Uint32N(customers), random.Uint32N(customers)}
			if i%w.Peers() == w.Index() {
				payments.Insert(t)
				payments.UpdateAt(month+old, t, -1)
			}
		}
		suspect, wrong := random.Uint32N(customers), random.IntN(2) == 0
		if w.Index() == 0 {
			suspects.Insert(suspect)
			if wrong {
				suspects.UpdateAt(month+old, suspect, -1)
			}
		}
		if _, err := w.Step(); err != nil {
			return err
		}
	}
	return nil // the dataflow runs to its end
}
