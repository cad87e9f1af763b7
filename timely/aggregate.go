package timely

// This file has the operators that fold the records of each time into fewer. They
// keep a state for each time that is not over, and send what came of it when it is.

// Accumulate folds the records of each time into one value, which is sent when the time is over,
// on each worker that had any: fold gets what there is so far, first of all init, and a
// batch. Where A refers to memory, init is shared by all times, so that fold should
// make its own.
//
//	sums := numbers.Accumulate(0, func(sum int, batch []int) int {
//		for _, x := range batch {
//			sum += x
//		}
//		return sum
//	})
//
// For one value from all workers, send those of the workers to one and accumulate again.
func (s Stream[D]) Accumulate[A any](init A, fold func(so A, batch []D) A) Stream[A] {
	var open byTime[A]
	return s.Unary("accumulate", Pipeline[D](), func(in *Reader[D], out *Writer[A], n *Notificator) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			so, fresh := open.at(t)
			if fresh {
				*so = init
				n.NotifyAt(t)
			}
			*so = fold(*so, data)
		}
		for t, ok := n.Next(); ok; t, ok = n.Next() {
			so := open.take(t)
			out.Send(t, *so)
			var zero A
			*so = zero
			open.reuse(so)
		}
	})
}

// Count is the number of records of each time, on each worker that has any.
func (s Stream[D]) Count() Stream[uint64] {
	return s.Accumulate(0, func(so uint64, batch []D) uint64 { return so + uint64(len(batch)) })
}

// Aggregate folds the records of each key and time into one result, which is sent
// when the time is over. Records are exchanged by the hash of their keys, so that there is
// one result for each key and time over all workers. The aggregate of a key begins as the zero A.
//
//	counts := words.Aggregate(
//		func(word string) string { return word },
//		func(n *int, word string) { *n++ },
//		func(word string, n int) WordCount { return WordCount{word, n} })
//
// K is made of numbers, booleans, strings, and arrays and structs of them: see [HashOf].
func (s Stream[D]) Aggregate[K comparable, A, R any](key func(D) K, fold func(so *A, x D), emit func(K, A) R) Stream[R] {
	hash := HashOf[K]()
	var open byTime[keyed[K, A]]
	return s.Unary("aggregate", ByHash(func(x D) uint64 { return hash(key(x)) }), func(in *Reader[D], out *Writer[R], n *Notificator) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			groups, fresh := open.at(t)
			if fresh {
				n.NotifyAt(t)
			}
			for _, x := range data {
				fold(groups.at(key(x)), x)
			}
		}
		for t, ok := n.Next(); ok; t, ok = n.Next() {
			groups := open.take(t)
			buf := out.Buffer(t)
			for i, k := range groups.keys {
				if buf = append(buf, emit(k, groups.states[i])); len(buf) >= BatchLen {
					buf = out.Flush(buf)
				}
			}
			out.Put(buf)
			if len(groups.keys) <= maxReused {
				groups.reset()
				open.reuse(groups)
			}
		}
	})
}

// Distinct is the records of each time without those that are equal to an earlier
// one of that time. Records are exchanged by their hash; they are made as [HashOf]
// needs it. They go on at once, not only when the time is over.
func Distinct[D comparable](s Stream[D]) Stream[D] {
	var open byTime[map[D]struct{}]
	return s.Unary("distinct", ByHash(HashOf[D]()), func(in *Reader[D], out *Writer[D], n *Notificator) {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			seen, fresh := open.at(t)
			if fresh {
				n.NotifyAt(t)
				if *seen == nil {
					*seen = map[D]struct{}{}
				}
			}
			buf := out.Buffer(t)
			for _, x := range data {
				if _, known := (*seen)[x]; known {
					continue
				}
				(*seen)[x] = struct{}{}
				if buf = append(buf, x); len(buf) >= BatchLen {
					buf = out.Flush(buf)
				}
			}
			out.Put(buf)
		}
		for t, ok := n.Next(); ok; t, ok = n.Next() {
			if seen := open.take(t); len(*seen) <= maxReused {
				clear(*seen)
				open.reuse(seen)
			}
		}
	})
}

// maxReused is how many keys the state of a time may have had to be used again: to
// clear a map takes as long as it ever was large.
const maxReused = 4096

// keyed is a state for each key, in the order in which the keys came.
type keyed[K comparable, S any] struct {
	index  map[K]int32
	keys   []K
	states []S
}

// at is the state of a key, until the next call.
func (k *keyed[K, S]) at(key K) *S {
	i, known := k.index[key]
	if !known {
		if k.index == nil {
			k.index = map[K]int32{}
		}
		i = int32(len(k.keys))
		k.index[key] = i
		k.keys = append(k.keys, key)
		var zero S
		k.states = append(k.states, zero)
	}
	return &k.states[i]
}

// remove forgets a key, and moves the last one to its place.
func (k *keyed[K, S]) remove(key K) {
	i, known := k.index[key]
	if !known {
		return
	}
	last := len(k.keys) - 1
	if int(i) != last {
		k.keys[i], k.states[i] = k.keys[last], k.states[last]
		k.index[k.keys[i]] = i
	}
	clear(k.keys[last:])
	clear(k.states[last:])
	k.keys, k.states = k.keys[:last], k.states[:last]
	delete(k.index, key)
}

// reset forgets all keys, and keeps the memory.
func (k *keyed[K, S]) reset() {
	clear(k.index)
	clear(k.keys)
	clear(k.states)
	k.keys, k.states = k.keys[:0], k.states[:0]
}
