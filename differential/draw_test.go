package differential_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// This file draws programs of the small language, and histories of their inputs.

// source decides what a case is: rapid, or the bytes of a fuzzer. Small numbers are simple cases.
type source interface{ below(n int) int }

type rapidSource struct{ t *rapid.T }

func (s rapidSource) below(n int) int { return rapid.IntRange(0, n-1).Draw(s.t, "") }

type byteSource struct{ bytes []byte }

func (s *byteSource) below(n int) int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b) % n
}

func oneIn(s source, n int) bool { return s.below(n) == n-1 }

// edit is a change of an input.
type edit struct {
	input, epoch int
	rec          rec
	weight       int64
}

// action is what a worker does.
type action struct {
	worker int
	do     string // "edit", or what is done with an input
	edit   edit
	n      int // epochs to advance by, or steps
}

// scenario is a program, and what is done with its inputs.
type scenario struct {
	nodes   []node
	inputs  int
	watched []int // nodes
	epochs  int
	script  []action
	workers int
	kinds   int // which types of keys and values
	fuel    int // of joins
	forget  bool
}

// drawn are the operators of random programs, the simple ones first.
var drawn = []op{opMap, opFilter, opConcat, opNegate, opConsolidate, opDistinct, opMin, opMax, opCount, opSum, opTopK, opThreshold, opReduce,
	opFlatMap, opKeys, opFrequencies, opJoin, opJoinMap, opJoinFlat, opSemiJoin, opAntiJoin}

func drawOperator(s source, o op, before int) node {
	n := node{op: o, keyed: s.below(2) == 1}
	for range o.arity() {
		n.args = append(n.args, before-1-s.below(before))
	}
	functions := map[op]int{opMap: len(mapFuncs), opFilter: len(keepFuncs), opFlatMap: len(flatFuncs), opThreshold: len(thresholdFuncs), opReduce: len(reduceFuncs),
		opTopK: 4, opJoin: len(joinFuncs), opJoinMap: len(joinFuncs), opJoinFlat: len(joinFlatFuncs)}
	if f := functions[o]; f > 0 {
		n.f = s.below(f)
	}
	return n
}

// drawNodes appends some operators to a block, and loops where depth allows.
func drawNodes(s source, block []node, most, depth int) []node {
	for range s.below(most + 1) {
		if depth > 0 && oneIn(s, 4) {
			block = append(block, drawLoop(s, len(block), depth))
		} else {
			block = append(block, drawOperator(s, drawn[s.below(len(drawn))], len(block)))
		}
	}
	return block
}

// drawLoop is a loop over nodes of a block that has so many.
func drawLoop(s source, outer, depth int) node {
	n, l := node{op: opLoop, keyed: s.below(2) == 1}, &loop{}
	n.loop = l
	l.iterate = s.below(2) == 0
	l.limit = max(0, s.below(6)-2)
	for i := range 1 + s.below(3) {
		e := node{op: opEnter, args: []int{outer - 1 - s.below(outer)}, keyed: s.below(2) == 1}
		if (i > 0 || !l.iterate) && oneIn(s, 3) {
			e.op, e.f = opEnterAt, s.below(len(roundFuncs))
		}
		l.body = append(l.body, e)
	}
	entered, variables := len(l.body), 1
	if !l.iterate {
		variables += s.below(3)
	}
	for i := range variables {
		begin := 0
		if i > 0 {
			begin = s.below(entered)
		}
		l.body = append(l.body, node{op: opVariable, args: []int{begin}})
	}
	l.body = drawNodes(s, l.body, 4, depth-1)
	// Mostly a loop is to be one that does something: a search, from what it begins as.
	for i := range variables {
		last := len(l.body)
		if s.below(3) > 0 {
			f := s.below(len(joinFuncs))
			l.body = append(l.body,
				node{op: opJoin, args: []int{entered + s.below(variables), s.below(last)}, f: f, keyed: true},
				node{op: opConcat, args: []int{last, l.body[entered+i].args[0]}, keyed: true},
				node{op: []op{opMin, opDistinct, opMax, opTopK}[s.below(4)], args: []int{last + 1}, f: 2, keyed: s.below(2) == 1})
			last += 3
		}
		l.next = append(l.next, last-1-s.below(min(last, 2)))
	}
	l.result = l.next[0]
	if !l.iterate {
		l.result = len(l.body) - 1 - s.below(len(l.body))
	}
	return n
}

