package timely

// Probe tells how far a stream has come. The zero Probe may be attached to any
// number of streams; it has passed a time when all of them have.
type Probe struct {
	at   []probed
	wake []func() // called when the frontier of one has moved
}

type probed struct {
	flow *Dataflow
	node int
}

// Probe attaches p, and returns the stream.
func (s Stream[D]) Probe(p *Probe) Stream[D] {
	op := NewOperator(s.scope, "probe")
	in := op.Input(s, Pipeline[D]())
	op.Build(func() {
		for _, _, ok := in.Next(); ok; _, _, ok = in.Next() {
		}
		for _, wake := range p.wake {
			wake()
		}
	})
	p.at = append(p.at, probed{s.scope.builder.flow, op.id})
	op.node.observed = true
	op.node.watches = len(p.wake) > 0
	return s
}

// onMove has f called when the frontier of the probe has moved, and maybe at other times.
func (p *Probe) onMove(f func()) {
	p.wake = append(p.wake, f)
	for _, at := range p.at {
		at.flow.nodes[at.node].watches = true
	}
}

// Frontier is the antichain of times that may still come on some stream. It is nil
// once nothing may.
func (p *Probe) Frontier() Antichain {
	var all Antichain
	for _, at := range p.at {
		if at.flow.finished {
			continue
		}
		for _, t := range at.flow.tracker.frontier(at.flow.tracker.input(at.node, 0)) {
			all.Insert(t)
		}
	}
	return all
}

// LessEqual says that a record at or before t may still come.
func (p *Probe) LessEqual(t Time) bool {
	for _, at := range p.at {
		if !at.flow.finished && at.flow.tracker.frontier(at.flow.tracker.input(at.node, 0)).LessEqual(t) {
			return true
		}
	}
	return false
}

// Passed is a condition for [Worker.StepUntil]: no record at or before t can come
// any more.
func (p *Probe) Passed(t Time) func() bool { return func() bool { return !p.LessEqual(t) } }

// Done is a condition for [Worker.StepUntil]: nothing can come any more.
func (p *Probe) Done() bool { return len(p.Frontier()) == 0 }
