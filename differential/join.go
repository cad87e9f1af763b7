package differential

import (
	"slices"

	"weir/differential/trace"
	"weir/differential/word"
	"weir/timely"
)

// joinFuel is how many records a join makes, and how many keys it looks up, before others have their turn: a
// fraction of a millisecond. One that would make a billion does so in as many runs as it takes. Tests make it
// small, but a join must be able to look up a key and cross a value with it: 2 at least.
var joinFuel = 1 << 13

// Join makes another key and value of every key with one value of each collection, as often
// as they are there: a product of weights. It costs in proportion to the changes of
// both, and what they match.
func (k Keyed[K, V]) Join[W, L, X comparable](other Keyed[K, W], f func(K, V, W) (L, X)) Keyed[L, X] {
	return fromStream(join(k.scope, k.arranged(), other.arranged(), "join", func(key K, v V, w W, emit func(Pair[L, X])) {
		l, x := f(key, v, w)
		emit(Pair[L, X]{l, x})
	}), 0)
}

// JoinMap makes a record of every key with one value of each collection.
func (k Keyed[K, V]) JoinMap[W, D comparable](other Keyed[K, W], f func(K, V, W) D) Collection[D] {
	return Collection[D]{updates: join(k.scope, k.arranged(), other.arranged(), "join", func(key K, v V, w W, emit func(D)) { emit(f(key, v, w)) })}
}

// JoinFlat makes any number of records of every key with one value of each collection: f calls emit for each.
func (k Keyed[K, V]) JoinFlat[W, D comparable](other Keyed[K, W], f func(key K, v V, w W, emit func(D))) Collection[D] {
	return Collection[D]{updates: join(k.scope, k.arranged(), other.arranged(), "join", f)}
}

// SemiJoin keeps the keys that are in the other collection, once or more often.
func (k Keyed[K, V]) SemiJoin(keys Collection[K]) Keyed[K, V] {
	return fromStream(join(k.scope, k.arranged(), keys.distinct(), "semijoin", func(key K, v V, _ struct{}, emit func(Pair[K, V])) {
		emit(Pair[K, V]{key, v})
	}), 0)
}

// AntiJoin keeps the keys that are not in the other collection.
func (k Keyed[K, V]) AntiJoin(keys Collection[K]) Keyed[K, V] {
	return k.Concat(k.SemiJoin(keys).Negate())
}

// join makes records of every key with one value of each collection.
func join[K, V, W, D comparable](scope *timely.Scope, left, right *index, name string, f func(K, V, W, func(D))) timely.Stream[Update[D]] {
	op := timely.NewOperator(scope, name)
	a, b := left.read(op), right.read(op)
	out, stream := op.Output[Update[D]]()
	op.Watch()
	j := &joiner[K, V, W, D]{keys: codec[K](scope), left: codec[V](scope), right: codec[W](scope), f: f}
	j.emit = func(x D) { j.to.put(x, j.time, j.weight) }
	var waiting []*crossing
	op.Build(func() {
		// A batch meets all that was there of the other side before it, and later ones of that side will meet it:
		// so each pair of batches meets once. What is put off keeps the batches as they are.
		for t, batch, ok := a.next(); ok; t, batch, ok = a.next() {
			waiting = queue(waiting, op, t, batch, b, false)
		}
		for t, batch, ok := b.next(); ok; t, batch, ok = b.next() {
			waiting = queue(waiting, op, t, batch, a, true)
		}
		a.advance(b.in.Frontier())
		b.advance(a.in.Frontier())
		j.fuel = joinFuel
		done := 0
		for _, c := range waiting {
			j.to.begin(out, c.hold.Time())
			finished := j.run(c)
			j.to.end()
			if !finished {
				break
			}
			c.hold.Drop()
			c.traffic.flying--
			done++
		}
		waiting = slices.Delete(waiting, 0, done)
		if len(waiting) > 0 {
			op.Activate()
		}
	})
	return stream
}

