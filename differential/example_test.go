package differential_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"weir/differential"
	"weir/timely"
)

// How far each city is from Oslo, in flights, while flights come and go.
func Example() {
	type flight struct{ From, To string }
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		var flights *differential.Input[flight]
		var start *differential.Input[string]
		w.Dataflow("distances", func(s *timely.Scope) {
			var all differential.Collection[flight]
			var cities differential.Collection[string]
			flights, all = differential.NewInput[flight](s)
			start, cities = differential.NewInput[string](s)

			next := all.KeyBy(func(f flight) (string, string) { return f.From, f.To })
			begin := cities.KeyBy(func(city string) (string, int) { return city, 0 })
			distances := begin.Iterate(func(loop *timely.Scope, inner differential.Keyed[string, int]) differential.Keyed[string, int] {
				return inner.
					Join(next.Enter(loop), func(_ string, n int, to string) (string, int) { return to, n + 1 }).
					Concat(begin.Enter(loop)).
					Min()
			})

			differential.Pairs(distances).Capture(func(day timely.Time, changes []differential.Weighted[differential.Pair[string, int]]) error {
				slices.SortFunc(changes, func(a, b differential.Weighted[differential.Pair[string, int]]) int {
					return cmp.Or(strings.Compare(a.Value.Key, b.Value.Key), cmp.Compare(a.Weight, b.Weight))
				})
				for _, c := range changes {
					fmt.Printf("day %d: %+d %s is %d away\n", day[0], c.Weight, c.Value.Key, c.Value.Value)
				}
				return nil
			})
		})
		start.Insert("Oslo")
		start.Close()
		flights.Insert(flight{"Oslo", "Rome"}, flight{"Rome", "Cairo"}, flight{"Cairo", "Perth"})
		flights.AdvanceTo(1)
		flights.Insert(flight{"Oslo", "Perth"}, flight{"Perth", "Cairo"})
		flights.AdvanceTo(2)
		flights.Remove(flight{"Rome", "Cairo"})
		flights.AdvanceTo(3)
		flights.Remove(flight{"Oslo", "Rome"})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// day 0: +1 Cairo is 2 away
	// day 0: +1 Oslo is 0 away
	// day 0: +1 Perth is 3 away
	// day 0: +1 Rome is 1 away
	// day 1: -1 Perth is 3 away
	// day 1: +1 Perth is 1 away
	// day 3: -1 Rome is 1 away
}

// change is how many more there are of a value with a key.
type change struct {
	key, value string
	weight     int
}

// side is all changes of one side of a join so far, by key.
type side map[string][]change

// meet joins a change of one side with all that has come of the other.
func (other side) meet(c change, emit func(key, mine, theirs string, weight int)) {
	for _, o := range other[c.key] {
		emit(c.key, c.value, o.value, c.weight*o.weight)
	}
}

// A join that follows its inputs, by hand: d(A ⋈ B) = dA ⋈ B + A ⋈ dB + dA ⋈ dB. A change meets all that the other side
// has had so far, and then belongs to what later changes of the other side will meet.
func Example_joinByHand() {
	homes, events := side{}, side{}
	step := func(dHomes, dEvents []change) {
		for _, c := range dHomes {
			events.meet(c, func(city, person, title string, n int) { fmt.Printf("%+d %s to the %s\n", n, person, title) })
			homes[c.key] = append(homes[c.key], c)
		}
		for _, c := range dEvents { // these meet the changes above, too
			homes.meet(c, func(city, title, person string, n int) { fmt.Printf("%+d %s to the %s\n", n, person, title) })
			events[c.key] = append(events[c.key], c)
		}
	}
	step([]change{{"Oslo", "Ada", +1}}, []change{{"Oslo", "concert", +1}})
	step(nil, []change{{"Oslo", "fair", +1}})
	step([]change{{"Oslo", "Ada", -1}}, nil)
	step([]change{{"Oslo", "Bob", +1}}, []change{{"Oslo", "concert", -1}})
	// Output:
	// +1 Ada to the concert
	// +1 Ada to the fair
	// -1 Ada to the concert
	// -1 Ada to the fair
	// +1 Bob to the concert
	// +1 Bob to the fair
	// -1 Ada to the concert
	// +1 Ada to the concert
	// -1 Bob to the concert
}

