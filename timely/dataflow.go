package timely

import (
	"errors"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"slices"

	"weir/mesh"
)

// Dataflow is one worker's part of a dataflow: its operators, and what it knows of
// the progress of all workers.
type Dataflow struct {
	worker *Worker
	name   string
	number int32 // 0 for the worker's first
	quiet  bool  // it is not logged: it has a stream of the log
	shapes []nodeShape
	nodes  []*node
	built  bool

	tracker *tracker
	active  activeSet
	// changes are those to capabilities and messages that the other workers have
	// not been told of yet.
	changes  changeBatch
	share    []sender[[]pointChange] // of the other workers
	heard    *mesh.Receiver[[]pointChange]
	hearing  [][]pointChange // reused
	ends     []func()        // to call when it is over
	dropped  bool
	finished bool
}

// node is an operator at one worker.
type node struct {
	id     int
	op     operator
	inputs []inputPort
	output []*outputPort
	// watches says that the operator is run when the frontier of an input moves,
	// not only when messages come.
	watches bool
}

// operator is the code of a node. Run takes what its inputs have and may leave some
// of it; it is run again when there is more or a frontier has moved that it watches.
type operator interface{ run() }

// operatorFunc is an operator that is a function.
type operatorFunc func()

func (f operatorFunc) run() { f() }

// inputPort is the input of a node, whatever it receives.
type inputPort interface {
	// receive brings what other workers sent into the queue.
	receive()
	// report adds the changes in messages, and forgets them.
	report(changes *changeBatch)
	// discard drops all messages.
	discard()
}

// outputPort is the progress side of an output: how many capabilities its operator
// holds.
type outputPort struct {
	flow  *Dataflow
	place int32 // set when the dataflow is built
	node  int
	port  int
	held  []Change  // the capabilities held at this worker, compacted
	moved []Change  // changes not reported yet
	flush func()    // sends what is buffered
	ends  []sendEnd // what has been sent along each connection
}

// sendEnd counts what was sent along a connection.
type sendEnd interface {
	report(changes *changeBatch)
}

func (d *Dataflow) String() string { return d.name }

// addNode adds an operator to a dataflow that is being built.
func (d *Dataflow) addNode(shape nodeShape, n *node) int {
	if d.built {
		panic(fmt.Errorf("dataflow %q: operator %q is added after the dataflow was built", d.name, shape.name))
	}
	n.id = len(d.nodes)
	d.nodes = append(d.nodes, n)
	d.shapes = append(d.shapes, shape)
	return n.id
}

// build ends construction: it checks the shape, agrees on it with the other
// workers, and counts the initial capabilities.
func (d *Dataflow) build(initial []initialCapability) error {
	d.built = true
	t, err := newTracker(d.shapes)
	if err != nil {
		return fmt.Errorf("dataflow %q: %w", d.name, err)
	}
	d.tracker = t
	// Messages of progress refer to operators by number, so all workers must have
	// built the same: the name of the channel says what was built.
	senders, heard, err := open[[]pointChange](d.worker, fmt.Sprintf("progress of %s, shape %016x", d.name, d.fingerprint()))
	if err != nil {
		return fmt.Errorf("dataflow %q: %w", d.name, err)
	}
	me := d.worker.Index()
	for i, s := range senders {
		if i != me {
			d.share = append(d.share, s)
		}
	}
	d.heard = heard
	d.worker.listen(heard.ID(), func() { d.worker.touch(d) })
	for _, n := range d.nodes {
		for _, o := range n.output {
			o.place = t.output(o.node, o.port)
		}
	}
	// Every worker knows of the initial capabilities of all.
	for _, c := range initial {
		t.update(t.output(c.node, c.port), Time{}, int64(d.worker.Peers()))
	}
	t.propagate()
	t.takeMoved(func(int32) {})
	d.active.grow(len(d.nodes))
	for i := range d.nodes {
		d.active.add(i)
	}
	d.worker.touch(d)
	if d.worker.log != nil {
		d.logShape()
	}
	return nil
}

// initialCapability says that each worker's instance of an operator begins with a
// capability for the first time at an output.
type initialCapability struct{ node, port int }

// fingerprint is a hash of the shape of the dataflow.
func (d *Dataflow) fingerprint() uint64 {
	h := fnv.New64a()
	for _, s := range d.shapes {
		fmt.Fprintf(h, "%q %d %d %d %v %v\n", s.name, s.depth, s.inputs, s.outputs, s.internal, s.targets)
	}
	return h.Sum64()
}

