package timely

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"weir/mesh"
)

// Dataflow is one worker's part of a dataflow: its operators, and what it knows of
// the progress of all workers.
type Dataflow struct {
	worker *Worker
	name   string
	batch  int   // records in a full batch: batchLen
	number int32 // 0 for the worker's first
	quiet  bool  // it is not logged: it has a stream of the log
	shapes []nodeShape
	nodes  []*node
	built  bool

	tracker *tracker
	active  activeSet
	// changes are those to capabilities and messages that the other workers have
	// not been told of yet.
	changes changeBatch
	share   []sender[[]pointChange] // of the other workers
	slab    []pointChange           // memory for what they are told, which they share
	heard   *mesh.Receiver[[]pointChange]
	hearing [][]pointChange // reused
	inputs  []interface{ Close() }
	ends    []func() // to call when it is over

	news     bool // heard may have something
	listed   bool // the worker has it on its list of dataflows to step
	running  int  // the node that runs, or -1
	hashing  int  // the node that records are being distributed to, or -1
	stepping bool
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
	// observed says that somebody asks for the frontiers of the inputs.
	observed bool
}

// operator is the code of a node. Run takes what its inputs have. It may leave some of
// it: if it took any, it is run again soon, and if not, when there is more or a frontier has
// moved that it watches, so that one that waits does not spin.
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
	// discard drops all messages, and those yet to come.
	discard()
	// locate says which place it is, once that is known.
	locate(place int32)
}

// outputPort is the progress side of an output: how many capabilities its operator
// holds.
type outputPort struct {
	flow  *Dataflow
	place int32 // set when the dataflow is built
	node  int
	port  int
	held  []Change  // the capabilities held at this worker, in lexicographic order, none of them 0
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
		misuse("dataflow %q: operator %q is added after the dataflow was built", d.name, shape.name)
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
	d.running, d.hashing = -1, -1
	t, err := newTracker(d.shapes)
	if err != nil {
		return err
	}
	d.tracker = t
	// Messages of progress refer to operators by number, so all workers must have
	// built the same: the name of the channel says what was built.
	senders, heard, err := open[[]pointChange](d.worker, fmt.Sprintf("progress of dataflow %s: %d operators: %s; connected as %016x", d.name, len(d.shapes), d.operators(), d.fingerprint()))
	if err != nil {
		return err
	}
	me := d.worker.Index()
	for i, s := range senders {
		if i != me {
			d.share = append(d.share, s)
		}
	}
	d.heard = heard
	d.worker.listen(heard.ID(), func() {
		d.news = true
		d.worker.touch(d)
	})
	for _, n := range d.nodes {
		for _, o := range n.output {
			o.place = t.output(o.node, o.port)
		}
		for port, in := range n.inputs {
			in.locate(t.input(n.id, port))
		}
	}
	// Every worker knows of the initial capabilities of all.
	for _, c := range initial {
		t.update(t.output(c.node, c.port), Time{}, int64(d.worker.Peers()))
	}
	t.observe(func(at int32) bool { n := d.nodes[t.owner[at]]; return n.watches || n.observed })
	t.propagate()
	t.takeMoved(func(int32) {})
	d.active.grow(len(d.nodes))
	for i := range d.nodes {
		d.active.add(i)
	}
	d.worker.flows = append(d.worker.flows, d)
	d.worker.touch(d)
	if d.worker.log != nil {
		d.logShape()
	}
	return nil
}

// initialCapability says that each worker's instance of an operator begins with a
// capability for the first time at an output.
type initialCapability struct{ node, port int }

// operators names the operators in their order.
func (d *Dataflow) operators() string {
	var b strings.Builder
	for i := 0; i < len(d.shapes); {
		name, first := d.shapes[i].name, i
		for i < len(d.shapes) && d.shapes[i].name == name {
			i++
		}
		if first > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		if n := i - first; n > 1 {
			fmt.Fprintf(&b, " ×%d", n)
		}
	}
	return b.String()
}

// fingerprint is a hash of the shape of the dataflow.
func (d *Dataflow) fingerprint() uint64 {
	h := fnv.New64a()
	for _, s := range d.shapes {
		fmt.Fprintf(h, "%q %d %d %d %v %v\n", s.name, s.depth, s.inputs, s.outputs, s.internal, s.targets)
	}
	return h.Sum64()
}

// passes is how often operators run before the worker tells of progress. What
// they send to and take from one another in the meantime cancels out, so that a loop
// costs nothing to progress while it goes around on this worker.
const passes = 8

