package timely

import "slices"

// UnorderedInput is an input that may have several times open at once: records may be
// sent at any time at or after one of an antichain, which the program moves on. It is
// for records that come late, or whose times are only partly ordered, in a
// loop or with a second axis of time.
type UnorderedInput[D any] struct {
	flow   *Dataflow
	node   *node
	out    *output[D]
	stream Stream[D]
	open   Antichain
}

// NewUnorderedInput makes an input that is open at the first time. It may be made in
// a loop.
func NewUnorderedInput[D any](s *Scope) *UnorderedInput[D] {
	op := NewOperator(s, "unordered input")
	w, stream := op.Output[D]()
	op.InitialCapability()
	op.Build(func() {})
	in := &UnorderedInput[D]{flow: s.builder.flow, node: op.node, out: w.out, stream: stream, open: Antichain{{}}}
	in.flow.inputs = append(in.flow.inputs, in)
	return in
}

// Stream is the records that are sent.
func (in *UnorderedInput[D]) Stream() Stream[D] { return in.stream }

// Frontier is the antichain of times from which on records may be sent. It is nil once
// the input is closed.
func (in *UnorderedInput[D]) Frontier() Antichain { return slices.Clone(in.open) }

// Send sends records at a time at or after one of the frontier. It does not keep the slice. How
// not to send too much at once, [Input.Send] tells.
func (in *UnorderedInput[D]) Send(t Time, records ...D) {
	in.check("records are sent to")
	if !in.open.LessEqual(t) {
		misuse("records are sent at %v to an unordered input that is open from %v on", t, in.open)
	}
	in.out.put(t, records)
	in.flow.worker.touch(in.flow)
	in.flow.active.add(in.node.id) // its run flushes
}

// AdvanceTo moves the frontier: from now on records are sent at or after one of the
// given times, each of which must be at or after one of the present frontier. No times
// close the input.
func (in *UnorderedInput[D]) AdvanceTo(times ...Time) {
	in.check("the times are moved of")
	var next Antichain
	for _, t := range times {
		if !in.open.LessEqual(t) {
			misuse("an unordered input that is open from %v on goes to %v", in.open, t)
		}
		next.Insert(t)
	}
	in.out.flush()
	for _, t := range next {
		in.out.hold(t, 1)
	}
	for _, t := range in.open {
		in.out.hold(t, -1)
	}
	in.open = next
	in.flow.collect(in.node)
	in.flow.worker.touch(in.flow)
}

// Close ends the input. Closing again does nothing, and neither does it to close an input of a
// dataflow that was dropped.
func (in *UnorderedInput[D]) Close() {
	if len(in.open) > 0 && !in.flow.dropped {
		in.AdvanceTo()
	}
}

// check refuses what an input cannot do now.
func (in *UnorderedInput[D]) check(what string) {
	switch {
	case !in.flow.built:
		misuse("%s an input of dataflow %q before it is built", what, in.flow.name)
	case in.flow.dropped:
		misuse("%s an input of dataflow %q, which was dropped", what, in.flow.name)
	}
}
