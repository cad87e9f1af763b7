package timely

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// This file makes random dataflows: operators of any shape in nested loops, with all
// sorts of summaries.

// ticket is a record of the random dataflows.
type ticket struct {
	id   uint64
	fuel int // how many operators it may yet set off
}

// sketch draws a dataflow. All workers draw the same one from the same seed.
type sketch struct {
	rng   *rand.Rand
	left  int  // operators that may yet be made
	deep  int  // how deep scopes may be
	plain bool // all connections stay on the worker
	// made is told of each operator.
	made func(*drawn)

	inputs    []*Input[ticket]
	unordered []*UnorderedInput[ticket]
}

// drawn is an operator of a random dataflow.
type drawn struct {
	op      *Operator
	depth   int
	in      []*Reader[ticket]
	out     []*Writer[ticket]
	paths   [][][]Summary // of each input to each output
	initial bool          // it begins with a capability
}

// chance is true once in n times.
func (k *sketch) chance(n int) bool { return k.rng.IntN(n) == 0 }

func (k *sketch) pact() Pact[ticket] {
	switch i := k.rng.IntN(10); {
	case k.plain || i < 4:
		return Pipeline[ticket]()
	case i == 4:
		return ToAll[ticket]()
	}
	return ByHash(func(x ticket) uint64 { return x.id })
}

// dataflow fills a scope that has no loops around it.
func (k *sketch) dataflow(s *Scope) {
	in := NewInput[ticket](s)
	k.inputs = append(k.inputs, in)
	sources := []Stream[ticket]{in.Stream()}
	if k.chance(3) {
		sources = append(sources, k.node(s, nil, 1, true))
	}
	k.scope(s, sources, nil)
}

// scope fills a scope, with streams that are in it and streams of the scope around
// it, and returns all that are in it.
func (k *sketch) scope(s *Scope, local, outer []Stream[ticket]) []Stream[ticket] {
	var loops []*drawn
	if s.depth > 1 {
		for range 1 + k.rng.IntN(2) {
			n, stream := k.feedback(s)
			loops = append(loops, n)
			local = append(local, stream)
		}
	}
	pick := func() Stream[ticket] {
		if i := k.rng.IntN(len(local) + len(outer)); i < len(local) {
			return local[i]
		} else {
			return outer[i-len(local)].Enter(s)
		}
	}
	for range 1 + k.rng.IntN(4) {
		if k.left <= 0 {
			break
		}
		if s.depth < k.deep && k.chance(3) {
			inner := k.scope(s.Loop(fmt.Sprint("loop", k.rng.IntN(10))), nil, local)
			for _, i := range k.rng.Perm(len(inner))[:1+k.rng.IntN(len(inner))] {
				local = append(local, inner[i].Leave(s))
			}
			continue
		}
		var from []Stream[ticket]
		for range 1 + k.rng.IntN(3) {
			from = append(from, pick())
		}
		switch k.rng.IntN(16) {
		case 0:
			from = nil // a source, which may be in a loop
		case 1:
			in := NewUnorderedInput[ticket](s)
			k.unordered = append(k.unordered, in)
			from = append(from, in.Stream())
		}
		local = append(local, k.node(s, from, 1+k.rng.IntN(2), from == nil || k.chance(8)))
	}
	for _, n := range loops {
		pick().attach(n.in[0].in, "feedback", k.pact())
	}
	return local
}

// node makes an operator, and returns one of its streams, though it may have more,
// which lead nowhere.
func (k *sketch) node(s *Scope, from []Stream[ticket], outputs int, initial bool) Stream[ticket] {
	k.left--
	n := &drawn{op: NewOperator(s, fmt.Sprint("op", k.left)), depth: s.depth, initial: initial}
	for _, stream := range from {
		n.in = append(n.in, n.op.Input(stream, k.pact()))
	}
	var streams []Stream[ticket]
	for range outputs {
		out, stream := n.op.Output[ticket]()
		n.out, streams = append(n.out, out), append(streams, stream)
	}
	for range n.in {
		var paths [][]Summary
		for range n.out {
			paths = append(paths, k.paths(s.depth))
		}
		n.paths = append(n.paths, paths)
	}
	k.finish(n)
	return streams[k.rng.IntN(len(streams))]
}

// feedback makes an operator that advances the round of the loop, or something
// before it, and is yet to be connected.
func (k *sketch) feedback(s *Scope) (*drawn, Stream[ticket]) {
	k.left--
	n := &drawn{op: NewOperator(s, fmt.Sprint("feedback", k.left)), depth: s.depth}
	in := &input[ticket]{flow: s.builder.flow, node: n.op.id}
	n.in = append(n.in, addInput(n.op, in, Identity()))
	out, stream := n.op.Output[ticket]()
	n.out = append(n.out, out)
	once := Identity()
	switch k.rng.IntN(8) {
	case 0:
		once = k.reset(s.depth)
	case 1:
		once.Add[k.rng.IntN(s.depth)] = 1
	default:
		once.Add[s.depth-1] = 1 + uint64(k.rng.IntN(2)*k.rng.IntN(3))
	}
	n.paths = [][][]Summary{{{once}}}
	k.finish(n)
	return n, stream
}

// paths are the summaries between an input and an output.
func (k *sketch) paths(depth int) []Summary {
	advance := func() Summary {
		s := Identity()
		s.Add[k.rng.IntN(depth)] = 1 + uint64(k.rng.IntN(3))
		return s
	}
	switch k.rng.IntN(12) {
	case 0, 1:
		return nil
	case 2:
		return []Summary{advance()}
	case 3:
		return []Summary{advance(), advance()}
	case 4:
		return []Summary{k.reset(depth)}
	case 5:
		return []Summary{advance(), k.reset(depth)}
	}
	return []Summary{Identity()}
}

// reset goes on to a later round of some loop, and to the first rounds of those in
// it.
func (k *sketch) reset(depth int) Summary {
	s := Summary{Keep: 1 + k.rng.IntN(depth)}
	s.Add[s.Keep-1] = 1 + uint64(k.rng.IntN(2))
	return s
}

func (k *sketch) finish(n *drawn) {
	n.op.shape().internal = slices.Clone(n.paths)
	if n.initial {
		n.op.InitialCapability()
	}
	if k.made == nil {
		n.op.Build(func() {})
	} else {
		k.made(n)
	}
}
