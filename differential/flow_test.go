package differential_test

import (
	"fmt"
	"math"

	"weir/differential"
	"weir/timely"
)

// This file runs programs of the small language as dataflows, over keys and values of any types.

// alphabet is domain values of a type, in ascending order.
type alphabet[T comparable] struct {
	values []T
	number map[T]int
}

func newAlphabet[T comparable](values ...T) alphabet[T] {
	a := alphabet[T]{values, map[T]int{}}
	for i, x := range values {
		a.number[x] = i
	}
	if len(a.number) != domain {
		panic("an alphabet has one value for each number")
	}
	return a
}

// of is the number of a value, which must have one.
func (a alphabet[T]) of(x T) int {
	n, ok := a.number[x]
	if !ok {
		panic(fmt.Sprintf("a value that is not in any input: %v", x))
	}
	return n
}

// label is a value of several parts, which has no word but that of a lexicon.
type label struct {
	Name string
	N    int
}

var (
	uint32s = newAlphabet[uint32](0, 1, 7, 1<<31, 1<<32-1)
	ints    = newAlphabet[int](math.MinInt, -3, 0, 5, math.MaxInt)
	strs    = newAlphabet("", "a", "a\x00", "ab", "b")
	labels  = newAlphabet(label{"", -1}, label{"", 0}, label{"a", math.MinInt}, label{"a", 3}, label{"b", 0})
)

type pair[K, V comparable] = differential.Pair[K, V]

// forms is a collection in both of its forms, of which each is made when it is used, once.
type forms[K, V comparable] struct {
	collection differential.Collection[pair[K, V]]
	keyed      differential.Keyed[K, V]
	have       [2]bool
}

func fromCollection[K, V comparable](c differential.Collection[pair[K, V]]) *forms[K, V] {
	return &forms[K, V]{collection: c, have: [2]bool{true, false}}
}

func fromKeyed[K, V comparable](k differential.Keyed[K, V]) *forms[K, V] {
	return &forms[K, V]{keyed: k, have: [2]bool{false, true}}
}

func (f *forms[K, V]) asCollection() differential.Collection[pair[K, V]] {
	if !f.have[0] {
		f.collection, f.have[0] = differential.Pairs(f.keyed), true
	}
	return f.collection
}

func (f *forms[K, V]) asKeyed() differential.Keyed[K, V] {
	if !f.have[1] {
		f.keyed, f.have[1] = differential.ByPair(f.collection), true
	}
	return f.keyed
}

// builder builds dataflows of keys and values of some types.
type builder[K, V comparable] struct {
	keys   alphabet[K]
	values alphabet[V]
}

func (b *builder[K, V]) pair(r rec) pair[K, V] {
	return pair[K, V]{Key: b.keys.values[r.k], Value: b.values.values[r.v]}
}

func (b *builder[K, V]) two(r rec) (K, V) { return b.keys.values[r.k], b.values.values[r.v] }

func (b *builder[K, V]) rec(k K, v V) rec { return rec{b.keys.of(k), b.values.of(v)} }

// build makes the nodes of a block; variable makes a variable of what it begins as.
func (b *builder[K, V]) build(block []node, scope *timely.Scope, inputs, outer []*forms[K, V], variable func(begin *forms[K, V]) *forms[K, V]) []*forms[K, V] {
	made := make([]*forms[K, V], len(block))
	in := 0
	for i := range block {
		n := &block[i]
		switch n.op {
		case opInput:
			made[i] = inputs[in]
			in++
		case opVariable:
			made[i] = variable(made[n.args[0]])
		case opEnter, opEnterAt:
			made[i] = b.enter(n, scope, outer)
		case opLoop:
			made[i] = b.loop(n, scope, made)
		default:
			args := make([]*forms[K, V], len(n.args))
			for j, a := range n.args {
				args[j] = made[a]
			}
			made[i] = b.operator(n, args)
		}
		if n.tamed {
			made[i] = fromKeyed(made[i].asKeyed().Distinct())
		}
	}
	return made
}

func (b *builder[K, V]) enter(n *node, scope *timely.Scope, outer []*forms[K, V]) *forms[K, V] {
	of := outer[n.args[0]]
	round := func(k K, v V) uint64 { return uint64(roundFuncs[n.f](b.rec(k, v))) }
	switch {
	case n.op == opEnter && n.keyed:
		return fromKeyed(of.asKeyed().Enter(scope))
	case n.op == opEnter:
		return fromCollection(of.asCollection().Enter(scope))
	case n.keyed:
		return fromKeyed(of.asKeyed().EnterAt(scope, round))
	default:
		return fromCollection(of.asCollection().EnterAt(scope, func(p pair[K, V]) uint64 { return round(p.Key, p.Value) }))
	}
}

func (b *builder[K, V]) loop(n *node, scope *timely.Scope, outer []*forms[K, V]) *forms[K, V] {
	l := n.loop
	body := func(loop *timely.Scope, variable func(*forms[K, V]) *forms[K, V]) []*forms[K, V] {
		return b.build(l.body, loop, nil, outer, variable)
	}
	if l.iterate {
		begin := outer[l.body[0].args[0]]
		if n.keyed {
			return fromKeyed(begin.asKeyed().IterateN(uint64(l.limit), func(loop *timely.Scope, inner differential.Keyed[K, V]) differential.Keyed[K, V] {
				return body(loop, func(*forms[K, V]) *forms[K, V] { return fromKeyed(inner) })[l.result].asKeyed()
			}))
		}
		step := func(loop *timely.Scope, inner differential.Collection[pair[K, V]]) differential.Collection[pair[K, V]] {
			return body(loop, func(*forms[K, V]) *forms[K, V] { return fromCollection(inner) })[l.result].asCollection()
		}
		if l.limit == 0 {
			return fromCollection(begin.asCollection().Iterate(step))
		}
		return fromCollection(begin.asCollection().IterateN(uint64(l.limit), step))
	}
	inside := scope.Loop("loop")
	var variables []*differential.Variable[pair[K, V]]
	made := body(inside, func(begin *forms[K, V]) *forms[K, V] {
		v := differential.NewVariable(inside, begin.asCollection()).Limit(uint64(l.limit))
		variables = append(variables, v)
		return fromCollection(v.Collection())
	})
	for i, v := range variables {
		v.Set(made[l.next[i]].asCollection())
	}
	if n.keyed {
		return fromKeyed(made[l.result].asKeyed().Leave(scope))
	}
	return fromCollection(made[l.result].asCollection().Leave(scope))
}

