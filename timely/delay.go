package timely

// Delay moves each record to the time that later gives it, which must be at or after
// that of the record: to the end of its window, say. Records go on at once; nobody
// downstream sees the later time complete before it is.
func (s Stream[D]) Delay(later func(t Time, x D) Time) Stream[D] {
	var moved byTime[[]D] // of one batch
	var times []Time      // in order of their first record, the same in each run of a program
	return s.simple("delay", Pipeline[D](), func(in *Reader[D], out *Writer[D]) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			for _, x := range data {
				to := later(t, x)
				if !t.LessEqual(to) {
					misuse("a record at %v is delayed to %v, expected a later time", t, to)
				}
				group, fresh := moved.at(to)
				if fresh {
					times = append(times, to)
				}
				*group = append(*group, x)
			}
			for _, to := range times {
				group := moved.take(to)
				out.SendSlice(to, *group)
				clear(*group)
				*group = (*group)[:0]
				moved.reuse(group)
			}
			times = times[:0]
		}
	})
}

// DelayBatch is as [Stream.Delay], for all records of a time together.
func (s Stream[D]) DelayBatch(later func(Time) Time) Stream[D] {
	return s.simple("delay", Pipeline[D](), func(in *Reader[D], out *Writer[D]) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			to := later(t)
			if !t.LessEqual(to) {
				misuse("records at %v are delayed to %v, expected a later time", t, to)
			}
			in.Keep()
			out.Pass(to, data)
		}
	})
}

// byTime keeps a state for each of several times. The zero byTime is empty.
type byTime[S any] struct {
	last  Time // asked for last
	state *S   // of last
	all   map[Time]*S
	free  []*S
}

// at is the state of t, and whether it was made by the call: zero or one that was reused.
func (b *byTime[S]) at(t Time) (state *S, fresh bool) {
	if b.state != nil && b.last == t {
		return b.state, false
	}
	state, known := b.all[t]
	if !known {
		if n := len(b.free) - 1; n >= 0 {
			state, b.free = b.free[n], b.free[:n]
		} else {
			state = new(S)
		}
		if b.all == nil {
			b.all = map[Time]*S{}
		}
		b.all[t] = state
	}
	b.last, b.state = t, state
	return state, !known
}

// take removes the state of t, which is there.
func (b *byTime[S]) take(t Time) *S {
	state := b.all[t]
	delete(b.all, t)
	if b.last == t {
		b.state = nil
	}
	return state
}

// reuse keeps a state that was emptied.
func (b *byTime[S]) reuse(state *S) {
	if len(b.free) < 16 {
		b.free = append(b.free, state)
	}
}
