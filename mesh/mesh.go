package mesh

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Mesh is the workers of this process and their connections to all others.
type Mesh struct {
	cfg       Config
	workers   []*Peer
	failure   atomic.Pointer[error]
	down      chan struct{}  // closed on failure
	congested atomic.Int32   // number of processes that too many bytes wait for
	closing   atomic.Bool    // the workers have ended
	tasks     sync.WaitGroup // the goroutines of the links
	channels  atomic.Pointer[[]*channel]

	mu        sync.Mutex
	links     []*link         // by process; nil for this one, and while there is none yet
	elsewhere map[int]opening // channels as other processes opened them
	early     map[int][]early // messages on channels that no worker here has opened yet
}

// early is a message that came before its channel was opened.
type early struct {
	link    *link
	header  header
	payload []byte
}

// Start returns when all processes are connected. Cancelling ctx ends the
// attempt; it has no effect later.
func Start(ctx context.Context, cfg Config) (*Mesh, error) {
	if cfg.Listener != nil {
		defer cfg.Listener.Close()
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("start mesh: %w", err)
	}
	m := &Mesh{
		cfg:       cfg,
		workers:   make([]*Peer, cfg.Threads),
		down:      make(chan struct{}),
		links:     make([]*link, cfg.Processes),
		elsewhere: map[int]opening{},
		early:     map[int][]early{},
	}
	m.channels.Store(new([]*channel))
	for i := range m.workers {
		m.workers[i] = newPeer(m, i)
	}
	if cfg.Processes > 1 {
		if err := connect(ctx, m); err != nil {
			m.Fail(err)
			m.Close()
			return nil, fmt.Errorf("start mesh: %w", err)
		}
	}
	return m, nil
}

// Workers are the workers of this process, in the order of their index.
func (m *Mesh) Workers() []*Peer { return m.workers }

// Fail ends the work of every worker of every process with err. The first failure
// is the one that counts.
func (m *Mesh) Fail(err error) {
	if err == nil {
		err = errors.New("a worker failed without saying why")
	}
	if !m.failure.CompareAndSwap(nil, &err) {
		return
	}
	close(m.down)
	m.wake()
	for _, l := range m.connected() {
		l.abort(err)
	}
}

// Err is why the mesh failed, and nil while it works.
func (m *Mesh) Err() error {
	if err := m.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Close sends what is still to be sent, says goodbye to the other processes or, if the mesh has
// failed, why, and waits for the goroutines of the mesh. It returns why the mesh failed, if it did,
// even if that was during Close. It does not wait for the workers of other
// processes, nor for those of this one, which should have ended: what they send from
// then on is dropped, and their error is [ErrClosed].
func (m *Mesh) Close() error {
	m.closing.Store(true)
	failed := m.Err()
	for _, l := range m.connected() {
		if failed != nil {
			// The workers may have seen the failure, and ended, before Fail came to tell the other
			// processes: to those a goodbye would say that all went well, and they would wait for ever.
			l.abort(failed)
		} else {
			l.goodbye()
		}
	}
	m.tasks.Wait()
	m.Fail(ErrClosed)
	if err := m.Err(); err != ErrClosed {
		return err
	}
	return nil
}

// Stats counts what went to and came from another process.
type Stats struct {
	SentMessages, SentBytes         int64 // with their headers
	ReceivedMessages, ReceivedBytes int64
	// WireBytes is all that was sent: the messages, the frames that keep the connection going, and
	// the handshake, but not what TLS makes of it.
	WireBytes int64
}

// Stats returns the counts for each process. They are 0 for this one.
func (m *Mesh) Stats() []Stats {
	stats := make([]Stats, m.cfg.Processes)
	for _, l := range m.connected() {
		l.mu.Lock()
		stats[l.process] = Stats{l.messages, l.sent, l.arrived.Load(), l.received.Load(), l.wire}
		l.mu.Unlock()
	}
	return stats
}

// connected returns the links that there are.
func (m *Mesh) connected() []*link {
	m.mu.Lock()
	defer m.mu.Unlock()
	var links []*link
	for _, l := range m.links {
		if l != nil {
			links = append(links, l)
		}
	}
	return links
}

func (m *Mesh) address(process int) string { return m.cfg.Addresses[process] }

func (m *Mesh) wake() {
	for _, p := range m.workers {
		p.Wake()
	}
}

// credit tells the other processes how many bytes of theirs were taken, and
// clears the counts.
func (m *Mesh) credit(bytes []int64) {
	for i, n := range bytes {
		if n > 0 {
			bytes[i] = 0
			m.links[i].credit(n)
		}
	}
}

// deliver hands a message to its channel, or keeps it until that is opened.
func (m *Mesh) deliver(l *link, h header, payload []byte) error {
	if channels := *m.channels.Load(); int(h.channel) < len(channels) {
		return channels[h.channel].accept(l, h, payload)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if channels := *m.channels.Load(); int(h.channel) < len(channels) {
		return channels[h.channel].accept(l, h, payload)
	}
	m.early[int(h.channel)] = append(m.early[int(h.channel)], early{l, h, payload})
	return nil
}

// catchUp hands a new channel the messages that came before it was opened. The caller
// holds mu.
func (m *Mesh) catchUp(id int, c *channel) error {
	for _, e := range m.early[id] {
		if err := c.accept(e.link, e.header, e.payload); err != nil {
			return &PeerLostError{Process: e.link.process, Address: m.address(e.link.process), Cause: err}
		}
	}
	delete(m.early, id)
	return nil
}

// opened compares a channel as another process opened it with the own one, or
// keeps it for later.
func (m *Mesh) opened(id int, theirs opening) {
	m.mu.Lock()
	mine, found := m.elsewhere[id]
	if channels := *m.channels.Load(); id < len(channels) {
		c := channels[id]
		mine, found = opening{c.opener, c.name, c.typ.String()}, true
	} else if !found {
		m.elsewhere[id] = theirs
	}
	m.mu.Unlock()
	if found && mine.differs(theirs) {
		m.Fail(mismatch(id, mine, theirs))
	}
}
