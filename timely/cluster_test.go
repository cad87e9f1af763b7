package timely

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/mesh"
)

// cutter is a listener whose connections can be cut, as if the process had been killed.
type cutter struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (c *cutter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.mu.Lock()
		c.conns = append(c.conns, conn)
		c.mu.Unlock()
	}
	return conn, err
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
}

// processes are the configurations of processes that are all this one.
func processes(t testing.TB, n, threads int) ([]Config, []*cutter) {
	t.Helper()
	configs := make([]Config, n)
	cutters := make([]*cutter, n)
	addresses := make([]string, n)
	for i := range configs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		cutters[i] = &cutter{Listener: l}
		addresses[i] = l.Addr().String()
		configs[i].Config = mesh.Config{
			Threads: threads, Processes: n, Process: i,
			Addresses: addresses, Listener: cutters[i],
			Wait: 5 * time.Second, Timeout: 2 * time.Second,
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		}
	}
	return configs, cutters
}

// runAll runs a program in several processes, and returns the error of each.
func runAll(configs []Config, program func(*Worker) error) []error {
	errs := make([]error, len(configs))
	var all sync.WaitGroup
	for i, cfg := range configs {
		all.Go(func() { errs[i] = Run(cfg, program) })
	}
	all.Wait()
	return errs
}

// settings are those that programs must give the same results for.
var settings = [][2]int{{1, 1}, {1, 3}, {2, 1}, {2, 2}, {3, 1}}

// word is a record with memory of its own.
type word struct {
	Text string
	N    []uint32
}

// TestAnyWorkers runs programs on workers of one process and of several, which must not make
// a difference.
func TestAnyWorkers(t *testing.T) {
	// Each gets its share of the numbers from 0 to 999, and tells what it found at which time.
	programs := []struct {
		name  string
		build func(s *Scope, in Stream[uint64]) Stream[string]
	}{
		{"exchange", func(s *Scope, in Stream[uint64]) Stream[string] {
			return in.Exchange(HashUint64).Map(func(x uint64) string { return fmt.Sprint(x) })
		}},
		{"broadcast", func(s *Scope, in Stream[uint64]) Stream[string] {
			return in.Filter(func(x uint64) bool { return x%100 == 0 }).Broadcast().
				Exchange(func(uint64) uint64 { return 0 }).
				Aggregate(func(x uint64) uint64 { return x }, func(n *int, _ uint64) { *n++ },
					func(x uint64, n int) string { return fmt.Sprint(x, n == s.Worker().Peers()) })
		}},
		{"words", func(s *Scope, in Stream[uint64]) Stream[string] {
			return in.Map(func(x uint64) word { return word{fmt.Sprintf("word %d", x%17), []uint32{uint32(x), 1}} }).
				Aggregate(func(x word) string { return x.Text },
					func(sum *uint32, x word) { *sum += x.N[0] * x.N[1] },
					func(text string, sum uint32) string { return fmt.Sprint(text, " ", sum) }).
				Exchange(HashString)
		}},
		{"collatz", func(s *Scope, in Stream[uint64]) Stream[string] {
			type try struct{ Start, Now, Steps uint64 }
			return in.Map(func(x uint64) try { return try{x, x + 1, 0} }).
				Iterate("steps", func(x Stream[try]) (again, out Stream[try]) {
					over, others := x.Branch(func(x try) bool { return x.Now == 1 })
					return others.Exchange(func(x try) uint64 { return x.Now }).Map(func(x try) try {
						if x.Now%2 == 0 {
							return try{x.Start, x.Now / 2, x.Steps + 1}
						}
						return try{x.Start, 3*x.Now + 1, x.Steps + 1}
					}), over
				}).Map(func(x try) string { return fmt.Sprint(x.Start, " ", x.Steps) })
		}},
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			var want []string
			for _, setting := range settings {
				configs, _ := processes(t, setting[0], setting[1])
				var got gather[string]
				errs := runAll(configs, func(w *Worker) error {
					var in *Input[uint64]
					var probe Probe
					w.Dataflow(p.name, func(s *Scope) {
						in = NewInput[uint64](s)
						p.build(s, in.Stream()).Inspect(func(at Time, x string) { got.add(fmt.Sprint(at, " ", x)) }).Probe(&probe)
					})
					for epoch := range uint64(3) {
						for x := w.Index(); x < 1000; x += w.Peers() {
							in.Send(uint64(x) + epoch)
						}
						in.AdvanceTo(epoch + 1)
						if err := w.StepUntil(probe.Passed(Epoch(epoch))); err != nil {
							return err
						}
					}
					return nil
				})
				if err := errors.Join(errs...); err != nil {
					t.Fatalf("%d processes of %d workers: %v", setting[0], setting[1], err)
				}
				slices.Sort(got.list)
				if want == nil {
					want = got.list
				}
				if len(want) == 0 || !slices.Equal(got.list, want) {
					t.Errorf("%d processes of %d workers: %d results, expected the %d of one worker", setting[0], setting[1], len(got.list), len(want))
				}
			}
		})
	}
}

