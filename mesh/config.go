package mesh

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"
)

// Config says who the workers are. The zero value is one worker.
type Config struct {
	// Threads is the number of workers in this process; 0 means 1. It is the same in
	// all processes.
	Threads int
	// Processes is the number of processes; 0 means 1.
	Processes int
	// Process is the number of this process, from 0.
	Process int
	// Addresses are the host:port of all processes, if there are several. Each
	// process listens on its own while it starts.
	Addresses []string
	// Listener is listened on instead of Addresses[Process]. Start closes it.
	Listener net.Listener
	// Secret is known to all processes, which prove it to one another. It is
	// required where an address is not of the loopback interface, unless TLS asks for
	// client certificates.
	Secret []byte
	// TLS encrypts the connections: a process is a server to those of higher numbers and
	// a client to those of lower ones. Without it the secret keeps strangers
	// out, but what is sent can be read and changed on its way.
	TLS *tls.Config
	// Wait is how long Start waits for the others; 0 means 30 seconds.
	Wait time.Duration
	// Timeout is the silence after which another process counts as lost; 0 means 10
	// seconds. The others, if they have nothing to say, send a heartbeat every fifth of it.
	Timeout time.Duration
	// Fingerprint names the program and its configuration, as fields with ", " between them. A process
	// with another one is refused, and told which fields differ. It has at most 1 KiB.
	Fingerprint string
	// Outstanding is the number of bytes that may wait for a process, here or
	// there, before its workers are asked to yield; 0 means 64 MiB. See [Peer.Congested].
	Outstanding int64
	// Logger gets a line for each stranger that was refused; nil means [slog.Default].
	Logger *slog.Logger
}

const (
	defaultWait        = 30 * time.Second
	defaultTimeout     = 10 * time.Second
	defaultOutstanding = 64 << 20
	maxFingerprint     = 1 << 10
)

// withDefaults checks the configuration and fills in what was left 0.
func (c Config) withDefaults() (Config, error) {
	c.Threads = cmp.Or(c.Threads, 1)
	c.Processes = cmp.Or(c.Processes, 1)
	c.Wait = cmp.Or(c.Wait, defaultWait)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.Outstanding = cmp.Or(c.Outstanding, defaultOutstanding)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	switch {
	case c.Threads < 0:
		return c, fmt.Errorf("threads: %d is less than 0", c.Threads)
	case c.Processes < 0:
		return c, fmt.Errorf("processes: %d is less than 0", c.Processes)
	case c.Process < 0 || c.Process >= c.Processes:
		return c, fmt.Errorf("process: there is no process %d among %d, which count from 0", c.Process, c.Processes)
	case c.Wait < 0 || c.Timeout < 0 || c.Outstanding < 0:
		return c, errors.New("wait, timeout and outstanding must not be less than 0")
	case len(c.Fingerprint) > maxFingerprint:
		return c, fmt.Errorf("fingerprint: it has %d bytes, expected at most %d", len(c.Fingerprint), maxFingerprint)
	case c.Processes > 1 && len(c.Addresses) != c.Processes:
		return c, fmt.Errorf("addresses: there are %d for %d processes", len(c.Addresses), c.Processes)
	case c.Processes > 1:
		return c, c.checkExposure()
	}
	return c, nil
}

// proven says that TLS proves who the other side is, both ways.
func (c Config) proven() bool {
	return c.TLS != nil && c.TLS.ClientAuth == tls.RequireAndVerifyClientCert && !c.TLS.InsecureSkipVerify
}

// checkExposure refuses connections outside of this machine that anyone could make.
func (c Config) checkExposure() error {
	if len(c.Secret) > 0 || c.proven() {
		return nil
	}
	all := slices.Clone(c.Addresses)
	if c.Listener != nil {
		all[c.Process] = c.Listener.Addr().String()
	}
	for i, address := range all {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("address of process %d: %w", i, err)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fmt.Errorf("address of process %d: %s is not of the loopback interface: a secret is required, or TLS that requires and verifies client certificates", i, address)
		}
	}
	return nil
}
