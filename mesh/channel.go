package mesh

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"weir/flat"
)

// channel is what this process knows of a channel that one of its workers has opened.
type channel struct {
	name    string
	typ     reflect.Type
	opener  int // the worker that opened it first
	inboxes any // []*inbox[T], one for each worker of this process
	// accept decodes a message from another process and hands it to a worker of
	// this one, or to everyone.
	accept func(l *link, h header, payload []byte) error
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
	var codec flat.Codec[T]
	var err error
	if m.cfg.Processes > 1 {
		if codec, err = flat.For[T](); err != nil {
			return nil, nil, fmt.Errorf("open channel %q: %w", name, err)
		}
	}
	c, err := openChannel(p, id, name, codec)
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
		default:
			s.codec, s.link = codec, m.links[process]
			s.header = header{channel: uint32(id), source: uint32(p.thread), target: uint32(thread)}
		}
		senders[i] = s
	}
	r.in.relist()
	return senders, r, nil
}

// openChannel returns channel id of this process, which the first worker to open
// it makes.
func openChannel[T any](p *Peer, id int, name string, codec flat.Codec[T]) (*channel, error) {
	m := p.mesh
	typ := reflect.TypeFor[T]()
	mine := opening{p.index, name, typ.String()}
	m.mu.Lock()
	defer m.mu.Unlock()
	channels := *m.channels.Load()
	if id < len(channels) {
		c := channels[id]
		if c.name != name || c.typ != typ {
			return nil, mismatch(id, opening{c.opener, c.name, c.typ.String()}, mine)
		}
		return c, nil
	}
	if theirs, ok := m.elsewhere[id]; ok && theirs.differs(mine) {
		return nil, mismatch(id, theirs, mine)
	}
	inboxes := make([]*inbox[T], m.cfg.Threads)
	for i := range inboxes {
		inboxes[i] = &inbox[T]{owner: m.workers[i], ticket: ticket{channel: id}}
	}
	c := &channel{name: name, typ: typ, opener: p.index, inboxes: inboxes}
	c.accept = func(l *link, h header, payload []byte) error { return accept(inboxes, codec, l, h, payload) }
	for _, l := range m.links {
		if l != nil {
			l.open(id, mine)
		}
	}
	if err := m.catchUp(id, c); err != nil {
		return nil, err
	}
	channels = append(slices.Clip(channels), c)
	m.channels.Store(&channels)
	return c, nil
}

// accept decodes a message and puts it into the inbox of its receiver.
func accept[T any](inboxes []*inbox[T], codec flat.Codec[T], l *link, h header, payload []byte) error {
	corrupt := func(format string, args ...any) error {
		return fmt.Errorf("%w: a message on channel %d from its worker %d: %s", errCorrupt, h.channel, h.source, fmt.Sprintf(format, args...))
	}
	if h.target != everyone && int(h.target) >= len(inboxes) {
		return corrupt("it is for worker %d of %d", h.target, len(inboxes))
	}
	list, n, err := codec.Decode(payload)
	if err != nil {
		return corrupt("%v", err)
	}
	if len(list) != 1 || n != len(payload) {
		return corrupt("%d values in %d of %d bytes", len(list), n, len(payload))
	}
	size := int64(headerSize + len(payload))
	if h.target != everyone {
		inboxes[h.target].pushFrom(l, list[0], size)
		return nil
	}
	for _, b := range inboxes {
		b.pushFrom(l, list[0], size)
		size = 0
	}
	return nil
}

// opening is a worker's view of a channel.
type opening struct {
	worker    int
	name, typ string
}

func (o opening) String() string {
	return fmt.Sprintf("worker %d opened %q of %s", o.worker, o.name, o.typ)
}

func (o opening) differs(other opening) bool { return o.name != other.name || o.typ != other.typ }

func mismatch(id int, a, b opening) error {
	a.name, b.name = abridged(a.name, b.name)
	return fmt.Errorf("%w: channel %d: %v, but %v", ErrMismatch, id, a, b)
}

