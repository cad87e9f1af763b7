package differential_test

import (
	"fmt"
	"maps"
	"slices"
)

// This file is a small language of programs over collections, and its naive meaning: what each
// collection is, computed from nothing, with maps. It knows nothing of changes or times. A program
// runs as a dataflow in flow_test.go; random ones are drawn in draw_test.go.

// rec is a record of a program: a key and a value, which are numbers below domain that stand for values of
// whatever type a program is run with, in their order.
type rec struct{ k, v int }

const domain = 5

func mod(n int64) int { return int((n%domain + domain) % domain) }

// multiset is how often each record is there. None is there 0 times.
type multiset map[rec]int64

func (m multiset) add(r rec, w int64) {
	if m[r] += w; m[r] == 0 {
		delete(m, r)
	}
}

func (m multiset) plus(other multiset, times int64) {
	for r, w := range other {
		m.add(r, w*times)
	}
}

// weighted is a value, and how often it is there.
type weighted struct {
	v int
	w int64
}

// byKey is the values of each key, in ascending order.
func (m multiset) byKey() map[int][]weighted {
	keys := map[int][]weighted{}
	for k := range domain {
		for v := range domain {
			if w := m[rec{k, v}]; w != 0 {
				keys[k] = append(keys[k], weighted{v, w})
			}
		}
	}
	return keys
}

// op is what a node does.
type op int

const (
	opInput op = iota
	opMap
	opFilter
	opConcat
	opNegate
	opConsolidate
	opDistinct
	opMin
	opMax
	opCount
	opSum
	opTopK
	opThreshold
	opReduce
	opFlatMap
	opKeys
	opFrequencies
	opJoin
	opJoinMap
	opJoinFlat
	opSemiJoin
	opAntiJoin
	opLoop
	opEnter
	opEnterAt
	opVariable
)

var opNames = [...]string{"input", "map", "filter", "concat", "negate", "consolidate", "distinct", "min", "max", "count", "sum", "topk", "threshold",
	"reduce", "flatmap", "keys", "frequencies", "join", "joinmap", "joinflat", "semijoin", "antijoin", "loop", "enter", "enterat", "variable"}

func (o op) String() string { return opNames[o] }

// arity is how many arguments an operator has that are drawn.
func (o op) arity() int {
	switch o {
	case opConcat, opJoin, opJoinMap, opJoinFlat, opSemiJoin, opAntiJoin:
		return 2
	}
	return 1
}

// node is a collection of a program.
type node struct {
	op    op
	args  []int // nodes before it; those of the block around it for opEnter and opEnterAt
	f     int   // which function, of those that the operator may have
	keyed bool  // whether it is made with the methods of Keyed, where both have one
	loop  *loop

	tamed bool // made distinct, since the weights would grow without end
}

// loop is what an opLoop does.
type loop struct {
	body    []node // what enters, then variables, then what is made of them
	next    []int  // what each variable becomes
	result  int
	limit   int
	iterate bool // whether it is made with Iterate: one variable, which is the result, and begins as what entered first
}

// The functions of programs.

var mapFuncs = [...]func(rec) rec{
	func(r rec) rec { return r },
	func(r rec) rec { return rec{r.v, r.k} },
	func(r rec) rec { return rec{mod(int64(r.k + r.v)), r.v} },
	func(r rec) rec { return rec{0, r.v} },
	func(r rec) rec { return rec{r.k, min(r.v+1, domain-1)} },
	func(r rec) rec { return rec{r.k / 2, r.v / 2} },
}

var keepFuncs = [...]func(rec) bool{
	func(r rec) bool { return r.k != r.v },
	func(r rec) bool { return r.v > 0 },
	func(r rec) bool { return r.k < 2 },
	func(r rec) bool { return (r.k+r.v)%2 == 0 },
	func(rec) bool { return false },
}

var flatFuncs = [...]func(rec, func(rec)){
	func(r rec, emit func(rec)) { emit(r) },
	func(r rec, emit func(rec)) { emit(r); emit(rec{r.v, r.k}) },
	func(r rec, emit func(rec)) {
		for i := range r.v {
			emit(rec{r.k, i})
		}
	},
	func(r rec, emit func(rec)) { emit(rec{r.k, 0}); emit(rec{r.k, 0}) },
}

