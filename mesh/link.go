package mesh

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// link is the connection to another process. Workers append frames to its chunks, and
// a goroutine writes them; another reads and fills the inboxes.
type link struct {
	mesh    *Mesh
	process int
	conn    net.Conn
	step    int64         // bytes taken after which the other process hears of it
	pause   time.Duration // after which it hears that this one is alive
	ends    atomic.Int32  // goroutines that still use the connection
	aborted atomic.Bool   // this process has failed: only say so
	left    atomic.Bool   // the other process has said goodbye

	mu        sync.Mutex
	chunks    [][]byte // frames to be written, whole ones in each
	spare     [][]byte // chunks that were written
	ended     bool     // the last frame is in chunks
	asleep    bool     // the writer waits for the bell
	sent      int64    // bytes of data frames appended
	messages  int64    // and their number
	wire      int64    // bytes of everything, with the handshake
	taken     int64    // bytes of them that workers there have taken
	congested bool

	bell     chan struct{}
	broken   atomic.Pointer[error]     // why writing ended
	final    atomic.Pointer[time.Time] // when all must have ended
	received atomic.Int64              // bytes of data frames that came
	arrived  atomic.Int64              // and their number
	consumed atomic.Int64              // bytes of data frames that workers here have taken
	reported atomic.Int64              // what the other process was told of that
}

const (
	chunkSize  = 64 << 10
	maxSpares  = 16
	writeSize  = 1 << 20 // bytes that one deadline is for
	readSize   = 128 << 10
	minRead    = 4 << 10
	pulseParts = 5 // signs of life in one Timeout
	maxReason  = 4 << 10
)

// newLink is the link to the process that said theirs, and which is to hear from
// this one as often as it asks for.
func newLink(m *Mesh, theirs hello, conn net.Conn) *link {
	l := &link{
		mesh:    m,
		process: int(theirs.Process),
		conn:    conn,
		step:    max(int64(theirs.Outstanding>>3), 1),
		pause:   max(time.Duration(theirs.Timeout)*time.Millisecond, time.Millisecond) / pulseParts,
		wire:    handshakeSize,
		bell:    make(chan struct{}, 1),
	}
	l.ends.Store(2)
	return l
}

// run starts the goroutines of the link.
func (l *link) run() {
	l.mesh.tasks.Go(func() {
		defer l.end()
		l.write()
	})
	l.mesh.tasks.Go(func() {
		defer l.end()
		l.read()
	})
}

func (l *link) end() {
	if l.ends.Add(-1) == 0 {
		l.conn.Close()
	}
}

// grace is how long a failed process tries to tell the others why.
func (l *link) grace() time.Duration { return min(l.mesh.cfg.Timeout/2, time.Second) }

// lost fails the mesh because of the process at the other end.
func (l *link) lost(cause error) {
	l.mesh.Fail(&PeerLostError{Process: l.process, Address: l.mesh.address(l.process), Cause: cause})
}

// room returns the last chunk, with a capacity for size more bytes. The caller
// holds mu, appends whole frames and puts the chunk back with fill.
func (l *link) room(size int) []byte {
	if n := len(l.chunks); n > 0 {
		if last := l.chunks[n-1]; cap(last)-len(last) >= size {
			return last
		}
	}
	var chunk []byte
	if n := len(l.spare); n > 0 && size <= chunkSize {
		chunk = l.spare[n-1]
		l.spare = l.spare[:n-1]
	} else {
		chunk = make([]byte, 0, max(size, chunkSize))
	}
	l.chunks = append(l.chunks, chunk)
	return chunk
}

// fill puts the last chunk back and lets the writer know.
func (l *link) fill(chunk []byte) {
	last := &l.chunks[len(l.chunks)-1]
	l.wire += int64(len(chunk) - len(*last))
	*last = chunk
	if l.asleep {
		l.asleep = false
		l.bell <- struct{}{}
	}
}

