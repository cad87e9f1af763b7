package graphflow

import (
	"context"
	"fmt"
	"slices"
	"time"

	"weir/graph"
	"weir/internal/huge"
	"weir/internal/progress"
	"weir/timely"
)

// Aggregate says how much is added up before it is sent.
type Aggregate int

const (
	// AggregateWorker sends one update for each destination that a worker has edges to.
	AggregateWorker Aggregate = iota
	// AggregateNone sends one update for each edge.
	AggregateNone
	// AggregateProcess sends, to other processes, one update for each destination that the workers of
	// a process have edges to.
	AggregateProcess
)

var aggregateNames = [...]string{AggregateWorker: "worker", AggregateNone: "none", AggregateProcess: "process"}

// String is the name of a on the command line.
func (a Aggregate) String() string {
	if a < 0 || int(a) >= len(aggregateNames) {
		return fmt.Sprintf("Aggregate(%d)", int(a))
	}
	return aggregateNames[a]
}

// PageRankOptions tells [PageRank] what to compute. The zero value is what
// [weir/graph/algo.PageRank] computes by default: ranks start at 0, and are set 20 times to 0.15
// plus 0.85 times the sum of rank/outdegree of the in-neighbours.
type PageRankOptions struct {
	Iterations int     // 0 means 20
	Damping    float64 // in (0, 1); 0 means 0.85
	Aggregate  Aggregate
}

// PageRankResult is what [PageRank] computed.
type PageRankResult struct {
	// Ranks are those of all vertices, in process 0; nil in the others.
	Ranks []float32
	// Times is how long each iteration took, as the first worker of this process saw it.
	Times []time.Duration
	// Traffic is what left each process, in process 0; nil in the others, and where there is one.
	Traffic []ProcessTraffic
	// WireBytes is what all processes together sent one another up to the end of the last iteration,
	// handshakes, progress and heartbeats included, before TLS encrypts it, and without the ranks that
	// process 0 gathers then; 0 but in process 0.
	WireBytes int64
}

// Seconds is how long an iteration took, on the average.
func (r PageRankResult) Seconds() float64 {
	var sum time.Duration
	for _, t := range r.Times {
		sum += t
	}
	return sum.Seconds() / float64(max(len(r.Times), 1))
}

// ProcessTraffic counts what a process sent to others.
type ProcessTraffic struct {
	Updates int64 // sums for vertices of other processes, in all iterations
	// Bound is how many updates an iteration cannot do without: the vertices of other
	// processes that vertices of this one have edges to.
	Bound int64
}

// UpdateBytes is what an update takes on its way.
const UpdateBytes = updateBytes

func (o *PageRankOptions) check() error {
	switch {
	case o.Iterations < 0:
		return fmt.Errorf("iterations is %d, expected 0 or more", o.Iterations)
	case !(o.Damping >= 0 && o.Damping < 1):
		return fmt.Errorf("damping is %v, expected a number in (0, 1)", o.Damping)
	case o.Aggregate < 0 || int(o.Aggregate) >= len(aggregateNames):
		return fmt.Errorf("aggregate is %d, expected AggregateWorker, AggregateNone or AggregateProcess", int(o.Aggregate))
	}
	if o.Iterations == 0 {
		o.Iterations = 20
	}
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	return nil
}

// PageRank ranks vertices by the edges into them, with all workers of cfg. Every process opens
// the same graph and calls it with the same options. It walks the rows of destinations,
// which [graph.InRows] is: a file that stores that order is mapped and not copied, but for the edges of
// each worker, 4 bytes each, and 8 bytes for each destination of each worker.
//
// It computes in float32. Which sums are added first depends on who comes first, so that ranks
// differ between runs by rounding, about 1 in 10⁶.
func PageRank(ctx context.Context, cfg timely.Config, g *graph.Graph, opt PageRankOptions) (PageRankResult, error) {
	result, err := pageRank(ctx, cfg, g, opt)
	if err != nil {
		return PageRankResult{}, fmt.Errorf("pagerank: %w", err)
	}
	return result, nil
}