var joinFuncs = [...]func(k, v, w int) rec{
	func(k, v, w int) rec { return rec{v, w} },
	func(k, v, w int) rec { return rec{w, v} },
	func(k, v, w int) rec { return rec{w, min(v+1, domain-1)} },
	func(k, v, w int) rec { return rec{k, mod(int64(v + w))} },
}

var joinFlatFuncs = [...]func(k, v, w int, emit func(rec)){
	func(k, v, w int, emit func(rec)) { emit(rec{v, w}) },
	func(k, v, w int, emit func(rec)) {
		if v <= w {
			emit(rec{k, v})
			emit(rec{w, k})
		}
	},
}

var thresholdFuncs = [...]func(r rec, w int64) int64{
	func(_ rec, w int64) int64 { return max(0, min(w, 1)) },
	func(_ rec, w int64) int64 { return -w },
	func(r rec, w int64) int64 { return w % 3 * int64(r.v) },
	func(_ rec, w int64) int64 { return min(w, 2) },
}

// reduceFuncs are given the values in ascending order.
var reduceFuncs = [...]func(k int, values []weighted, emit func(int, int64)){
	func(_ int, values []weighted, emit func(int, int64)) { emit(values[0].v, values[0].w) },
	func(_ int, values []weighted, emit func(int, int64)) { emit(len(values)-1, 1) },
	func(k int, values []weighted, emit func(int, int64)) {
		for i, x := range values { // values that are emitted several times, out of order, with weights that may cancel
			emit(values[len(values)-1-i].v, x.w)
			emit(k, -1)
		}
	},
	func(k int, values []weighted, emit func(int, int64)) {
		sum := int64(k)
		for i, x := range values {
			sum = 7*sum + int64(i+1)*x.w + int64(x.v)
		}
		emit(mod(sum), 1)
	},
	func(k int, values []weighted, emit func(int, int64)) {
		if len(values) > 1 {
			emit(k, 0)
			emit(mod(values[1].w), 2)
		}
	},
}

// sumOf is what a sum adds up of a value.
func sumOf(v int) int64 { return int64(v)*3 - 4 }

var roundFuncs = [...]func(rec) int{
	func(r rec) int { return r.v },
	func(r rec) int { return r.k % 2 },
	func(rec) int { return 2 },
}

// lastRound is the last round in which a record enters.
const lastRound = domain - 1

// Model runs a program naively.

// diverges says that a loop does not end by itself.
type diverges struct{ loop *loop }

// wild says that the weights of a node grow too much.
type wild struct{ node *node }

const (
	maxRounds = 14
	maxWeight = 1 << 20
)

// evaluate says what each node of a block is, where the nodes of the block around it are outer, in a round of its loop.
// Variables are those given.
func evaluate(block []node, inputs, outer, variables []multiset, round int) []multiset {
	values := make([]multiset, len(block))
	in, vars := 0, 0
	for i := range block {
		n := &block[i]
		arg := func(i int) multiset { return values[n.args[i]] }
		switch n.op {
		case opInput:
			values[i] = inputs[in]
			in++
		case opEnter:
			values[i] = outer[n.args[0]]
		case opEnterAt:
			values[i] = multiset{}
			for r, w := range outer[n.args[0]] {
				if roundFuncs[n.f](r) <= round {
					values[i].add(r, w)
				}
			}
		case opVariable:
			values[i] = variables[vars]
			vars++
		case opLoop:
			values[i] = n.loop.evaluate(values)
		default:
			values[i] = n.evaluate(arg)
		}
		if n.tamed {
			values[i] = (&node{op: opDistinct}).evaluate(func(int) multiset { return values[i] })
		}
		for _, w := range values[i] {
			if max(w, -w) > maxWeight {
				panic(wild{n})
			}
		}
	}
	return values
}

