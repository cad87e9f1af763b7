package timely_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"weir/timely"
)

// Lengths of words, on two workers.
func Example() {
	var lengths timely.Results[int]
	err := timely.Run(timely.Threads(2), func(w *timely.Worker) error {
		var words *timely.Input[string]
		var done timely.Probe
		w.Dataflow("lengths", func(s *timely.Scope) {
			words = timely.NewInput[string](s)
			words.Stream().
				Exchange(timely.HashString).
				Map(func(word string) int { return len(word) }).
				Collect(&lengths).
				Probe(&done)
		})
		if w.Index() == 0 {
			words.Send("to", "be", "or", "not")
		}
		words.AdvanceTo(1)
		return w.StepUntil(done.Passed(timely.Epoch(0)))
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(slices.Sorted(slices.Values(lengths.At(timely.Epoch(0)))))
	// Output: [2 2 2 3]
}

// An input sends records in epochs. Whoever waits for an epoch to be over need not wait for the
// later ones.
func ExampleNewInput() {
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		var bookings *timely.Input[int]
		var probe timely.Probe
		w.Dataflow("sums", func(s *timely.Scope) {
			bookings = timely.NewInput[int](s)
			bookings.Stream().
				Accumulate(0, func(sum int, batch []int) int {
					for _, x := range batch {
						sum += x
					}
					return sum
				}).
				Inspect(func(day timely.Time, sum int) { fmt.Println("day", day[0], "sum", sum) }).
				Probe(&probe)
		})
		for day, list := range [][]int{{10, 20}, {5}, {1, 1, 1}} {
			bookings.AdvanceTo(uint64(day))
			bookings.Send(list...)
		}
		return nil // Run closes what is open, and the dataflow comes to its end
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// day 0 sum 30
	// day 1 sum 5
	// day 2 sum 3
}

// An operator that sorts the records of each time asks to be told when all of them have come.
func ExampleStream_Unary() {
	waiting := map[timely.Time][]int{}
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		w.Dataflow("sort", func(s *timely.Scope) {
			timely.ToStream(s, slices.Values([]int{5, 3, 8, 1})).
				Unary("sort", timely.Pipeline[int](), func(in *timely.Reader[int], out *timely.Writer[int], n *timely.Notificator) {
					for t, batch, ok := in.Next(); ok; t, batch, ok = in.Next() {
						if waiting[t] == nil {
							n.NotifyAt(t)
						}
						waiting[t] = append(waiting[t], batch...)
					}
					for t, ok := n.Next(); ok; t, ok = n.Next() {
						slices.Sort(waiting[t])
						out.SendSlice(t, waiting[t])
						delete(waiting, t)
					}
				}).
				InspectBatch(func(t timely.Time, batch []int) { fmt.Println(t, batch) })
		})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: (0) [1 3 5 8]
}

// Numbers go around a loop, halved each time, and leave it when they are odd. The round in which one leaves
// is the second coordinate of its time.
func ExampleLoopVariable() {
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		w.Dataflow("halve", func(s *timely.Scope) {
			numbers := timely.ToStream(s, slices.Values([]int{12, 7, 20}))
			loop := s.Loop("halve")
			halves := timely.LoopVariable[int](loop, 0)
			even, odd := numbers.Enter(loop).Concat(halves.Stream()).
				Branch(func(x int) bool { return x%2 == 0 })
			halves.Set(even.Map(func(x int) int { return x / 2 }))
			odd.
				Inspect(func(t timely.Time, x int) { fmt.Println(x, "in round", t[1]) }).
				Leave(s).
				Count().
				Inspect(func(t timely.Time, n uint64) { fmt.Println(n, "at", t) })
		})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 7 in round 0
	// 3 in round 2
	// 5 in round 2
	// 3 at (0)
}

// A probe says how far a stream has come, and explains what it waits for.
func ExampleProbe() {
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		var numbers *timely.Input[int]
		var probe timely.Probe
		w.Dataflow("numbers", func(s *timely.Scope) {
			numbers = timely.NewInput[int](s)
			numbers.Stream().Map(func(x int) int { return x * x }).Probe(&probe)
		})
		numbers.Send(1, 2, 3)
		numbers.AdvanceTo(4)
		if err := w.StepUntil(probe.Passed(timely.Epoch(3))); err != nil {
			return err
		}
		fmt.Println(probe.Frontier(), probe.LessEqual(timely.Epoch(3)), probe.LessEqual(timely.Epoch(4)))
		fmt.Print(probe.Explain())
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [(4)] false true
	// probe 2 of dataflow "numbers": frontier [(4)], seen from worker 0 of 1
	// 	1 capability at (4) held by operator 0, "input", for its output 0 (1 here)
}

// What flows on two workers is captured, and replayed on one.
func ExampleStream_Capture() {
	files := make([]bytes.Buffer, 2)
	err := timely.Run(timely.Threads(2), func(w *timely.Worker) error {
		w.Dataflow("capture", func(s *timely.Scope) {
			timely.ToStream(s, strings.FieldsSeq([]string{"a rose is", "a rose"}[w.Index()])).
				Exchange(timely.HashString).
				Capture(timely.NewEventWriter[string](&files[w.Index()]).Write)
		})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	err = timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		w.Dataflow("replay", func(s *timely.Scope) {
			first := timely.NewEventReader[string](&files[0])
			second := timely.NewEventReader[string](&files[1])
			timely.Replay(s, first.All(), second.All()).Count().
				Inspect(func(t timely.Time, n uint64) { fmt.Println(n, "words at", t) })
		})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 5 words at (0)
}

// How often each word occurs, counted by the worker of its hash.
func ExampleStream_Aggregate() {
	type count struct {
		Word string
		N    int
	}
	var counts timely.Results[count]
	err := timely.Run(timely.Threads(3), func(w *timely.Worker) error {
		w.Dataflow("words", func(s *timely.Scope) {
			lines := []string{"a rose is", "a rose is", "a rose"}
			timely.ToStream(s, strings.FieldsSeq(lines[w.Index()])).
				Aggregate(
					func(word string) string { return word },
					func(n *int, word string) { *n++ },
					func(word string, n int) count { return count{word, n} }).
				Collect(&counts)
		})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	list := counts.At(timely.Epoch(0))
	slices.SortFunc(list, func(a, b count) int { return strings.Compare(a.Word, b.Word) })
	fmt.Println(list)
	// Output: [{a 3} {is 2} {rose 3}]
}

// Accounts that are overdrawn, on the day on which they are.
func ExampleStream_StateMachine() {
	type booking struct {
		Account string
		Amount  int
	}
	days := [][]booking{{{"ann", 10}, {"bob", 5}}, {{"ann", -4}, {"bob", -7}}, {{"ann", -7}}}
	var overdrawn timely.Results[string]
	err := timely.Run(timely.Threads(2), func(w *timely.Worker) error {
		w.Dataflow("accounts", func(s *timely.Scope) {
			timely.Source(s, "bookings", func(yield func(uint64, []booking) bool) {
				for day, list := range days {
					if w.Index() == 0 && !yield(uint64(day), list) {
						return
					}
				}
			}, timely.SourceOptions{}).
				StateMachine(
					func(b booking) string { return b.Account },
					func(name string, balance *int, b booking, emit func(string)) bool {
						if *balance += b.Amount; *balance < 0 {
							emit(name)
						}
						return false
					}).
				Collect(&overdrawn)
		})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	for day, name := range overdrawn.All() {
		fmt.Println("day", day[0], name)
	}
	// Output:
	// day 1 bob
	// day 2 ann
}

// A number for each kind of what a worker does.
func ExampleWorker_Log() {
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		sent := map[int32]int64{}
		w.Log(func(e timely.LogEvent) {
			if e.Kind == timely.LogSend {
				sent[e.Operator] += e.Count
			}
		})
		var probe timely.Probe
		w.Dataflow("logged", func(s *timely.Scope) {
			timely.ToStream(s, slices.Values([]int{1, 2, 3})).Filter(func(x int) bool { return x > 1 }).Probe(&probe)
		})
		if err := w.StepUntil(probe.Done); err != nil {
			return err
		}
		fmt.Println("the source sent", sent[0], "records, the filter", sent[1])
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: the source sent 3 records, the filter 2
}
