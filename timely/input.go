package timely

// Input is where a program puts records into a dataflow. Each worker has its own,
// with an epoch of its own: the dataflow as a whole has reached an epoch when the
// inputs of all workers have.
type Input[D any] struct {
	flow   *Dataflow
	node   *node
	out    *output[D]
	stream Stream[D]
	epoch  uint64
	closed bool
}

// NewInput makes an input, in epoch 0.
func NewInput[D any](s *Scope) *Input[D] {
	op := NewOperator(s, "input")
	w, stream := op.Output[D]()
	if s.depth != 1 {
		s.builder.fail("an input is made in a loop; make it outside, and let its stream enter")
	}
	op.InitialCapability()
	op.Build(func() {})
	in := &Input[D]{flow: s.builder.flow, node: op.node, out: w.out, stream: stream}
	in.flow.inputs = append(in.flow.inputs, in)
	return in
}

// Stream is the records that are sent.
func (in *Input[D]) Stream() Stream[D] { return in.stream }

// Epoch is the epoch at which records are sent now.
func (in *Input[D]) Epoch() uint64 { return in.epoch }

// Send sends records in the present epoch. It does not keep the slice, and does not wait: what
// other operators, workers and processes do not take at once is kept in memory. So a program with much to send steps
// its worker in between, and lets other processes catch up:
//
//	for batch := range batches {
//		input.Send(batch...)
//		if _, err := w.Step(); err != nil {
//			return err
//		}
//		for w.Congested() {
//			if err := w.StepOrPark(0); err != nil { // sleeps until there is room
//				return err
//			}
//		}
//	}
//
// What is between workers of one process is not bounded: a [Probe] that is not far behind bounds it.
func (in *Input[D]) Send(records ...D) {
	// What has been sent already in this epoch, and not gone on its way yet, says that all is as it should be.
	if buf := in.out.buf; len(buf) > 0 && len(buf)+len(records) < in.flow.batch && !in.flow.dropped {
		in.out.buf = append(buf, records...)
		return
	}
	in.check("records are sent to")
	if in.out.put(Epoch(in.epoch), records) {
		in.flow.collect(in.node)
	}
	in.flow.active.add(in.node.id) // its run sends what is left
	in.flow.worker.touch(in.flow)
}

// AdvanceTo ends the epochs before the given one: no more records are sent in them.
func (in *Input[D]) AdvanceTo(epoch uint64) {
	in.check("the epoch is moved of")
	switch {
	case epoch < in.epoch:
		misuse("an input in epoch %d goes back to %d", in.epoch, epoch)
	case epoch == in.epoch:
		return
	}
	in.move(1, epoch)
}

// Close ends the input: nothing more is sent. Closing again does nothing, and neither does it
// to close an input of a dataflow that was dropped.
func (in *Input[D]) Close() {
	if in.closed {
		return
	}
	if !in.flow.built {
		misuse("an input of dataflow %q is closed before it is built", in.flow.name)
	}
	in.closed = true
	if !in.flow.finished {
		in.move(0, in.epoch)
	}
}

// move gives the capability for the present epoch up, and takes as many as it says for the next.
func (in *Input[D]) move(held int64, epoch uint64) {
	in.out.flush()
	if held > 0 {
		in.out.hold(Epoch(epoch), held)
	}
	in.out.hold(Epoch(in.epoch), -1)
	in.epoch = epoch
	in.flow.collect(in.node)
	in.flow.active.remove(in.node.id) // there is nothing left for it to do
	in.flow.worker.touch(in.flow)
}

// check refuses what an input cannot do now.
func (in *Input[D]) check(what string) {
	switch {
	case in.closed:
		misuse("%s an input that was closed in epoch %d", what, in.epoch)
	case !in.flow.built:
		misuse("%s an input of dataflow %q before it is built", what, in.flow.name)
	case in.flow.dropped:
		misuse("%s an input of dataflow %q, which was dropped", what, in.flow.name)
	}
}
