package mesh

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// impostor starts process 0 of two, and is process 1 itself: it returns the connection
// after the handshake.
func impostor(t *testing.T, cfg Config) (*Mesh, net.Conn) {
	t.Helper()
	var m *Mesh
	var err error
	var all sync.WaitGroup
	all.Go(func() { m, err = Start(t.Context(), cfg) })
	conn, dialErr := net.Dial("tcp", cfg.Addresses[0])
	if dialErr != nil {
		t.Fatal(dialErr)
	}
	t.Cleanup(func() { conn.Close() })
	mine := cfg
	mine.Process = 1
	if _, err := dialHandshake(conn, mine, 0); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return m, conn
}

// sealed is a frame as it travels.
func sealed(h header, number uint64, texts ...string) []byte {
	b := appendFrame(nil, h, number, texts...)
	seal(b)
	return b
}

// expectLost waits for the workers of a mesh to hear that a process is lost.
func expectLost(t *testing.T, m *Mesh, process int, want ...string) {
	t.Helper()
	var all sync.WaitGroup
	for _, p := range m.Workers() {
		all.Go(func() {
			for p.Err() == nil && p.Park(10*time.Second) {
			}
			lost, ok := errors.AsType[*PeerLostError](p.Err())
			if !ok || lost.Process != process || !errors.Is(p.Err(), ErrPeerLost) {
				t.Errorf("worker %d got %v, expected to lose process %d", p.Index(), p.Err(), process)
			}
			contains(t, "worker", p.Err(), want...)
		})
	}
	all.Wait()
	if err := m.Close(); !errors.Is(err, ErrPeerLost) {
		t.Errorf("Close returned %v", err)
	}
}

// What a process does wrong after the handshake ends the others with an error that
// says what.
func TestBadPeers(t *testing.T) {
	pulse := sealed(header{kind: framePulse}, 0)
	broken := func(at int) []byte {
		b := sealed(header{kind: frameOpen}, 0, "a channel", "int")
		b[at] ^= 0x10
		return b
	}
	opened := sealed(header{kind: frameOpen}, 0, "data", "uint64")
	for _, c := range []struct {
		name string
		do   func(conn net.Conn)
		want string
	}{
		{"closes", func(c net.Conn) { c.Close() }, "without a goodbye"},
		{"resets", func(c net.Conn) { c.(*net.TCPConn).SetLinger(0); c.Close() }, "without a goodbye"},
		{"closes in the middle", func(c net.Conn) { c.Write(opened[:40]); c.Close() }, "without a goodbye"},
		{"says nothing", func(net.Conn) {}, "silent"},
		{"stops in the middle", func(c net.Conn) { c.Write(opened[:40]) }, "silent"},
		{"breaks a header", func(c net.Conn) { c.Write(broken(17)) }, "corrupt frame: checksum of the header"},
		{"breaks a length", func(c net.Conn) { c.Write(broken(10)) }, "corrupt frame"},
		{"breaks a payload", func(c net.Conn) { c.Write(broken(50)) }, "corrupt frame: checksum"},
		{"breaks a checksum", func(c net.Conn) { c.Write(broken(3)) }, "corrupt frame: checksum"},
		{"sends an unknown kind", func(c net.Conn) { c.Write(sealed(header{kind: 77}, 0)) }, "kind 77"},
		{"sends a short text", func(c net.Conn) { c.Write(sealed(header{kind: frameOpen}, 0)) }, "too short"},
		{"sends no message", func(c net.Conn) { c.Write(opened); c.Write(sealed(header{kind: frameData}, 7)) }, "a message on channel 0"},
		{"sends to nobody", func(c net.Conn) { c.Write(sealed(header{kind: frameData, target: 9}, 7)) }, "worker 9 of 2"},
		{"loses us", func(c net.Conn) { c.Write(sealed(header{kind: frameFail}, 1|1<<32, "no pulse")) }, "no pulse"},
		{"does not read", func(c net.Conn) {
			for {
				if _, err := c.Write(pulse); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}, "has not read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := loopback(t, 2, 2)[0]
			cfg.Timeout = time.Second
			m, conn := impostor(t, cfg)
			to, _, err := m.Workers()[0].Open[uint64]("data")
			if err != nil {
				t.Fatal(err)
			}
			var other sync.WaitGroup
			other.Go(func() { c.do(conn) })
			if c.want == "has not read" {
				for range 200_000 {
					to[2].Send(1)
				}
			}
			expectLost(t, m, 1, c.want, cfg.Addresses[1])
			conn.Close()
			other.Wait()
		})
	}
}

// A process that sees another one die tells the others, who may not see it.
func TestLossIsPassedOn(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	cfg := loopback(t, 3, 1)[0]
	cfg.Processes = 2
	cfg.Addresses = cfg.Addresses[:2]
	cfg.Timeout = 400 * time.Millisecond // half of it is how long Close waits for an answer
	m, conn := impostor(t, cfg)
	m.Fail(&PeerLostError{Process: 5, Address: "five", Cause: io.ErrUnexpectedEOF})
	b, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for len(b) > 0 {
		h, payload, size, err := parseFrame(b)
		if err != nil || payload == nil {
			t.Fatalf("%d bytes are left: %v", len(b), err)
		}
		if h.kind == frameFail {
			var text string
			about, err := parsePayload(payload, &text)
			said = append(said, fmt.Sprint(about>>32, " ", text, err))
		}
		b = b[size:]
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "6 unexpected EOF") {
		t.Errorf("it said %q", said)
	}
	m.Close()
}

// TestCloseTellsOfFailure closes a mesh between the moment from which its workers see a failure and
// the one in which the other processes are told: they must not take it for a good end.
func TestCloseTellsOfFailure(t *testing.T) {
	meshes, _ := startCluster(t, loopback(t, 2, 1))
	defer meshes[0].Close()
	cause := errors.New("out of flour")
	meshes[1].failure.Store(&cause) // as Fail does first of all
	if err := meshes[1].Close(); err != cause {
		t.Errorf("close: %v, expected %v", err, cause)
	}
	select {
	case <-meshes[0].down:
	case <-time.After(5 * time.Second):
	}
	contains(t, "the other process", meshes[0].Err(), "process 1: out of flour")
}

// Heartbeats keep processes together that have nothing to say.
func TestQuietIsNotLost(t *testing.T) {
	configs := loopback(t, 2, 1)
	for i := range configs {
		configs[i].Timeout = 600 * time.Millisecond
	}
	meshes, workers := startCluster(t, configs)
	if workers[0].Park(1500 * time.Millisecond) {
		t.Errorf("woken by %v", workers[0].Err())
	}
	closeAll(t, meshes)
}

// A process that dies while the others still start ends their start.
func TestDeathDuringStart(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	cfg := loopback(t, 3, 1)[0]
	done := make(chan error)
	go func() {
		_, err := Start(t.Context(), cfg)
		done <- err
	}()
	conn, err := net.Dial("tcp", cfg.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	mine := cfg
	mine.Process = 2
	if _, err := dialHandshake(conn, mine, 0); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	begin := time.Now()
	err = <-done
	contains(t, "start", err, "lost process 2", "without a goodbye")
	if waited := time.Since(begin); waited > cfg.Wait/2 {
		t.Errorf("it took %v", waited)
	}
}
