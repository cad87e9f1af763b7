package differential

import (
	"slices"
)

// Weighted is a value, and how often it is there.
type Weighted[V any] struct {
	Value  V
	Weight int64
}

// Reduce makes of the values of each key what f makes of them: f is given all different values of a key with their
// weights, none of which is 0, in ascending order, and calls emit for each value that the result is to have for the key. It
// is called again when the values have changed, and must make the same of the same. Where a key has no
// values it has no results. A weight is negative where more was taken away than there was.
//
// The values are f's until it returns. It costs in proportion to the values of the keys that change;
// [Keyed.Count] and [Keyed.Sum] cost less.
func (k Keyed[K, V]) Reduce[W comparable](name string, f func(key K, values []Weighted[V], emit func(W, int64))) Keyed[K, W] {
	keys, values, results := codec[K](k.scope), codec[V](k.scope), codec[W](k.scope)
	var list []Weighted[V]
	var out []weighted
	emit := func(w W, weight int64) {
		if weight != 0 {
			out = append(out, weighted{results.Word(w), weight})
		}
	}
	ordered := values.Ordered()
	return fromIndex[K, W](reduce(k.arranged(), name, false, results, func(key uint64, in []weighted, to []weighted) []weighted {
		list = list[:0]
		if !ordered {
			slices.SortFunc(in, func(a, b weighted) int { return values.Compare(a.val, b.val) })
		}
		for _, v := range in {
			list = append(list, Weighted[V]{values.Value(v.val), v.weight})
		}
		out = to
		f(keys.Value(key), list, emit)
		to, out = out, nil
		return to
	}))
}

// Count is how many values each key has, of those that have any: the sum of their weights.
func (k Keyed[K, V]) Count() Keyed[K, int64] {
	return fromIndex[K, int64](counts(arrange(k.updates(), "count", k.sums())))
}

// sums has the keys with value 0, whose weight is how many values there are.
func (k Keyed[K, V]) sums() form[Pair[K, V]] {
	f, keys := pairs[K, V](k.scope), codec[K](k.scope)
	f.values = codec[bool](k.scope)
	f.words = func(p *Pair[K, V]) (uint64, uint64) { return keys.Word(p.Key), 0 }
	return f
}

// counts is how often there is the only value that each key has.
func counts(x *index) *index {
	numbers := codec[int64](x.scope())
	return cheap(x, "count", false, numbers, func(_ uint64, in []weighted, out []weighted) []weighted {
		return append(out, weighted{numbers.Word(in[0].weight), 1})
	})
}

// Sum is the sum of what of makes of each value, for each key that has any. It keeps the sum, not the
// values, and a change costs the same however many there are. Where the weights of a key cancel out but the sum
// does not, there is a sum though [Keyed.Count] has no count.
func (k Keyed[K, V]) Sum(of func(V) int64) Keyed[K, int64] {
	numbers := codec[int64](k.scope)
	f := k.sums()
	f.more = func(p *Pair[K, V]) int64 { return of(p.Value) }
	return fromIndex[K, int64](cheap(arrange(k.updates(), "sum", f), "sum", false, numbers, func(_ uint64, in []weighted, out []weighted) []weighted {
		total := int64(0)
		if last := in[len(in)-1]; last.val == 1 {
			total = last.weight
		}
		return append(out, weighted{numbers.Word(total), 1})
	}))
}

// Distinct is every key and value that is there, once.
func (k Keyed[K, V]) Distinct() Keyed[K, V] {
	return fromIndex[K, V](distinct(k.arranged()))
}

// distinct has every key and value of an index once.
func distinct(x *index) *index {
	return cheap(x, "distinct", true, x.values, func(_ uint64, in []weighted, out []weighted) []weighted {
		if in[0].weight > 0 {
			out = append(out, weighted{in[0].val, 1})
		}
		return out
	})
}

// Threshold has every key and value as often as f says it should be that is there so often; what is not
// there f is not asked for.
func (k Keyed[K, V]) Threshold(f func(key K, v V, weight int64) int64) Keyed[K, V] {
	keys, values := codec[K](k.scope), codec[V](k.scope)
	x := k.arranged()
	return fromIndex[K, V](reduce(x, "threshold", true, x.values, func(key uint64, in []weighted, out []weighted) []weighted {
		if weight := f(keys.Value(key), values.Value(in[0].val), in[0].weight); weight != 0 {
			out = append(out, weighted{in[0].val, weight})
		}
		return out
	}))
}

// Min is the least value of each key, once. Numbers are in their order, strings in that of their bytes, structs and arrays
// in that of their first field, or the next where these are equal.
func (k Keyed[K, V]) Min() Keyed[K, V] { return k.extreme("min", -1) }

// Max is the greatest value of each key, once.
func (k Keyed[K, V]) Max() Keyed[K, V] { return k.extreme("max", 1) }

func (k Keyed[K, V]) extreme(name string, sign int) Keyed[K, V] {
	values := codec[V](k.scope)
	better := func(a, b uint64) bool { return values.Compare(a, b)*sign > 0 }
	if values.Ordered() {
		better = func(a, b uint64) bool { return (a < b) == (sign < 0) }
	}
	return fromIndex[K, V](reduce(k.arranged(), name, false, values, func(_ uint64, in []weighted, out []weighted) []weighted {
		best, found := uint64(0), false
		for _, v := range in {
			if v.weight > 0 && (!found || better(v.val, best)) {
				best, found = v.val, true
			}
		}
		if found {
			out = append(out, weighted{best, 1})
		}
		return out
	}))
}

// TopK is the n greatest values of each key, in the order of [Keyed.Max]; one that is there several times counts as several.
func (k Keyed[K, V]) TopK(n int64) Keyed[K, V] {
	return k.Reduce("topk", func(_ K, values []Weighted[V], emit func(V, int64)) {
		left := n
		for _, v := range slices.Backward(values) {
			if left <= 0 {
				return
			}
			if v.Weight > 0 {
				take := min(v.Weight, left)
				emit(v.Value, take)
				left -= take
			}
		}
	})
}