// An index that is shared: the program looks into it between steps, and a dataflow that is built later
// uses it as it is.
func ExampleShared() {
	type home = differential.Pair[string, string]
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		var homes *differential.Input[home]
		var byCity *differential.Shared[string, string]
		w.Dataflow("keep", func(s *timely.Scope) {
			var live differential.Collection[home]
			homes, live = differential.NewInput[home](s)
			byCity = differential.ByPair(live).Share()
		})
		homes.Insert(home{Key: "Oslo", Value: "Ada"}, home{Key: "Oslo", Value: "Bob"}, home{Key: "Perth", Value: "Cay"})
		homes.AdvanceTo(1)
		homes.Remove(home{Key: "Oslo", Value: "Bob"})
		homes.AdvanceTo(2)
		if err := w.StepUntil(func() bool { return byCity.Complete(1) }); err != nil {
			return err
		}
		for epoch := range uint64(2) { // both are still to be told apart
			people, err := byCity.Lookup(epoch, "Oslo", nil)
			if err != nil {
				return err
			}
			fmt.Println("epoch", epoch, "in Oslo:", len(people))
		}
		all, err := byCity.Snapshot(1)
		if err != nil {
			return err
		}
		var list []string
		for x, n := range all {
			list = append(list, fmt.Sprintf("%s×%d in %s", x.Value, n, x.Key))
		}
		slices.Sort(list)
		fmt.Println(list)

		w.Dataflow("count", func(s *timely.Scope) {
			differential.Pairs(byCity.Import(s).Count()).Capture(func(t timely.Time, changes []differential.Weighted[differential.Pair[string, int64]]) error {
				for _, c := range changes {
					fmt.Printf("epoch %d: %+d %s has %d\n", t[0], c.Weight, c.Value.Key, c.Value.Value)
				}
				return nil
			})
		})
		byCity.AdvanceTo(1) // epoch 0 is to be told from epoch 1 no more: the index may shrink
		if _, err := byCity.Lookup(0, "Oslo", nil); err != nil {
			fmt.Println(err)
		}
		byCity.Close() // what was imported goes on
		homes.Insert(home{Key: "Rome", Value: "Dee"})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// epoch 0 in Oslo: 2
	// epoch 1 in Oslo: 1
	// read a shared index at epoch 0: it was advanced to epoch 1
	// [Ada×1 in Oslo Cay×1 in Perth]
	// epoch 0: +1 Oslo has 2
	// epoch 0: +1 Perth has 1
	// epoch 1: -1 Oslo has 2
	// epoch 1: +1 Oslo has 1
	// epoch 2: +1 Rome has 1
}

// Two collections that are defined by one another: from which cities one gets to Oslo in an even, and in an odd number of
// flights.
func ExampleVariable() {
	type flight = differential.Pair[string, string]
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		var flights *differential.Input[flight]
		var start *differential.Input[string]
		w.Dataflow("parity", func(s *timely.Scope) {
			var all differential.Collection[flight]
			var begin differential.Collection[string]
			flights, all = differential.NewInput[flight](s)
			start, begin = differential.NewInput[string](s)

			loop := s.Loop("parity")
			into := differential.ByPair(all).MapPairs(func(from, to string) (string, string) { return to, from }).Enter(loop)
			none := begin.Filter(func(string) bool { return false })
			even := differential.NewVariable(loop, begin.Enter(loop))
			odd := differential.NewVariable(loop, none.Enter(loop))
			before := func(c differential.Collection[string]) differential.Collection[string] {
				cities := c.KeyBy(func(city string) (string, struct{}) { return city, struct{}{} })
				return into.JoinMap(cities, func(_, from string, _ struct{}) string { return from })
			}
			nextEven := before(odd.Collection()).Concat(begin.Enter(loop)).Distinct()
			nextOdd := before(even.Collection()).Distinct()
			even.Set(nextEven)
			odd.Set(nextOdd)

			show := func(name string, c differential.Collection[string]) {
				c.Leave(s).Capture(func(_ timely.Time, changes []differential.Weighted[string]) error {
					for _, c := range changes {
						fmt.Println(name, c.Value)
					}
					return nil
				})
			}
			show("even:", nextEven)
			show("odd:", nextOdd)
		})
		start.Insert("Oslo")
		flights.Insert(flight{Key: "Rome", Value: "Oslo"}, flight{Key: "Cairo", Value: "Rome"}, flight{Key: "Perth", Value: "Cairo"}, flight{Key: "Perth", Value: "Oslo"})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// even: Oslo
	// even: Cairo
	// odd: Rome
	// odd: Perth
}

// What leaves the range of an int64 ends the run with an error, on every worker.
func ExampleOverflowError() {
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		var records *differential.Input[string]
		w.Dataflow("square", func(s *timely.Scope) {
			var all differential.Collection[string]
			records, all = differential.NewInput[string](s)
			byName := all.KeyBy(func(x string) (string, bool) { return x, true })
			byName.JoinMap(byName, func(x string, _, _ bool) string { return x })
		})
		records.Update("x", 1<<40) // so often, and 2⁸⁰ times in the join
		return nil
	})
	var overflow *differential.OverflowError
	fmt.Println(errors.As(err, &overflow))
	fmt.Println(overflow)
	// Output:
	// true
	// overflow: a weight of 1099511627776 times one of 1099511627776
}

// How many invitations each person has.
func ExampleFrequencies() {
	type invitation struct{ Person, Title string }
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		var in *differential.Input[invitation]
		w.Dataflow("invitations", func(s *timely.Scope) {
			var invitations differential.Collection[invitation]
			in, invitations = differential.NewInput[invitation](s)

			names := invitations.Map(func(i invitation) string { return i.Person })
			differential.Pairs(differential.Frequencies(names)).Gather(func(day timely.Time, changes []differential.Weighted[differential.Pair[string, int64]]) error {
				for _, c := range changes {
					fmt.Printf("day %d: %+d %s has %d\n", day[0], c.Weight, c.Value.Key, c.Value.Value)
				}
				return nil
			})
		})
		in.Insert(invitation{"Ada", "concert"}, invitation{"Ada", "fair"}, invitation{"Bob", "fair"})
		in.AdvanceTo(1)
		in.Remove(invitation{"Ada", "concert"})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// day 0: +1 Ada has 2
	// day 0: +1 Bob has 1
	// day 1: -1 Ada has 2
	// day 1: +1 Ada has 1
}