func (b *builder[K, V]) operator(n *node, args []*forms[K, V]) *forms[K, V] {
	if n.keyed {
		return fromKeyed(b.onKeyed(n, args))
	}
	in := args[0].asCollection
	switch n.op {
	case opMap:
		return fromCollection(in().Map(func(p pair[K, V]) pair[K, V] { return b.pair(mapFuncs[n.f](b.rec(p.Key, p.Value))) }))
	case opFilter:
		return fromCollection(in().Filter(func(p pair[K, V]) bool { return keepFuncs[n.f](b.rec(p.Key, p.Value)) }))
	case opFlatMap:
		return fromCollection(in().FlatMap(func(p pair[K, V], emit func(pair[K, V])) {
			flatFuncs[n.f](b.rec(p.Key, p.Value), func(r rec) { emit(b.pair(r)) })
		}))
	case opConcat:
		return fromCollection(in().Concat(args[1].asCollection()))
	case opNegate:
		return fromCollection(in().Negate())
	case opConsolidate:
		return fromCollection(in().Consolidate())
	case opDistinct:
		return fromCollection(in().Distinct())
	case opJoinMap:
		return fromCollection(args[0].asKeyed().JoinMap(args[1].asKeyed(), func(k K, v, w V) pair[K, V] {
			return b.pair(joinFuncs[n.f](b.keys.of(k), b.values.of(v), b.values.of(w)))
		}))
	case opJoinFlat:
		return fromCollection(args[0].asKeyed().JoinFlat(args[1].asKeyed(), func(k K, v, w V, emit func(pair[K, V])) {
			joinFlatFuncs[n.f](b.keys.of(k), b.values.of(v), b.values.of(w), func(r rec) { emit(b.pair(r)) })
		}))
	}
	return fromKeyed(b.onKeyed(n, args))
}

// onKeyed is operators as methods of Keyed.
func (b *builder[K, V]) onKeyed(n *node, args []*forms[K, V]) differential.Keyed[K, V] {
	in := args[0].asKeyed()
	value := func(_ K, n int64) V { return b.values.values[mod(n)] }
	switch n.op {
	case opMap:
		f := mapFuncs[n.f]
		if n.f == 4 { // which leaves the key alone
			return in.MapValues(func(k K, v V) V { return b.values.values[f(b.rec(k, v)).v] })
		}
		return in.MapPairs(func(k K, v V) (K, V) { return b.two(f(b.rec(k, v))) })
	case opFilter:
		return in.Filter(func(k K, v V) bool { return keepFuncs[n.f](b.rec(k, v)) })
	case opKeys:
		return in.Keys().KeyBy(func(k K) (K, V) { return k, b.values.values[b.keys.of(k)] })
	case opConcat:
		return in.Concat(args[1].asKeyed())
	case opNegate:
		return in.Negate()
	case opConsolidate:
		return in.Arrange("named").Consolidate()
	case opDistinct:
		return in.Distinct()
	case opMin:
		return in.Min()
	case opMax:
		return in.Max()
	case opCount:
		return in.Count().MapValues(value)
	case opSum:
		return in.Sum(func(v V) int64 { return sumOf(b.values.of(v)) }).MapValues(value)
	case opTopK:
		return in.TopK(int64(n.f))
	case opThreshold:
		return in.Threshold(func(k K, v V, w int64) int64 {
			if w == 0 {
				panic("a threshold is asked for what is not there")
			}
			return thresholdFuncs[n.f](b.rec(k, v), w)
		})
	case opReduce:
		return in.Reduce("some", func(k K, values []differential.Weighted[V], emit func(V, int64)) {
			reduceFuncs[n.f](b.keys.of(k), b.given(values), func(v int, w int64) { emit(b.values.values[v], w) })
		})
	case opFrequencies:
		return differential.Frequencies(args[0].asCollection()).MapPairs(func(p pair[K, V], w int64) (K, V) {
			return p.Key, b.values.values[mod(int64(b.values.of(p.Value))+w)]
		})
	case opJoin:
		return in.Join(args[1].asKeyed(), func(k K, v, w V) (K, V) {
			return b.two(joinFuncs[n.f](b.keys.of(k), b.values.of(v), b.values.of(w)))
		})
	case opSemiJoin:
		return in.SemiJoin(args[1].asKeyed().Keys())
	case opAntiJoin:
		return in.AntiJoin(args[1].asKeyed().Keys())
	}
	return b.operator(&node{op: n.op, f: n.f}, args).asKeyed()
}

// given is what a reduction was given, which must be as it is said to be.
func (b *builder[K, V]) given(values []differential.Weighted[V]) []weighted {
	var list []weighted
	for i, x := range values {
		v := b.values.of(x.Value)
		if x.Weight == 0 || i > 0 && list[i-1].v >= v {
			panic(fmt.Sprintf("a reduction is given %v", values))
		}
		list = append(list, weighted{v, x.Weight})
	}
	if len(list) == 0 {
		panic("a reduction is given nothing")
	}
	return list
}
