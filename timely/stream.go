package timely

// Unary is an operator with one input and one output. Logic is called whenever
// messages come or, since it may ask the notificator, a frontier moves.
func (s Stream[D]) Unary[E any](name string, pact Pact[D], logic func(in *Reader[D], out *Writer[E], n *Notificator)) Stream[E] {
	op := NewOperator(s.scope, name)
	in := op.Input(s, pact)
	out, stream := op.Output[E]()
	n := op.Notificator()
	op.Build(func() { logic(in, out, n) })
	return stream
}

// Binary is an operator with two inputs and one output.
func (s Stream[D]) Binary[E, F any](other Stream[E], name string, pact Pact[D], otherPact Pact[E],
	logic func(left *Reader[D], right *Reader[E], out *Writer[F], n *Notificator),
) Stream[F] {
	op := NewOperator(s.scope, name)
	left := op.Input(s, pact)
	right := op.Input(other, otherPact)
	out, stream := op.Output[F]()
	n := op.Notificator()
	op.Build(func() { logic(left, right, out, n) })
	return stream
}

// simple is an operator that needs no notifications: it maps batches to records.
func (s Stream[D]) simple[E any](name string, pact Pact[D], logic func(in *Reader[D], out *Writer[E])) Stream[E] {
	op := NewOperator(s.scope, name)
	in := op.Input(s, pact)
	out, stream := op.Output[E]()
	op.Build(func() { logic(in, out) })
	return stream
}

// Map applies f to every record.
func (s Stream[D]) Map[E any](f func(D) E) Stream[E] {
	return s.simple("map", Pipeline[D](), func(in *Reader[D], out *Writer[E]) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			buf := out.Buffer(t)
			for _, x := range data {
				if buf = append(buf, f(x)); len(buf) >= BatchLen {
					buf = out.Flush(buf)
				}
			}
			out.Put(buf)
		}
	})
}

// MapInPlace applies f to every record where it lies: nothing is copied.
func (s Stream[D]) MapInPlace(f func(*D)) Stream[D] {
	return s.simple("map", Pipeline[D](), func(in *Reader[D], out *Writer[D]) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			for i := range data {
				f(&data[i])
			}
			in.Keep()
			out.Pass(t, data)
		}
	})
}

// FlatMap applies f to every record; f calls emit for each of its results.
func (s Stream[D]) FlatMap[E any](f func(x D, emit func(E))) Stream[E] {
	var to *Writer[E]
	var buf []E
	emit := func(y E) {
		if buf == nil {
			misuse("flatmap: emit is called after the function that got it has returned")
		}
		if buf = append(buf, y); len(buf) >= BatchLen {
			buf = to.Flush(buf)
		}
	}
	return s.simple("flatmap", Pipeline[D](), func(in *Reader[D], out *Writer[E]) {
		to = out
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			buf = out.Buffer(t)
			for _, x := range data {
				f(x, emit)
			}
			out.Put(buf)
			buf = nil
		}
	})
}

// Filter keeps the records for which keep is true, in the batches in which they came.
func (s Stream[D]) Filter(keep func(D) bool) Stream[D] {
	return s.simple("filter", Pipeline[D](), func(in *Reader[D], out *Writer[D]) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			in.Keep()
			kept := data[:0]
			for _, x := range data {
				if keep(x) {
					kept = append(kept, x)
				}
			}
			clear(data[len(kept):])
			out.Pass(t, kept)
		}
	})
}

// Inspect calls f for every record, which goes on unchanged.
func (s Stream[D]) Inspect(f func(t Time, x D)) Stream[D] { return s.inspect("inspect", f) }

func (s Stream[D]) inspect(name string, f func(t Time, x D)) Stream[D] {
	return s.inspectBatch(name, func(t Time, data []D) {
		for _, x := range data {
			f(t, x)
		}
	})
}

// InspectBatch calls f for every batch, which goes on unchanged; f must not keep it.
func (s Stream[D]) InspectBatch(f func(t Time, data []D)) Stream[D] {
	return s.inspectBatch("inspect", f)
}

func (s Stream[D]) inspectBatch(name string, f func(t Time, data []D)) Stream[D] {
	return s.simple(name, Pipeline[D](), func(in *Reader[D], out *Writer[D]) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			f(t, data)
			in.Keep()
			out.Pass(t, data)
		}
	})
}
