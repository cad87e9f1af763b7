package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"weir/graphflow/launch"
	"weir/internal/latency"
	"weir/internal/program"
	"weir/timely"
)

// task is what one process measures, or several that work together.
type task struct {
	Work      string
	Workers   int // in each process
	Processes int
	Length    time.Duration
	Records   int // that a worker sends in a round
	Operators int
	Vertices  int
	Edges     int
	Rate      int // of events a second, over all workers
}

// measured is what came of a task.
type measured struct {
	Rounds    uint64  // or whatever is counted
	Seconds   float64 // that they took
	Memory    uint64  // most bytes of the process that were resident; 0 where the system does not tell
	Latencies latency.Histogram
}

// all is the number of workers in all processes.
func (t task) all() int { return t.Workers * t.Processes }

// works are what tasks do, by name.
var works = map[string]func(w *timely.Worker, t task, m *record) error{
	"exchange":   exchange,
	"one by one": exchange,
	"barrier":    barrier,
	"empty":      chain,
	"through":    chain,
	"beside":     beside,
	"idle":       idle,
	"union-find": unionFind,
	"open loop":  openLoop,
}

// record is where the workers of a process put what they found.
type record struct {
	mu    sync.Mutex
	out   measured
	begin time.Time // zero until a worker begins
}

// start is when the first worker of the process asked, so that all have one clock.
func (r *record) start() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begin.IsZero() {
		r.begin = time.Now()
	}
	return r.begin
}

func (r *record) set(rounds uint64, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Rounds, r.out.Seconds = rounds, took.Seconds()
}

func (r *record) add(latencies latency.Histogram) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Latencies.Merge(latencies)
}

// measurePart does a task, with other processes that it starts where there are several, and prints
// what came of it.
func measurePart(ctx context.Context, t task, stdout io.Writer) error {
	found := &record{}
	if t.Processes == 1 {
		cfg := timely.Threads(t.Workers)
		cfg.Context = ctx
		if err := t.run(cfg, found); err != nil {
			return err
		}
	} else if err := t.runProcesses(ctx, found); err != nil {
		return err
	}
	found.out.Memory = peakMemory()
	return json.NewEncoder(stdout).Encode(found.out)
}

func (t task) runProcesses(ctx context.Context, found *record) error {
	path, args, err := program.Self("join", t)
	if err != nil {
		return err
	}
	others, err := launch.Start(ctx, t.Processes, func() *exec.Cmd { return exec.Command(path, args...) })
	if err != nil {
		return err
	}
	cfg := timely.Config{Config: others.Config(), Context: others.Context()}
	cfg.Threads = t.Workers
	return others.End(t.run(cfg, found))
}

// joinPart is what the other processes do.
func joinPart(ctx context.Context, t task, stdout io.Writer) error {
	ctx, mesh, err := launch.Join(ctx, os.Stdin, stdout)
	if err != nil {
		return err
	}
	cfg := timely.Config{Config: mesh, Context: ctx}
	cfg.Threads = t.Workers
	return t.run(cfg, &record{})
}

func (t task) run(cfg timely.Config, found *record) error {
	work, known := works[t.Work]
	if !known {
		return fmt.Errorf("there is no work %q", t.Work)
	}
	return timely.Run(cfg, func(w *timely.Worker) error { return work(w, t, found) })
}

// peakMemory is the most memory that this process has had, in bytes; 0 where the system does not tell.
func peakMemory() uint64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64) // 0 if it is none
			return kib << 10
		}
	}
	return 0
}
