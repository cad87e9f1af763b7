package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"weir/graph"
	"weir/graphflow"
	"weir/graphflow/launch"
	"weir/mesh"
	"weir/timely"
)

// clusterFlags say which processes take part in a run, and which workers they have.
type clusterFlags struct {
	workers, processes int
	hosts              string
	process            int
	secret             string
	cert, key, ca      string
	wait, timeout      time.Duration
	joined             bool
}

// maxWorkers is how many workers a command runs at most. Each has a channel to each other one, so that time and
// memory grow with the square of their number, and more workers than processors are of no use.
const maxWorkers = 512

func addClusterFlags(cmd *cobra.Command) *clusterFlags {
	c := &clusterFlags{}
	flags := cmd.Flags()
	flags.IntVarP(&c.workers, "workers", "w", 0, "`n` workers in each process (default one for each processor)")
	flags.IntVarP(&c.processes, "processes", "n", 1, "run `n` processes on this machine")
	flags.StringVar(&c.hosts, "hosts", "", "where the processes of several machines listen: a `file` of one host:port a line, or host:port,host:port")
	flags.IntVarP(&c.process, "process", "p", 0, "with --hosts: the `number` of this process, from 0")
	flags.StringVar(&c.secret, "secret-file", "", "with --hosts: a `file` with what all processes know and nobody else")
	flags.StringVar(&c.cert, "tls-cert", "", "with --hosts: encrypt, and prove who this process is by the certificate in `file`")
	flags.StringVar(&c.key, "tls-key", "", "`file` with the key of the certificate")
	flags.StringVar(&c.ca, "tls-ca", "", "`file` with the authority that signs the certificates of all processes")
	flags.DurationVar(&c.wait, "wait", 30*time.Second, "how `long` to wait for the other processes at the start")
	flags.DurationVar(&c.timeout, "timeout", 10*time.Second, "how `long` a process may be silent before it counts as lost")
	flags.BoolVar(&c.joined, "joined", false, "be a process that another one started")
	_ = flags.MarkHidden("joined") // the flag was defined above
	return c
}

// check says what is wrong with the flags, before any work is done.
func (c *clusterFlags) check(path string) error {
	several := c.processes > 1 || c.hosts != "" || c.joined
	switch {
	case c.workers < 0:
		return usagef("--workers is %d, expected 0 (one for each processor) or more", c.workers)
	case c.processes < 1:
		return usagef("--processes is %d, expected 1 or more", c.processes)
	case c.workers > maxWorkers || c.processes > maxWorkers/max(c.workers, 1):
		return usagef("--workers is %d and --processes %d, expected at most %d workers in all", c.workers, c.processes, maxWorkers)
	case c.processes > 1 && c.hosts != "":
		return usagef("--processes starts processes here, --hosts joins those that were started elsewhere; use one of them")
	case c.hosts == "" && (c.process != 0 || c.secret != "" || c.cert != "" || c.key != "" || c.ca != ""):
		return usagef("--process, --secret-file and --tls-… say how to join those of --hosts, which is missing")
	case (c.cert == "") != (c.key == "") || (c.cert == "") != (c.ca == ""):
		return usagef("--tls-cert, --tls-key and --tls-ca belong together")
	case c.wait <= 0 || c.timeout <= 0:
		return usagef("--wait is %v and --timeout %v, expected times above 0", c.wait, c.timeout)
	case several && path == "-":
		return usagef("several processes cannot all read standard input; give them a file")
	}
	return nil
}

// config is the processes and workers of a run that needs no others to be started.
func (c *clusterFlags) config() (timely.Config, error) {
	cfg := timely.Config{Config: mesh.Config{Wait: c.wait, Timeout: c.timeout}}
	if cfg.Threads = c.workers; cfg.Threads == 0 {
		cfg.Threads = max(runtime.GOMAXPROCS(0)/c.processes, 1)
	}
	if c.hosts == "" {
		return cfg, nil
	}
	var err error
	if strings.Contains(c.hosts, ":") {
		cfg.Addresses, err = mesh.ParseAddresses(c.hosts)
	} else {
		cfg.Addresses, err = mesh.LoadHosts(c.hosts)
	}
	if err != nil {
		return cfg, fmt.Errorf("--hosts: %w", err)
	}
	cfg.Processes, cfg.Process = len(cfg.Addresses), c.process
	if c.process < 0 || c.process >= cfg.Processes {
		return cfg, usagef("--process is %d, expected 0 to %d, as --hosts has %d", c.process, cfg.Processes-1, cfg.Processes)
	}
	if c.secret != "" {
		if cfg.Secret, err = mesh.LoadSecret(c.secret, nil); err != nil {
			return cfg, fmt.Errorf("--secret-file: %w", err)
		}
	}
	cfg.TLS, err = c.encryption()
	return cfg, err
}

