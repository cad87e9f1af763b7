package timely

import (
	"fmt"
	"strings"
)

// A place is where something that has a time can be: a capability at an output
// of an operator, or messages at an input.
type place struct {
	node   int
	port   int
	output bool
}

func (p place) String() string {
	if p.output {
		return fmt.Sprintf("output %d of operator %d", p.port, p.node)
	}
	return fmt.Sprintf("input %d of operator %d", p.port, p.node)
}

// nodeShape is what progress tracking knows of an operator.
type nodeShape struct {
	name            string
	depth           int // coordinates of its times: 1 outside of all loops
	inputs, outputs int
	// internal[i][o] are the summaries of the paths from input i to output o: none
	// where messages at the input never lead to messages at the output.
	internal [][][]Summary
	// targets[o] are the inputs that output o is connected to.
	targets [][]edgeShape
}

// edgeShape is a connection: where it leads, and what it does to times.
type edgeShape struct {
	to      place
	summary Summary
}

// pointChange is a change to the number of capabilities or messages at a place.
type pointChange struct {
	at    int32 // index of the place
	time  Time
	delta int64
}

// tracker keeps, for one dataflow, the number of capabilities and messages at each
// place and time over all workers, as far as this worker has heard, and derives
// from them the frontier of each input: the antichain of times of the messages
// that may still arrive there.
//
// A time that something is at might reach every place that a path leads to,
// changed by the summary of the path. For each place the tracker counts the ways
// in which each time might be reached: from what is there itself, and from the
// frontiers of the places one step before. Changes are carried along in an order
// in which no place and time is come to twice (see position). The cost of a change is
// in proportion to how many frontiers it moves, not to the size of the dataflow.
//
// This is the algorithm of Naiad's progress tracking (Murray et al., SOSP 2013;
// proved safe by Abadi et al., 2013), in the incremental form of timely dataflow's
// reachability tracker. Unlike those, one tracker serves all scopes of a dataflow:
// with one type of time, entering and leaving a loop are summaries like others.
type tracker struct {
	nodes  []nodeShape
	first  []int32 // first[n] is the index of the first place of node n: inputs, then outputs
	places []placeState
	owner  []int32    // the node of each place
	order  []position // of each place
	steps  [][]step
	jumps  [][]step // what changes are carried along: steps, without detours (see observe)
	seen   []bool   // the frontiers that are kept: nil is all
	relays []bool   // the places that nothing jumps to and whose frontiers are not kept
	total  int      // how many times have a count that is not 0, over all places

	work    worklist
	scratch []Change
	// moved lists the inputs whose frontier has changed since it was last taken.
	moved []int32
}

// placeState is the state of one place.
type placeState struct {
	points  MutableAntichain // what is there
	reach   MutableAntichain // what might be reached; its frontier is the frontier of the place
	changed bool             // it is in moved
}

// step leads from one place to the next.
type step struct {
	to      int32
	summary Summary
}

// newTracker checks the shape of a dataflow: that every cycle advances time.
func newTracker(nodes []nodeShape) (*tracker, error) {
	t := &tracker{nodes: nodes, first: make([]int32, len(nodes)+1)}
	for n, shape := range nodes {
		t.first[n+1] = t.first[n] + int32(shape.inputs+shape.outputs)
	}
	t.places = make([]placeState, t.first[len(nodes)])
	t.steps = make([][]step, len(t.places))
	for n, shape := range nodes {
		for range shape.inputs + shape.outputs {
			t.owner = append(t.owner, int32(n))
		}
	}
	for n, shape := range nodes {
		for i, outputs := range shape.internal {
			for o, summaries := range outputs {
				for _, s := range summaries {
					at := t.input(n, i)
					t.steps[at] = append(t.steps[at], step{t.output(n, o), s})
				}
			}
		}
		for o, edges := range shape.targets {
			at := t.output(n, o)
			for _, e := range edges {
				t.steps[at] = append(t.steps[at], step{t.input(e.to.node, e.to.port), e.summary})
			}
		}
	}
	var cycle []int32
	if t.order, cycle = arrange(t.steps); cycle != nil {
		names := make([]string, len(cycle))
		for i, at := range cycle {
			names[i] = t.describe(at)
		}
		return nil, fmt.Errorf("a cycle does not advance time: %s, and back to %s; connect loops with a feedback",
			strings.Join(names, ", "), names[0])
	}
	t.jumps = t.steps
	return t, nil
}

func (t *tracker) input(node, port int) int32 { return t.first[node] + int32(port) }

func (t *tracker) output(node, port int) int32 {
	return t.first[node] + int32(t.nodes[node].inputs+port)
}

// describe names a place for people.
func (t *tracker) describe(at int32) string {
	n := t.owner[at]
	shape := t.nodes[n]
	port := int(at - t.first[n])
	if port < shape.inputs {
		return fmt.Sprintf("input %d of %q", port, shape.name)
	}
	return fmt.Sprintf("output %d of %q", port-shape.inputs, shape.name)
}

// update notes a change to the number of capabilities or messages at a place. It
// takes effect with propagate.
func (t *tracker) update(at int32, time Time, delta int64) {
	points := &t.places[at].points
	t.total -= len(points.counts)
	t.scratch = points.Update(time, delta, t.scratch[:0])
	t.total += len(points.counts)
	t.enter(at)
}

// enter puts the changes in scratch, of the first times of what is at a place, on the worklist.
func (t *tracker) enter(at int32) {
	if t.seen != nil && t.relays[at] {
		t.carry(at) // as it would without keeping a frontier
		return
	}
	for _, c := range t.scratch {
		t.push(at, c)
	}
}

// push puts a change on the worklist.
func (t *tracker) push(at int32, c Change) {
	t.work.push(reached{at, c.Time, c.Delta}, t.order)
}

// propagate carries changes along until nothing changes any more.
func (t *tracker) propagate() {
	for len(t.work) > 0 {
		t.advance()
	}
}

// advance carries along the changes whose turn is first, which are all those at
// one place and time.
func (t *tracker) advance() {
	r := t.work.pop(t.order)
	for len(t.work) > 0 && t.work[0].at == r.at && t.work[0].time == r.time {
		r.delta += t.work.pop(t.order).delta
	}
	if r.delta == 0 {
		return
	}
	p := &t.places[r.at]
	t.scratch = p.reach.Update(r.time, r.delta, t.scratch[:0])
	if len(t.scratch) == 0 {
		return
	}
	if !p.changed {
		p.changed = true
		t.moved = append(t.moved, r.at)
	}
	t.carry(r.at)
}

// carry puts what the changes in scratch, of the frontier of a place, lead to on the
// worklist.
func (t *tracker) carry(at int32) {
	for _, s := range t.jumps[at] {
		for _, c := range t.scratch {
			if time, ok := s.summary.ResultsIn(c.Time); ok {
				t.push(s.to, Change{time, c.Delta})
			}
		}
	}
}

// takeMoved hands the places whose frontiers have moved to f, once each.
func (t *tracker) takeMoved(f func(at int32)) {
	for _, at := range t.moved {
		t.places[at].changed = false
		f(at)
	}
	t.moved = t.moved[:0]
}

// frontier is the frontier of a place. It changes with the next propagate.
func (t *tracker) frontier(at int32) Antichain {
	if t.seen != nil && !t.seen[at] {
		t.observeAlso(at)
	}
	return t.places[at].reach.Frontier()
}

// empty says that there is nothing anywhere.
func (t *tracker) empty() bool { return t.total == 0 }
