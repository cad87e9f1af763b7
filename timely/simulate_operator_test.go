package timely

import "slices"

// This file has the random operators of a simulation, and what feeds its inputs.

// simOperator is a random operator at one worker.
type simOperator struct {
	*drawn
	at    *simWorker
	owns  []simCapability
	waits bool // it keeps capabilities until their time is over at its inputs
}

// mayWait says that the operator can wait for times to be over without an end to
// wait for itself: what it holds comes around to it at a later time, or not at all.
// That is not so if it is on its inside that a cycle advances time.
func (n *drawn) mayWait() bool {
	for _, outputs := range n.paths {
		for _, paths := range outputs {
			if !slices.Contains(paths, Identity()) {
				return false
			}
		}
	}
	return true
}

// simCapability is a capability at one output.
type simCapability struct {
	out  int
	time Time
}

// feed does something with an input of the worker.
func (w *simWorker) feed() {
	s := w.sim
	if n := len(w.unordered); n > 0 && s.rng.IntN(2) == 0 {
		w.feedUnordered(w.unordered[s.rng.IntN(n)])
		return
	}
	in := w.inputs[s.rng.IntN(len(w.inputs))]
	if in.closed {
		return
	}
	at := s.shape.output(in.node.id, 0)
	epoch := in.Epoch()
	switch i := s.rng.IntN(20); {
	case i == 0 || s.closing:
		s.note("worker %d closes its input in epoch %d", w.Index(), epoch)
		in.Close()
		s.come(at, Epoch(epoch), -1)
	case i < 10:
		for _, r := range s.tickets(in.out, Epoch(epoch), 1+s.rng.IntN(4)) {
			s.note("worker %d sends record %d in epoch %d", w.Index(), r.id, epoch)
			in.Send(r)
		}
	default:
		next := epoch + 1 + uint64(s.rng.IntN(2))
		s.note("worker %d goes from epoch %d to %d", w.Index(), epoch, next)
		in.AdvanceTo(next)
		s.come(at, Epoch(next), 1)
		s.come(at, Epoch(epoch), -1)
	}
}

func (w *simWorker) feedUnordered(in *UnorderedInput[ticket]) {
	s := w.sim
	open := in.Frontier()
	if len(open) == 0 {
		return
	}
	depth := in.stream.scope.depth
	if s.rng.IntN(2) == 0 && !s.closing {
		time := s.later(open[s.rng.IntN(len(open))], depth)
		for _, r := range s.tickets(in.out, time, 1+s.rng.IntN(3)) {
			s.note("worker %d sends record %d at %v", w.Index(), r.id, time)
			in.Send(time, r)
		}
		return
	}
	var next []Time
	for _, t := range open {
		for range s.rng.IntN(3) {
			if !s.closing {
				next = append(next, s.later(t, depth))
			}
		}
	}
	s.note("worker %d opens its input from %v on", w.Index(), next)
	in.AdvanceTo(next...)
	at := s.shape.output(in.node.id, 0)
	for _, t := range in.Frontier() {
		s.come(at, t, 1)
	}
	for _, t := range open {
		s.come(at, t, -1)
	}
}

// later is t or a later time.
func (s *simulation) later(t Time, depth int) Time {
	for range s.rng.IntN(3) * s.rng.IntN(2) {
		t[s.rng.IntN(depth)] += uint64(1 + s.rng.IntN(2))
	}
	return t
}

// tickets makes records to be sent at an output, at most n.
func (s *simulation) tickets(out *output[ticket], t Time, n int) []ticket {
	var list []ticket
	for range min(n, s.records) {
		s.records--
		s.ids++
		s.sent(out, t)
		list = append(list, ticket{s.ids, 2 + s.rng.IntN(8)})
	}
	return list
}

// sent notes where a record that is sent at an output will come.
func (s *simulation) sent(out *output[ticket], t Time) {
	for _, c := range out.ends {
		if then, ok := c.summary.ResultsIn(t); ok {
			n := 1
			if c.peers != nil && c.hash == nil {
				n = len(s.workers)
			}
			s.come(s.shape.input(c.to.node, c.to.port), then, n)
		}
	}
}

