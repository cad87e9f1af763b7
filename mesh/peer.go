package mesh

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Peer is one worker of this process, and its ends of all channels. Its methods,
// and those of the channels that it opened, are for one goroutine, but for those
// that say otherwise.
type Peer struct {
	mesh     *Mesh
	index    int // over all processes
	thread   int // in this process
	opened   int // number of channels
	spin     bool
	patience int // with the others, before it sleeps
	timer    *time.Timer

	own                    []*ticket // channels with messages from this worker itself
	spareOwn, spareArrived []*ticket // room for the next lists

	some    atomic.Bool // arrived is not empty
	woken   atomic.Bool // Wake was called since the last Park
	mu      sync.Mutex
	arrived []*ticket // channels with messages from others
	asleep  bool
	bell    chan struct{} // gets one value whenever another goroutine ends the sleep
}

// ticket is the place of a channel in a worker's list of those that got messages.
type ticket struct {
	channel int
	listed  atomic.Bool
}

func newPeer(m *Mesh, thread int) *Peer {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &Peer{
		mesh:     m,
		index:    m.cfg.Process*m.cfg.Threads + thread,
		thread:   thread,
		spin:     m.cfg.Threads > 1 && m.cfg.Processes == 1,
		timer:    timer,
		patience: maxPatience,
		bell:     make(chan struct{}, 1),
	}
}

// Index is the number of the worker among those of all processes.
func (p *Peer) Index() int { return p.index }

// Peers is the number of workers of all processes.
func (p *Peer) Peers() int { return p.mesh.cfg.Threads * p.mesh.cfg.Processes }

// Err is why the mesh failed, and nil while it works. Any goroutine may ask.
func (p *Peer) Err() error { return p.mesh.Err() }

// Congested says that more bytes than [Config.Outstanding] wait for some process:
// it would be good to do other work before sending more. The worker is woken when
// there is room again. Any goroutine may ask.
func (p *Peer) Congested() bool { return p.mesh.congested.Load() > 0 }

// Stats is as [Mesh.Stats]. Any goroutine may ask.
func (p *Peer) Stats() []Stats { return p.mesh.Stats() }

// Ready calls f with the number of each channel that got messages since the last
// call, once each. A channel may have been emptied in the meantime.
func (p *Peer) Ready(f func(channel int)) {
	own := p.own
	p.own = p.spareOwn[:0]
	p.spareOwn = own
	var arrived []*ticket
	if p.some.Load() {
		p.mu.Lock()
		arrived = p.arrived
		p.arrived = p.spareArrived[:0]
		p.spareArrived = arrived
		p.some.Store(false)
		p.mu.Unlock()
	}
	// A channel is in one of the lists only.
	for _, t := range own {
		p.report(t, f)
	}
	for _, t := range arrived {
		p.report(t, f)
	}
}

func (p *Peer) report(t *ticket, f func(channel int)) {
	// From here on a message lists the channel again: whoever finds it listed knows
	// that f is yet to be called.
	t.listed.Store(false)
	// A channel that this worker has yet to open is listed again by Open.
	if t.channel < p.opened {
		f(t.channel)
	}
}

// listOwn notes that this worker has sent a message to itself.
func (p *Peer) listOwn(t *ticket) {
	if !t.listed.Load() && t.listed.CompareAndSwap(false, true) {
		p.own = append(p.own, t)
	}
}

// list notes, on any goroutine, that a message has come, and ends the sleep.
func (p *Peer) list(t *ticket) {
	if t.listed.Load() || !t.listed.CompareAndSwap(false, true) {
		return
	}
	p.mu.Lock()
	p.arrived = append(p.arrived, t)
	p.some.Store(true)
	p.ringAndUnlock()
}

// Wake ends the current or the next Park. Any goroutine may call it.
func (p *Peer) Wake() {
	if p.woken.Swap(true) {
		return
	}
	p.mu.Lock()
	p.ringAndUnlock()
}

func (p *Peer) ringAndUnlock() {
	asleep := p.asleep
	p.asleep = false
	p.mu.Unlock()
	if asleep {
		p.bell <- struct{}{}
	}
}

// due says that there is a reason not to sleep.
func (p *Peer) due() bool {
	return p.some.Load() || p.woken.Load() || p.mesh.failure.Load() != nil || len(p.own) > 0
}

// Park waits until there is something for [Peer.Ready] to report, [Peer.Wake] is called or the
// mesh fails, and returns true; or until max has passed, and returns false. 0 is no
// limit, and less than 0 has passed already, as what is left of a time that is over may have. It
// looks around for a few microseconds before it sleeps.
func (p *Peer) Park(max time.Duration) bool {
	if !p.due() && !p.look() {
		p.mu.Lock()
		if p.due() {
			p.mu.Unlock()
		} else {
			p.asleep = true
			p.mu.Unlock()
			if !p.sleep(max) {
				return false
			}
		}
	}
	p.woken.Store(false)
	return true
}

// A worker looks for messages at most so often between giving way, before it sleeps.
const minPatience, maxPatience = 16, 1024

// look waits for a few microseconds for a reason not to sleep, giving way now and
// then, which lets a worker run that was woken on the same thread. Waking a thread
// of the operating system takes longer than a short answer. And of two workers that always
// sleep, the one that wakes the other is likely to have it run on its own
// thread, one after the other.
//
// How long it looks follows from whether that has been worth it lately: it is not when
// the others work for longer, or wait for a processor themselves.
//
// Where workers outnumber processors, others have better use for this one; and giving way
// keeps the runtime from looking at the network.
func (p *Peer) look() bool {
	if !p.spin || p.mesh.cfg.Threads > runtime.GOMAXPROCS(0) {
		return false
	}
	for n := minPatience; n <= p.patience; n += n / 2 {
		for range n {
			if p.due() {
				p.patience = min(2*p.patience, maxPatience)
				return true
			}
		}
		runtime.Gosched()
	}
	if p.due() {
		return true
	}
	p.patience = max(p.patience/2, minPatience)
	return false
}

// sleep waits for the bell, and returns false if it has not rung within max, which is as in Park.
func (p *Peer) sleep(max time.Duration) bool {
	if max == 0 {
		<-p.bell
		return true
	}
	p.timer.Reset(max)
	select {
	case <-p.bell:
		p.timer.Stop()
		return true
	case <-p.timer.C:
	}
	p.mu.Lock()
	rung := !p.asleep
	p.asleep = false
	p.mu.Unlock()
	if rung {
		<-p.bell
	}
	return rung
}
