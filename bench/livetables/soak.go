package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"weir/internal/latency"
	"weir/internal/report"
	"weir/timely"
)

// soakOptions say how a graph is changed for long.
type soakOptions struct {
	length, every            time.Duration
	rate                     int
	vertices, edges, workers int
}

// fewSamples is how many there must be for quarters to be compared.
const fewSamples = 8

func (o *soakOptions) check() error {
	if o.length < 0 || o.every < 0 || o.rate < 1 || o.vertices < 1 || o.edges < 1 || o.workers < 1 {
		return errors.New("--soak, --sample, --rate, --soak-vertices, --soak-edges and --soak-workers are expected to be more than 0")
	}
	if o.every == 0 {
		o.every = max(o.length/120, time.Second)
	}
	if o.length > 0 && o.length/o.every < fewSamples {
		return fmt.Errorf("--soak %v has %d samples of %v each, expected %d or more", o.length, o.length/o.every, o.every, fewSamples)
	}
	return nil
}

// sample is how things were for some time.
type sample struct {
	at        time.Duration // its end, since the first answer
	resident  uint64        // bytes of the process
	heap      uint64        // of those, what the last collection of garbage found in use
	state     state         // of the indices of all workers
	latencies latency.Histogram
}

// soaker is a soak.
type soaker struct {
	opt    soakOptions
	start  sync.Once
	origin time.Time // of all workers' clocks: when the answer was there
	out    io.Writer
	file   *bufio.Writer
	list   []sample

	mu      sync.Mutex
	total   uint64
	changes int
	states  []state // of the workers, as they last looked
}

// soak changes a graph at a steady rate, looks on, writes what it sees, and returns an error if that
// is not steady.
func soak(ctx context.Context, opt options, machine report.Machine, stdout, stderr io.Writer) error {
	debug.SetGCPercent(gcPercent)
	if err := os.MkdirAll(opt.out, 0o777); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	file, err := os.Create(filepath.Join(opt.out, soakName+".csv"))
	if err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	defer file.Close()
	s := &soaker{opt: opt.soak, out: stderr, file: bufio.NewWriter(file), states: make([]state, opt.soak.workers)}
	fmt.Fprintln(s.file, strings.Join(sampleColumns, ","))
	t := task{Question: "bfs", Workers: opt.soak.workers, Vertices: opt.soak.vertices, Edges: opt.soak.edges}
	cfg := timely.Threads(t.Workers)
	cfg.Context = ctx
	if err := timely.Run(cfg, func(w *timely.Worker) error { return s.follow(w, t) }); err != nil {
		return err
	}
	if err := errors.Join(s.file.Flush(), file.Close()); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	if err := t.check(s.total, s.changes); err != nil {
		return err
	}
	return s.report(opt.out, machine, stdout)
}

