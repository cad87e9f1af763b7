// Q17 keeps up the answer to query 17 of the TPC-H benchmark while orders come and go: how much would be lost a
// year if small orders of some parts were not taken any more?
//
//	select sum(l_extendedprice) / 7.0 as avg_yearly
//	from lineitem, part
//	where p_partkey = l_partkey and p_brand = 'Brand#23' and p_container = 'MED BOX'
//	  and l_quantity < (select 0.2 * avg(l_quantity) from lineitem where l_partkey = p_partkey)
//
// The average of a part moves with each of its orders, so that old lines become small or are small no more. Only those of the parts
// that change are looked at again.
//
//	go run ./examples/q17 -w 2 -parts 20000 -lines 600000
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
	parts := flag.Uint("parts", 200, "`number` of parts")
	lines := flag.Int("lines", 6000, "`number` of lines of orders, to begin with")
	refreshes := flag.Uint64("refreshes", 10, "how `often` a thousandth of the lines comes, and the oldest go")
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return follow(w, uint32(*parts), *lines, *refreshes) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "q17:", err)
		os.Exit(1)
	}
}

type part struct {
	Key              uint32
	Brand, Container string
}

// line is one of an order. Equal ones are there as often as they were ordered.
type line struct {
	Part     uint32
	Quantity int8
	Price    int64 // of all, in cents
}

func follow(w *timely.Worker, parts uint32, lines int, refreshes uint64) error {
	var catalogue *differential.Input[part]
	var orders *differential.Input[line]
	w.Dataflow("q17", func(s *timely.Scope) {
		var all differential.Collection[part]
		var ordered differential.Collection[line]
		catalogue, all = differential.NewInput[part](s)
		orders, ordered = differential.NewInput[line](s)
		wanted := all.Filter(func(p part) bool { return p.Brand == "Brand#23" && p.Container == "MED BOX" }).
			Map(func(p part) uint32 { return p.Key })
		small := ordered.KeyBy(func(l line) (uint32, line) { return l.Part, l }).SemiJoin(wanted).
			Reduce("small", func(_ uint32, lines []differential.Weighted[line], emit func(int64, int64)) {
				total, count, lost := int64(0), int64(0), int64(0)
				for _, l := range lines {
					total += int64(l.Value.Quantity) * l.Weight
					count += l.Weight
				}
				for _, l := range lines {
					if 5*int64(l.Value.Quantity)*count < total {
						lost += l.Value.Price * l.Weight
					}
				}
				emit(lost, 1)
			})
		sum := small.MapPairs(func(_ uint32, lost int64) (bool, int64) { return true, lost }).Sum(func(lost int64) int64 { return lost })
		sum.Map(func(_ bool, cents int64) int64 { return cents }).Gather(func(t timely.Time, changes []differential.Weighted[int64]) error {
			for _, c := range changes {
				if c.Weight > 0 {
					fmt.Printf("refresh %d: avg_yearly %.2f\n", t[0], float64(c.Value)/100/7)
				}
			}
			return nil
		})
	})
	random := rand.New(rand.NewPCG(1, 17)) // the same on all workers, of which each takes its share
	for key := range parts {
		p := part{key, fmt.Sprintf("Brand#%d%d", 1+random.IntN(2), 1+random.IntN(3)), []string{"MED BOX", "LG CASE"}[random.IntN(2)]}
		if w.Index() == 0 {
			catalogue.Insert(p)
		}
	}
	catalogue.Close()
	var history []line
	order := func() {
		l := line{Part: random.Uint32N(parts), Quantity: int8(1 + random.IntN(50))}
		l.Price = int64(l.Quantity) * (90000 + int64(l.Part)/10%20001 + 100*(int64(l.Part)%1000))
		if history = append(history, l); len(history)%w.Peers() == w.Index() {
			orders.Insert(l)
		}
	}
	for range lines {
		order()
	}
	for refresh := range refreshes {
		orders.AdvanceTo(refresh + 1)
		for i := range max(lines/1000, 1) {
			order()
			if i%w.Peers() == w.Index() {
				orders.Remove(history[i])
			}
		}
		history = history[max(lines/1000, 1):]
		if _, err := w.Step(); err != nil {
			return err
		}
	}
	return nil // the dataflow runs to its end
}
