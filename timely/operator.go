package timely

import "slices"

// This file is what operators are made of: a Builder of any shape, and what the
// code of an operator gets to read its inputs, write its outputs, and be told
// when times are over.

// Operator builds an operator with any number of inputs and outputs, of any types.
//
//	op := timely.NewOperator(scope, "merge")
//	left := op.Input[int](a, timely.Pipeline[int]())
//	right := op.Input[int](b, timely.Pipeline[int]())
//	out, merged := op.Output[int]()
//	op.Build(func() { … })
//
// The inputs must be declared before the outputs.
type Operator struct {
	scope  *Scope
	node   *node
	id     int
	inputs []func(int) // tells inputs of outputs
	rights *rights

	throttled bool // it is on the worker's list of those who wait for room
	idle      bool // it is on the worker's list of those who wait for nothing else to do
}

// NewOperator begins an operator.
func NewOperator(s *Scope, name string) *Operator {
	if s == nil {
		misuse("operator %q has no scope: the stream or scope that it is made of is the zero value", name)
	}
	o := &Operator{scope: s, node: &node{}, rights: &rights{}}
	o.id = s.builder.flow.addNode(nodeShape{name: s.path + name, depth: s.depth}, o.node)
	o.rights.op = o
	return o
}

func (o *Operator) shape() *nodeShape { return &o.scope.builder.flow.shapes[o.id] }

// Input connects the next input to a stream of the operator's scope.
func (o *Operator) Input[D any](s Stream[D], pact Pact[D]) *Reader[D] {
	return o.ConnectedInput(s, pact, Identity())
}

// ConnectedInput is as Input; a message at time t that comes in leads to messages
// at the time that the summary says at the earliest, on all outputs.
func (o *Operator) ConnectedInput[D any](s Stream[D], pact Pact[D], summary Summary) *Reader[D] {
	shape := o.shape()
	s.require(shape.name)
	if s.scope != o.scope {
		o.scope.builder.fail("operator %q is in scope %q, its input in scope %q: enter or leave first", shape.name, o.scope.path, s.scope.path)
	}
	in := s.connect(shape.name, o.id, shape.inputs, pact)
	return addInput(o, in, summary)
}

func addInput[D any](o *Operator, in *input[D], summary Summary) *Reader[D] {
	shape := o.shape()
	shape.inputs++
	shape.internal = append(shape.internal, nil)
	for range shape.outputs {
		shape.internal[in.port] = append(shape.internal[in.port], []Summary{summary})
	}
	o.node.inputs = append(o.node.inputs, in)
	o.inputs = append(o.inputs, func(int) {
		shape := o.shape()
		shape.internal[in.port] = append(shape.internal[in.port], []Summary{summary})
	})
	return &Reader[D]{in: in, rights: o.rights, summary: summary}
}

// Output makes the next output, and the stream of what is written to it.
func (o *Operator) Output[D any]() (*Writer[D], Stream[D]) {
	shape := o.shape()
	out := newOutput[D](o.scope.builder.flow, o.id, shape.outputs)
	shape.outputs++
	shape.targets = append(shape.targets, nil)
	for _, tell := range o.inputs {
		tell(out.port)
	}
	o.node.output = append(o.node.output, &out.outputPort)
	o.rights.outputs = append(o.rights.outputs, &out.outputPort)
	return &Writer[D]{out: out, rights: o.rights}, Stream[D]{scope: o.scope, out: out, summary: Identity()}
}

// InitialCapability gives the operator, on each worker, the right to send at the
// first time and later, on all of its outputs, until it drops or moves it.
func (o *Operator) InitialCapability() *Capability {
	c := &Capability{rights: o.rights}
	for port, out := range o.rights.outputs {
		o.scope.builder.initial = append(o.scope.builder.initial, initialCapability{o.id, port})
		out.held = []Change{{c.time, 1}} // counted for all workers when the dataflow is built
	}
	return c
}

// Watch says that the operator is run whenever the frontier of one of its inputs
// moves, not only when messages come.
func (o *Operator) Watch() {
	o.node.watches = true
	if d := o.scope.builder.flow; d.built {
		for port := range o.node.inputs {
			d.tracker.frontier(d.tracker.input(o.id, port)) // which has it kept from now on
		}
	}
}

// Build gives the operator its code: run is called when there is something to do.
// It should take all messages of all inputs. One that leaves messages is run again
// when it has taken some, or else when more come, a frontier that it watches moves, or
// it is activated: to wait does not cost anything.
func (o *Operator) Build(run func()) {
	o.node.op = operatorFunc(func() {
		run()
		o.rights.expire()
	})
}

// Activate has the operator run in the next step though nothing comes.
func (o *Operator) Activate() {
	d := o.scope.builder.flow
	d.active.add(o.id)
	d.worker.touch(d)
}

