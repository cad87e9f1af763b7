package timely

import "iter"

// sourceBatches is how many batches a source makes before other operators run.
const sourceBatches = 4

// SourceOptions bounds how far a [Source] runs ahead. The zero value is no bound.
type SourceOptions struct {
	// Behind is a probe downstream of the source. The source makes no record of an epoch
	// more than Ahead after the first that has not passed the probe, so that what
	// is in flight, and in memory, is bounded, and no epoch waits behind more than Ahead others.
	Behind *Probe
	Ahead  uint64
}

// Source is the records that an iterator makes, on this worker: pairs of an epoch and
// records of that epoch, in slices of any length, which are copied. Epochs must not go back; that
// an epoch comes is what ends those before it. The iterator is run on the worker, a
// few slices at a time, between other operators; it should not wait for long. It is left alone
// while the worker is congested ([Worker.Congested]). When it ends, so does the stream.
//
//	var probe timely.Probe
//	lines := timely.Source(s, "lines", func(yield func(uint64, []string) bool) {
//		for epoch := uint64(0); scanner.Scan(); epoch++ {
//			if !yield(epoch, []string{scanner.Text()}) {
//				return
//			}
//		}
//	}, timely.SourceOptions{Behind: &probe, Ahead: 100})
func Source[D any](s *Scope, name string, records iter.Seq2[uint64, []D], opts SourceOptions) Stream[D] {
	if s.depth != 1 {
		s.builder.fail("source %q is made in a loop; make it outside, and let its stream enter", name)
	}
	op := NewOperator(s, name)
	out, stream := op.Output[D]()
	right := op.InitialCapability()
	src := &source[D]{op: op, out: out, right: right, opts: opts}
	src.next, src.stop = iter.Pull2(records)
	op.AtEnd(src.stop)
	if opts.Behind != nil {
		opts.Behind.onMove(op.Activate)
	}
	op.Build(src.run)
	return stream
}

// ToStream is the records that an iterator makes, on this worker, all in epoch 0:
// timely.ToStream(s, slices.Values(list)), say.
func ToStream[D any](s *Scope, records iter.Seq[D]) Stream[D] {
	return Source(s, "to stream", func(yield func(uint64, []D) bool) {
		// Whole batches, since to change between iterator and worker takes longer
		// than to make a record.
		buf := make([]D, 0, BatchLen)
		for x := range records {
			if buf = append(buf, x); len(buf) == BatchLen {
				if !yield(0, buf) {
					return
				}
				buf = buf[:0]
			}
		}
		if len(buf) > 0 {
			yield(0, buf)
		}
	}, SourceOptions{})
}

// source is the operator of [Source].
type source[D any] struct {
	op    *Operator
	out   *Writer[D]
	right *Capability
	opts  SourceOptions
	next  func() (uint64, []D, bool)
	stop  func()
	over  bool

	ready bool // there is a slice that was not sent yet
	epoch uint64
	data  []D
}

func (s *source[D]) run() {
	for range sourceBatches {
		if s.over || s.op.scope.Worker().throttle(s.op) {
			return
		}
		if !s.ready {
			epoch, data, ok := s.next()
			if !ok {
				s.over = true
				s.stop()
				s.right.Drop()
				return
			}
			if epoch < s.right.time[0] {
				misuse("the iterator of a source goes back from epoch %d to %d", s.right.time[0], epoch)
			}
			s.epoch, s.data, s.ready = epoch, data, true
			if epoch > s.right.time[0] {
				// Before it waits, so that it does not wait for itself.
				s.right.Downgrade(Epoch(epoch))
			}
		}
		if s.waits() {
			return // until the probe moves
		}
		s.out.SendSlice(Epoch(s.epoch), s.data)
		s.ready, s.data = false, nil
	}
	s.op.Activate()
}

// waits says that the source is as far ahead as it may be.
func (s *source[D]) waits() bool {
	if s.opts.Behind == nil {
		return false
	}
	for _, t := range s.opts.Behind.Frontier() {
		if t[0] < s.epoch && s.epoch-t[0] > s.opts.Ahead {
			return true
		}
	}
	return false
}