// crossing is the work of joining a new batch with what was there of the other side, and how far it has come.
type crossing struct {
	hold    *timely.Capability
	fresh   []*trace.Block
	others  []*trace.Batch
	traffic *traffic // of the others' index
	swapped bool     // the new batch is one of the right side

	other int // the batch of others
	block int // the block of the new batch, and the key in it
	key   int
	at    int // the first block of the other that may have the key, and where in it to look
	match int
	span  int // the block of the other which is crossed, from at on: a key may span several
	value int // how many of the key's values were crossed with it
}

func queue(list []*crossing, op *timely.Operator, t timely.Time, fresh *trace.Batch, other *reader, swapped bool) []*crossing {
	others := other.batches()
	if len(others) == 0 {
		return list
	}
	other.index.traffic.flying++ // until it is done
	return append(list, &crossing{hold: op.Retain(t), fresh: fresh.Blocks(), others: slices.Clone(others), traffic: other.index.traffic, swapped: swapped})
}

// joiner is the typed part of a join.
type joiner[K, V, W, D comparable] struct {
	keys  *word.Codec[K]
	left  *word.Codec[V]
	right *word.Codec[W]
	f     func(K, V, W, func(D))
	emit  func(D)
	to    sink[D]
	fuel  int

	time   timely.Time // of what f emits
	weight int64
}

// run joins until it is done, which it returns, or there is no fuel left.
func (j *joiner[K, V, W, D]) run(c *crossing) bool {
	for ; c.other < len(c.others); c.other++ {
		if !j.batch(c, c.others[c.other]) {
			return false
		}
		c.block, c.key, c.at, c.match = 0, 0, 0, 0
	}
	return true
}

// batch joins the new batch with one of the other side: it leaps from key to key that may be in both.
func (j *joiner[K, V, W, D]) batch(c *crossing, other *trace.Batch) bool {
	others := other.Blocks()
	for ; c.block < len(c.fresh); c.block++ {
		x := c.fresh[c.block]
		for keys := x.Keys(); c.key < len(keys); {
			if j.fuel <= 0 {
				return false
			}
			j.fuel--
			key := keys[c.key]
			if at := other.SeekBlock(c.at, key); at != c.at {
				c.at, c.match = at, 0
			}
			if c.at == len(others) {
				return true
			}
			y := others[c.at]
			c.match = y.Seek(c.match, key)
			if found := y.Keys()[c.match]; found != key {
				c.key = x.Seek(c.key+1, found)
				continue
			}
			if !j.spans(c, x, others, key) {
				return false
			}
			c.key++
		}
		c.key = 0
	}
	return true
}

// spans joins the key at which the crossing is with all blocks that have it.
func (j *joiner[K, V, W, D]) spans(c *crossing, x *trace.Block, others []*trace.Block, key uint64) bool {
	k := j.keys.Value(key)
	for ; c.at+c.span < len(others); c.span++ {
		y, match := others[c.at+c.span], c.match
		if c.span > 0 {
			if match = 0; y.Keys()[0] != key {
				break
			}
		}
		if !j.cross(c, k, x, y, match) {
			return false
		}
		c.value = 0
	}
	c.span = 0
	return true
}

// cross joins the values of one key of two blocks.
func (j *joiner[K, V, W, D]) cross(c *crossing, key K, x, y *trace.Block, match int) bool {
	lo, hi := x.Values(c.key)
	from, to := y.Values(match)
	xs, ys := x.Vals(), y.Vals()
	xTimes, yTimes := x.Times(), y.Times()
	for ; lo+c.value < hi; c.value++ {
		if j.fuel <= 0 {
			return false
		}
		j.fuel -= to - from
		v, edits := xs[lo+c.value], x.Edits(lo+c.value)
		for i := from; i < to; i++ {
			l, r := v, ys[i]
			if c.swapped {
				l, r = r, l
			}
			left, right := j.left.Value(l), j.right.Value(r)
			for _, b := range y.Edits(i) {
				t := yTimes[b.Time]
				for _, a := range edits {
					j.time, j.weight = t.Join(xTimes[a.Time]), product(a.Diff, b.Diff)
					j.f(key, left, right, j.emit)
				}
			}
		}
	}
	return true
}