const (
	// maxName is how much of the name of a channel is told.
	maxName = 200
	// nameStart is how much is kept of what two long names begin with, and contextLen how much of
	// what is before the place where they differ.
	nameStart, contextLen = 60, 30
)

// abridged is two names without most of what they have in common at the start, if they are long.
func abridged(a, b string) (string, string) {
	if max(len(a), len(b)) <= maxName {
		return a, b
	}
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if i := same - contextLen; i > nameStart {
		a, b = a[:nameStart]+"…"+a[i:], b[:nameStart]+"…"+b[i:]
	}
	return shortened(a), shortened(b)
}

func shortened(name string) string {
	if len(name) > maxName {
		name = name[:maxName] + "…"
	}
	return strings.ToValidUTF8(name, "") // a character may have been cut in two
}

// Sender is the end of a channel that leads to one worker.
type Sender[T any] struct {
	peer *Peer
	own  *Receiver[T] // for the worker itself
	in   *inbox[T]    // for another one of this process

	// For a worker of another process:
	codec  flat.Codec[T]
	link   *link
	header header
	one    [1]T
}

// Send hands over m and all that it points to. It does not wait. Once the mesh has
// failed or is closed, messages are dropped.
func (s *Sender[T]) Send(m T) {
	switch {
	case s.in != nil:
		s.in.push(m)
	case s.own != nil:
		s.own.keep(m)
	default:
		s.write(m, s.header)
	}
}

// write encodes a message for another process.
func (s *Sender[T]) write(m T, h header) {
	s.one[0] = m
	s.link.data(h, headerSize+s.codec.Size(s.one[:]), func(b []byte) []byte { return s.codec.Append(b, s.one[:]) })
	clear(s.one[:])
}

// Broadcast sends m to the workers of all of senders, which are those that [Peer.Open]
// returned. The receivers share what m points to, and so must not change
// it. It is encoded once for each other process, where Send encodes it for each worker.
func Broadcast[T any](senders []*Sender[T], m T) {
	var last *link
	for _, s := range senders {
		switch {
		case s.link == nil:
			s.Send(m)
		case s.link != last:
			h := s.header
			h.target = everyone
			s.write(m, h)
			last = s.link
		}
	}
}

// Receiver is the end of a channel at which the messages for a worker arrive.
type Receiver[T any] struct {
	peer   *Peer
	in     *inbox[T] // from other workers
	own    []T       // from the worker itself
	spare  []T       // room for the inbox
	credit []int64   // room for the inbox's
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
	taken, credit := r.in.swap(r.spare, r.credit)
	if taken == nil {
		return into
	}
	into = append(into, taken...)
	r.spare = empty(taken)
	if credit != nil {
		r.peer.mesh.credit(credit)
		r.credit = credit
	}
	return into
}

// Close drops the messages that wait and all that are yet to come.
func (r *Receiver[T]) Close() {
	r.closed = true
	r.own, r.spare = nil, nil
	r.peer.mesh.credit(r.in.close())
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
	credit []int64 // bytes in queue from each process, nil if none
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

// pushFrom adds a message from another process, which took size bytes.
func (b *inbox[T]) pushFrom(l *link, m T, size int64) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		l.credit(size)
		return
	}
	b.queue = append(b.queue, m)
	if b.credit == nil {
		b.credit = make([]int64, l.mesh.cfg.Processes)
	}
	b.credit[l.process] += size
	b.mu.Unlock()
	b.owner.list(&b.ticket)
}

// swap takes the whole queue and what it takes in bytes, and leaves room in their
// place. It returns nil if there is nothing.
func (b *inbox[T]) swap(room []T, credit []int64) ([]T, []int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return nil, nil
	}
	taken, bytes := b.queue, b.credit
	b.queue = room
	if bytes != nil {
		b.credit = credit
	}
	return taken, bytes
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

// close drops all messages from here on. It returns the bytes of those that waited.
func (b *inbox[T]) close() []int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.queue = nil
	return b.credit
}
