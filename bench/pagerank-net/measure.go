package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"weir/internal/report"
)

// bench is what is measured and what came of it.
type bench struct {
	opt      options
	stdout   io.Writer
	machine  report.Machine
	hosts    *hosts
	secret   string // file
	subjects []*subject
	measured map[string]float64 // bits a second of a link, by its name
	ours     time.Duration      // processor time of what was measured
	others   float64            // share of the processors that others used meanwhile
}

// subject is a graph and its measurements.
type subject struct {
	name, what string
	spec       []string
	path       string
	published  published
	vertices   int
	edges      int64
	cells      map[cell]*timing
	traces     map[string]traced // by variant
	sends      []sending
}

// variant is a column of the tables.
type variant struct {
	name      string
	link      link
	aggregate string
}

// The columns, named as published: a plus is aggregation by process.
var variants = []variant{
	{"1G", slow, "worker"}, {"1G+", slow, "process"}, {"10G", fast, "worker"}, {"10G+", fast, "process"},
}

// cell is a place in the tables.
type cell struct {
	variant string
	hosts   int
}

// timing is what the runs of a cell found, in seconds. The least counts: what else a machine
// does only adds to it.
type timing struct{ totals, iterations []float64 }

func (t *timing) total() float64     { return slices.Min(t.totals) }
func (t *timing) iteration() float64 { return slices.Min(t.iterations) }

// median is the middle one, or between the middle two.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// sending is what a process sends in an iteration, in bytes, and the least that it could, on
// the average; and how many bits the process with the most to send must send at least.
type sending struct {
	hosts                int
	aggregate            string
	updates, wire, bound float64
	mostBits             float64
}

// traced is a run over time.
type traced struct {
	hosts                 int
	seconds, cpu, network []float64
}

// outcome is what weir says of a run, as JSON, and how long it took in all.
type outcome struct {
	Graph struct {
		Vertices int   `json:"vertices"`
		Edges    int64 `json:"edges"`
	} `json:"graph"`
	Result struct {
		IterationSeconds []float64 `json:"iteration_seconds"`
		WireBytes        float64   `json:"wire_bytes"`
		UpdateBytes      float64   `json:"update_bytes"`
		BoundBytes       float64   `json:"bound_bytes"`
		BoundSeconds     float64   `json:"bound_seconds"` // at the speed of fast
	} `json:"result"`
	Rows []struct {
		ID   string  `json:"id"`
		Rank float64 `json:"rank"`
	} `json:"rows"`
	total float64
	trace *trace
}

// perIteration is the median of the last half. Its average was published; on a machine that
// does other things too, that tells more of those.
func (o outcome) perIteration() float64 {
	return median(o.Result.IterationSeconds[len(o.Result.IterationSeconds)/2:])
}

// secretFile is a file with a random secret.
func secretFile() (string, error) {
	f, err := os.CreateTemp("", "pagerank-net-*.secret")
	if err != nil {
		return "", fmt.Errorf("make secret: %w", err)
	}
	var secret [24]byte
	rand.Read(secret[:])
	_, err = f.WriteString(hex.EncodeToString(secret[:]))
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("make secret: %w", err)
	}
	return f.Name(), nil
}

// process is one of a run.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

// once runs weir on n hosts, a process on each.
func (b *bench) once(ctx context.Context, g *subject, n int, aggregate string, iterations int, watch bool) (outcome, error) {
	var o outcome
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	args := []string{"pagerank", g.path, "--workers", fmt.Sprint(b.opt.workers), "--aggregate", aggregate,
		"--iterations", fmt.Sprint(iterations), "--link", fast.rate, "--json", "--top", "1", "--quiet"}
	if n > 1 {
		args = append(args, "--hosts", b.hosts.addresses(n), "--secret-file", b.secret)
	}
	begin := time.Now()
	all := make([]*process, n)
	var pids []int
	for i := range all {
		p := &process{cmd: b.hosts.on(ctx, i, b.opt.weir, args...)}
		if n > 1 {
			p.cmd.Args = append(p.cmd.Args, "--process", fmt.Sprint(i))
		}
		p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
		if err := p.cmd.Start(); err != nil {
			cancel()
			return o, fmt.Errorf("start weir: %w", err)
		}
		defer p.cmd.Process.Kill() // it has ended, unless another could not be started
		all[i] = p
		pids = append(pids, p.cmd.Process.Pid)
	}
	var watching sync.WaitGroup
	stop := make(chan struct{})
	if watch {
		watching.Go(func() { o.trace = follow(pids, stop) })
	}
	errs := make([]error, n)
	for i, p := range all {
		if err := p.cmd.Wait(); err != nil {
			errs[i] = fmt.Errorf("weir on host %d of %d, aggregate %s: %w: %s", i, n, aggregate, err, strings.TrimSpace(p.stderr.String()))
		}
		b.ours += p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
		if i == 0 {
			o.total = time.Since(begin).Seconds()
		}
	}
	close(stop)
	watching.Wait()
	if err := errors.Join(errs...); err != nil {
		return o, err
	}
	if err := json.Unmarshal(all[0].stdout.Bytes(), &o); err != nil {
		return o, fmt.Errorf("what weir says: %w", err)
	}
	if len(o.Result.IterationSeconds) != iterations || len(o.Rows) != 1 {
		return o, fmt.Errorf("weir tells of %d iterations and %d rows, expected %d and 1", len(o.Result.IterationSeconds), len(o.Rows), iterations)
	}
	return o, nil
}