// drawProgram is a random program with loops so deep. If only is an operator, it is that
// operator on what simple programs make.
func drawProgram(s source, only op, most, depth int) *scenario {
	c := &scenario{inputs: 1 + s.below(2)}
	for range c.inputs {
		c.nodes = append(c.nodes, node{op: opInput})
	}
	switch only {
	case opInput:
		c.nodes = drawNodes(s, c.nodes, most, depth)
	case opLoop:
		c.nodes = drawNodes(s, c.nodes, most, 0)
		c.nodes = append(c.nodes, drawLoop(s, len(c.nodes), depth))
	default:
		c.nodes = drawNodes(s, c.nodes, most, 0)
		c.nodes = append(c.nodes, drawOperator(s, only, len(c.nodes)))
	}
	for i := range c.nodes {
		if i == len(c.nodes)-1 || oneIn(s, 3) {
			c.watched = append(c.watched, i)
		}
	}
	return c
}

// drawHistory adds what is done with the inputs: at each worker changes of the present epoch and later ones, in any
// order, steps, and waiting for what is over.
func (c *scenario) drawHistory(s source, length, workers int) {
	c.workers = 1 + s.below(workers)
	c.kinds = s.below(len(kinds))
	c.fuel = []int{1 << 14, 2, 5}[s.below(3)]
	c.forget = s.below(2) == 1
	epochs := make([][]int, c.workers) // of each input
	for w := range epochs {
		epochs[w] = make([]int, c.inputs)
	}
	var made []edit
	for range s.below(length + 1) {
		a := action{worker: s.below(c.workers), edit: edit{input: s.below(c.inputs)}}
		at := &epochs[a.worker][a.edit.input]
		switch kind := s.below(12); {
		case *at < 0:
			a.do, a.n = "step", 1
		case kind < 7:
			a.do = "edit"
			e := &a.edit
			if len(made) > 0 && s.below(3) == 0 { // something that is there goes, from then on or earlier
				*e = made[s.below(len(made))]
				e.weight = -e.weight
				at = &epochs[a.worker][e.input]
				if *at < 0 {
					a.do, a.n = "step", 1
					break
				}
			} else {
				e.rec = rec{s.below(domain), s.below(domain)}
				e.weight = []int64{1, 1, 1, 2, -1, 3, -2, 0}[s.below(8)]
			}
			e.epoch = *at
			if s.below(3) == 2 {
				e.epoch += s.below(3)
			}
			made = append(made, *e)
			c.epochs = max(c.epochs, e.epoch)
		case kind < 9:
			a.do, a.n = "advance", 1+s.below(2)
			*at += a.n
		case kind < 10:
			a.do, a.n = "step", 1+s.below(5)
		case kind < 11:
			a.do = "wait"
		default:
			a.do = "close"
			*at = -1
		}
		c.script = append(c.script, a)
	}
}

// String is the program and its history, for people.
func (c *scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program over %s, watched %v, %d workers, fuel %d, forget %v:\n", kinds[c.kinds].name, c.watched, c.workers, c.fuel, c.forget)
	printBlock(&b, c.nodes, "\t")
	for _, a := range c.script {
		fmt.Fprintf(&b, "\tworker %d, input %d: ", a.worker, a.edit.input)
		if a.do == "edit" {
			fmt.Fprintf(&b, "%+d of %v at epoch %d\n", a.edit.weight, a.edit.rec, a.edit.epoch)
		} else {
			fmt.Fprintf(&b, "%s %d\n", a.do, a.n)
		}
	}
	return b.String()
}

func printBlock(b *strings.Builder, block []node, indent string) {
	for i, n := range block {
		fmt.Fprintf(b, "%s%d = %v%v", indent, i, n.op, n.args)
		if n.f > 0 {
			fmt.Fprintf(b, " f=%d", n.f)
		}
		if n.keyed {
			b.WriteString(" keyed")
		}
		if n.tamed {
			b.WriteString(" made distinct")
		}
		if l := n.loop; l != nil {
			fmt.Fprintf(b, " variables become %v, result %d, limit %d, iterate %v\n", l.next, l.result, l.limit, l.iterate)
			printBlock(b, l.body, indent+"\t")
		} else {
			b.WriteByte('\n')
		}
	}
}