// ActivateIdle has the operator run once the worker has nothing else to do, before it sleeps: for upkeep that can wait, to be
// done a little at a time. Upkeep that must not wait for ever needs something else besides, since a worker may
// never run out of work.
func (o *Operator) ActivateIdle() {
	if w := o.scope.Worker(); !o.idle {
		o.idle = true
		w.idle = append(w.idle, o)
	}
}

// rights is at which times an operator may send now: at or after those of the
// messages that it takes in this run, and of the capabilities that it holds.
type rights struct {
	op      *Operator
	outputs []*outputPort
	run     Antichain // of this run
}

// grant lets the operator send at t and later until its run ends.
func (r *rights) grant(t Time) {
	if len(r.run) == 1 && r.run[0] == t {
		return
	}
	r.run.Insert(t)
}

func (r *rights) expire() { r.run = r.run[:0] }

// allows says whether the operator may send at t through an output.
func (r *rights) allows(o *outputPort, t Time) bool { return r.run.LessEqual(t) || o.allows(t) }

// require panics unless the operator may send at t on all outputs.
func (r *rights) require(t Time, what string) {
	for _, o := range r.outputs {
		if !r.allows(o, t) {
			misuse("%s at %v, but the operator has neither a message nor a capability of that time or before", what, t)
		}
	}
}

// Reader is an input of an operator.
type Reader[D any] struct {
	in      *input[D]
	rights  *rights
	summary Summary
	last    []D
}

// Next is the next batch: its time and records. The records belong to the operator
// until the next call, which may reuse their storage. The operator may send at
// the time of the batch and later until its run ends.
func (r *Reader[D]) Next() (Time, []D, bool) {
	if r.last != nil {
		r.in.pool.put(r.last)
		r.last = nil
	}
	b, ok := r.in.take()
	if !ok {
		return Time{}, nil, false
	}
	r.last = b.Data
	if t, ok := r.summary.ResultsIn(b.Time); ok {
		r.rights.grant(t)
	}
	return b.Time, b.Data, true
}

// Keep makes the records of the last batch the operator's for good.
func (r *Reader[D]) Keep() { r.last = nil }

// Frontier is the antichain of times that may still come. It changes between runs,
// and is not to be changed.
func (r *Reader[D]) Frontier() Antichain {
	t := r.in.flow.tracker
	return t.frontier(t.input(r.in.node, r.in.port))
}

// Writer is an output of an operator.
type Writer[D any] struct {
	out    *output[D]
	rights *rights
}

// check panics unless the operator may send at t.
func (w *Writer[D]) check(t Time) {
	w.out.outside()
	if !w.rights.allows(&w.out.outputPort, t) {
		misuse("it sends at %v, but has neither a message nor a capability of that time or before", t)
	}
}

// Send sends records at time t. It does not keep the slice.
func (w *Writer[D]) Send(t Time, records ...D) { w.SendSlice(t, records) }

// SendSlice sends records at time t. It does not keep the slice.
func (w *Writer[D]) SendSlice(t Time, records []D) {
	w.check(t)
	w.out.put(t, records)
}

// Pass sends a batch at time t and takes it over: no record is copied. The caller
// must not use the slice again, and a batch that came from a [Reader] must have been
// kept. Its capacity goes with it: where other slices share the array, clip it first.
func (w *Writer[D]) Pass(t Time, batch []D) {
	w.check(t)
	w.out.send()
	if len(batch) > 0 {
		w.out.pass(Batch[D]{t, batch})
	}
}

// Buffer begins to write at time t: it returns an empty or partly filled buffer to
// append to, which must be given back to [Writer.Flush] when it has [BatchLen] records
// or there are no more. This is how operators write without a call per record:
//
//	buf := out.Buffer(t)
//	for _, x := range records {
//		if buf = append(buf, f(x)); len(buf) >= timely.BatchLen {
//			buf = out.Flush(buf)
//		}
//	}
//	out.Put(buf)
func (w *Writer[D]) Buffer(t Time) []D {
	w.check(t)
	w.out.at(t)
	buf := w.out.buf
	w.out.buf = nil
	return buf
}

// BatchLen is how many records make a full batch.
const BatchLen = batchLen

// Flush sends a full buffer and returns an empty one for the same time.
func (w *Writer[D]) Flush(buf []D) []D {
	w.out.buf = buf
	w.out.send()
	return w.out.pool.get()
}

// Put gives a buffer back. It is sent with the records that follow at the same
// time, or when the run ends.
func (w *Writer[D]) Put(buf []D) { w.out.buf = buf }

// Capability is the right of an operator to send at a time and later, on all of its
// outputs, beyond the run in which it got it. While it is held no frontier
// downstream passes its time.
type Capability struct {
	rights *rights
	time   Time
	gone   bool
}

// Time is the time of the capability.
func (c *Capability) Time() Time { return c.time }

