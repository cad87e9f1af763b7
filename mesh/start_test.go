package mesh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Processes may start in any order, and take their time.
func TestStartInAnyOrder(t *testing.T) {
	const processes = 4
	for round := range 3 {
		seed := uint64(round)
		random := rand.New(rand.NewPCG(seed, 1))
		configs := loopback(t, processes, 1)
		meshes := make([]*Mesh, processes)
		var all sync.WaitGroup
		for i, cfg := range configs {
			// Without the listener, dialling fails until the process has started.
			cfg.Listener.Close()
			cfg.Listener = nil
			delay := time.Duration(random.IntN(150)) * time.Millisecond
			all.Go(func() {
				time.Sleep(delay)
				var err error
				if meshes[i], err = Start(t.Context(), cfg); err != nil {
					t.Errorf("seed %d: process %d: %v", seed, i, err)
				}
			})
		}
		all.Wait()
		if !t.Failed() {
			closeAll(t, meshes)
		}
	}
}

// Configurations that do not fit together are errors on both sides, which say
// what does not fit.
func TestDisagreement(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(cfg *Config) // of process 1
		want   []string
		strict bool // also without a secret, process 0 sees a stranger only
	}{
		{"fingerprint", func(cfg *Config) { cfg.Fingerprint = "graph, 10 rounds, damping 0.85" },
			[]string{`process 1 and process 0 run different programs or configurations: process 1 has "10 rounds", process 0 has "20 rounds"`}, true},
		{"processes", func(cfg *Config) { cfg.Processes = 3; cfg.Addresses = append(cfg.Addresses, "127.0.0.1:1") }, []string{"process 1 has 3 processes, process 0 has 2"}, true},
		{"threads", func(cfg *Config) { cfg.Threads = 7 }, []string{"process 1 has 7 threads, process 0 has 1"}, true},
		{"secret", func(cfg *Config) { cfg.Secret = []byte("rosebud") }, []string{"secret"}, false},
		{"no secret", func(cfg *Config) { cfg.Secret = nil }, []string{"secret"}, false},
	} {
		for _, secret := range []string{"", "swordfish"} {
			t.Run(fmt.Sprintf("%s/secret=%s", c.name, secret), func(t *testing.T) {
				if c.name == "no secret" && secret == "" {
					t.Skip("that fits")
				}
				t.Parallel()
				configs := loopback(t, 2, 1)
				var log lockedBuffer
				for i := range configs {
					configs[i].Secret = []byte(secret)
					configs[i].Fingerprint = "graph, 20 rounds, damping 0.85"
				}
				configs[0].Wait = time.Second
				configs[0].Logger = logger(&log)
				c.change(&configs[1])
				begin := time.Now()
				_, errs := startAll(configs)
				for i, err := range errs {
					contains(t, fmt.Sprintf("process %d", i), err, c.want...)
					if err != nil && (strings.Contains(err.Error(), "swordfish") || strings.Contains(err.Error(), "rosebud")) {
						t.Errorf("the error tells the secret: %v", err)
					}
				}
				if !errors.Is(errs[1], ErrRefused) {
					t.Errorf("process 1: %v is no refusal", errs[1])
				}
				if c.strict && secret != "" && (!errors.Is(errs[0], ErrRefused) || time.Since(begin) > configs[0].Wait) {
					t.Errorf("process 0 waited %v though it knew better: %v", time.Since(begin), errs[0])
				}
				if text := log.String(); !strings.Contains(text, "refused a connection") || strings.Contains(text, "swordfish") || strings.Contains(text, "rosebud") {
					t.Errorf("the log says %q", text)
				}
			})
		}
	}
}