func pageRank(ctx context.Context, cfg timely.Config, g *graph.Graph, opt PageRankOptions) (result PageRankResult, err error) {
	if cfg.Listener != nil {
		defer cfg.Listener.Close() // for where the run does not begin
	}
	if err := opt.check(); err != nil {
		return PageRankResult{}, err
	}
	cfg.Context = ctx
	cfg.Threads, cfg.Processes = max(cfg.Threads, 1), max(cfg.Processes, 1)
	p := &process{ctx: ctx, g: g, opt: opt, first: cfg.Process * cfg.Threads}
	p.layout = layout{vertices: g.Vertices, workers: cfg.Threads * cfg.Processes, process: cfg.Process, threads: cfg.Threads}
	p.traffic = newTraffic(p.layout)
	if p.degrees, err = g.OutDegrees(ctx); err != nil {
		return PageRankResult{}, err
	}
	// Made before there are workers, which may not ask the graph at the same time.
	if p.in, err = g.Map(ctx, graph.InRows); err != nil {
		return PageRankResult{}, err
	}
	if cfg.Processes > 1 {
		// A process that has another graph, or computes something else, must not take part.
		edges, err := identity(ctx, cfg.Threads, p.in)
		if err != nil {
			return PageRankResult{}, err
		}
		if cfg.Fingerprint != "" {
			cfg.Fingerprint += ", "
		}
		cfg.Fingerprint += fmt.Sprintf("pagerank: %d vertices, %d edges %016x, %d iterations, damping %v, aggregate %v",
			g.Vertices, g.Edges, edges, opt.Iterations, opt.Damping, opt.Aggregate)
	}
	if cfg.Process == 0 {
		p.result.Ranks = huge.Make[float32](g.Vertices)
		if cfg.Processes > 1 {
			p.result.Traffic = make([]ProcessTraffic, cfg.Processes)
		}
	}
	p.stage = progress.Start(ctx, "pagerank", int64(opt.Iterations)*g.Edges, progress.Edges)
	defer p.stage.Done()
	if err := timely.Run(cfg, p.run); err != nil {
		return PageRankResult{}, err
	}
	return p.result, nil
}

// run is the program of a worker.
func (p *process) run(w *timely.Worker) error {
	r, err := p.newRanker(w.Index())
	if err != nil {
		return err
	}
	w.Dataflow("pagerank", func(s *timely.Scope) {
		loop := s.Loop("iterations")
		around := timely.LoopVariable[block](loop, 0)
		r.worker = w
		r.op = timely.NewOperator(loop, "rank")
		r.in = r.op.Input(around.Stream(), timely.ByHash(func(b block) uint64 { return uint64(b.to) }))
		var direct, shared timely.Stream[block]
		var answers timely.Stream[answer]
		r.direct, direct = r.op.Output[block]()
		r.shared, shared = r.op.Output[block]()
		r.done, answers = r.op.Output[answer]()
		r.right = r.op.InitialCapability()
		r.op.Watch()
		r.op.Build(r.run)
		if r.combining() {
			direct = direct.Concat(combine(shared, r.layout, &r.pool, p.traffic))
		}
		around.Set(direct)
		answers.Leave(s).Exchange(func(answer) uint64 { return 0 }).InspectBatch(func(_ timely.Time, list []answer) {
			for _, a := range list {
				p.collect(a)
			}
		})
	})
	return nil
}

// newRanker makes the operator of a worker.
func (p *process) newRanker(me int) (*ranker, error) {
	r := &ranker{layout: p.layout, opt: p.opt, process: p}
	r.me = me
	var err error
	r.share, err = newShare(p.ctx, p.in, p.workers, me, func(to int) bool { return r.combines(uint32(to)) })
	if err != nil {
		return nil, err
	}
	p.traffic.reach(r.share)
	n := owned(p.vertices, p.workers, me)
	r.src, r.acc, r.inv = huge.Make[float32](n), huge.Make[float32](n), huge.Make[float32](n)
	for i := range r.inv {
		if degree := p.degrees[i*p.workers+me]; degree > 0 {
			r.inv[i] = float32(p.opt.Damping / float64(degree))
		}
	}
	r.base = float32(1 - p.opt.Damping)
	return r, nil
}

// times are the differences between the ends of rounds, the first of which is no
// iteration.
func times(ends []time.Time) []time.Duration {
	var all []time.Duration
	for i, end := range ends[1:] {
		all = append(all, end.Sub(ends[i]))
	}
	return slices.Clip(all)
}