// Downgrade moves the capability to a later time.
func (c *Capability) Downgrade(t Time) {
	if c.gone {
		misuse("a capability that was dropped at %v is moved to %v", c.time, t)
	}
	if !c.time.LessEqual(t) {
		misuse("a capability at %v is moved to %v, expected a later time", c.time, t)
	}
	for _, o := range c.rights.outputs {
		o.hold(t, 1)
		o.hold(c.time, -1)
	}
	c.time = t
}

// Drop gives the right up.
func (c *Capability) Drop() {
	if c.gone {
		return
	}
	c.gone = true
	for _, o := range c.rights.outputs {
		o.hold(c.time, -1)
	}
}

// Retain gives the operator a capability at t, which must be at or after a time at
// which it may send now.
func (o *Operator) Retain(t Time) *Capability {
	c := o.retain(t)
	return &c
}

func (o *Operator) retain(t Time) Capability {
	o.rights.require(t, "it retains a capability")
	for _, out := range o.rights.outputs {
		out.hold(t, 1)
	}
	return Capability{rights: o.rights, time: t}
}

// Notificator tells an operator when times are over. The operator asks [Notificator.Next] in each run
// until it says false: a run is the only chance to hear of the times that are over by then, as nothing
// has the operator run again for one that it left.
//
// An operator on a loop whose own summary goes on to the next round ([Operator.ConnectedInput]) must not
// wait: it may only do so at the time of its output, for which it holds a capability, from
// which messages would go around to its input at that same time. It would wait for itself. Such an
// operator leaves times as they are, and a [Variable] behind it adds the round.
type Notificator struct {
	op      *Operator
	ports   int          // of the inputs that it is for, the first ones
	waiting []Capability // for the times that are asked for, in lexicographic order
	first   int          // those before it were delivered
	// none says that, as long as the frontiers are as in looked, no time is over.
	none   bool
	looked []Time
}

// Notificator makes one for the operator, over the inputs declared so far.
func (o *Operator) Notificator() *Notificator {
	o.Watch()
	return &Notificator{op: o, ports: o.shape().inputs}
}

// NotifyAt asks to be told when no message at or before t can come any more on any
// input. Until then the operator has a capability at t. Asking again for the same
// time changes nothing.
func (n *Notificator) NotifyAt(t Time) {
	list := n.waiting[n.first:]
	i, found := slices.BinarySearchFunc(list, t, func(c Capability, t Time) int { return c.time.Compare(t) })
	if found {
		return
	}
	c := n.op.retain(t)
	n.none = false
	if n.over(t) {
		n.op.Activate() // since no frontier need ever move again
	}
	if i == 0 && n.first > 0 {
		n.first--
		n.waiting[n.first] = c
		return
	}
	n.waiting = slices.Insert(n.waiting, n.first+i, c)
}

// Next is the first time, in lexicographic order, that was asked for and is over. There may be more:
// it is called until it returns false. The operator may send at that time until its run ends.
func (n *Notificator) Next() (Time, bool) {
	if n.first == len(n.waiting) || n.none && n.same() {
		return Time{}, false
	}
	for i := n.first; i < len(n.waiting); i++ {
		if c := n.waiting[i]; n.over(c.time) {
			if i == n.first {
				// The usual case: times are over in their order.
				if n.first++; n.first == len(n.waiting) {
					n.waiting, n.first = n.waiting[:0], 0
				} else if n.first > len(n.waiting)/2 {
					n.waiting = slices.Delete(n.waiting, 0, n.first)
					n.first = 0
				}
			} else {
				n.waiting = slices.Delete(n.waiting, i, i+1)
			}
			n.op.rights.grant(c.time)
			c.Drop()
			return c.time, true
		}
	}
	n.look()
	return Time{}, false
}

func (n *Notificator) frontier(port int) Antichain {
	t := n.op.scope.builder.flow.tracker
	return t.frontier(t.input(n.op.id, port))
}

// over says that no input can get a message at or before t.
func (n *Notificator) over(t Time) bool {
	for port := range n.ports {
		if n.frontier(port).LessEqual(t) {
			return false
		}
	}
	return true
}

// look keeps the frontiers at which no time is over.
func (n *Notificator) look() {
	n.none, n.looked = true, n.looked[:0]
	for port := range n.ports {
		n.looked = append(n.looked, n.frontier(port)...)
	}
}

// same says that the frontiers are those kept. They are compared one after the other as
// one list: a time that has moved from one frontier to another has moved both.
func (n *Notificator) same() bool {
	rest := n.looked
	for port := range n.ports {
		f := n.frontier(port)
		if len(f) > len(rest) || !slices.Equal(f, Antichain(rest[:len(f)])) {
			return false
		}
		rest = rest[len(f):]
	}
	return len(rest) == 0
}
