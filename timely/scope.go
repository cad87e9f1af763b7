package timely

import (
	"errors"
	"fmt"
)

// Scope is a part of a dataflow that is being built: all of it, or a loop in it.
// The times of a scope have one coordinate for each loop around it besides the
// epoch. A Scope is of no use once its dataflow is built.
type Scope struct {
	builder *builder
	depth   int
	path    string // names of the loops around, each with a slash
}

// builder gathers what is wrong with a dataflow, and what to do when it is complete.
type builder struct {
	flow    *Dataflow
	initial []initialCapability
	problem []error
	last    []func() error // run once all operators are there
}

func (b *builder) fail(format string, args ...any) {
	b.problem = append(b.problem, fmt.Errorf("dataflow %q: %w", b.flow.name, fmt.Errorf(format, args...)))
}

func (b *builder) finish() error {
	for _, f := range b.last {
		if err := f(); err != nil {
			b.problem = append(b.problem, err)
		}
	}
	if err := errors.Join(b.problem...); err != nil {
		return err
	}
	if err := b.flow.build(b.initial); err != nil {
		return fmt.Errorf("dataflow %q: %w", b.flow.name, err)
	}
	return nil
}

// Worker is the worker that the dataflow is built on.
func (s *Scope) Worker() *Worker { return s.builder.flow.worker }

// Depth is the number of coordinates of the scope's times: 1 outside of all loops.
func (s *Scope) Depth() int { return s.depth }

// Loop is a scope inside of s, whose times have one coordinate more: the round of
// the loop. Streams come in with [Stream.Enter], go around with a [Variable], and
// leave with [Stream.Leave].
func (s *Scope) Loop(name string) *Scope {
	inner := &Scope{builder: s.builder, depth: s.depth + 1, path: s.path + name + "/"}
	if inner.depth > MaxDepth {
		s.builder.fail("loop %q: loops are nested %d deep, expected at most %d", inner.path, inner.depth-1, MaxDepth-1)
		inner.depth = MaxDepth
	}
	return inner
}

// Stream is the records that leave an output of an operator. It is a description:
// to connect an operator to it is what makes records flow. Any number of operators
// may be connected to one stream, and each gets all records.
type Stream[D any] struct {
	scope   *Scope
	out     *output[D]
	summary Summary // of leaving scopes since the operator
}

// require refuses the zero Stream, which is none: one that was declared and never made, mostly.
func (s Stream[D]) require(user string) {
	if s.scope == nil {
		misuse("%q is given the zero Stream, which is not a stream of any dataflow", user)
	}
}

// Scope is the scope of the stream.
func (s Stream[D]) Scope() *Scope { return s.scope }

// Enter brings the stream into a loop directly inside of its scope, where all its
// records are in round 0.
func (s Stream[D]) Enter(loop *Scope) Stream[D] {
	s.require("enter")
	if loop.builder != s.scope.builder || loop.depth != s.scope.depth+1 {
		s.scope.builder.fail("a stream of depth %d enters a scope of depth %d, expected a loop directly inside of its own", s.scope.depth, loop.depth)
	}
	s.scope = loop
	return s
}

// Leave brings the stream out of its loop into the scope around it. A record of
// any round leaves at the time that the loop was entered at.
func (s Stream[D]) Leave(outer *Scope) Stream[D] {
	s.require("leave")
	if outer.builder != s.scope.builder || outer.depth != s.scope.depth-1 {
		s.scope.builder.fail("a stream of depth %d leaves for a scope of depth %d, expected the one around its own", s.scope.depth, outer.depth)
	}
	s.scope = outer
	if out, ok := s.summary.FollowedBy(Summary{Keep: outer.depth}); ok {
		s.summary = out
	}
	return s
}

// Pact says which worker gets a record of an input: the zero Pact leaves each where
// it is, [ByHash] sends records of equal hash to the same worker, [ToAll] sends all to all.
type Pact[D any] struct {
	hash func(D) uint64
	all  bool
}

// Pipeline leaves records on the worker that they are on.
func Pipeline[D any]() Pact[D] { return Pact[D]{} }

// ByHash sends a record to the worker of its hash, modulo the number of workers.
func ByHash[D any](hash func(D) uint64) Pact[D] { return Pact[D]{hash: hash} }

// ToAll sends every record to every worker. What a record points to is not copied
// for workers of the same process, and is not to be changed.
func ToAll[D any]() Pact[D] { return Pact[D]{all: true} }

// connect makes an input of a node, which gets the records of s.
func (s Stream[D]) connect(name string, node, port int, pact Pact[D]) *input[D] {
	d := s.scope.builder.flow
	in := &input[D]{flow: d, node: node, port: port}
	s.attach(in, name, pact)
	return in
}

// attach connects s to an input that is there already.
func (s Stream[D]) attach(in *input[D], name string, pact Pact[D]) {
	d := s.scope.builder.flow
	if d.built {
		misuse("dataflow %q: operator %q is connected after the dataflow was built", d.name, name)
	}
	if s.out.flow != d {
		s.scope.builder.fail("operator %q is connected to a stream of another dataflow", name)
		return
	}
	in.pool = poolOf[D](d.worker, d.batch)
	c := &connection[D]{from: &s.out.outputPort, to: in, summary: s.summary, plain: s.summary == Identity()}
	if (pact.hash != nil || pact.all) && d.worker.Peers() > 1 {
		senders, receiver, err := open[Batch[D]](d.worker, fmt.Sprintf("%s: input %d of operator %d, %s", d.name, in.port, in.node, name))
		if err != nil {
			s.scope.builder.problem = append(s.scope.builder.problem, fmt.Errorf("dataflow %q: operator %q: %w", d.name, name, err))
			return
		}
		c.hash, c.peers, c.me = pact.hash, senders, d.worker.Index()
		c.buffers = make([][]D, len(senders))
		c.away = make([]bool, len(senders))
		for i := range c.away {
			c.away[i] = d.worker.away(i)
		}
		r := &remote[D]{Receiver: receiver}
		in.remote = append(in.remote, r)
		d.worker.listen(receiver.ID(), func() {
			r.news = true
			d.active.add(in.node)
			d.worker.touch(d)
		})
	}
	s.out.ends = append(s.out.ends, c)
	s.out.outputPort.ends = append(s.out.outputPort.ends, c)
	shape := &d.shapes[s.out.node]
	shape.targets[s.out.port] = append(shape.targets[s.out.port], edgeShape{place{node: in.node, port: in.port}, s.summary})
}
