package timely

import (
	"weir/mesh"
)

// Batch is a run of records of one time, which is what travels between operators.
type Batch[D any] struct {
	Time Time
	Data []D
}

// batchLen is how many records are gathered before they are sent: enough that
// sending costs nothing a record, few enough to stay in the first-level cache.
const batchLen = 1024

// freeLen is how many empty buffers an input keeps for those who send to it.
const freeLen = 64

// input is an input of a node.
type input[D any] struct {
	flow     *Dataflow
	node     int
	port     int
	queue    []Batch[D] // what came, in order
	next     int        // what of it was taken
	remote   []*mesh.Receiver[Batch[D]]
	consumed []Change // taken since the last report
	free     [][]D    // buffers whose records were taken, for those who send here
}

// deliver queues a batch that stays on this worker.
func (in *input[D]) deliver(b Batch[D]) {
	in.queue = append(in.queue, b)
	in.flow.active.add(in.node)
}

func (in *input[D]) receive() {
	for _, r := range in.remote {
		in.queue = r.Take(in.queue)
	}
}

// take is the next batch. Its records are the operator's until it takes another.
func (in *input[D]) take() (Batch[D], bool) {
	if in.next == len(in.queue) {
		clear(in.queue)
		in.queue, in.next = in.queue[:0], 0
		return Batch[D]{}, false
	}
	b := in.queue[in.next]
	in.queue[in.next].Data = nil
	in.next++
	in.consumed = addChange(in.consumed, b.Time, 1)
	if in.flow.worker.log != nil {
		in.flow.log(LogEvent{Kind: LogReceive, Operator: int32(in.node), Port: int32(in.port), Time: b.Time, Count: int64(len(b.Data))})
	}
	return b, true
}

// addChange adds to the count of a time, which is mostly that of the last.
func addChange(list []Change, t Time, delta int64) []Change {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Time == t {
			list[i].Delta += delta
			return list
		}
	}
	return append(list, Change{t, delta})
}

func (in *input[D]) report(changes *changeBatch) {
	at := in.flow.tracker.input(in.node, in.port)
	for _, c := range in.consumed {
		changes.add(pointChange{at, c.Time, -c.Delta})
	}
	in.consumed = in.consumed[:0]
	if in.next < len(in.queue) {
		in.flow.active.add(in.node)
	}
}

func (in *input[D]) discard() { in.queue, in.next, in.free = nil, 0, nil }

// recycle keeps a buffer for those who send here.
func (in *input[D]) recycle(buf []D) {
	if cap(buf) >= batchLen && len(in.free) < freeLen {
		clear(buf) // records may point at others
		in.free = append(in.free, buf[:0])
	}
}

// buffer is an empty buffer to fill and send here.
func (in *input[D]) buffer() []D {
	if n := len(in.free) - 1; n >= 0 {
		buf := in.free[n]
		in.free[n] = nil
		in.free = in.free[:n]
		return buf
	}
	return make([]D, 0, batchLen)
}

// connection carries batches from an output to an input, on this worker or on all.
type connection[D any] struct {
	from    *outputPort
	to      *input[D]
	summary Summary
	plain   bool // the summary leaves times as they are
	sent    []Change

	peers   []sender[Batch[D]] // nil where batches stay on this worker
	hash    func(D) uint64     // nil where batches go to all
	me      int
	buffers [][]D // what is gathered for each worker, all of one time
	time    Time
	pending bool // some buffer is not empty
}

// push takes over a batch.
func (c *connection[D]) push(b Batch[D]) {
	if !c.plain {
		t, ok := c.summary.ResultsIn(b.Time)
		if !ok {
			c.to.recycle(b.Data)
			return
		}
		b.Time = t
	}
	switch {
	case c.peers == nil:
		c.count(b.Time, 1, len(b.Data))
		c.to.deliver(b)
	case c.hash == nil:
		c.broadcast(b)
	default:
		c.scatter(b)
	}
}

// count notes that batches of some records each were sent.
func (c *connection[D]) count(t Time, batches int64, records int) {
	c.sent = addChange(c.sent, t, batches)
	if flow := c.to.flow; flow.worker.log != nil {
		flow.log(LogEvent{Kind: LogSend, Operator: int32(c.from.node), Port: int32(c.from.port),
			Target: int32(c.to.node), TargetPort: int32(c.to.port), Time: t, Count: batches * int64(records)})
	}
}

