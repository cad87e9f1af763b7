package graphflow

import (
	"context"
	"sync"
	"time"

	"weir/graph"
	"weir/graph/order"
	"weir/internal/progress"
)

// process is what the workers of a process share.
type process struct {
	layout
	ctx     context.Context
	g       *graph.Graph
	in      order.EdgeMap // rows of destinations
	degrees []uint32
	opt     PageRankOptions
	first   int // the worker that tells of progress
	traffic *traffic
	report  sync.Once // of what the process has sent
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
	// From one worker of a process:
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
