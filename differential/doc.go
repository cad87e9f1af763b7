// Package differential keeps answers up to date while the data under them change. A program says
// what it wants as joins, reductions and loops over collections, as if they were given once and for all. From then on
// whatever changes of a collection changes just what depends on it, in time that is proportional to that.
// It follows McSherry, Murray, Isaacs, Isard: "Differential dataflow" (CIDR 2013).
//
// # A first program
//
// It runs in a timely dataflow (see package timely): workers all run the same function, which builds a dataflow and
// feeds it. Which city has how many people:
//
//	err := timely.Run(timely.Threads(2), func(w *timely.Worker) error {
//		var homes *differential.Input[Home]
//		w.Dataflow("people", func(s *timely.Scope) {
//			var live differential.Collection[Home]
//			homes, live = differential.NewInput[Home](s)
//			byCity := live.KeyBy(func(h Home) (string, string) { return h.City, h.Person })
//			differential.Pairs(byCity.Count()).Gather(func(day timely.Time, changes []differential.Weighted[differential.Pair[string, int64]]) error {
//				…
//			})
//		})
//		homes.Insert(Home{"Ada", "Oslo"}, Home{"Bob", "Oslo"})
//		homes.AdvanceTo(1)               // day 0 is over: +1 Oslo has 2
//		homes.Remove(Home{"Ada", "Oslo"})
//		homes.Insert(Home{"Ada", "Perth"})
//		return nil                       // day 1: -1 Oslo has 2, +1 Oslo has 1, +1 Perth has 1
//	})
//
// # Changes
//
// A [Collection] is a multiset that changes. It is never sent as a whole: what flows is an [Update], a record with a
// time and a weight, and the collection at a time is the sum of all updates at or before it. All
// changes of an epoch happen at once. Operators are given the updates of their inputs and make those of
// their output, so that at every time the output is what it would be if it were made anew of the inputs at
// that time: that is the promise, and what the tests of the package are about.
//
// # Records
//
// Collections are of any comparable type; what is a key or a value must be made of numbers, booleans, strings, and arrays and
// structs of them. Those of up to eight bytes are fastest. Floats are equal here if their bits are. See package
// [weir/differential/word].
//
// # Operators
//
// Record by record, without state: [Collection.Map], [Collection.Filter], [Collection.FlatMap], [Collection.Concat],
// [Collection.Negate]. For all else records get a key: [Collection.KeyBy] makes a [Keyed], which has
//
//   - [Keyed.Join], [Keyed.SemiJoin], [Keyed.AntiJoin] with another one of the same keys: the changes of each meet what the
//     other has with these keys;
//   - [Keyed.Reduce], and what is more special and costs less: [Keyed.Count], [Keyed.Sum], [Keyed.Distinct], [Keyed.Threshold],
//     [Keyed.Min], [Keyed.Max], [Keyed.TopK]. What was made of a key that changes is taken away, and
//     what is made of it now is added, where it is another.
//
// # Loops
//
// [Collection.Iterate] and [Keyed.Iterate] apply a function again and again until nothing changes, and what changes
// later redoes only what that makes different, in the rounds in which it does. Times in a loop have a coordinate
// more, the round, and are ordered coordinate by coordinate: so what was found in round 5 of an epoch counts in round 5 of the next
// one, and not before. Other collections come in with [Collection.Enter]. [Variable] is for collections that are
// defined by one another, [Collection.EnterAt] for records that should wait for their turn.
//
// # Indices
//
// Joins and reductions keep indices, "arrangements": all changes, sorted, in batches that are merged a little with each
// insertion. Times that nobody can tell apart any more become one, and changes that add up to nothing vanish, so that an index is as large
// as its collection and not as its history. A Keyed has one index, which all share that use the same Keyed value, in
// loops too. [Keyed.Share] opens it to the program, between steps, and to dataflows that are built later. They
// hold no pointers for the garbage collector to follow. [Stats] says how large they are.
//
// # Answers
//
// [Collection.Capture] and [Collection.Gather] call a function with what has changed, time by time. [Collection.Probe] says how far
// everything has come. A program that wants to know the effect of a change makes it, advances its inputs, and steps its
// worker until the probe has passed the epoch.
//
// # Weights
//
// A weight is how many more there are of a record. What is taken away that is not there has a negative one, until it is added: [Keyed.Count] counts it so, a
// join multiplies by it, [Keyed.Distinct], [Keyed.Min], [Keyed.Max] and [Keyed.TopK] do not see it, and [Keyed.Reduce] is
// given it. A weight or a sum that leaves the range of int64 ends the run with an [OverflowError].
//
// The page docs/differential.md of the repository tells it with pictures, a table of all operators with their inputs and outputs, and what
// costs what. Package [weir/differential/algorithms] has answers on graphs, ready to use.
package differential
