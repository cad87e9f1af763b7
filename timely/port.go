package timely

import (
	"slices"

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

// input is an input of a node.
type input[D any] struct {
	flow     *Dataflow
	node     int
	port     int
	place    int32      // set when the dataflow is built
	queue    []Batch[D] // what came, in order
	next     int        // what of it was taken
	seen     int        // what of it had been taken when the operator last ran
	remote   []*remote[D]
	consumed []Change // taken since the last report
	pool     *pool[D]
}

// remote is where batches of other workers arrive.
type remote[D any] struct {
	*mesh.Receiver[Batch[D]]
	news bool // some may have
}

func (in *input[D]) locate(place int32) { in.place = place }

// deliver queues a batch that stays on this worker.
func (in *input[D]) deliver(b Batch[D]) {
	in.queue = append(in.queue, b)
	in.flow.active.add(in.node)
}

func (in *input[D]) receive() {
	for _, r := range in.remote {
		if r.news {
			r.news = false
			in.queue = r.Take(in.queue)
		}
	}
}

// take is the next batch. Its records are the operator's until it takes another.
func (in *input[D]) take() (Batch[D], bool) {
	if in.next == len(in.queue) {
		in.queue, in.next, in.seen = in.queue[:0], 0, 0
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
	for _, c := range in.consumed {
		changes.add(pointChange{in.place, c.Time, -c.Delta})
	}
	in.consumed = in.consumed[:0]
	if in.next == in.seen {
		return
	}
	if in.next < len(in.queue) {
		// It has taken some and left others: it goes on in its next run. One that took
		// nothing waits for something, which will have it run.
		in.flow.active.add(in.node)
	}
	if in.next >= len(in.queue)/2 {
		// An operator that never sees the end of its queue must not make it grow.
		n := copy(in.queue, in.queue[in.next:])
		clear(in.queue[n:])
		in.queue, in.next = in.queue[:n], 0
	}
	in.seen = in.next
}

func (in *input[D]) discard() {
	in.queue, in.next, in.seen = nil, 0, 0
	for _, r := range in.remote {
		r.Close()
		in.flow.worker.listeners[r.ID()] = nil
	}
}

// connection carries batches from an output to an input, on this worker or on all.
type connection[D any] struct {
	from    *outputPort
	to      *input[D]
	summary Summary
	plain   bool // the summary leaves times as they are
	sent    []Change

	peers   []sender[Batch[D]] // nil where batches stay on this worker
	away    []bool             // which of them are workers of other processes
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
			c.to.pool.put(b.Data)
			return
		}
		b.Time = t
	}
	switch {
	case c.to.flow.finished:
		c.to.pool.put(b.Data) // it was dropped
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
	for i := range c.peers {
		switch {
		case i == c.me:
		case c.away[i]:
			c.peers[i].Send(b) // which copies it
		default:
			c.peers[i].Send(Batch[D]{b.Time, append(c.to.pool.get(), b.Data...)})
		}
	}
	c.to.deliver(b)
}

// scatter distributes the records of a batch over the workers.
func (c *connection[D]) scatter(b Batch[D]) {
	if c.pending && c.time != b.Time {
		c.flush()
	}
	buffers, full := c.buffers, c.to.flow.batch
	if !c.pending {
		c.time, c.pending = b.Time, true
		for to := range buffers {
			if buffers[to] == nil {
				buffers[to] = c.to.pool.get()
			}
		}
	}
	// The hash is a function of the user's: should it panic, the operator whose it is, not the one
	// that sends to it, is to be named.
	flow := c.to.flow
	flow.hashing = c.to.node
	peers := uint64(len(c.peers))
	if peers&(peers-1) == 0 {
		mask := peers - 1
		for _, x := range b.Data {
			to := c.hash(x) & mask
			if buffers[to] = append(buffers[to], x); len(buffers[to]) >= full {
				c.send(int(to))
				buffers[to] = c.to.pool.get()
			}
		}
	} else {
		for _, x := range b.Data {
			to := c.hash(x) % peers
			if buffers[to] = append(buffers[to], x); len(buffers[to]) >= full {
				c.send(int(to))
				buffers[to] = c.to.pool.get()
			}
		}
	}
	flow.hashing = -1
	c.to.pool.put(b.Data)
}

// send sends what is gathered for one worker.
func (c *connection[D]) send(to int) {
	b := Batch[D]{c.time, c.buffers[to]}
	c.buffers[to] = nil
	c.count(c.time, 1, len(b.Data))
	switch {
	case to == c.me:
		c.to.deliver(b)
	case c.away[to]:
		c.peers[to].Send(b)
		c.to.pool.put(b.Data) // it was sent as bytes
	default:
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
	for _, s := range c.sent {
		changes.add(pointChange{c.to.place, s.Time, s.Delta})
	}
	c.sent = c.sent[:0]
}

// output is an output of a node: it gathers records, and hands batches to all
// connections.
type output[D any] struct {
	outputPort
	ends []*connection[D]
	pool *pool[D]
	buf  []D
	time Time
}

// newOutput makes the output of a node.
func newOutput[D any](d *Dataflow, node, port int) *output[D] {
	o := &output[D]{outputPort: outputPort{flow: d, node: node, port: port}, pool: poolOf[D](d.worker, d.batch)}
	o.outputPort.flush = o.flush
	return o
}

// at makes t the time of the records that are put in buf from now on.
func (o *output[D]) at(t Time) {
	if o.time != t {
		o.send()
		o.time = t
	}
	if o.buf == nil {
		o.buf = o.pool.get()
	}
}

// put adds records at time t, and sends batches that are full. It does not keep the
// slice. It returns whether it has sent any.
func (o *output[D]) put(t Time, records []D) (sent bool) {
	for len(records) > 0 {
		o.at(t)
		n := min(len(records), max(o.flow.batch-len(o.buf), 1))
		o.buf = append(o.buf, records[:n]...)
		records = records[n:]
		if len(o.buf) >= o.flow.batch {
			o.send()
			sent = true
		}
	}
	return sent
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
	if last < 0 {
		o.pool.put(b.Data)
		return
	}
	for _, c := range o.ends[:last] {
		c.push(Batch[D]{b.Time, append(o.pool.get(), b.Data...)})
	}
	o.ends[last].push(b)
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
	i, found := findTime(o.held, t)
	switch {
	case !found:
		o.held = slices.Insert(o.held, i, Change{t, delta})
	case o.held[i].Delta == -delta:
		o.held = slices.Delete(o.held, i, i+1)
	default:
		o.held[i].Delta += delta
	}
	o.moved = addChange(o.moved, t, delta)
	o.outside()
}

// outside has the operator run soon if it does not run now: the end of a run is when what was
// sent goes on its way, and when the others are told.
func (o *outputPort) outside() {
	if d := o.flow; d.running != o.node && d.built && !d.finished {
		d.active.add(o.node)
		d.worker.touch(d)
	}
}

// allows says that a capability held here is at or before t.
func (o *outputPort) allows(t Time) bool {
	for i := range o.held {
		if o.held[i].Time.LessEqual(t) {
			return true
		}
	}
	return false
}