// step hears of progress, runs what is active, and tells of progress. It returns
// whether there was anything to do.
func (d *Dataflow) step() bool {
	if d.finished {
		return false
	}
	busy := d.hear()
	busy = d.tell() || busy
	for i := d.active.next(0); i >= 0; i = d.active.next(i) {
		busy = true
		d.active.remove(i)
		d.runNode(d.nodes[i])
		i++
	}
	busy = d.tell() || busy
	if len(d.tracker.work) == 0 && d.active.empty() && d.tracker.empty() {
		d.finished = true
		d.worker.remove(d)
		d.end()
		if d.worker.log != nil {
			d.log(LogEvent{Kind: LogDone, Name: d.name})
		}
	}
	return busy
}

// runNode runs an operator, and collects what it did to progress as one change: a
// message consumed, and what was made of it, must never be told apart.
func (d *Dataflow) runNode(n *node) {
	defer func() {
		if r := recover(); r != nil {
			panic(operatorPanic{operator: d.shapes[n.id].name, flow: d.name, value: r, stack: debug.Stack()})
		}
	}()
	for _, in := range n.inputs {
		in.receive()
	}
	if d.worker.log != nil {
		d.log(LogEvent{Kind: LogStart, Operator: int32(n.id)})
	}
	n.op.run()
	d.collect(n)
	if d.worker.log != nil {
		d.log(LogEvent{Kind: LogStop, Operator: int32(n.id)})
	}
}

// collect takes over the changes that a node has made.
func (d *Dataflow) collect(n *node) {
	for _, o := range n.output {
		if o.flush != nil {
			o.flush()
		}
		for _, c := range o.moved {
			d.changes.add(pointChange{o.place, c.Time, c.Delta})
		}
		o.moved = o.moved[:0]
		for _, e := range o.ends {
			e.report(&d.changes)
		}
	}
	for _, in := range n.inputs {
		in.report(&d.changes)
	}
}

// hear applies what the other workers have told. It returns whether they had.
func (d *Dataflow) hear() bool {
	d.hearing = d.heard.Take(d.hearing[:0])
	heard := 0
	for i, batch := range d.hearing {
		for _, c := range batch {
			if c.at < 0 || int(c.at) >= len(d.tracker.places) {
				panic(fmt.Errorf("dataflow %q: a worker tells of place %d of %d", d.name, c.at, len(d.tracker.places)))
			}
			d.tracker.update(c.at, c.time, c.delta)
		}
		d.hearing[i] = nil
		heard += len(batch)
	}
	if len(d.hearing) == 0 {
		return false
	}
	if d.worker.log != nil {
		d.log(LogEvent{Kind: LogHear, Count: int64(heard)})
	}
	d.settle()
	return true
}

// tell makes this worker's changes known. Its own view and those of the others get
// them as one batch each, in the order in which they were made.
func (d *Dataflow) tell() bool {
	batch := d.changes.take()
	if len(batch) == 0 {
		return false
	}
	if d.worker.log != nil {
		d.log(LogEvent{Kind: LogTell, Count: int64(len(batch))})
	}
	if len(d.share) > 0 {
		told := slices.Clone(batch) // shared, read-only
		for _, s := range d.share {
			s.Send(told)
		}
	}
	for _, c := range batch {
		d.tracker.update(c.at, c.time, c.delta)
	}
	d.settle()
	return true
}

// settle carries changes along and wakes the operators whose frontiers moved.
func (d *Dataflow) settle() {
	d.tracker.propagate()
	d.tracker.takeMoved(func(at int32) {
		if n := d.tracker.owner[at]; d.nodes[n].watches && int(at-d.tracker.first[n]) < d.shapes[n].inputs {
			d.active.add(int(n))
		}
	})
}

// Drop ends the dataflow at this worker, whatever is still under way in it. All
// workers must drop it, or those that do not will wait for the others' progress.
func (d *Dataflow) Drop() {
	if d.dropped {
		return
	}
	d.dropped, d.finished = true, true
	for _, n := range d.nodes {
		for _, in := range n.inputs {
			in.discard()
		}
	}
	d.worker.remove(d)
	d.end()
	if d.worker.log != nil {
		d.log(LogEvent{Kind: LogDone, Name: d.name})
	}
}

// Done says that nothing is left to do in the dataflow, at any worker.
func (d *Dataflow) Done() bool { return d.finished }

// operatorPanic carries a panic in an operator to the worker.
type operatorPanic struct {
	operator, flow string
	value          any
	stack          []byte
}

func (p operatorPanic) err() error {
	if err, ok := p.value.(error); ok && (errors.As(err, new(*MisuseError)) || errors.As(err, new(*runError))) {
		return fmt.Errorf("operator %q of dataflow %q: %w", p.operator, p.flow, err)
	}
	return fmt.Errorf("operator %q of dataflow %q panicked: %v\n%s", p.operator, p.flow, p.value, p.stack)
}

// MisuseError says that a program used the package as it must not be used: it sent
// at a closed time, say.
type MisuseError struct{ Problem string }

func (e *MisuseError) Error() string { return e.Problem }

func misuse(format string, args ...any) {
	panic(&MisuseError{fmt.Sprintf(format, args...)})
}
