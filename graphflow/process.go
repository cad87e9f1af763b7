package graphflow

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"weir/graph"
	"weir/graph/order"
	"weir/internal/progress"
	"weir/timely"
)

// process is what the workers of a process share.
type process struct {
	layout
	ctx     context.Context
	g       *graph.Graph
	in      order.EdgeMap // rows of destinations
	degrees []uint32
	opt     PageRankOptions
	first   int // the worker that sees to what all share
	traffic *traffic
	wire    wire
	stage   *progress.Stage
	result  PageRankResult // written by the first worker
}

// ended is called by each worker at the end of each round.
func (p *process) ended(me, round int, ends []time.Time) {
	if me != p.first || round == 0 {
		return
	}
	p.stage.Add(p.g.Edges)
	if round == p.opt.Iterations {
		p.result.Times = times(ends)
	}
}

// answer is what a worker has at the end, in pieces.
type answer struct {
	worker uint32
	first  uint32 // number of the first vertex at the worker
	ranks  []float32
	// From the first worker of a process, at the end:
	last    bool
	traffic ProcessTraffic
	wire    int64
}

// answerLen is how many ranks an answer has.
const answerLen = 1 << 16

// collect is called by worker 0 for each answer.
func (p *process) collect(a answer) {
	if a.last {
		if p.result.Traffic != nil {
			p.result.Traffic[int(a.worker)/p.threads] = a.traffic
		}
		p.result.WireBytes += a.wire
	}
	for i, rank := range a.ranks {
		p.result.Ranks[(int(a.first)+i)*p.workers+int(a.worker)] = rank
	}
}

// count has the connections to other processes counted. Of two processes one calls the
// other, and the one that is called counts both directions.
func (p *process) count(ctx context.Context, cfg *timely.Config) error {
	if cfg.Listener == nil {
		if cfg.Process < 0 || cfg.Process >= len(cfg.Addresses) {
			return fmt.Errorf("process %d has no address among %d", cfg.Process, len(cfg.Addresses))
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Addresses[cfg.Process])
		if err != nil {
			return fmt.Errorf("listen as process %d: %w", cfg.Process, err)
		}
		cfg.Listener = l
	}
	cfg.Listener = &countingListener{cfg.Listener, &p.wire}
	return nil
}

// wire counts bytes in both directions.
type wire struct{ bytes atomic.Int64 }

type countingListener struct {
	net.Listener
	wire *wire
}

func (l *countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countingConn{conn, l.wire}, nil
}

// countingConn is a connection. It must not have the methods by which package net sends several
// buffers at once, which could not be counted.
type countingConn struct {
	net.Conn
	wire *wire
}

func (c *countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.wire.bytes.Add(int64(n))
	return n, err
}

// Write counts before it writes, as what was written may be answered before it returns.
func (c *countingConn) Write(b []byte) (int, error) {
	c.wire.bytes.Add(int64(len(b)))
	n, err := c.Conn.Write(b)
	c.wire.bytes.Add(int64(n - len(b)))
	return n, err
}

// CloseWrite ends what is sent, as package mesh does when there is no more.
func (c *countingConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