// data appends a data frame of size bytes, unless nothing is to be said any more.
// payload appends the message.
func (l *link) data(h header, size int, payload func(b []byte) []byte) {
	if size-headerSize > maxPayload {
		l.mesh.Fail(fmt.Errorf("send on channel %d: a message of %d bytes is larger than %d: send it in parts", h.channel, size-headerSize, maxPayload))
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	chunk := l.room(size)
	start := len(chunk)
	chunk = payload(chunk[:start+headerSize])
	h.kind, h.length = frameData, uint32(len(chunk)-start-headerSize)
	h.put(chunk[start:])
	l.fill(chunk)
	l.sent += int64(len(chunk) - start)
	l.messages++
	l.congestion()
}

// congestion notes whether too much waits for the other process, and wakes the
// workers when it is no longer too much. The caller holds mu.
func (l *link) congestion() {
	limit := l.mesh.cfg.Outstanding
	switch waiting := l.sent - l.taken; {
	case !l.congested && waiting > limit && !l.ended:
		l.congested = true
		l.mesh.congested.Add(1)
	case l.congested && (waiting <= limit/2 || l.ended):
		l.congested = false
		l.mesh.congested.Add(-1)
		l.mesh.wake()
	}
}

// say appends a frame that is not data. The caller holds mu.
func (l *link) say(h header, number uint64, texts ...string) {
	if l.ended {
		return
	}
	size := headerSize + 16
	for _, text := range texts {
		size += 4 + len(text)
	}
	l.fill(appendFrame(l.room(size), h, number, texts...))
}

// open tells of a channel that was opened here.
func (l *link) open(id int, o opening) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.say(header{kind: frameOpen, channel: uint32(id)}, uint64(o.worker), o.name, o.typ)
}

// credit notes that workers here have taken n bytes of data, and tells the other
// process now and then.
func (l *link) credit(n int64) {
	if l.consumed.Add(n)-l.reported.Load() < l.step {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pulse()
}

func (l *link) pulse() {
	consumed := l.consumed.Load()
	l.reported.Store(consumed)
	l.say(header{kind: framePulse}, uint64(consumed))
}

// goodbye says that nothing follows.
func (l *link) goodbye() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.say(header{kind: frameGoodbye}, 0)
	l.ended = true
	l.congestion()
}

// abort says that this process has failed, instead of all that is yet to be
// written, and why.
func (l *link) abort(err error) {
	about := uint64(l.mesh.cfg.Process) // and which process is lost, if one is
	text := err.Error()
	if e, ok := err.(*RemoteError); ok {
		about, text = uint64(e.Process), e.Message
	} else if e, ok := errors.AsType[*PeerLostError](err); ok {
		about |= uint64(e.Process+1) << 32
		if err == error(e) {
			text = e.Cause.Error() // the rest is in about
		}
	}
	text = text[:min(len(text), maxReason)]
	l.mu.Lock()
	l.aborted.Store(true)
	if !l.ended {
		l.chunks = nil
		l.say(header{kind: frameFail}, about, text)
		l.ended = true
		l.congestion()
	}
	l.mu.Unlock()
	l.finish(l.grace())
}

// next waits for frames to be written. It returns whether they are the last.
func (l *link) next(timer *time.Timer) (chunks [][]byte, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.chunks) == 0 && !l.ended {
		l.asleep = true
		l.mu.Unlock()
		timer.Reset(l.pause)
		select {
		case <-l.bell:
			l.mu.Lock()
		case <-timer.C:
			l.mu.Lock()
			if !l.asleep {
				<-l.bell
			}
			l.asleep = false
			if len(l.chunks) == 0 {
				l.pulse()
			}
		}
	}
	chunks, l.chunks = l.chunks, nil
	return chunks, l.ended
}

// write writes frames until the last.
func (l *link) write() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		chunks, last := l.next(timer)
		for rest := chunks; len(rest) > 0 && (last || !l.aborted.Load() && !l.left.Load()); {
			n := 0
			for size := 0; n < len(rest) && size < writeSize; n++ {
				seal(rest[n])
				size += len(rest[n])
			}
			if err := l.writeAll(rest[:n]); err != nil {
				l.writeFailed(err)
				return
			}
			rest = rest[n:]
		}
		if last {
			if c, ok := l.conn.(interface{ CloseWrite() error }); ok {
				c.CloseWrite()
			}
			if !l.aborted.Load() {
				l.finish(l.mesh.cfg.Timeout) // for its goodbye
			}
			return
		}
		l.recycle(chunks)
	}
}

// writeAll writes chunks with a deadline for each part of them.
func (l *link) writeAll(chunks [][]byte) error {
	for len(chunks) == 1 && len(chunks[0]) > 2*writeSize {
		l.extend(l.conn.SetWriteDeadline)
		if _, err := l.conn.Write(chunks[0][:writeSize]); err != nil {
			return err
		}
		chunks[0] = chunks[0][writeSize:]
	}
	l.extend(l.conn.SetWriteDeadline)
	if len(chunks) == 1 {
		_, err := l.conn.Write(chunks[0])
		return err
	}
	buffers := net.Buffers(append([][]byte(nil), chunks...))
	_, err := buffers.WriteTo(l.conn)
	return err
}