// evaluate is what the loop comes to. A variable is in each round what it begins as in that round, and what it was to become less
// what it began as in the round before.
func (l *loop) evaluate(outer []multiset) multiset {
	first := slices.IndexFunc(l.body, func(n node) bool { return n.op == opVariable })
	var history [][]multiset // of all nodes
	for round := 0; ; round++ {
		variables := make([]multiset, len(l.next))
		for i, next := range l.next {
			begin := l.body[first+i].args[0]
			variables[i] = maps.Clone(evaluate(l.body[:first], nil, outer, nil, round)[begin])
			before := round - 1
			if l.limit > 0 {
				before = min(before, l.limit-2)
			}
			if before >= 0 {
				variables[i].plus(history[before][next], 1)
				variables[i].plus(history[before][begin], -1)
			}
		}
		history = append(history, evaluate(l.body, nil, outer, variables, round))
		if round > max(lastRound, l.limit) && slices.EqualFunc(history[round][first:first+len(l.next)], history[round-1][first:first+len(l.next)], maps.Equal[multiset, multiset]) {
			return history[round][l.result]
		}
		if round > maxRounds {
			panic(diverges{l})
		}
	}
}

func (n *node) evaluate(arg func(int) multiset) multiset {
	out, in := multiset{}, arg(0)
	switch n.op {
	case opMap:
		for r, w := range in {
			out.add(mapFuncs[n.f](r), w)
		}
	case opFilter:
		for r, w := range in {
			if keepFuncs[n.f](r) {
				out.add(r, w)
			}
		}
	case opFlatMap:
		for r, w := range in {
			flatFuncs[n.f](r, func(x rec) { out.add(x, w) })
		}
	case opKeys:
		for r, w := range in {
			out.add(rec{r.k, r.k}, w)
		}
	case opConcat:
		for i := range n.args {
			out.plus(arg(i), 1)
		}
	case opNegate:
		out.plus(in, -1)
	case opConsolidate:
		out.plus(in, 1)
	case opDistinct:
		for r, w := range in {
			if w > 0 {
				out.add(r, 1)
			}
		}
	case opThreshold:
		for r, w := range in {
			out.add(r, thresholdFuncs[n.f](r, w))
		}
	case opFrequencies:
		for r, w := range in {
			out.add(rec{r.k, mod(int64(r.v) + w)}, 1)
		}
	case opJoin, opJoinMap:
		for a, x := range in {
			for b, y := range arg(1) {
				if a.k == b.k {
					out.add(joinFuncs[n.f](a.k, a.v, b.v), x*y)
				}
			}
		}
	case opJoinFlat:
		for a, x := range in {
			for b, y := range arg(1) {
				if a.k == b.k {
					joinFlatFuncs[n.f](a.k, a.v, b.v, func(r rec) { out.add(r, x*y) })
				}
			}
		}
	case opSemiJoin, opAntiJoin:
		there := map[int]int64{}
		for r, w := range arg(1) {
			there[r.k] += w
		}
		for r, w := range in {
			if (there[r.k] > 0) == (n.op == opSemiJoin) {
				out.add(r, w)
			}
		}
	default:
		for k, values := range in.byKey() {
			n.reduce(k, values, func(v int, w int64) { out.add(rec{k, v}, w) })
		}
	}
	return out
}

// reduce is what a reduction makes of the values of a key.
func (n *node) reduce(k int, values []weighted, emit func(int, int64)) {
	positive := slices.DeleteFunc(slices.Clone(values), func(x weighted) bool { return x.w <= 0 })
	switch n.op {
	case opCount:
		count := int64(0)
		for _, x := range values {
			count += x.w
		}
		if count != 0 {
			emit(mod(count), 1)
		}
	case opSum:
		count, sum := int64(0), int64(0)
		for _, x := range values {
			count += x.w
			sum += x.w * sumOf(x.v)
		}
		if count != 0 || sum != 0 {
			emit(mod(sum), 1)
		}
	case opMin:
		if len(positive) > 0 {
			emit(positive[0].v, 1)
		}
	case opMax:
		if len(positive) > 0 {
			emit(positive[len(positive)-1].v, 1)
		}
	case opTopK:
		left := int64(n.f)
		for _, x := range slices.Backward(positive) {
			take := min(x.w, left)
			if left -= take; take > 0 {
				emit(x.v, take)
			}
		}
	case opReduce:
		reduceFuncs[n.f](k, values, emit)
	default:
		panic(fmt.Sprintf("%v has no meaning", n.op))
	}
}