// follow is what a worker does. Change n is due at n/rate seconds and made by the worker of its number modulo theirs;
// its latency is from then until it is confirmed. An epoch is when its first change was due, in microseconds, and 1, so that no worker
// waits for another that has nothing to do.
func (s *soaker) follow(w *timely.Worker, t task) error {
	f, err := newFlow(w, t.Question, t.graph(), new(atomic.Int64))
	if err != nil {
		return err
	}
	if err := f.load(); err != nil {
		return err
	}
	s.start.Do(func() { s.origin = time.Now() })
	due := func(n int) time.Duration { return time.Duration(float64(n) / float64(s.opt.rate) * 1e9) }
	epoch := func(n int) uint64 { return uint64(due(n)/time.Microsecond) + 1 }
	last := int(s.opt.length.Seconds() * float64(s.opt.rate)) // the first change that is not made
	sent, done := w.Index(), w.Index()
	type batch struct {
		epoch uint64
		end   int // the first change that is not in it or those before
	}
	var waiting []batch
	now := sample{at: s.opt.every}
	f.edges.AdvanceTo(epoch(sent))
	for done < last || now.at <= s.opt.length {
		clock := time.Since(s.origin)
		if len(waiting) == 0 && sent < last && due(sent) <= clock {
			for ; sent < last && due(sent) <= clock; sent += w.Peers() {
				f.edges.Remove(f.graph.edge(sent))
				f.edges.Insert(f.graph.edge(sent + f.graph.edges))
			}
			waiting = append(waiting, batch{f.edges.Epoch(), sent})
			if sent < last {
				f.edges.AdvanceTo(max(epoch(sent), f.edges.Epoch()+1))
			} else {
				f.edges.Close()
			}
		}
		busy, err := w.Step()
		if err != nil {
			return err
		}
		clock = time.Since(s.origin)
		for len(waiting) > 0 && !f.probe.LessEqual(timely.Epoch(waiting[0].epoch)) {
			for ; done < waiting[0].end; done += w.Peers() {
				now.latencies.Add(clock - due(done))
			}
			waiting = waiting[1:]
		}
		if clock >= now.at {
			if err := s.look(w, &now); err != nil {
				return err
			}
		}
		if !busy && (len(waiting) > 0 || sent >= last || due(sent) > clock) {
			next := now.at
			if sent < last && len(waiting) == 0 {
				next = min(next, due(sent))
			}
			if wait := next - time.Since(s.origin); wait > 0 {
				if err := w.StepOrPark(wait); err != nil {
					return err
				}
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += f.total
	s.changes = last
	return nil
}

// look ends a sample, and begins the next. The first worker's are written.
func (s *soaker) look(w *timely.Worker, now *sample) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[w.Index()] = state{}
	s.states[w.Index()].add(w)
	if w.Index() == 0 {
		now.resident, now.heap = residentMemory(), liveHeap()
		for _, x := range s.states {
			now.state.Changes += x.Changes
			now.state.Bytes += x.Bytes
		}
		kept := *now
		kept.latencies.Counts = nil
		kept.latencies.Merge(now.latencies)
		s.list = append(s.list, kept)
		line := kept.line()
		fmt.Fprintln(s.file, strings.Join(line, ","))
		if err := s.file.Flush(); err != nil {
			return fmt.Errorf("write samples: %w", err)
		}
		if n := len(s.list); n%10 == 0 {
			fmt.Fprintf(s.out, "%v of %v: %.0f MB, p50 %v, p99 %v, max %v\n", now.at, s.opt.length, float64(now.resident)/1e6,
				kept.latencies.Quantile(0.5), kept.latencies.Quantile(0.99), kept.latencies.Longest)
		}
	}
	now.latencies.Reset()
	now.state = state{}
	now.at += s.opt.every
	return nil
}

// sampleColumns are those of the file of samples.
var sampleColumns = []string{"seconds", "resident_bytes", "heap_bytes", "state_bytes", "state_changes", "confirmed", "p50_seconds", "p99_seconds", "max_seconds"}

func (x *sample) line() []string {
	whole := func(n int) string { return strconv.Itoa(n) }
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', 4, 64) }
	return []string{
		strconv.FormatFloat(x.at.Seconds(), 'g', -1, 64), strconv.FormatUint(x.resident, 10), strconv.FormatUint(x.heap, 10), whole(x.state.Bytes), whole(x.state.Changes),
		strconv.FormatUint(x.latencies.Total(), 10), seconds(x.latencies.Quantile(0.5)), seconds(x.latencies.Quantile(0.99)), seconds(x.latencies.Longest),
	}
}

// quarter is the samples of a quarter of all, from 0.
func quarter(list []sample, n int) []sample { return list[n*len(list)/4 : (n+1)*len(list)/4] }

// at is the figure that a share of the samples, from 0 to 1, is not above.
func at(share float64, list []sample, figure func(*sample) float64) float64 {
	var all []float64
	for i := range list {
		all = append(all, figure(&list[i]))
	}
	slices.Sort(all)
	return all[int(share*float64(len(all)-1))]
}

const (
	// growth is how much of the memory of the second quarter that of the last may be.
	growth = 1.1
	// slowdown is the same for the median latency.
	slowdown = 2
)

// verdict compares quarters: what it found, and what of it must not be. Memory is the median of the samples; the latency
// is the lower quartile of their medians, since other programs make many samples slow, and what grows would make all so.
func verdict(list []sample) (found []string, err error) {
	second, last := quarter(list, 1), quarter(list, 3)
	for _, c := range []struct {
		what   string
		share  float64
		limit  float64
		figure func(*sample) float64
		text   func(float64) string
	}{
		{"resident memory", 0.5, growth, func(x *sample) float64 { return float64(x.resident) }, megabytes},
		{"state", 0.5, growth, func(x *sample) float64 { return float64(x.state.Bytes) }, megabytes},
		{"median latency", 0.25, slowdown, func(x *sample) float64 { return x.latencies.Quantile(0.5).Seconds() }, func(s float64) string {
			return time.Duration(s * 1e9).Round(time.Microsecond / 10).String()
		}},
	} {
		before, after := at(c.share, second, c.figure), at(c.share, last, c.figure)
		text := fmt.Sprintf("%s %s in the second quarter, %s in the last", c.what, c.text(before), c.text(after))
		found = append(found, text)
		if after > c.limit*before {
			err = errors.Join(err, fmt.Errorf("%s: more than %g times as much", text, c.limit))
		}
	}
	return found, err
}

func megabytes(bytes float64) string { return fmt.Sprintf("%.1f MB", bytes/1e6) }