// TestKilledPeer cuts the connection between two processes in the middle of their work.
func TestKilledPeer(t *testing.T) {
	for _, busy := range []bool{false, true} {
		configs, cutters := processes(t, 2, 2)
		began := time.Now()
		errs := runAll(configs, func(w *Worker) error {
			c := newCounted(w, "cut")
			for i := 0; ; i++ {
				if err := c.round(w, 100); err != nil {
					return err
				}
				if i == 50 && w.Index() == 0 {
					cutters[0].cut()
				}
				if i == 50 && !busy {
					return w.StepUntil(c.probe.Done)
				}
			}
		})
		for i, err := range errs {
			if !errors.Is(err, mesh.ErrPeerLost) {
				t.Errorf("busy %v: process %d ended with %v, expected %v", busy, i, err, mesh.ErrPeerLost)
			}
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("busy %v: it took %v", busy, took)
		}
	}
}

// TestFailureElsewhere has a program fail in one process, and the context of one end.
func TestFailureElsewhere(t *testing.T) {
	sentinel := errors.New("sentinel")
	configs, _ := processes(t, 3, 1)
	errs := runAll(configs, func(w *Worker) error {
		x, err := newTrouble(w)
		if err != nil {
			return err
		}
		if w.Index() == 1 {
			return x.operate(w, func() { panic(sentinel) })
		}
		return w.StepUntil(x.probe.Passed(Epoch(1)))
	})
	for i, err := range errs {
		if i == 1 && !errors.Is(err, sentinel) || !strings.Contains(fmt.Sprint(err), "sentinel") || !strings.Contains(fmt.Sprint(err), `operator "agent"`) {
			t.Errorf("process %d ended with %v", i, err)
		}
	}

	configs, _ = processes(t, 2, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	configs[1].Context = ctx
	errs = runAll(configs, func(w *Worker) error {
		if _, err := newTrouble(w); err != nil {
			return err
		}
		if w.Index() == 1 {
			go cancel(sentinel) // while the worker sleeps, or is about to
		}
		return w.StepUntil(func() bool { return false })
	})
	if !errors.Is(errs[1], sentinel) || !strings.Contains(fmt.Sprint(errs[0]), "sentinel") {
		t.Errorf("the processes ended with %v", errs)
	}
}

// TestDifferentProcesses has processes build what does not fit together.
func TestDifferentProcesses(t *testing.T) {
	for _, more := range []int{0, 1} {
		configs, _ := processes(t, 2, 1)
		errs := runAll(configs, func(w *Worker) error {
			x, err := newTrouble(w)
			if err != nil {
				return err
			}
			if w.Index() == more {
				w.Dataflow("one more", func(s *Scope) { NewInput[int](s) })
			}
			x.in.Close()
			return nil
		})
		for i, err := range errs {
			if err == nil || !strings.Contains(err.Error(), `"one more"`) || !strings.Contains(err.Error(), `"trouble"`) {
				t.Errorf("process %d ended with %v, expected it to name both dataflows", i, err)
			}
		}
	}
}

// TestDropInCluster drops a dataflow while messages are on their way to other processes.
func TestDropInCluster(t *testing.T) {
	configs, _ := processes(t, 2, 2)
	errs := runAll(configs, func(w *Worker) error {
		stays := newCounted(w, "stays")
		for range 10 {
			goes := newCounted(w, "goes")
			for i := range uint64(5000) {
				goes.in.Send(i)
			}
			goes.in.AdvanceTo(2)
			for range w.Index() {
				if _, err := w.Step(); err != nil {
					return err
				}
			}
			goes.flow.Drop()
			if err := stays.round(w, 1000); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkProcessRounds is as BenchmarkRounds, between processes over the loopback interface.
func BenchmarkProcessRounds(b *testing.B) {
	for _, setting := range [][2]int{{2, 1}, {2, 2}} {
		for _, size := range []int{1, 1000, 100_000} {
			b.Run(fmt.Sprintf("processes=%d/workers=%d/records=%d", setting[0], setting[1], size), func(b *testing.B) {
				configs, _ := processes(b, setting[0], setting[1])
				before := time.Duration(0)
				errs := runAll(configs, func(w *Worker) error {
					var in *Input[uint64]
					var probe Probe
					w.Dataflow("exchange", func(s *Scope) {
						in = NewInput[uint64](s)
						in.Stream().Exchange(func(x uint64) uint64 { return x }).Probe(&probe)
					})
					times := rounds(w, in, &probe, size)
					if err := times(1); err != nil {
						return err
					}
					if w.Index() == 0 {
						b.ResetTimer()
						before = cpuTime(b)
					}
					return times(uint64(b.N))
				})
				if err := errors.Join(errs...); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
				b.ReportMetric(float64(b.N)*float64(size*setting[0]*setting[1])/b.Elapsed().Seconds()/1e6, "Mrec/s")
			})
		}
	}
}
