package differential

import (
	"cmp"

	"weir/timely"
)

// Pair is a key with a value.
type Pair[K, V comparable] struct {
	Key   K
	Value V
}

// Keyed is a collection of values with keys. Beyond what a [Collection] can, it can be joined
// with others by key, and reduced key by key. What these need is an index of the collection, an arrangement; it is
// made when it is first needed, once, and shared by all that use the Keyed from then on, within
// loops too.
type Keyed[K, V comparable] struct{ *keyed[K, V] }

// keyed makes of the two forms of a collection, updates on their way and an index, the one
// that is not there yet.
type keyed[K, V comparable] struct {
	scope  *timely.Scope
	stream *timely.Stream[Update[Pair[K, V]]]
	index  *index
	outer  *keyed[K, V] // what entered the scope, where this is it
	name   string       // of the index, once it is made
	loose  loose        // what the stream is; an index has all added up
}

func fromStream[K, V comparable](s timely.Stream[Update[Pair[K, V]]], l loose) Keyed[K, V] {
	return Keyed[K, V]{&keyed[K, V]{scope: s.Scope(), stream: &s, loose: l}}
}

func fromIndex[K, V comparable](x *index) Keyed[K, V] {
	return Keyed[K, V]{&keyed[K, V]{scope: x.scope(), index: x}}
}

// Scope is the scope of the collection.
func (k *keyed[K, V]) Scope() *timely.Scope { return k.scope }

func (k *keyed[K, V]) updates() timely.Stream[Update[Pair[K, V]]] {
	if k.stream == nil {
		var s timely.Stream[Update[Pair[K, V]]]
		switch {
		case k.outer != nil && k.index == nil:
			s = k.outer.updates().Enter(k.scope)
		default:
			s = flattenPairs[K, V](k.index)
		}
		k.stream = &s
	}
	return *k.stream
}

func (k *keyed[K, V]) arranged() *index {
	if k.index == nil {
		if k.outer != nil {
			k.index = k.outer.arranged().enter(k.scope)
		} else {
			k.index = arrange(*k.stream, cmp.Or(k.name, "arrange"), pairs[K, V](k.scope))
		}
	}
	return k.index
}

// Arrange builds the index now, under a name that errors and logs show. It is not needed
// for anything but the name: the index is built when there is use for it.
func (k Keyed[K, V]) Arrange(name string) Keyed[K, V] {
	k.name = name
	k.arranged()
	return k
}

// Map makes a record of every key and value.
func (k Keyed[K, V]) Map[D comparable](f func(K, V) D) Collection[D] {
	return Collection[D]{k.updates().Map(func(u Update[Pair[K, V]]) Update[D] {
		return Update[D]{f(u.Data.Key, u.Data.Value), u.Time, u.Weight}
	}), k.loose}
}

// MapPairs makes another key and value of every key and value.
func (k Keyed[K, V]) MapPairs[L, W comparable](f func(K, V) (L, W)) Keyed[L, W] {
	return fromStream(k.updates().Map(func(u Update[Pair[K, V]]) Update[Pair[L, W]] {
		l, w := f(u.Data.Key, u.Data.Value)
		return Update[Pair[L, W]]{Pair[L, W]{l, w}, u.Time, u.Weight}
	}), k.loose)
}

// MapValues makes another value of every value.
func (k Keyed[K, V]) MapValues[W comparable](f func(K, V) W) Keyed[K, W] {
	return k.MapPairs(func(key K, v V) (K, W) { return key, f(key, v) })
}

// Keys is the keys, each as often as it has values.
func (k Keyed[K, V]) Keys() Collection[K] { return k.Map(func(key K, _ V) K { return key }) }

// Filter keeps the keys and values for which keep is true.
func (k Keyed[K, V]) Filter(keep func(K, V) bool) Keyed[K, V] {
	return fromStream(k.updates().Filter(func(u Update[Pair[K, V]]) bool { return keep(u.Data.Key, u.Data.Value) }), k.loose)
}

// Concat is the sum of the collections.
func (k Keyed[K, V]) Concat(others ...Keyed[K, V]) Keyed[K, V] {
	streams := make([]timely.Stream[Update[Pair[K, V]]], len(others))
	all := k.loose
	for i, o := range others {
		streams[i] = o.updates()
		all |= o.loose
	}
	return fromStream(k.updates().Concat(streams...), all)
}

// Negate is the collection with all weights negated.
func (k Keyed[K, V]) Negate() Keyed[K, V] {
	return fromStream(negate(k.updates()), k.loose)
}

// Enter brings the collection into a loop directly inside of its scope, where it is the same in
// every round. An index of it stays outside, and serves the loop from there.
func (k Keyed[K, V]) Enter(loop *timely.Scope) Keyed[K, V] {
	return Keyed[K, V]{&keyed[K, V]{scope: loop, outer: k.keyed, loose: k.loose}}
}

// EnterAt is as [Collection.EnterAt].
func (k Keyed[K, V]) EnterAt(loop *timely.Scope, round func(K, V) uint64) Keyed[K, V] {
	at := loop.Depth() - 1
	return fromStream(k.updates().Enter(loop).MapInPlace(func(u *Update[Pair[K, V]]) {
		u.Time[at] = round(u.Data.Key, u.Data.Value)
	}), k.loose)
}

// Leave brings the collection out of its loop, as it is after all rounds.
func (k Keyed[K, V]) Leave(outer *timely.Scope) Keyed[K, V] {
	return fromStream(leave(k.updates(), outer), k.loose.leave(outer))
}

// Inspect calls f for every update on this worker, as it comes.
func (k Keyed[K, V]) Inspect(f func(Update[Pair[K, V]])) Keyed[K, V] {
	return fromStream(k.updates().Inspect(func(_ timely.Time, u Update[Pair[K, V]]) { f(u) }), k.loose)
}

// Probe attaches p, and returns the collection.
func (k Keyed[K, V]) Probe(p *timely.Probe) Keyed[K, V] {
	if k.stream == nil && k.index != nil {
		k.index.batches.Probe(p) // which is as far
		return k
	}
	return fromStream(k.updates().Probe(p), k.loose)
}

// Consolidate is the collection with updates of equal keys, values and times added up.
func (k Keyed[K, V]) Consolidate() Keyed[K, V] { return fromIndex[K, V](k.arranged()) }
