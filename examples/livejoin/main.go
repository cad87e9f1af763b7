// Livejoin keeps a join up to date: people live in cities, cities have events, and everybody is invited to the
// events of their city. People move, events are called off, and what is printed is which invitations that
// changes.
//
//	go run ./examples/livejoin -w 2
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"weir/differential"
	"weir/timely"
)

func main() {
	config := timely.Flags(flag.CommandLine)
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, invite)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "livejoin:", err)
		os.Exit(1)
	}
}

// What is in the collections: any comparable types.
type (
	home       struct{ Person, City string }
	event      struct{ City, Title string }
	invitation struct{ Person, Title string }
)

// invite is run by every worker.
func invite(w *timely.Worker) error {
	var homes *differential.Input[home]
	var events *differential.Input[event]
	w.Dataflow("invitations", func(s *timely.Scope) {
		var live differential.Collection[home]
		var planned differential.Collection[event]
		homes, live = differential.NewInput[home](s)
		events, planned = differential.NewInput[event](s)

		// Both by city, and then each person with each event of the same city.
		people := live.KeyBy(func(h home) (string, string) { return h.City, h.Person })
		titles := planned.KeyBy(func(e event) (string, string) { return e.City, e.Title })
		invitations := people.JoinMap(titles, func(city, person, title string) invitation { return invitation{person, title} })

		// Day by day, on the first worker: what has changed.
		invitations.Gather(func(day timely.Time, changes []differential.Weighted[invitation]) error {
			slices.SortFunc(changes, func(a, b differential.Weighted[invitation]) int {
				return cmp.Or(cmp.Compare(a.Weight, b.Weight), strings.Compare(a.Value.Person, b.Value.Person), strings.Compare(a.Value.Title, b.Value.Title))
			})
			for _, c := range changes {
				fmt.Printf("day %d: %+d %s to the %s\n", day[0], c.Weight, c.Value.Person, c.Value.Title)
			}
			return nil
		})
	})
	if w.Index() > 0 {
		return nil // one worker makes all changes; each could make its own
	}

	homes.Insert(home{"Ada", "Oslo"}, home{"Bob", "Oslo"}, home{"Cay", "Perth"})
	events.Insert(event{"Oslo", "concert"}, event{"Perth", "regatta"})

	homes.AdvanceTo(1) // the end of day 0
	events.AdvanceTo(1)
	events.Insert(event{"Oslo", "fair"})

	homes.AdvanceTo(2)
	events.AdvanceTo(2)
	homes.Remove(home{"Ada", "Oslo"}) // she moves
	homes.Insert(home{"Ada", "Perth"})

	homes.AdvanceTo(3)
	events.AdvanceTo(3)
	events.Remove(event{"Perth", "regatta"})
	return nil // Run closes the inputs, and works until all is printed
}
