package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"weir/flat"
)

// loopback prepares the configurations of several processes on the loopback interface.
func loopback(t require, processes, threads int) []Config {
	configs := make([]Config, processes)
	addresses := make([]string, processes)
	for i := range configs {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addresses[i] = listener.Addr().String()
		configs[i] = Config{
			Threads: threads, Processes: processes, Process: i,
			Addresses: addresses, Listener: listener,
			Wait: 5 * time.Second, Timeout: 2 * time.Second,
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		}
	}
	return configs
}

// startAll starts all processes at once.
func startAll(configs []Config) ([]*Mesh, []error) {
	meshes := make([]*Mesh, len(configs))
	errs := make([]error, len(configs))
	var all sync.WaitGroup
	for i, cfg := range configs {
		all.Go(func() { meshes[i], errs[i] = Start(context.Background(), cfg) })
	}
	all.Wait()
	return meshes, errs
}

func startCluster(t require, configs []Config) ([]*Mesh, []*Peer) {
	meshes, errs := startAll(configs)
	if err := errors.Join(errs...); err != nil {
		for _, m := range meshes {
			if m != nil {
				m.Close()
			}
		}
		t.Fatal(err)
	}
	var workers []*Peer
	for _, m := range meshes {
		workers = append(workers, m.Workers()...)
	}
	return meshes, workers
}

