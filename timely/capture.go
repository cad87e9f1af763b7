package timely

import (
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
)

// Event is what a stream does at one worker: records come, or its frontier moves. The
// events of a stream, in their order, are all there is to know of it: [Stream.Capture] makes
// them, and [Replay] makes a stream of them again.
type Event[D any] struct {
	// Data is the records of a batch. There are none where the frontier moves.
	Data []D
	// Time is that of the records.
	Time Time
	// Frontier is the frontier after it moved: the times from which on records may still come, none of
	// them if this is the end. Before the first event it is the first time.
	Frontier Antichain
}

// Clone is the event with memory of its own, but for what records point to.
func (e Event[D]) Clone() Event[D] {
	return Event[D]{slices.Clone(e.Data), e.Time, slices.Clone(e.Frontier)}
}

// Capture hands what the stream does on this worker to a function: an [EventWriter]'s,
// to keep it in a file or send it elsewhere, or one that sends clones to a channel or
// appends them to a slice. The event is only valid during the call. An error ends the run. The
// worker waits for the function.
//
//	events := timely.NewEventWriter[string](file)
//	stream.Capture(events.Write)
func (s Stream[D]) Capture(to func(Event[D]) error) {
	op := NewOperator(s.scope, "capture")
	in := op.Input(s, Pipeline[D]())
	op.Watch()
	last := Antichain{{}}
	op.Build(func() {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			if err := to(Event[D]{Data: data, Time: t}); err != nil {
				fail(fmt.Errorf("capture records at %v: %w", t, err))
			}
		}
		if now := in.Frontier(); !now.Equal(last) {
			last = append(last[:0], now...)
			if err := to(Event[D]{Frontier: last}); err != nil {
				fail(fmt.Errorf("capture frontier %v: %w", last, err))
			}
		}
	})
}

// Events makes events that cannot fail what [Replay] takes: those of a slice with [slices.Values],
// or of a channel that is closed in the end.
func Events[D any](events iter.Seq[Event[D]]) iter.Seq2[Event[D], error] {
	return func(yield func(Event[D], error) bool) {
		for e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Replay makes a stream of captured events, at the times at which they were captured. A dataflow
// that was captured on some number of workers has as many sources, which may be
// replayed on another number: each worker is given its share, or none.
//
//	for i := w.Index(); i < captured; i += w.Peers() {
//		sources = append(sources, timely.NewEventReader[string](files[i]).All())
//	}
//	stream := timely.Replay(scope, sources...)
//
// Each source is read on a goroutine of its own, a few events ahead, so that it may wait for
// what is yet to come. It is stopped, at the next event, when the run ends. An error, events that cannot be, or an end before the frontier says so
// end the run.
func Replay[D any](s *Scope, sources ...iter.Seq2[Event[D], error]) Stream[D] {
	op := NewOperator(s, "replay")
	out, stream := op.Output[D]()
	initial := op.InitialCapability()
	r := &replay[D]{op: op, out: out}
	stop := make(chan struct{})
	op.AtEnd(func() { close(stop) })
	wake := op.Waker()
	for _, events := range sources {
		src := &replaySource[D]{events: make(chan replayed[D], replayAhead), frontier: Antichain{{}}}
		r.sources = append(r.sources, src)
		go src.read(events, wake, stop)
	}
	op.Build(func() {
		if initial != nil {
			for range r.sources {
				r.hold(Time{}, 1)
			}
			initial.Drop()
			initial = nil
		}
		r.run()
	})
	return stream
}

const (
	// replayAhead is how many events of a source wait for the worker.
	replayAhead = 16
	// replayBurst is how many are replayed before other operators run.
	replayBurst = 8
)

// replay is the operator of [Replay]. It holds capabilities for the frontiers of all sources.
type replay[D any] struct {
	op      *Operator
	out     *Writer[D]
	sources []*replaySource[D]
}

// replaySource is one worker's events.
type replaySource[D any] struct {
	events   chan replayed[D]
	frontier Antichain
}

type replayed[D any] struct {
	event Event[D]
	err   error
}

// read hands over the events of a source, on a goroutine of its own.
func (src *replaySource[D]) read(events iter.Seq2[Event[D], error], wake func(), stop <-chan struct{}) {
	defer wake()
	defer close(src.events)
	hand := func(e replayed[D]) bool {
		select {
		case src.events <- e:
			wake()
			return true
		case <-stop:
			return false
		}
	}
	defer func() {
		if r := recover(); r != nil {
			hand(replayed[D]{err: fmt.Errorf("the events panicked: %v\n%s", r, debug.Stack())})
		}
	}()
	for e, err := range events {
		if !hand(replayed[D]{e, err}) || err != nil {
			return
		}
	}
}

func (r *replay[D]) hold(t Time, delta int64) { r.out.out.hold(t, delta) }

func (r *replay[D]) run() {
	if r.op.scope.Worker().throttle(r.op) {
		return
	}
	more := false
	for i, src := range r.sources {
		for n := 0; len(src.frontier) > 0; n++ {
			if n == replayBurst {
				more = true
				break
			}
			e, ok := src.next()
			if !ok {
				break
			}
			if err := r.apply(src, e); err != nil {
				fail(fmt.Errorf("source %d: %w", i, err))
			}
		}
	}
	if more {
		r.op.Activate()
	}
}

// next is the next event that waits.
func (src *replaySource[D]) next() (replayed[D], bool) {
	select {
	case e, open := <-src.events:
		if !open {
			e.err = fmt.Errorf("the events end while records from %v on may still come", src.frontier)
		}
		return e, true
	default:
		return replayed[D]{}, false
	}
}

// apply does what an event says.
func (r *replay[D]) apply(src *replaySource[D], e replayed[D]) error {
	if e.err != nil {
		return e.err
	}
	if t := e.event.Time; len(e.event.Data) > 0 {
		if !src.frontier.LessEqual(t) {
			return fmt.Errorf("there are records at %v while the frontier is %v", t, src.frontier)
		}
		r.out.SendSlice(t, e.event.Data)
		return nil
	}
	var next Antichain
	for _, t := range e.event.Frontier {
		if !src.frontier.LessEqual(t) {
			return fmt.Errorf("the frontier goes back from %v to %v", src.frontier, t)
		}
		next.Insert(t)
	}
	for _, t := range next {
		r.hold(t, 1)
	}
	for _, t := range src.frontier {
		r.hold(t, -1)
	}
	src.frontier = next
	return nil
}