// encryption is how connections are encrypted; nil if they are not.
func (c *clusterFlags) encryption() (*tls.Config, error) {
	if c.cert == "" {
		return nil, nil
	}
	own, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	text, err := os.ReadFile(c.ca)
	if err != nil {
		return nil, fmt.Errorf("--tls-ca: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--tls-ca: %s holds no certificate in PEM form", c.ca)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{own}, RootCAs: authority, ClientCAs: authority,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	}, nil
}

// run does work as one of the processes, after it has started the others, if it is to.
func (c *clusterFlags) run(ctx context.Context, work func(context.Context, timely.Config) error) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	join := func(m mesh.Config) timely.Config {
		m.Threads, m.Wait, m.Timeout = cfg.Threads, cfg.Wait, cfg.Timeout
		return timely.Config{Config: m}
	}
	switch {
	case c.joined:
		ctx, m, err := launch.Join(ctx, os.Stdin, os.Stdout)
		if err != nil {
			return err
		}
		if err = work(ctx, join(m)); errors.Is(err, context.Canceled) {
			err = context.Cause(ctx)
		}
		return err
	case c.processes > 1:
		program, err := os.Executable()
		if err != nil {
			return fmt.Errorf("start processes: %w", err)
		}
		// Ahead of the others, so that a -- among them changes nothing.
		args := append([]string{os.Args[0], "--joined=true", "--quiet=true"}, os.Args[1:]...)
		others, err := launch.Start(ctx, c.processes, func() *exec.Cmd { return &exec.Cmd{Path: program, Args: args} })
		if err != nil {
			return err
		}
		return others.End(work(others.Context(), join(others.Config())))
	}
	return work(ctx, cfg)
}

// bitRate is a flag that takes the speed of a network, such as 10Gbit.
type bitRate float64

func (b *bitRate) Set(s string) error {
	number := strings.ToLower(strings.TrimSpace(s))
	for _, unit := range []string{"/s", "ps", "it", "b"} { // 10Gbit/s, 10Gbps, 10G
		number = strings.TrimSuffix(number, unit)
	}
	factor := 1.0
	for unit, f := range map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, factor = rest, f
			break
		}
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return errors.New("expected a speed above zero such as 1Gbit or 100Mbit")
	}
	*b = bitRate(x * factor)
	return nil
}

func (b *bitRate) String() string { return humanize.SIWithDigits(float64(*b), 2, "bit/s") }

func (b *bitRate) Type() string { return "speed" }

// flowResult is the summary of the command as JSON.
type flowResult struct {
	Iterations          int       `json:"iterations"`
	Damping             float64   `json:"damping"`
	Aggregate           string    `json:"aggregate"`
	Processes           int       `json:"processes"`
	Workers             int       `json:"workers"` // of all processes
	SecondsPerIteration float64   `json:"seconds_per_iteration"`
	IterationSeconds    []float64 `json:"iteration_seconds"`
	EdgesPerSecond      float64   `json:"edges_per_second"`
	// Bytes that a process sends in an iteration, on the average: all of it, the updates in it, and
	// those that it cannot do without.
	WireBytes   float64 `json:"wire_bytes"`
	UpdateBytes float64 `json:"update_bytes"`
	BoundBytes  float64 `json:"bound_bytes"`
	// BoundSeconds is how long the process that has most to send takes at least, at LinkBitsPerSecond.
	LinkBitsPerSecond float64 `json:"link_bits_per_second"`
	BoundSeconds      float64 `json:"bound_seconds"`
}

