package timely

// This file has the operators that decide which way a record goes: to one of several
// streams, to one worker, or to all of them.

// Partition divides the stream into n, at least one: a record goes to the one of the number that
// part gives it, from 0.
func (s Stream[D]) Partition(n int, part func(D) int) []Stream[D] {
	if n < 1 {
		misuse("a stream is divided into %d parts, expected at least one", n)
	}
	return s.partition("partition", n, part)
}

func (s Stream[D]) partition(name string, n int, part func(D) int) []Stream[D] {
	op := NewOperator(s.scope, name)
	in := op.Input(s, Pipeline[D]())
	writers := make([]*Writer[D], n)
	streams := make([]Stream[D], n)
	for i := range n {
		writers[i], streams[i] = op.Output[D]()
	}
	buffers := make([][]D, n)
	op.Build(func() {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			for i, w := range writers {
				buffers[i] = w.Buffer(t)
			}
			for _, x := range data {
				i := part(x)
				if uint(i) >= uint(len(buffers)) {
					misuse("a record goes to part %d, expected 0 to %d", i, n-1)
				}
				if buffers[i] = append(buffers[i], x); len(buffers[i]) >= BatchLen {
					buffers[i] = writers[i].Flush(buffers[i])
				}
			}
			for i, w := range writers {
				w.Put(buffers[i])
				buffers[i] = nil
			}
		}
	})
	return streams
}

// Branch divides the stream in two: the records for which is says so, and the others.
func (s Stream[D]) Branch(is func(D) bool) (yes, no Stream[D]) {
	parts := s.partition("branch", 2, func(x D) int {
		if is(x) {
			return 0
		}
		return 1
	})
	return parts[0], parts[1]
}

// BranchWhen divides the stream in two by time: whole batches go one way or the other.
func (s Stream[D]) BranchWhen(is func(Time) bool) (yes, no Stream[D]) {
	op := NewOperator(s.scope, "branch")
	in := op.Input(s, Pipeline[D]())
	yesOut, yes := op.Output[D]()
	noOut, no := op.Output[D]()
	op.Build(func() {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			in.Keep()
			if is(t) {
				yesOut.Pass(t, data)
			} else {
				noOut.Pass(t, data)
			}
		}
	})
	return yes, no
}

// Exchange sends each record to the worker of its hash, modulo the number of workers:
// records of equal hash meet on one worker. The numbers of the workers are the same for
// all streams. [HashOf] makes a hash function for a type of keys.
func (s Stream[D]) Exchange(hash func(D) uint64) Stream[D] {
	return s.simple("exchange", ByHash(hash), pass[D])
}

// Broadcast sends every record to every worker. What a record points to is not
// copied for workers of the same process, and is not to be changed.
func (s Stream[D]) Broadcast() Stream[D] {
	return s.simple("broadcast", ToAll[D](), pass[D])
}

// Concat is the records of s and of the others.
func (s Stream[D]) Concat(others ...Stream[D]) Stream[D] {
	op := NewOperator(s.scope, "concat")
	inputs := []*Reader[D]{op.Input(s, Pipeline[D]())}
	for _, o := range others {
		inputs = append(inputs, op.Input(o, Pipeline[D]()))
	}
	out, stream := op.Output[D]()
	op.Build(func() {
		for _, in := range inputs {
			pass(in, out)
		}
	})
	return stream
}

// pass hands batches on.
func pass[D any](in *Reader[D], out *Writer[D]) {
	for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
		in.Keep()
		out.Pass(t, data)
	}
}
