package differential

import (
	"weir/timely"
)

// Update is a change: so many more of Data, or fewer where the weight is negative, from Time on.
type Update[D any] struct {
	Data   D
	Time   timely.Time
	Weight int64
}

// Collection is a multiset of records that changes: at each time it is the sum of
// all updates at or before that time. It is a description, as a [timely.Stream] is: each worker
// has a share of the updates.
type Collection[D comparable] struct {
	updates timely.Stream[Update[D]]
	loose   loose
}

// FromUpdates makes a collection of a stream of updates. The time of an update must not be
// before that of the message that brings it, which is the stream's affair; an update at a later
// time than its message's is fine. If the stream is made of updates of a [Variable], the loop should add
// them up somewhere: that it must is not seen here.
func FromUpdates[D comparable](s timely.Stream[Update[D]]) Collection[D] {
	return Collection[D]{updates: s}
}

// Updates is the stream of the collection's updates, in no order and not added up.
func (c Collection[D]) Updates() timely.Stream[Update[D]] { return c.updates }

// Scope is the scope of the collection.
func (c Collection[D]) Scope() *timely.Scope { return c.updates.Scope() }

// Map applies f to every record. Records that become equal are added up.
func (c Collection[D]) Map[E comparable](f func(D) E) Collection[E] {
	return Collection[E]{c.updates.Map(func(u Update[D]) Update[E] { return Update[E]{f(u.Data), u.Time, u.Weight} }), c.loose}
}

// FlatMap applies f to every record; f calls emit for each of its results, before it returns.
func (c Collection[D]) FlatMap[E comparable](f func(x D, emit func(E))) Collection[E] {
	return Collection[E]{c.updates.Unary("flatmap", timely.Pipeline[Update[D]](), func() func(*timely.Reader[Update[D]], *timely.Writer[Update[E]], *timely.Notificator) {
		var to sink[E]
		emit := func(y E) { to.put(y, to.time, to.weight) }
		return func(in *timely.Reader[Update[D]], out *timely.Writer[Update[E]], _ *timely.Notificator) {
			for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
				to.begin(out, t)
				for i := range data {
					to.time, to.weight = data[i].Time, data[i].Weight
					f(data[i].Data, emit)
				}
				to.end()
			}
		}
	}()), c.loose}
}

// sink writes updates without a call to the writer for each.
type sink[D any] struct {
	out    *timely.Writer[Update[D]]
	buf    []Update[D]
	time   timely.Time // of what is emitted, where an operator says so
	weight int64
	sent   int
}

func (s *sink[D]) begin(out *timely.Writer[Update[D]], t timely.Time) {
	s.out, s.buf = out, out.Buffer(t)
}

func (s *sink[D]) put(x D, t timely.Time, weight int64) {
	if s.out == nil {
		timely.Fail(&timely.MisuseError{Problem: "emit is called after the function that got it has returned"})
	}
	s.sent++
	if s.buf = append(s.buf, Update[D]{x, t, weight}); len(s.buf) >= timely.BatchLen {
		s.buf = s.out.Flush(s.buf)
	}
}

func (s *sink[D]) end() {
	s.out.Put(s.buf)
	s.out, s.buf = nil, nil
}

// Filter keeps the records for which keep is true.
func (c Collection[D]) Filter(keep func(D) bool) Collection[D] {
	return Collection[D]{c.updates.Filter(func(u Update[D]) bool { return keep(u.Data) }), c.loose}
}

// Concat is the sum of the collections: a record is in it as often as in all of them together.
func (c Collection[D]) Concat(others ...Collection[D]) Collection[D] {
	streams := make([]timely.Stream[Update[D]], len(others))
	all := c.loose
	for i, o := range others {
		streams[i] = o.updates
		all |= o.loose
	}
	return Collection[D]{c.updates.Concat(streams...), all}
}