func (a *app) distributedPagerankCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pagerank GRAPH",
		Short: "Rank vertices with a dataflow, on one machine or on many",
		Long: `Rank the vertices of a graph by the edges into them, as "weir graph pagerank" does, with
a dataflow of many workers: threads of one process, several processes, several machines. Every
process opens the same file.

Vertex v belongs to worker v modulo their number. How much is added up before it is sent,
--aggregate says: nothing (an update for each edge), by worker (an update for each
vertex that it has edges to), or by process (one for each vertex that any of its workers has
edges to). All overlap with the computation.

It tells the seconds an iteration takes, the edges a second, the bytes that a process sends, and
how long sending takes at least on a network of the speed that --link says.

On several machines, start it on each with the same flags but --process:

  a$ weir pagerank web.weir --hosts a:2101,b:2101 --secret-file key --process 0
  b$ weir pagerank web.weir --hosts a:2101,b:2101 --secret-file key --process 1

Process 0 writes the ranks. If one process fails or is killed, all end with an error.`,
		Example: `  weir pagerank edges.csv.gz --workers 2 --top 10
  weir pagerank web.weir --processes 2 --workers 1 --aggregate process
  weir pagerank web.weir --processes 2 --aggregate none --link 1Gbit --json --top 3`,
		Args: cobra.ExactArgs(1),
	}
	in, out := addInputFlags(cmd), addOutputFlags(cmd, "vertices, the highest ranks first")
	cluster := addClusterFlags(cmd)
	opt := graphflow.PageRankOptions{Iterations: 20, Damping: 0.85}
	link := bitRate(10e9)
	flags := cmd.Flags()
	flags.IntVar(&opt.Iterations, "iterations", opt.Iterations, "do `n` iterations")
	flags.Float64Var(&opt.Damping, "damping", opt.Damping, "`share` of a vertex's rank that it hands on")
	flags.Var(&link, "link", "the `speed` of the network, to compute how long sending takes at least")
	words := make([]word[graphflow.Aggregate], 3)
	for i, v := range []graphflow.Aggregate{graphflow.AggregateWorker, graphflow.AggregateNone, graphflow.AggregateProcess} {
		words[i] = word[graphflow.Aggregate]{v.String(), v}
	}
	aggregate := choose(words...)
	addChoice(cmd, aggregate, "aggregate", "who adds up what is for the same vertex before it is sent")
	cmd.RunE = a.run(func(ctx context.Context, args []string) error {
		switch {
		case opt.Iterations < 1:
			return usagef("--iterations is %d, expected 1 or more", opt.Iterations)
		case !(opt.Damping > 0 && opt.Damping < 1):
			return usagef("--damping is %v, expected a number between 0 and 1", opt.Damping)
		}
		if err := cluster.check(args[0]); err != nil {
			return err
		}
		opt.Aggregate = aggregate.value
		t, err := out.decide(a)
		if err != nil {
			return err
		}
		return cluster.run(ctx, func(ctx context.Context, cfg timely.Config) error {
			g, err := a.open(ctx, args[0], in, graph.InRows)
			if err != nil {
				return err
			}
			defer g.Close()
			return g.rankInDataflow(ctx, cfg, opt, link, out, t)
		})
	})
	return cmd
}

// rankInDataflow computes ranks as one of the processes; the first writes them.
func (g *opened) rankInDataflow(ctx context.Context, cfg timely.Config, opt graphflow.PageRankOptions, link bitRate, out *outputFlags, t target) error {
	var r graphflow.PageRankResult
	err := g.time("compute", func() (err error) {
		r, err = graphflow.PageRank(ctx, cfg, g.Graph, opt)
		return err
	})
	if err != nil {
		return fmt.Errorf("rank %s: %w", g.Source, err)
	}
	processes := max(cfg.Processes, 1)
	result := flowResult{
		Iterations: opt.Iterations, Damping: opt.Damping, Aggregate: opt.Aggregate.String(), Processes: processes, Workers: processes * cfg.Threads,
		SecondsPerIteration: r.Seconds(), EdgesPerSecond: float64(g.Edges) / max(r.Seconds(), 1e-9), LinkBitsPerSecond: float64(link),
	}
	for _, d := range r.Times {
		result.IterationSeconds = append(result.IterationSeconds, d.Seconds())
	}
	who := plural(cfg.Threads, "worker")
	if processes > 1 {
		who = fmt.Sprintf("%d processes of %s", processes, who)
	}
	g.app.note("pagerank: %d iterations, %s, aggregate %v: %s an iteration, %s edges/s", opt.Iterations, who, opt.Aggregate,
		formatSeconds(result.SecondsPerIteration), formatCount(result.EdgesPerSecond))
	if cfg.Process != 0 {
		return nil
	}
	if processes > 1 {
		sends := float64(processes * opt.Iterations)
		result.WireBytes = float64(r.WireBytes) / sends
		for _, p := range r.Traffic {
			bound := float64(p.Bound) * graphflow.UpdateBytes
			result.UpdateBytes += float64(p.Updates) * graphflow.UpdateBytes / sends
			result.BoundBytes += bound / float64(processes)
			result.BoundSeconds = max(result.BoundSeconds, bound*8/float64(link))
		}
		g.app.note("a process sends %s an iteration, %s of it updates; %s is the least; at %v that takes %s or more",
			humanize.Bytes(uint64(result.WireBytes)), humanize.Bytes(uint64(result.UpdateBytes)), humanize.Bytes(uint64(result.BoundBytes)),
			&link, formatSeconds(result.BoundSeconds))
	}
	all := &rows{g: g, id: "id", columns: []column{numbers("rank", r.Ranks)}}
	return g.deliver(ctx, out, t, result, all, all)
}