// extend sets a deadline of the connection for the next step, unless all must end
// at some time.
func (l *link) extend(set func(time.Time) error) {
	set(time.Now().Add(l.mesh.cfg.Timeout))
	if final := l.final.Load(); final != nil {
		set(*final)
	}
}

// finish sets the time at which all ends.
func (l *link) finish(after time.Duration) {
	at := time.Now().Add(after)
	l.final.Store(&at)
	l.conn.SetDeadline(at)
}

// recycle keeps written chunks for later.
func (l *link) recycle(chunks [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, chunk := range chunks {
		if len(l.spare) < maxSpares && cap(chunk) == chunkSize {
			l.spare = append(l.spare, chunk[:0])
		}
	}
}

// writeFailed decides what it means that nothing can be written.
func (l *link) writeFailed(err error) {
	if l.left.Load() {
		return
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		l.lost(fmt.Errorf("it has not read for %v: %w", l.mesh.cfg.Timeout, err))
		return
	}
	// The other process may have said why before it went: the reader finds out.
	l.broken.Store(&err)
	l.finish(l.grace())
}

// read reads frames until the last.
func (l *link) read() {
	err := l.readFrames()
	if err == nil || l.aborted.Load() {
		return
	}
	if broken := l.broken.Load(); broken != nil {
		err = *broken
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		err = fmt.Errorf("it closed the connection without a goodbye: %w", err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("it has been silent for %v: %w", l.mesh.cfg.Timeout, err)
	}
	l.lost(err)
}

// readFrames handles frames until there are no more, or one makes no sense.
func (l *link) readFrames() error {
	buf := make([]byte, readSize)
	start, end := 0, 0
	shared := false // messages lie in buf
	for {
		need := headerSize
		for start < end {
			h, payload, size, err := parseFrame(buf[start:end])
			if err != nil {
				return err
			}
			if need = size; payload == nil {
				break
			}
			if l.mesh.closing.Load() && h.kind == frameData || l.aborted.Load() {
				h.kind = framePulse // nobody waits for it
				payload = nil
			}
			last, err := l.handle(h, payload)
			if last || err != nil {
				return err
			}
			shared = shared || h.kind == frameData
			start += size
			need = headerSize
		}
		if !shared && start == end {
			start, end = 0, 0
		}
		if len(buf)-start < max(need, minRead) {
			next := make([]byte, max(readSize, need))
			end = copy(next, buf[start:end])
			buf, start, shared = next, 0, false
		}
		l.extend(l.conn.SetReadDeadline)
		n, err := l.conn.Read(buf[end:])
		if n == 0 && err != nil {
			return err
		}
		end += n
	}
}

// handle does what a frame says. It returns whether it was the last.
func (l *link) handle(h header, payload []byte) (last bool, err error) {
	switch h.kind {
	case frameData:
		size := int64(headerSize + len(payload))
		l.received.Add(size)
		l.arrived.Add(1)
		return false, l.mesh.deliver(l, h, payload)
	case frameOpen:
		var o opening
		worker, err := parsePayload(payload, &o.name, &o.typ)
		o.worker = int(worker)
		if err == nil {
			l.mesh.opened(int(h.channel), o)
		}
		return false, err
	case framePulse:
		if payload == nil {
			return false, nil
		}
		taken, err := parsePayload(payload)
		l.mu.Lock()
		l.taken = max(l.taken, int64(taken))
		l.congestion()
		l.mu.Unlock()
		return false, err
	case frameGoodbye:
		l.left.Store(true)
		l.mu.Lock()
		if !l.ended {
			l.chunks = nil // nobody waits for them
		}
		l.mu.Unlock()
		l.goodbye()
		return true, nil
	default:
		return true, l.failed(payload)
	}
}

// failed passes on that the other process has failed.
func (l *link) failed(payload []byte) error {
	var message string
	about, err := parsePayload(payload, &message)
	if err != nil {
		return err
	}
	m := l.mesh
	origin, lost := int(uint32(about)), int(about>>32)-1
	remote := &RemoteError{Process: origin, Message: message}
	switch {
	case lost < 0:
		m.Fail(remote)
	case lost == m.cfg.Process:
		l.lost(fmt.Errorf("it lost this process: %w", remote))
	case lost >= m.cfg.Processes || lost == l.process:
		l.lost(remote)
	default:
		m.Fail(&PeerLostError{Process: lost, Address: m.address(lost), Cause: remote})
	}
	return nil
}