// step hears of progress, runs what is active, and tells of progress. It returns
// whether there was anything to do.
func (d *Dataflow) step() bool {
	if d.finished {
		return false
	}
	d.stepping = true
	busy := d.news && d.hear()
	for range passes {
		if d.active.empty() {
			break
		}
		busy = true
		for i := d.active.next(0); i >= 0; i = d.active.next(i + 1) {
			d.active.remove(i)
			d.runNode(d.nodes[i])
		}
	}
	busy = d.tell() || busy
	d.stepping = false
	switch {
	case d.dropped, len(d.tracker.work) == 0 && d.active.empty() && d.tracker.empty():
		d.finish()
		busy = true // or the worker would sleep, though whoever waits for the end need not
	}
	return busy
}

// more says that there is something to do for the next step.
func (d *Dataflow) more() bool { return !d.finished && (!d.active.empty() || len(d.changes.list) > 0) }

// finish releases what the dataflow has at this worker.
func (d *Dataflow) finish() {
	d.finished = true
	for _, n := range d.nodes {
		for _, in := range n.inputs {
			in.discard()
		}
		n.op = nil // and what it refers to
	}
	d.heard.Close()
	d.worker.listeners[d.heard.ID()] = nil
	d.slab, d.hearing, d.inputs, d.changes = nil, nil, nil, changeBatch{}
	d.worker.remove(d)
	d.end()
	if d.worker.log != nil {
		d.log(LogEvent{Kind: LogDone, Name: d.name})
	}
}

// runNode runs an operator, and collects what it did to progress as one change: a
// message consumed, and what was made of it, must never be told apart.
func (d *Dataflow) runNode(n *node) {
	d.running = n.id
	for _, in := range n.inputs {
		in.receive()
	}
	if d.worker.log != nil {
		d.log(LogEvent{Kind: LogStart, Operator: int32(n.id)})
	}
	n.op.run()
	d.collect(n)
	d.running = -1
	if d.worker.log != nil {
		d.log(LogEvent{Kind: LogStop, Operator: int32(n.id)})
	}
}

// atWork names the operator that a function of the user's is called for right now: the one that
// records are being distributed to, or else the one that runs. It is empty if there is none.
func (d *Dataflow) atWork() string {
	node := d.running
	if d.hashing >= 0 {
		node = d.hashing
	}
	if !d.built || node < 0 {
		return ""
	}
	return fmt.Sprintf("operator %q of dataflow %q", d.shapes[node].name, d.name)
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
	d.news = false
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
		told := d.copied(batch)
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

// slabLen is for how many changes memory is made at a time.
const slabLen = 256

// copied is a copy of a batch, for others to read. Nobody knows when all have, so
// that the memory, which many batches share, is left to the collector.
func (d *Dataflow) copied(batch []pointChange) []pointChange {
	if cap(d.slab)-len(d.slab) < len(batch) {
		d.slab = make([]pointChange, 0, max(slabLen, len(batch)))
	}
	start := len(d.slab)
	d.slab = append(d.slab, batch...)
	return slices.Clip(d.slab[start:])
}

// settle carries changes along and wakes the operators whose frontiers moved.
func (d *Dataflow) settle() {
	d.tracker.propagate()
	d.tracker.takeMoved(func(at int32) {
		if n := d.tracker.owner[at]; d.nodes[n].watches && int(at-d.tracker.first[n]) < d.shapes[n].inputs {
			d.active.add(int(n))
			d.worker.touch(d)
		}
	})
}

// Drop ends the dataflow at this worker, whatever is still under way in it. All
// workers must drop it, or those that do not will wait for the others' progress. What
// they send to it is dropped too. An operator may drop its own dataflow, which then ends after
// the worker's step.
func (d *Dataflow) Drop() {
	if d.dropped || d.finished {
		return
	}
	if !d.built {
		misuse("dataflow %q is dropped while it is being built", d.name)
	}
	d.dropped = true
	if !d.stepping {
		d.finish()
	}
}

// Done says that nothing is left to do in the dataflow, at any worker, or that it was
// dropped at this one.
func (d *Dataflow) Done() bool { return d.finished }

// MisuseError says that a program used the package as it must not be used: it sent
// at a closed time, say.
type MisuseError struct{ Problem string }

func (e *MisuseError) Error() string { return e.Problem }

func misuse(format string, args ...any) {
	panic(&MisuseError{fmt.Sprintf(format, args...)})
}