// Negate is the collection with all weights negated: what is added with it is taken away.
func (c Collection[D]) Negate() Collection[D] {
	return Collection[D]{negate(c.updates), c.loose}
}

func negate[D any](s timely.Stream[Update[D]]) timely.Stream[Update[D]] {
	return s.MapInPlace(func(u *Update[D]) { u.Weight = negated(u.Weight) })
}

// Enter brings the collection into a loop directly inside of its scope, where it is the same
// in every round.
func (c Collection[D]) Enter(loop *timely.Scope) Collection[D] {
	return Collection[D]{c.updates.Enter(loop), c.loose}
}

// EnterAt is as [Collection.Enter], but each record is there only from the round on that
// round says. What has a low round can so run its course before the others come in: "prioritisation".
func (c Collection[D]) EnterAt(loop *timely.Scope, round func(D) uint64) Collection[D] {
	at := loop.Depth() - 1
	return Collection[D]{c.updates.Enter(loop).MapInPlace(func(u *Update[D]) { u.Time[at] = round(u.Data) }), c.loose}
}

// Leave brings the collection out of its loop: what it is after all rounds, when it changes no more.
func (c Collection[D]) Leave(outer *timely.Scope) Collection[D] {
	return Collection[D]{leave(c.updates, outer), c.loose.leave(outer)}
}

func leave[D any](s timely.Stream[Update[D]], outer *timely.Scope) timely.Stream[Update[D]] {
	at := outer.Depth()
	return s.MapInPlace(func(u *Update[D]) { u.Time[at] = 0 }).Leave(outer)
}

// Inspect calls f for every update on this worker, as it comes: not in order, and not added up.
// Consolidate before it to see what really changes.
func (c Collection[D]) Inspect(f func(Update[D])) Collection[D] {
	return Collection[D]{c.updates.Inspect(func(_ timely.Time, u Update[D]) { f(u) }), c.loose}
}

// Probe attaches p, and returns the collection.
func (c Collection[D]) Probe(p *timely.Probe) Collection[D] {
	return Collection[D]{c.updates.Probe(p), c.loose}
}

// KeyBy makes a key and a value of every record, for joins and reductions by the key.
func (c Collection[D]) KeyBy[K, V comparable](f func(D) (K, V)) Keyed[K, V] {
	return fromStream(c.updates.Map(func(u Update[D]) Update[Pair[K, V]] {
		k, v := f(u.Data)
		return Update[Pair[K, V]]{Pair[K, V]{k, v}, u.Time, u.Weight}
	}), c.loose)
}

// Consolidate is the collection with updates of equal records and times added up, each at the worker of its record. No
// update of a time goes on before the time is over.
func (c Collection[D]) Consolidate() Collection[D] {
	return Collection[D]{updates: flattenWholes[D](arrange(c.updates, "consolidate", wholes[D](c.Scope())))}
}

// Distinct is every record that is in the collection, once.
func (c Collection[D]) Distinct() Collection[D] {
	return Collection[D]{updates: flattenWholes[D](c.distinct())}
}

// distinct has the records as keys, each once.
func (c Collection[D]) distinct() *index {
	return distinct(arrange(c.updates, "arrange", wholes[D](c.Scope())))
}

// Frequencies is how often each record is in the collection. (It is no method, since a type whose
// methods make ever larger types would be one without end.)
func Frequencies[D comparable](c Collection[D]) Keyed[D, int64] {
	return fromIndex[D, int64](counts(arrange(c.updates, "count", wholes[D](c.Scope()))))
}

// Pairs is the keys and values as records.
func Pairs[K, V comparable](k Keyed[K, V]) Collection[Pair[K, V]] {
	return Collection[Pair[K, V]]{k.updates(), k.loose}
}

// ByPair takes the pairs of a collection as keys and values.
func ByPair[K, V comparable](c Collection[Pair[K, V]]) Keyed[K, V] {
	return fromStream(c.updates, c.loose)
}