// measure fills all tables. Variants take turns, so that what else the machine does
// meets all of them.
func (b *bench) measure(ctx context.Context) error {
	b.measured = map[string]float64{}
	for _, l := range []link{slow, fast} {
		if err := b.hosts.shape(ctx, l); err != nil {
			return err
		}
		rate, err := b.probe(ctx)
		if err != nil {
			return err
		}
		b.measured[l.name] = rate
		fmt.Fprintf(b.stdout, "links of %v carry %.2f Gbit/s\n", l, rate/1e9)
	}
	load, err := report.StartLoad()
	if err != nil {
		return err
	}
	for _, g := range b.subjects {
		if err := b.measureTimes(ctx, g); err != nil {
			return err
		}
		if err := b.measureBytes(ctx, g); err != nil {
			return err
		}
		if err := b.measureUse(ctx, g); err != nil {
			return err
		}
	}
	b.others, err = load.Others(b.ours)
	return err
}

func (b *bench) measureTimes(ctx context.Context, g *subject) error {
	g.cells = map[cell]*timing{}
	rank := 0.0
	for range b.opt.repetitions {
		for _, n := range b.opt.hosts {
			for _, v := range variants {
				if n == 1 && v.name != variants[0].name {
					continue // one host needs no network
				}
				if err := b.hosts.shape(ctx, v.link); err != nil {
					return err
				}
				o, err := b.once(ctx, g, n, v.aggregate, b.opt.iterations, false)
				if err != nil {
					return err
				}
				g.vertices, g.edges = o.Graph.Vertices, o.Graph.Edges
				if rank == 0 {
					rank = o.Rows[0].Rank
				}
				if d := o.Rows[0].Rank/rank - 1; d > 1e-4 || d < -1e-4 {
					return fmt.Errorf("%s on %d hosts finds a highest rank of %v, another run %v", v.name, n, o.Rows[0].Rank, rank)
				}
				c := cell{v.name, n}
				if g.cells[c] == nil {
					g.cells[c] = &timing{}
				}
				t := g.cells[c]
				t.totals, t.iterations = append(t.totals, o.total), append(t.iterations, o.perIteration())
				fmt.Fprintf(b.stdout, "%s: %d × %d workers, %s: %.2f s, %.1f ms an iteration\n", g.name, n, b.opt.workers, v.name, o.total, 1e3*o.perIteration())
			}
		}
		for _, v := range variants[1:] {
			g.cells[cell{v.name, 1}] = g.cells[cell{variants[0].name, 1}]
		}
	}
	return nil
}

// bytesIterations is enough to count what an iteration sends, which is always the same.
const bytesIterations = 4

func (b *bench) measureBytes(ctx context.Context, g *subject) error {
	if err := b.hosts.shape(ctx, fast); err != nil {
		return err
	}
	for _, n := range b.opt.hosts[1:] {
		for _, aggregate := range []string{"none", "worker", "process"} {
			o, err := b.once(ctx, g, n, aggregate, bytesIterations, false)
			if err != nil {
				return err
			}
			g.sends = append(g.sends, sending{
				hosts: n, aggregate: aggregate, updates: o.Result.UpdateBytes, wire: o.Result.WireBytes, bound: o.Result.BoundBytes,
				mostBits: o.Result.BoundSeconds * fast.bits,
			})
		}
	}
	return nil
}

// measureUse watches long runs on the most hosts.
func (b *bench) measureUse(ctx context.Context, g *subject) error {
	g.traces = map[string]traced{}
	n := b.opt.hosts[len(b.opt.hosts)-1]
	for _, v := range variants[:3] {
		if err := b.hosts.shape(ctx, v.link); err != nil {
			return err
		}
		iterations := max(int(b.opt.traceFor.Seconds()/g.cells[cell{v.name, n}].iteration()), b.opt.iterations)
		o, err := b.once(ctx, g, n, v.aggregate, iterations, true)
		if err != nil {
			return err
		}
		t := traced{hosts: n}
		t.seconds, t.cpu, t.network = o.trace.rates(b.machine.Cores, v.link)
		g.traces[v.name] = t
	}
	return nil
}