// run is the code of an operator.
func (o *simOperator) run() {
	s := o.at.sim
	flow := o.at.flow
	for i, in := range o.in {
		place := s.shape.input(o.op.id, i)
		for s.rng.IntN(8) > 0 {
			t, data, ok := in.Next()
			if !ok {
				break
			}
			if f := flow.tracker.places[place].reach.Frontier(); o.at.knows(place) && !f.LessEqual(t) {
				s.fail("a message comes to %s at %v, but worker %d has told it that only %v can come", s.shape.describe(place), t, o.at.Index(), f)
			}
			for _, r := range data {
				s.note("worker %d: %q takes record %d at %v", o.at.Index(), flow.shapes[o.op.id].name, r.id, t)
				s.come(place, t, -1)
				o.answer(i, t, r)
			}
		}
		if len(in.in.queue) > in.in.next {
			o.op.Activate() // for what it left, of which it may have taken nothing
		}
	}
	o.use()
}

// answer sends something for a record, and retains capabilities.
func (o *simOperator) answer(in int, t Time, r ticket) {
	s := o.at.sim
	for out, paths := range o.paths[in] {
		for _, path := range paths {
			then, ok := path.ResultsIn(t)
			if !ok {
				continue
			}
			if s.rng.IntN(4) > 0 {
				o.send(out, s.later(then, o.depth), r.fuel)
			}
			if s.rng.IntN(6) == 0 && !s.closing {
				o.hold(out, s.later(then, o.depth))
			}
		}
	}
}

// send sends up to two records, unless there is no fuel left.
func (o *simOperator) send(out int, t Time, fuel int) {
	s := o.at.sim
	for range s.rng.IntN(3) {
		if fuel == 0 || s.records == 0 {
			return
		}
		s.records--
		s.ids++
		s.note("worker %d: %q sends record %d at %v at output %d", o.at.Index(), o.at.flow.shapes[o.op.id].name, s.ids, t, out)
		s.sent(o.out[out].out, t)
		o.out[out].out.put(t, []ticket{{s.ids, fuel - 1}})
	}
}

func (o *simOperator) hold(out int, t Time) {
	o.owns = append(o.owns, simCapability{out, t})
	o.change(out, t, 1)
}

// change changes how many capabilities there are.
func (o *simOperator) change(out int, t Time, n int) {
	s := o.at.sim
	s.note("worker %d: %q holds %+d capability at %v at output %d", o.at.Index(), o.at.flow.shapes[o.op.id].name, n, t, out)
	o.out[out].out.hold(t, int64(n))
	s.come(s.shape.output(o.op.id, out), t, n)
}

// use does something with each capability. An operator that waits is run again
// when a frontier moves, others ask for it.
func (o *simOperator) use() {
	s := o.at.sim
	kept := o.owns[:0:0]
	for _, c := range o.owns {
		if o.waits {
			if slices.ContainsFunc(o.in, func(in *Reader[ticket]) bool { return in.Frontier().LessEqual(c.time) }) {
				kept = append(kept, c)
				continue
			}
			o.send(c.out, c.time, 3)
			o.change(c.out, c.time, -1)
			continue
		}
		if s.rng.IntN(2) == 0 {
			o.send(c.out, s.later(c.time, o.depth), 3)
		}
		switch i := s.rng.IntN(4); {
		case i == 0 || s.closing:
			o.change(c.out, c.time, -1)
		case i == 1:
			then := s.later(c.time, o.depth)
			o.change(c.out, then, 1)
			o.change(c.out, c.time, -1)
			kept = append(kept, simCapability{c.out, then})
		default:
			kept = append(kept, c)
		}
	}
	o.owns = kept
	if len(kept) > 0 && !o.waits {
		o.op.Activate()
	}
}
