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
	in.flow.worker.inputs = append(in.flow.worker.inputs, in)
	return in
}

// Stream is the records that are sent.
func (in *Input[D]) Stream() Stream[D] { return in.stream }

// Epoch is the epoch at which records are sent now.
func (in *Input[D]) Epoch() uint64 { return in.epoch }

// Send sends records in the present epoch. It does not keep the slice.
func (in *Input[D]) Send(records ...D) {
	if !in.flow.built {
		misuse("records are sent to an input of dataflow %q before it is built", in.flow.name)
	}
	if in.closed {
		misuse("records are sent to an input that was closed in epoch %d", in.epoch)
	}
	out := in.out
	out.at(Epoch(in.epoch))
	for len(records) > 0 {
		if out.buf == nil {
			out.buf = out.buffer()
		}
		n := min(len(records), max(batchLen-len(out.buf), 1))
		out.buf = append(out.buf, records[:n]...)
		records = records[n:]
		if len(out.buf) >= batchLen {
			out.send()
			in.collect()
		}
	}
	in.flow.worker.touch(in.flow)
	in.flow.active.add(in.node.id) // its run flushes
}

// AdvanceTo ends the epochs before the given one: no more records are sent in them.
func (in *Input[D]) AdvanceTo(epoch uint64) {
	switch {
	case in.closed:
		misuse("an input that was closed in epoch %d advances to %d", in.epoch, epoch)
	case epoch < in.epoch:
		misuse("an input in epoch %d goes back to %d", in.epoch, epoch)
	case epoch == in.epoch:
		return
	}
	in.out.flush()
	in.out.hold(Epoch(epoch), 1)
	in.out.hold(Epoch(in.epoch), -1)
	in.epoch = epoch
	in.collect()
}

// Close ends the input: nothing more is sent. Closing again does nothing.
func (in *Input[D]) Close() {
	if in.closed {
		return
	}
	in.closed = true
	in.out.flush()
	in.out.hold(Epoch(in.epoch), -1)
	in.collect()
}

// collect takes over what was done outside of the operator's run.
func (in *Input[D]) collect() {
	if in.flow.finished {
		return
	}
	in.flow.collect(in.node)
	in.flow.worker.touch(in.flow)
}
