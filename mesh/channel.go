package mesh

import (
	"fmt"
	"reflect"
	"sync"
)

// channel is what this process knows of a channel that one of its workers has opened.
type channel struct {
	name    string
	typ     reflect.Type
	opener  int // the worker that opened it first
	inboxes any // []*inbox[T], one for each worker of this process
}

// Open opens the next channel: it returns a sender to each worker of all processes,
// by [Peer.Index], and the receiver of this one. All workers open the same channels in the
// same order; where they do not, the mesh fails with an error that names both
// channels. Messages that come before a worker opens a channel are kept for it.
//
// If there are several processes, T must be made of what package flat can carry.
func (p *Peer) Open[T any](name string) ([]*Sender[T], *Receiver[T], error) {
	if err := p.Err(); err != nil {
		return nil, nil, err
	}
	m, id := p.mesh, p.opened
	c, err := openChannel[T](p, id, name)
	if err != nil {
		m.Fail(err)
		return nil, nil, err
	}
	p.opened++
	inboxes := c.inboxes.([]*inbox[T])
	r := &Receiver[T]{peer: p, in: inboxes[p.thread]}
	senders := make([]*Sender[T], p.Peers())
	for i := range senders {
		s := &Sender[T]{peer: p}
		switch process, thread := i/m.cfg.Threads, i%m.cfg.Threads; {
		case i == p.index:
			s.own = r
		case process == m.cfg.Process:
			s.in = inboxes[thread]
		}
		senders[i] = s
	}
	r.in.relist()
	return senders, r, nil
}

// openChannel returns channel id of this process, which the first worker to open
// it makes.
func openChannel[T any](p *Peer, id int, name string) (*channel, error) {
	m := p.mesh
	typ := reflect.TypeFor[T]()
	m.mu.Lock()
	defer m.mu.Unlock()
	if id < len(m.channels) {
		c := m.channels[id]
		if c.name != name || c.typ != typ {
			return nil, mismatch(id, opening{c.opener, c.name, c.typ.String()}, opening{p.index, name, typ.String()})
		}
		return c, nil
	}
	inboxes := make([]*inbox[T], m.cfg.Threads)
	for i := range inboxes {
		inboxes[i] = &inbox[T]{owner: m.workers[i], ticket: ticket{channel: id}}
	}
	c := &channel{name: name, typ: typ, opener: p.index, inboxes: inboxes}
	m.channels = append(m.channels, c)
	return c, nil
}

// opening is a worker's view of a channel.
type opening struct {
	worker    int
	name, typ string
}

func (o opening) String() string {
	return fmt.Sprintf("worker %d opened %q of %s", o.worker, o.name, o.typ)
}

func mismatch(id int, a, b opening) error {
	return fmt.Errorf("%w: channel %d: %v, but %v", ErrMismatch, id, a, b)
}

// Sender is the end of a channel that leads to one worker.
type Sender[T any] struct {
	peer *Peer
	own  *Receiver[T] // for the worker itself
	in   *inbox[T]    // for another one of this process
}

// Send hands over m and all that it points to. It does not wait. Once the mesh has
// failed or is closed, messages are dropped.
func (s *Sender[T]) Send(m T) {
	switch {
	case s.in != nil:
		s.in.push(m)
	case s.own != nil:
		s.own.keep(m)
	}
}

// Receiver is the end of a channel at which the messages for a worker arrive.
type Receiver[T any] struct {
	peer   *Peer
	in     *inbox[T] // from other workers
	own    []T       // from the worker itself
	spare  []T       // room for the inbox
	closed bool
}

// ID is the number of the channel: 0 for the first that the worker opened.
func (r *Receiver[T]) ID() int { return r.in.channel }

// Take appends all messages that wait to into.
func (r *Receiver[T]) Take(into []T) []T {
	if len(r.own) > 0 {
		into = append(into, r.own...)
		r.own = empty(r.own)
	}
	if taken := r.in.swap(r.spare); taken != nil {
		into = append(into, taken...)
		r.spare = empty(taken)
	}
	return into
}

// Close drops the messages that wait and all that are yet to come.
func (r *Receiver[T]) Close() {
	r.closed = true
	r.own, r.spare = nil, nil
	r.in.close()
}

// keep adds a message of the worker to itself.
func (r *Receiver[T]) keep(m T) {
	if !r.closed {
		r.own = append(r.own, m)
		r.peer.listOwn(&r.in.ticket)
	}
}

// maxSpare is the number of slots that a queue keeps for later.
const maxSpare = 1 << 12

// empty makes room of messages that have been taken, and forgets what they point to.
func empty[T any](taken []T) []T {
	if cap(taken) > maxSpare {
		return nil
	}
	clear(taken)
	return taken[:0]
}

// inbox is the queue of the messages on one channel from all other workers to one.
type inbox[T any] struct {
	ticket
	owner  *Peer
	mu     sync.Mutex
	queue  []T
	closed bool
}

// push adds a message, on any goroutine.
func (b *inbox[T]) push(m T) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.queue = append(b.queue, m)
	b.mu.Unlock()
	b.owner.list(&b.ticket)
}

// swap takes the whole queue and leaves room in its place. It returns nil if there
// is nothing.
func (b *inbox[T]) swap(room []T) []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return nil
	}
	taken := b.queue
	b.queue = room
	return taken
}

// relist lists the channel for a worker that has only now opened it.
func (b *inbox[T]) relist() {
	b.mu.Lock()
	waiting := len(b.queue) > 0
	b.mu.Unlock()
	if waiting {
		b.owner.list(&b.ticket)
	}
}

func (b *inbox[T]) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.queue = nil
}
