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
	congested atomic.Int32 // number of processes that too many bytes wait for

	mu       sync.Mutex
	channels []*channel
}

// Start returns when all processes are connected. Cancelling ctx ends the
// attempt; it has no effect later.
func Start(ctx context.Context, cfg Config) (*Mesh, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("start mesh: %w", err)
	}
	m := &Mesh{cfg: cfg, workers: make([]*Peer, cfg.Threads)}
	for i := range m.workers {
		m.workers[i] = newPeer(m, i)
	}
	return m, nil
}

// Workers are the workers of this process, in the order of their index.
func (m *Mesh) Workers() []*Peer { return m.workers }

func (m *Mesh) peers() int { return m.cfg.Threads * m.cfg.Processes }

// Fail ends the work of every worker of every process with err. The first failure
// is the one that counts.
func (m *Mesh) Fail(err error) {
	if err == nil {
		err = errors.New("a worker failed without saying why")
	}
	if !m.failure.CompareAndSwap(nil, &err) {
		return
	}
	for _, p := range m.workers {
		p.Wake()
	}
}

// Err is why the mesh failed, and nil while it works.
func (m *Mesh) Err() error {
	if err := m.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Close sends what is still to be sent, says goodbye to the other processes, and
// waits for the goroutines of the mesh. It returns why the mesh failed, if it did.
// Workers should have ended: Close does not wait for them.
func (m *Mesh) Close() error { return m.Err() }