func closeAll(t require, meshes []*Mesh) {
	var all sync.WaitGroup
	for i, m := range meshes {
		all.Go(func() {
			if err := m.Close(); err != nil {
				t.Errorf("close process %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

func TestClusterExactlyOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		processes := rapid.IntRange(2, 3).Draw(t, "processes")
		threads := rapid.IntRange(1, 3).Draw(t, "threads")
		meshes, workers := startCluster(t, loopback(t, processes, threads))
		for i, p := range workers {
			if p.Index() != i || p.Peers() != len(workers) {
				t.Errorf("worker %d of %d says that it is %d of %d", i, len(workers), p.Index(), p.Peers())
			}
		}
		exchange(t, workers, drawPlan(t, len(workers)), rapid.IntRange(1, 4).Draw(t, "channels"))
		closeAll(t, meshes)
	})
}

func TestBroadcast(t *testing.T) {
	meshes, workers := startCluster(t, loopback(t, 2, 3))
	defer closeAll(t, meshes)
	const n = 100
	onWorkers(t, workers, func(p *Peer) {
		to, from, err := p.Open[[]string]("news")
		if err != nil {
			t.Errorf("open: %v", err)
			return
		}
		for i := range n {
			Broadcast(to, []string{fmt.Sprint(p.Index()), fmt.Sprint(i)})
		}
		next := make([]int, p.Peers())
		for come := 0; come < n*p.Peers() && p.Err() == nil; {
			p.Park(0)
			p.Ready(func(int) {})
			for _, m := range from.Take(nil) {
				var who, number int
				fmt.Sscan(m[0], &who)
				fmt.Sscan(m[1], &number)
				if number != next[who] {
					t.Errorf("worker %d got number %d of worker %d, expected %d", p.Index(), number, who, next[who])
				}
				next[who]++
				come++
			}
		}
	})
	for i, m := range meshes {
		if s := m.Stats()[1-i]; s.SentMessages != 3*n || s.SentMessages != s.ReceivedMessages || s.SentBytes < 3*n*headerSize {
			t.Errorf("process %d counts %+v", i, s)
		}
	}
}

// A process may send before another one has opened the channel, or even has started.
func TestClusterMessageBeforeOpen(t *testing.T) {
	meshes, workers := startCluster(t, loopback(t, 2, 2))
	defer closeAll(t, meshes)
	to, _, err := workers[0].Open[string]("early")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 10 {
		want = append(want, fmt.Sprint(i))
		to[3].Send(want[i])
	}
	for meshes[1].Stats()[0].ReceivedMessages < 10 {
		time.Sleep(time.Millisecond)
	}
	to[3].Send("last")
	_, from, err := workers[3].Open[string]("early")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(got) <= len(want) && workers[3].Park(5*time.Second) {
		workers[3].Ready(func(int) {})
		got = from.Take(got)
	}
	if !slices.Equal(got, append(want, "last")) {
		t.Errorf("got %q", got)
	}
}

func TestClusterMismatchNamesBoth(t *testing.T) {
	for _, sameTime := range []bool{true, false} {
		meshes, workers := startCluster(t, loopback(t, 2, 1))
		if _, _, err := workers[0].Open[int]("edges"); err != nil {
			t.Fatal(err)
		}
		for !sameTime {
			meshes[1].mu.Lock()
			sameTime = len(meshes[1].elsewhere) > 0
			meshes[1].mu.Unlock()
		}
		workers[1].Open[string]("ranks")
		for i, p := range workers {
			for p.Err() == nil && p.Park(5*time.Second) {
			}
			contains(t, fmt.Sprintf("process %d", i), p.Err(), "channel 0", `"edges" of int`, `"ranks" of string`, "same order")
			contains(t, "close", meshes[i].Close(), "channel 0")
		}
	}
}

func TestUnencodableType(t *testing.T) {
	meshes, workers := startCluster(t, loopback(t, 2, 1))
	defer closeAll(t, meshes)
	type bad struct {
		Good int
		Hook func()
	}
	_, _, err := workers[0].Open[bad]("bad")
	contains(t, "open", err, `"bad"`, "Hook", "func()")
	if workers[0].Err() != nil {
		t.Errorf("the mesh failed: %v", workers[0].Err())
	}
	alone := start(t, Config{})
	defer alone.Close()
	if _, _, err := alone.Workers()[0].Open[bad]("fine in one process"); err != nil {
		t.Error(err)
	}
}

// Too much on the way makes a process congested, whoever is slow, and taking it
// ends that.
func TestCongestion(t *testing.T) {
	configs := loopback(t, 2, 1)
	configs[0].Outstanding = 64 << 10
	meshes, workers := startCluster(t, configs)
	defer closeAll(t, meshes)
	to, _, err := workers[0].Open[[]uint64]("data")
	if err != nil {
		t.Fatal(err)
	}
	_, from, err := workers[1].Open[[]uint64]("data")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		to[1].Send(make([]uint64, 1024))
		if congested := workers[0].Congested(); congested != (i >= 7) {
			t.Fatalf("after %d messages of 8 KiB, congested is %v", i+1, congested)
		}
	}
	for meshes[1].Stats()[0].ReceivedMessages < 20 {
		time.Sleep(time.Millisecond)
	}
	if !workers[0].Congested() {
		t.Error("not congested though nothing has been taken")
	}
	come := 0
	for come < 20 && workers[1].Park(5*time.Second) {
		workers[1].Ready(func(int) {})
		come += len(from.Take(nil))
	}
	for workers[0].Congested() && workers[0].Park(5*time.Second) {
	}
	if workers[0].Congested() {
		t.Error("still congested")
	}
	// What comes for a closed receiver does not wait for anyone.
	for range 5 {
		to[1].Send(make([]uint64, 1024))
	}
	from.Close()
	for range 20 {
		to[1].Send(make([]uint64, 1024))
	}
	for workers[0].Congested() && workers[0].Park(5*time.Second) {
	}
	if workers[0].Congested() {
		t.Error("congested by a closed receiver")
	}
}

// A process that has finished is not lost, whatever the others still send it.
func TestFinishedIsNotLost(t *testing.T) {
	meshes, workers := startCluster(t, loopback(t, 3, 1))
	senders := make([][]*Sender[[]uint64], 3)
	receivers := make([]*Receiver[[]uint64], 3)
	for i, p := range workers {
		var err error
		if senders[i], receivers[i], err = p.Open[[]uint64]("data"); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		senders[0][1].Send(make([]uint64, 1000))
		senders[1][0].Send(make([]uint64, 1000))
	}
	if err := meshes[0].Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if !workers[0].Park(0) || !errors.Is(workers[0].Err(), ErrClosed) {
		t.Errorf("a worker of the closed mesh sees %v", workers[0].Err())
	}
	senders[0][1].Send(nil)
	senders[1][0].Send(nil)
	senders[1][2].Send([]uint64{7})
	come := 0
	for come < 100 && workers[1].Park(5*time.Second) {
		workers[1].Ready(func(int) {})
		come += len(receivers[1].Take(nil))
	}
	workers[2].Park(5 * time.Second)
	if got := receivers[2].Take(nil); come != 100 || len(got) != 1 || got[0][0] != 7 {
		t.Errorf("process 1 got %d of 100 messages, process 2 got %v", come, got)
	}
	time.Sleep(50 * time.Millisecond)
	if workers[1].Err() != nil || workers[2].Err() != nil {
		t.Errorf("the others failed: %v, %v", workers[1].Err(), workers[2].Err())
	}
	closeAll(t, meshes[1:])
}

func TestLargeMessages(t *testing.T) {
	meshes, workers := startCluster(t, loopback(t, 2, 1))
	defer closeAll(t, meshes)
	onWorkers(t, workers, func(p *Peer) {
		to, from, err := p.Open[[]byte]("large")
		if err != nil {
			t.Errorf("open: %v", err)
			return
		}
		for i, size := range []int{0, 1, readSize, 5 << 20, 3, chunkSize} {
			m := make([]byte, size)
			for k := range m {
				m[k] = byte(k + i)
			}
			to[1-p.Index()].Send(m)
		}
		var got [][]byte
		for len(got) < 6 && p.Park(10*time.Second) && p.Err() == nil {
			p.Ready(func(int) {})
			got = from.Take(got)
		}
		for i, m := range got {
			for k, b := range m {
				if b != byte(k+i) {
					t.Errorf("byte %d of message %d is %d", k, i, b)
					break
				}
			}
		}
		if len(got) != 6 || len(got[3]) != 5<<20 {
			t.Errorf("got %d messages", len(got))
		}
	})
}

func TestFailReachesAll(t *testing.T) {
	meshes, workers := startCluster(t, loopback(t, 3, 2))
	to, _, err := workers[0].Open[[]uint64]("data")
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		to[2].Send(make([]uint64, 1024))
	}
	meshes[0].Fail(errors.New("worker 1: division by zero"))
	for i, p := range workers {
		for p.Err() == nil && p.Park(5*time.Second) {
		}
		contains(t, fmt.Sprintf("worker %d", i), p.Err(), "worker 1: division by zero")
		if remote, ok := errors.AsType[*RemoteError](p.Err()); i >= 2 && (!ok || remote.Process != 0) {
			t.Errorf("worker %d got %v", i, p.Err())
		}
	}
	for _, m := range meshes {
		contains(t, "close", m.Close(), "division by zero")
	}
}

// Encoding and queueing messages for another process allocates nothing in the long run.
func TestSendingToAnotherProcessDoesNotAllocate(t *testing.T) {
	m := start(t, Config{})
	defer m.Close()
	m.cfg.Processes = 2
	l := newLink(m, hello{Process: 1}, nil)
	codec, err := flat.For[[]uint64]()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sender[[]uint64]{codec: codec, link: l}
	batch := make([]uint64, 1024)
	step := func() {
		for range 20 {
			s.Send(batch)
		}
		l.mu.Lock()
		written := l.chunks
		l.chunks = l.chunks[:0]
		l.mu.Unlock()
		l.recycle(written)
	}
	step()
	if n := testing.AllocsPerRun(100, step); n > 0 {
		t.Errorf("20 messages allocate %g times", n)
	}
}
