package mesh

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// handshakeTime is what a handshake may take.
	handshakeTime = 5 * time.Second
	// maxStrangers bounds the handshakes that are under way at one time.
	maxStrangers = 256
	// The pause between two attempts to reach a process.
	firstPause = 10 * time.Millisecond
	maxPause   = time.Second
)

// starter connects a mesh: it dials the processes of lower numbers and accepts those
// of higher ones.
type starter struct {
	m     *Mesh
	tasks sync.WaitGroup
	ended chan error // the outcome; the first counts

	mu      sync.Mutex
	missing int
	state   []peerState
}

type peerState struct {
	claimed bool // a handshake has got so far that no other one may
	linked  bool
	problem error // the last one
}

// connect returns when there is a link to every other process, or no hope.
func connect(ctx context.Context, m *Mesh) error {
	cfg := m.cfg
	ctx, cancel := context.WithTimeout(ctx, cfg.Wait)
	defer cancel()
	listener := cfg.Listener
	if listener == nil {
		var err error
		if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", cfg.Addresses[cfg.Process]); err != nil {
			return fmt.Errorf("listen as process %d: %w", cfg.Process, err)
		}
	}
	s := &starter{m: m, ended: make(chan error, 1), missing: cfg.Processes - 1, state: make([]peerState, cfg.Processes)}
	s.tasks.Go(func() { s.accept(ctx, listener) })
	for process := range cfg.Process {
		s.tasks.Go(func() { s.dial(ctx, process) })
	}
	var err error
	select {
	case err = <-s.ended:
	case <-m.down:
		err = m.Err()
	case <-ctx.Done():
		err = s.absent(context.Cause(ctx))
	}
	cancel()
	listener.Close() // before the wait, which is for accept
	s.tasks.Wait()
	return err
}

// end settles the outcome, if it is not settled yet.
func (s *starter) end(err error) {
	select {
	case s.ended <- err:
	default:
	}
}

// absent says which processes are missing.
func (s *starter) absent(cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for i, state := range s.state {
		if i == s.m.cfg.Process || state.linked {
			continue
		}
		text := fmt.Sprintf("process %d (%s)", i, s.m.address(i))
		if state.problem != nil {
			text += ": " + state.problem.Error()
		} else if i > s.m.cfg.Process {
			text += ": it has not called"
		}
		all = append(all, text)
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		cause = fmt.Errorf("within %v", s.m.cfg.Wait)
	}
	return fmt.Errorf("not all processes came (%w); missing: %s", cause, strings.Join(all, "; "))
}

// note keeps what went wrong with a process. That there was no time left says less
// than what went wrong before.
func (s *starter) note(process int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	late := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	if process < len(s.state) && (s.state[process].problem == nil || !late) {
		s.state[process].problem = err
	}
}

// claim lets a process in, once.
func (s *starter) claim(process int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state[process].claimed {
		return fmt.Sprintf("there is a process %d already", process)
	}
	s.state[process].claimed = true
	return ""
}

func (s *starter) unclaim(process int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state[process].claimed = false
}

// link adds a connection to the mesh.
func (s *starter) link(conn net.Conn, theirs hello) {
	conn.SetDeadline(time.Time{})
	m, process := s.m, int(theirs.Process)
	l := newLink(m, theirs, conn)
	m.mu.Lock()
	m.links[process] = l
	m.mu.Unlock()
	l.run()
	if err := m.Err(); err != nil {
		l.abort(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state[process].linked = true
	if s.missing--; s.missing == 0 {
		s.end(nil)
	}
}

// guard gives a handshake its time, which ends early with ctx.
func guard(ctx context.Context, conn net.Conn) (release func() bool) {
	conn.SetDeadline(time.Now().Add(handshakeTime))
	return context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now().Add(-time.Second)) })
}

// accept answers whoever calls until the listener is closed.
func (s *starter) accept(ctx context.Context, listener net.Listener) {
	room := make(chan struct{}, maxStrangers)
	for {
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			s.m.cfg.Logger.Warn("mesh: accept failed", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(firstPause):
			}
			continue
		}
		select {
		case room <- struct{}{}:
			s.tasks.Go(func() {
				s.answer(ctx, conn)
				<-room
			})
		default:
			conn.Close()
		}
	}
}

// answer lets a process in, or refuses it and says so in the log.
func (s *starter) answer(ctx context.Context, raw net.Conn) {
	cfg := s.m.cfg
	conn := raw
	if cfg.TLS != nil {
		conn = tls.Server(raw, modern(cfg.TLS))
	}
	release := guard(ctx, raw)
	theirs, err := acceptHandshake(conn, cfg, s.claim)
	process := int(theirs.Process)
	if err == nil && release() {
		s.link(conn, theirs)
		return
	}
	release()
	conn.Close()
	if err == nil || errors.Is(err, errClaimed) {
		s.unclaim(process)
	}
	if ctx.Err() != nil {
		return
	}
	cfg.Logger.Warn("mesh: refused a connection", "from", raw.RemoteAddr().String(), "process", cfg.Process, "error", err)
	if theirs.Magic != helloMagic || process == cfg.Process {
		return
	}
	err = fmt.Errorf("a connection from %s: %w", raw.RemoteAddr(), err)
	s.note(process, err)
	if r, ok := errors.AsType[*refusal](err); ok && r.certain {
		s.end(err)
	}
}

// dial calls a process until it answers.
func (s *starter) dial(ctx context.Context, process int) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := s.call(ctx, process)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			return
		}
		s.note(process, err)
		if errors.Is(err, ErrRefused) {
			s.end(fmt.Errorf("process %d (%s): %w", process, s.m.address(process), err))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// call tries to reach a process once.
func (s *starter) call(ctx context.Context, process int) error {
	cfg := s.m.cfg
	address := s.m.address(process)
	raw, err := (&net.Dialer{Timeout: handshakeTime}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	conn := raw
	if cfg.TLS != nil {
		client := modern(cfg.TLS)
		host, _, _ := net.SplitHostPort(address)
		client.ServerName = cmp.Or(client.ServerName, host)
		conn = tls.Client(raw, client)
	}
	release := guard(ctx, raw)
	theirs, err := dialHandshake(conn, cfg, process)
	if !release() {
		err = cmp.Or(err, ctx.Err())
	}
	if err != nil {
		conn.Close()
		return err
	}
	s.link(conn, theirs)
	return nil
}

// modern is a TLS configuration whose connections can be identified.
func modern(cfg *tls.Config) *tls.Config {
	cfg = cfg.Clone()
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS13)
	return cfg
}