func TestAnotherVersion(t *testing.T) {
	cfg := loopback(t, 2, 1)[0]
	cfg.Wait = 500 * time.Millisecond
	done := make(chan error)
	go func() {
		_, err := Start(t.Context(), cfg)
		done <- err
	}()
	conn, err := net.Dial("tcp", cfg.Addresses[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	mine := cfg
	mine.Process = 1
	h := newHello(mine, 0)
	h.Version = 9
	if _, err := conn.Write(h.encode()); err != nil {
		t.Fatal(err)
	}
	// The answer lets the other version know what it talks to.
	answer, _, err := readHello(conn)
	if err != nil || answer.Version != protocol {
		t.Errorf("the answer is version %d: %v", answer.Version, err)
	}
	contains(t, "acceptor", <-done, "process 1 speaks version 9 of the protocol, process 0 speaks version 2")

	// And as the one that dials.
	configs := loopback(t, 2, 1)
	go func() {
		conn, err := configs[0].Listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		theirs, _, err := readHello(conn)
		if err != nil {
			t.Error(err)
		}
		h := newHello(configs[0], int(theirs.Process))
		h.Version = 9
		conn.Write(h.encode())
	}()
	_, err = Start(t.Context(), configs[1])
	contains(t, "dialer", err, "process 0", configs[0].Addresses[0], "speaks version 9")
	configs[0].Listener.Close()
}

func TestTwoClaimOneProcess(t *testing.T) {
	configs := loopback(t, 2, 1)
	cfg := configs[0]
	cfg.Timeout = 400 * time.Millisecond
	cfg.Processes = 3
	cfg.Addresses = append(cfg.Addresses, "127.0.0.1:1")
	done := make(chan error)
	go func() {
		m, err := Start(t.Context(), cfg)
		if err == nil {
			m.Fail(errors.New("that was all"))
			m.Close()
		}
		done <- err
	}()
	first := cfg
	first.Process = 2
	conn := dialUntil(t, cfg.Addresses[0])
	defer conn.Close()
	if _, err := dialHandshake(conn, first, 0); err != nil {
		t.Fatal(err)
	}
	// One that broke off before it was let in does not count.
	dialed := newHello(configs[1], 0)
	dialed.Processes = 3
	broken := dialUntil(t, cfg.Addresses[0])
	broken.Write(dialed.encode())
	defer broken.Close()

	second := first
	second.Listener = nil
	second.Addresses = []string{cfg.Addresses[0], cfg.Addresses[1], "127.0.0.1:0"}
	_, err := Start(t.Context(), second)
	contains(t, "second process 2", err, "process 0 ("+cfg.Addresses[0]+")", "there is a process 2 already")
	third := cfg
	third.Process = 1
	conn = dialUntil(t, cfg.Addresses[0])
	defer conn.Close()
	if _, err := dialHandshake(conn, third, 0); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("process 0: %v", err)
	}
	configs[1].Listener.Close()
}

func dialUntil(t *testing.T, address string) net.Conn {
	t.Helper()
	for range 100 {
		if conn, err := net.Dial("tcp", address); err == nil {
			return conn
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("nobody listens on %s", address)
	return nil
}

// Strangers are refused, logged, and disturb nobody.
func TestStrangers(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	configs := loopback(t, 2, 1)
	var log lockedBuffer
	for i := range configs {
		configs[i].Secret = []byte("open sesame")
		configs[i].Logger = logger(&log)
	}
	var strangers []net.Conn
	for i := range 40 {
		conn := dialUntil(t, configs[0].Addresses[0])
		strangers = append(strangers, conn)
		switch i % 5 {
		case 0:
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"+strings.Repeat("x", 100))
		case 1:
			conn.Close()
		case 2: // says nothing
		case 3:
			conn.Write(make([]byte, 1000))
		case 4: // claims to be process 1, and does not know the secret
			guess := configs[1]
			guess.Secret = []byte("open barley")
			dialed := newHello(guess, 0).encode()
			conn.Write(dialed)
			conn.Write(append([]byte{codeAccepted}, make([]byte, 32)...))
		}
	}
	meshes := make([]*Mesh, 2)
	var all sync.WaitGroup
	for i, cfg := range configs {
		all.Go(func() {
			for i == 1 && strings.Count(log.String(), "another secret") < 8 {
				time.Sleep(time.Millisecond)
			}
			var err error
			if meshes[i], err = Start(t.Context(), cfg); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if !t.Failed() {
		closeAll(t, meshes)
	}
	for _, conn := range strangers {
		conn.Close()
	}
	text := log.String()
	if !strings.Contains(text, `it begins with \"GET / HT\"`) || !strings.Contains(text, "another secret") || strings.Contains(text, "sesame") {
		t.Errorf("the log says\n%s", text)
	}
}

// lockedBuffer is a buffer that several goroutines may write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func logger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func TestMissingProcesses(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	configs := loopback(t, 4, 1)
	configs[0].Wait = 300 * time.Millisecond
	configs[1].Listener.Close()
	configs[3].Listener.Close()
	_, errs := startAll([]Config{configs[0], configs[2]})
	contains(t, "process 0", errs[0], "within 300ms", "process 1 ("+configs[1].Addresses[1]+"): it has not called", "process 3 ("+configs[1].Addresses[3]+")")
	if strings.Contains(errs[0].Error(), "process 2") {
		t.Errorf("process 2 is not missing: %v", errs[0])
	}
	// Process 2 would wait longer, but process 0 tells it.
	contains(t, "process 2", errs[1], "process 0", "process 1 ("+configs[1].Addresses[1]+")", "process 3")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	configs = loopback(t, 2, 1)
	_, err := Start(ctx, configs[0])
	contains(t, "cancelled", err, "interrupted", "process 1")
	configs[1].Listener.Close()
}

func TestPortTaken(t *testing.T) {
	configs := loopback(t, 2, 1)
	taken := configs[0].Listener
	defer taken.Close()
	configs[0].Listener = nil
	_, err := Start(t.Context(), configs[0])
	contains(t, "start", err, "listen as process 0", taken.Addr().String(), "in use")
	configs[1].Listener.Close()
}

func TestExposure(t *testing.T) {
	for _, address := range []string{":9000", "10.1.2.3:9000", "weir-1.weir:9000", "[2001:db8::1]:9000", "0.0.0.0:9000"} {
		cfg := Config{Processes: 2, Addresses: []string{"127.0.0.1:9000", address}}
		_, err := Start(t.Context(), cfg)
		contains(t, address, err, "process 1", address, "secret is required")
		cfg.Secret = []byte("x")
		if _, err := cfg.withDefaults(); err != nil {
			t.Errorf("%s with a secret: %v", address, err)
		}
	}
	open, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	_, err = Start(t.Context(), Config{Processes: 2, Addresses: []string{"127.0.0.1:9000", "127.0.0.1:9001"}, Listener: open})
	contains(t, "listener", err, "process 0", "secret is required")
	_, err = Start(t.Context(), Config{Processes: 2, Addresses: []string{"localhost:9000", "nonsense"}})
	contains(t, "nonsense", err, "process 1", "nonsense")
	_, err = Start(t.Context(), Config{Processes: 3, Addresses: []string{"localhost:9000"}})
	contains(t, "too few", err, "there are 1 for 3 processes")
}

// readProof and readHello must not believe what they read.
func FuzzHandshake(f *testing.F) {
	cfg := Config{Processes: 2, Process: 1, Threads: 1}
	good := newHello(cfg, 0).encode()
	f.Add(append(append(good, codeAccepted), make([]byte, 33)...), true)
	f.Add(append(append(good, codeRefused, 5, 0), "no no"...), false)
	f.Add(good[:50], true)
	f.Fuzz(func(t *testing.T, input []byte, accept bool) {
		conn := scripted{Reader: bytes.NewReader(input)}
		if accept {
			cfg := cfg
			cfg.Process = 0
			_, err := acceptHandshake(conn, cfg, func(int) string { return "" })
			if err == nil {
				t.Error("a stranger was let in")
			}
		} else if _, err := dialHandshake(conn, cfg, 0); err == nil {
			t.Error("a stranger was believed")
		}
	})
}

// scripted is a connection whose other side says what was written beforehand.
type scripted struct {
	net.Conn
	io.Reader
}

func (s scripted) Read(b []byte) (int, error)  { return s.Reader.Read(b) }
func (s scripted) Write(b []byte) (int, error) { return len(b), nil }
