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
	return &Variable[D]{newFeedback(loop, begin.updates, begin.loose)}
}

// Limit ends the loop after so many rounds, changed or not. It is called before [Variable.Set].
func (v *Variable[D]) Limit(rounds uint64) *Variable[D] {
	v.rounds = rounds
	return v
}

// Collection is the variable as a collection.
func (v *Variable[D]) Collection() Collection[D] { return Collection[D]{v.stream(), v.loose} }

// Set says what the variable is in the round after each. It is called once. Where next is made of variables of the loop by Map,
// Filter, Concat and the like alone, without a join or a reduction, its changes are added up first.
func (v *Variable[D]) Set(next Collection[D]) {
	v.set(next.updates, next.loose, func(s timely.Stream[Update[D]]) timely.Stream[Update[D]] {
		return Collection[D]{updates: s}.Consolidate().updates
	})
}

// loose says of changes that they may have come around loops without being added up on the way: a bit for the
// coordinate of each such loop. Changes that cancel each other would go around for ever.
type loose uint8

// leave is what changes are outside of a loop directly inside of outer.
func (l loose) leave(outer *timely.Scope) loose { return l &^ (1 << outer.Depth()) }

// feedback is the updates of a variable.
type feedback[D any] struct {
	begin  timely.Stream[Update[D]] // in the loop
	around *timely.Variable[Update[D]]
	at     int // the coordinate of the rounds
	rounds uint64
	loose  loose // what the variable is
}

func newFeedback[D any](loop *timely.Scope, begin timely.Stream[Update[D]], l loose) feedback[D] {
	at := loop.Depth() - 1
	return feedback[D]{begin: begin, around: timely.LoopVariable[Update[D]](loop, 0), at: at, loose: l | 1<<at}
}

func (v *feedback[D]) stream() timely.Stream[Update[D]] { return v.begin.Concat(v.around.Stream()) }

// set makes the variable begin + later(next - begin): begin in round 0, and from then on what next was a round before.
// Consolidate adds up what next may have brought around, or from an outer loop though the variable was not said to.
func (v *feedback[D]) set(next timely.Stream[Update[D]], l loose, consolidate func(timely.Stream[Update[D]]) timely.Stream[Update[D]]) {
	at, rounds := v.at, v.rounds
	change := next.Concat(negate(v.begin))
	if begun := v.loose &^ (1 << at); l&^begun != 0 {
		change = consolidate(change)
	}
	change = change.MapInPlace(func(u *Update[D]) {
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
//	reached := roots.Iterate(func(loop *timely.Scope, inner Collection[Node]) Collection[Node] {
//		…
//	})
func (c Collection[D]) Iterate(body func(loop *timely.Scope, inner Collection[D]) Collection[D]) Collection[D] {
	return c.IterateN(0, body)
}

// IterateN is as [Collection.Iterate], for at most so many applications of body; 0 is no limit.
func (c Collection[D]) IterateN(rounds uint64, body func(loop *timely.Scope, inner Collection[D]) Collection[D]) Collection[D] {
	loop := c.Scope().Loop("iterate")
	v := NewVariable(loop, c.Enter(loop)).Limit(rounds)
	result := body(loop, v.Collection())
	v.Set(result)
	return result.Leave(c.Scope())
}

// Iterate is as [Collection.Iterate].
func (k Keyed[K, V]) Iterate(body func(loop *timely.Scope, inner Keyed[K, V]) Keyed[K, V]) Keyed[K, V] {
	return k.IterateN(0, body)
}

// IterateN is as [Collection.IterateN].
func (k Keyed[K, V]) IterateN(rounds uint64, body func(loop *timely.Scope, inner Keyed[K, V]) Keyed[K, V]) Keyed[K, V] {
	loop := k.scope.Loop("iterate")
	v := newFeedback(loop, k.updates().Enter(loop), k.loose)
	v.rounds = rounds
	result := body(loop, fromStream(v.stream(), v.loose))
	v.set(result.updates(), result.loose, func(s timely.Stream[Update[Pair[K, V]]]) timely.Stream[Update[Pair[K, V]]] {
		return fromStream(s, 0).Consolidate().updates()
	})
	return result.Leave(k.scope)
}