// broadcast sends a batch to all workers.
func (c *connection[D]) broadcast(b Batch[D]) {
	c.count(b.Time, int64(len(c.peers)), len(b.Data))
	for i, s := range c.peers {
		if i != c.me {
			s.Send(Batch[D]{b.Time, append(c.to.buffer(), b.Data...)})
		}
	}
	c.to.deliver(b)
}

// scatter distributes the records of a batch over the workers.
func (c *connection[D]) scatter(b Batch[D]) {
	if c.pending && c.time != b.Time {
		c.flush()
	}
	c.time, c.pending = b.Time, true
	peers := uint64(len(c.peers))
	buffers := c.buffers
	if peers&(peers-1) == 0 {
		mask := peers - 1
		for _, x := range b.Data {
			to := c.hash(x) & mask
			if buffers[to] = append(buffers[to], x); len(buffers[to]) >= batchLen {
				c.send(int(to))
			}
		}
	} else {
		for _, x := range b.Data {
			to := c.hash(x) % peers
			if buffers[to] = append(buffers[to], x); len(buffers[to]) >= batchLen {
				c.send(int(to))
			}
		}
	}
	c.to.recycle(b.Data)
}

// send sends what is gathered for one worker.
func (c *connection[D]) send(to int) {
	c.count(c.time, 1, len(c.buffers[to]))
	b := Batch[D]{c.time, c.buffers[to]}
	c.buffers[to] = c.to.buffer()
	if to == c.me {
		c.to.deliver(b)
	} else {
		c.peers[to].Send(b)
	}
}

// flush sends what is gathered.
func (c *connection[D]) flush() {
	if !c.pending {
		return
	}
	c.pending = false
	for to, buf := range c.buffers {
		if len(buf) > 0 {
			c.send(to)
		}
	}
}

func (c *connection[D]) report(changes *changeBatch) {
	at := c.to.flow.tracker.input(c.to.node, c.to.port)
	for _, s := range c.sent {
		changes.add(pointChange{at, s.Time, s.Delta})
	}
	c.sent = c.sent[:0]
}

// output is an output of a node: it gathers records, and hands batches to all
// connections.
type output[D any] struct {
	outputPort
	ends []*connection[D]
	buf  []D
	time Time
}

// newOutput makes the output of a node.
func newOutput[D any](d *Dataflow, node, port int) *output[D] {
	o := &output[D]{outputPort: outputPort{flow: d, node: node, port: port}}
	o.outputPort.flush = o.flush
	return o
}

// buffer is an empty buffer to fill and pass on.
func (o *output[D]) buffer() []D {
	if len(o.ends) > 0 {
		return o.ends[0].to.buffer()
	}
	return make([]D, 0, batchLen)
}

// at makes t the time of the records that are put in buf from now on.
func (o *output[D]) at(t Time) {
	if o.time != t {
		o.send()
		o.time = t
	}
	if o.buf == nil {
		o.buf = o.buffer()
	}
}

// put adds records at time t, and sends batches that are full. It does not keep the slice.
func (o *output[D]) put(t Time, records []D) {
	o.at(t)
	for len(records) > 0 {
		if o.buf == nil {
			o.buf = o.buffer()
		}
		n := min(len(records), max(batchLen-len(o.buf), 1))
		o.buf = append(o.buf, records[:n]...)
		records = records[n:]
		if len(o.buf) >= batchLen {
			o.send()
		}
	}
}

// send passes on the records in buf.
func (o *output[D]) send() {
	if len(o.buf) == 0 {
		return
	}
	b := Batch[D]{o.time, o.buf}
	o.buf = nil
	o.pass(b)
}

// pass hands a batch, which the caller gives away, to all connections.
func (o *output[D]) pass(b Batch[D]) {
	last := len(o.ends) - 1
	for i, c := range o.ends {
		if i == last {
			c.push(b)
			return
		}
		c.push(Batch[D]{b.Time, append(c.to.buffer(), b.Data...)})
	}
}

// flush sends everything on its way, at the end of a run.
func (o *output[D]) flush() {
	o.send()
	for _, c := range o.ends {
		c.flush()
	}
}

// hold adds to the number of capabilities held at this worker.
func (o *outputPort) hold(t Time, delta int64) {
	o.held = dropZeros(addChange(o.held, t, delta))
	o.moved = addChange(o.moved, t, delta)
}

func dropZeros(list []Change) []Change {
	kept := list[:0]
	for _, c := range list {
		if c.Delta != 0 {
			kept = append(kept, c)
		}
	}
	return kept
}
