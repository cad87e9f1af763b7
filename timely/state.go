package timely

// StateMachine keeps a state for each key, from one time to the next, and lets step
// change it with each record of the key. Records are exchanged by the hash of their
// keys, and given to step when their time is over, an earlier time before a later one
// (times that are neither in lexicographic order), and those of one time in the order in which they came. Step calls
// emit for what it has to say, which is sent at the time of the record, and returns
// whether the key is done: its state is forgotten. A state begins as the zero S.
//
//	type account struct{ balance int }
//	overdrawn := bookings.StateMachine(
//		func(b booking) string { return b.account },
//		func(name string, a *account, b booking, emit func(string)) bool {
//			if a.balance += b.amount; a.balance < 0 {
//				emit(name)
//			}
//			return b.closes
//		})
//
// Step must keep neither the state's address nor emit. K is made as [HashOf] needs it.
func (s Stream[D]) StateMachine[K comparable, S, R any](key func(D) K, step func(k K, state *S, x D, emit func(R)) (done bool)) Stream[R] {
	hash := HashOf[K]()
	var waiting byTime[[][]D]
	var states keyed[K, S]
	var to *Writer[R]
	var buf []R
	emit := func(r R) {
		if buf == nil {
			misuse("state machine: emit is called after the function that got it has returned")
		}
		if buf = append(buf, r); len(buf) >= BatchLen {
			buf = to.Flush(buf)
		}
	}
	return s.Unary("state machine", ByHash(func(x D) uint64 { return hash(key(x)) }), func(in *Reader[D], out *Writer[R], n *Notificator) {
		to = out
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			batches, fresh := waiting.at(t)
			if fresh {
				n.NotifyAt(t)
			}
			in.Keep()
			*batches = append(*batches, data)
		}
		for t, ok := n.Next(); ok; t, ok = n.Next() {
			batches := waiting.take(t)
			buf = out.Buffer(t)
			for _, data := range *batches {
				for _, x := range data {
					k := key(x)
					if step(k, states.at(k), x, emit) {
						states.remove(k)
					}
				}
				in.in.pool.put(data)
			}
			out.Put(buf)
			buf = nil
			clear(*batches)
			*batches = (*batches)[:0]
			waiting.reuse(batches)
		}
	})
}
