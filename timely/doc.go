// Package timely runs dataflow programs on many workers: threads, processes and
// machines. A program is a graph of operators; records flow along its edges, also
// around loops. Every record carries a logical time, and everybody can ask
// which times are over. That one promise, after Murray et al., "Naiad: a timely dataflow
// system" (SOSP 2013), is what makes loops, several workers and incremental
// answers safe to combine.
//
// # A first program
//
// All workers run the same function. It builds a dataflow, feeds it and
// steps it:
//
//	err := timely.Run(timely.Threads(2), func(w *timely.Worker) error {
//		var words *timely.Input[string]
//		var done timely.Probe
//		w.Dataflow("lengths", func(s *timely.Scope) {
//			words = timely.NewInput[string](s)
//			words.Stream().
//				Exchange(timely.HashString).
//				Map(func(word string) int { return len(word) }).
//				Inspect(func(t timely.Time, n int) { fmt.Println(t, n) }).
//				Probe(&done)
//		})
//		words.Send("to", "be")
//		words.AdvanceTo(1)
//		return w.StepUntil(done.Passed(timely.Epoch(0)))
//	})
//
// A [Stream] has methods for the usual operators: [Stream.Map], [Stream.Filter], [Stream.FlatMap],
// [Stream.Concat], [Stream.Partition], [Stream.Exchange] and [Stream.Broadcast] between workers, [Stream.Aggregate] and
// [Stream.Accumulate] for what is folded by key or time, [Stream.StateMachine] for what lasts.
// They are descriptions while the dataflow is built; the records of the
// stream's share on this worker go through them later, in batches of up to [BatchLen].
// Nothing moves records between workers but Exchange, Broadcast, and operators that say so.
//
// # Times and frontiers
//
// A [Time] is a few whole numbers: the epoch, which inputs choose, and the round of each loop
// around. Times are ordered coordinate by coordinate, so that epoch 3 in round 1 is
// neither before nor after epoch 2 in round 5.
//
// The times that may still come at some place are its frontier. It is written as an
// [Antichain], the earliest of them. A frontier only moves on. When nothing at or
// before a time can come any more, the time is over there, and whoever waited
// for it may act: print the count, answer the query, begin the next round. A [Probe] tells a program
// about it, a [Notificator] an operator. A frontier may be late, since workers hear of one another with
// delay, but never early.
//
// Frontiers follow from what is held. An [Input] holds its epoch until [Input.AdvanceTo] or
// [Input.Close]: a program that does neither waits for ever. A record on its way
// holds its time. An operator holds the times of its capabilities.
//
// # Operators of your own
//
// [Stream.Unary] and [Stream.Binary] make an operator of a function, and [NewOperator] one with any number of inputs
// and outputs. The function is called when there is something to do, takes all batches that
// wait, and may send at the times of these batches and later, until it returns:
//
//	sorted := numbers.Unary("sort", timely.Pipeline[int](), func(in *timely.Reader[int], out *timely.Writer[int], n *timely.Notificator) {
//		for t, batch, ok := in.Next(); ok; t, batch, ok = in.Next() {
//			if waiting[t] == nil {
//				n.NotifyAt(t) // when all of t have come
//			}
//			waiting[t] = append(waiting[t], batch...)
//		}
//		for t, ok := n.Next(); ok; t, ok = n.Next() {
//			slices.Sort(waiting[t])
//			out.SendSlice(t, waiting[t])
//			delete(waiting, t)
//		}
//	})
//
// To send at a time beyond the call, an operator needs a [Capability]: it asks the Notificator,
// which holds one until the time is over, or it uses [Operator.Retain], moves it on with [Capability.Downgrade] and
// gives it up with [Capability.Drop]. What is not given up holds up everybody downstream.
//
// A batch belongs to the operator until it takes the next, and a function must not keep it.
// Where a stream has several readers each gets a batch of its own, but what records point to is shared,
// and not to be changed. Records that travel between processes are made of what package flat can carry:
// numbers, strings, and slices, arrays and structs of them.
//
// # Loops
//
// [Scope.Loop] is a scope inside of a dataflow, whose times have one more coordinate, the round. Streams come in
// with [Stream.Enter] in round 0 and leave with [Stream.Leave], at the time at which they came. A [LoopVariable] is what goes
// around: its stream is what it is set to, a round later. [Stream.Iterate] is the short form. A
// round is a time like others, so that an operator in the loop may ask to be
// told when it is over, while the next epoch is already on its way. Loops may be nested [MaxDepth] - 1 deep.
// A cycle without a variable would let time stand still, and is refused.
//
// # Workers, processes, machines
//
// A [Config] says who the workers are; [Flags] makes it of a command line, which is the same for
// all processes but for the number of the process:
//
//	wordcount -w 4 -h hosts.txt -secret secret.txt -p 0    # on the first machine
//	wordcount -w 4 -h hosts.txt -secret secret.txt -p 1    # on the second
//
// All workers must build the same dataflows in the same sequence. Each has its own inputs, probes and
// operators, which only its goroutine may use; [Operator.Waker] lets other goroutines
// wake an operator. A worker with nothing to do sleeps.
//
// # Errors
//
// [Run] returns the first error of any worker, on all of them: what a program
// returned; a panic in a function of the user's, with the operator's name and the stack; [mesh.ErrPeerLost] when
// a process is gone; [mesh.ErrMismatch] when workers built different dataflows; a [MisuseError] when a
// program sent at a time that is closed, moved a capability back, or the like. Nothing is retried, and
// no worker is left waiting. Errors that are about records are data: [MapErr] makes them a stream.
//
// # Looking in
//
// [Dataflow.Explain] says who holds which times: the answer to why a program is stuck. [Worker.Log]
// and [LogStream] tell all that workers do, and cost nothing when unused. [Stream.Capture] keeps a stream with its times, in a
// file for example, and [Replay] makes it a stream again, on any number of workers.
//
// # How progress is tracked
//
// Each worker counts, for all workers, the capabilities and the messages at every place and time. What it
// changes itself it tells the others, always a message consumed together with what came of it, and each
// worker's news are heard in the order in which they were told. The frontiers follow from the counts and from what paths through the graph
// do to times, and cost as much as they move.
//
// Naiad's descendants keep a tracker for each scope, which reports to that of the scope around it in four
// calls (summary of the inside, summary of the outside, progress of the outside, progress of the inside).
// Here times have one concrete type, and to enter or leave a loop is a [Summary] like any other: so one
// tracker for the whole dataflow does with less bookkeeping what the tree of them did. The call that told a scope of
// its surroundings, SetExternalSummary, is not needed, and in the Rust original it disappeared as well in 2026.
package timely
