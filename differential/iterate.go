package differential

import (
	"weir/timely"
)

// Variable is a collection of a loop that is defined after it is used: in round 0 it is what
// it begins as, and in each later round what [Variable.Set] made it in the round before. Several
// of them in one loop are mutual recursion.
type Variable[D comparable] struct{ feedback[D] }

// NewVariable makes a variable of a loop, which begins as the given collection of that loop, in all its
// rounds: one that entered it.
func NewVariable[D comparable](loop *timely.Scope, begin Collection[D]) *Variable[D] {
	return &Variable[D]{newFeedback(loop, begin.updates)}
}

// Limit ends the loop after so many rounds, changed or not. It is called before [Variable.Set].
func (v *Variable[D]) Limit(rounds uint64) *Variable[D] {
	v.rounds = rounds
	return v
}

// Collection is the variable as a collection.
func (v *Variable[D]) Collection() Collection[D] { return Collection[D]{v.stream()} }

// Set says what the variable is in the round after each. It is called once. What is said of adding up at
// [Collection.Iterate] holds for every way from a variable to itself.
func (v *Variable[D]) Set(next Collection[D]) { v.set(next.updates) }

// feedback is the updates of a variable.
type feedback[D any] struct {
	begin  timely.Stream[Update[D]] // in the loop
	around *timely.Variable[Update[D]]
	at     int // the coordinate of the rounds
	rounds uint64
}

func newFeedback[D any](loop *timely.Scope, begin timely.Stream[Update[D]]) feedback[D] {
	return feedback[D]{begin: begin, around: timely.LoopVariable[Update[D]](loop, 0), at: loop.Depth() - 1}
}

func (v *feedback[D]) stream() timely.Stream[Update[D]] { return v.begin.Concat(v.around.Stream()) }

// set makes the variable begin + later(next - begin): begin in round 0, and from then on what next was a round before.
func (v *feedback[D]) set(next timely.Stream[Update[D]]) {
	at, rounds := v.at, v.rounds
	change := next.Concat(negate(v.begin)).MapInPlace(func(u *Update[D]) {
		if u.Time[at]++; u.Time[at] == 0 {
			timely.Fail(&OverflowError{"a loop goes on after the last round that there is"})
		}
	})
	if rounds > 0 {
		change = change.Filter(func(u Update[D]) bool { return u.Time[at] < rounds })
	}
	v.around.Set(change)
}

// Iterate is the fixed point of a loop: body makes of what the collection is in one round what it
// is in the next, and the result is what it is when it changes no more. It goes on for ever
// where it never ceases to change.
//
// Changes that cancel each other go around too, until something adds them up. So what comes of inner must
// pass a join, a reduction or [Collection.Consolidate] on its way through body: one of Map, Filter, Concat and
// the like alone does not end.
//
//	reached := roots.Iterate(func(loop *timely.Scope, inner Collection[Node]) Collection[Node] {
//		…
//	})
func (c Collection[D]) Iterate(body func(loop *timely.Scope, inner Collection[D]) Collection[D]) Collection[D] {
	return c.IterateN(0, body)
}

// IterateN is as [Collection.Iterate], for at most so many applications of body; 0 is no limit.
func (c Collection[D]) IterateN(rounds uint64, body func(loop *timely.Scope, inner Collection[D]) Collection[D]) Collection[D] {
	return Collection[D]{iterate(c.updates, rounds, func(loop *timely.Scope, inner timely.Stream[Update[D]]) timely.Stream[Update[D]] {
		return body(loop, Collection[D]{inner}).updates
	})}
}

// Iterate is as [Collection.Iterate].
func (k Keyed[K, V]) Iterate(body func(loop *timely.Scope, inner Keyed[K, V]) Keyed[K, V]) Keyed[K, V] {
	return k.IterateN(0, body)
}

// IterateN is as [Collection.IterateN].
func (k Keyed[K, V]) IterateN(rounds uint64, body func(loop *timely.Scope, inner Keyed[K, V]) Keyed[K, V]) Keyed[K, V] {
	return fromStream(iterate(k.updates(), rounds, func(loop *timely.Scope, inner timely.Stream[Update[Pair[K, V]]]) timely.Stream[Update[Pair[K, V]]] {
		return body(loop, fromStream(inner)).updates()
	}))
}

func iterate[D any](s timely.Stream[Update[D]], rounds uint64, body func(*timely.Scope, timely.Stream[Update[D]]) timely.Stream[Update[D]]) timely.Stream[Update[D]] {
	loop := s.Scope().Loop("iterate")
	v := newFeedback(loop, s.Enter(loop))
	v.rounds = rounds
	result := body(loop, v.stream())
	v.set(result)
	return leave(result, s.Scope())
}
