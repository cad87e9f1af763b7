package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"weir/differential"
	"weir/graph/order"
	"weir/internal/progress"
	"weir/timely"
)

const (
	// liveGC is how much the heap may grow between two collections, in percent of what is live. Most of that is
	// indices, which are not scanned, so that a collection costs little, and memory stays close to what is needed.
	liveGC = 30
	// liveLoad is how many edges a worker inserts before it works on what it has.
	liveLoad = 1 << 13
)

// liveRun is a run of a live command, as one process of it. What is below graph belongs to the first worker.
type liveRun struct {
	app   *app
	g     *opened
	kind  liveKind
	flags *liveFlags
	rows  *order.CSR
	roots []uint32
	graph liveGraph

	changes io.Reader // with lines of changes

	answer liveState
	report liveReport
	sizes  []liveSize // what the workers keep, as they last said
	loaded bool
}

// liveSize is the state of a worker.
type liveSize struct{ Edits, Bytes int64 }

func newLiveRun(ctx context.Context, g *opened, kind liveKind, f *liveFlags, changes io.Reader) (*liveRun, error) {
	l := &liveRun{app: g.app, g: g, kind: kind, flags: f, changes: changes}
	for _, name := range f.roots {
		root, err := g.find(name)
		if err != nil {
			return nil, err
		}
		l.roots = append(l.roots, root)
	}
	err := g.time("prepare", func() (err error) {
		l.rows, err = g.Out(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if f.rewire > 0 && l.rows.Edges() == 0 {
		return nil, fmt.Errorf("rewire %s: it has no edges", g.Source)
	}
	names, err := f.labels.read()
	if err != nil {
		return nil, err
	}
	l.graph = liveGraph{rows: l.rows, undirected: g.Undirected, names: liveNames{table: g.Names, vertices: g.Vertices}}
	l.report = liveReport{run: l, labels: names}
	return l, nil
}

// run answers and follows as one of the processes; the first prints.
func (l *liveRun) run(ctx context.Context, cfg timely.Config) error {
	defer debug.SetGCPercent(debug.SetGCPercent(liveGC))
	if l.app.memory > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(l.app.memory)))
	}
	cfg.Context = ctx
	stage := progress.Start(ctx, "load", l.rows.Edges(), progress.Edges)
	begin := time.Now()
	var problem error // with the changes: it ends the run, but not that of the others
	err := timely.Run(cfg, func(w *timely.Worker) error {
		f := l.build(w)
		if err := f.load(stage); err != nil {
			return err
		}
		if w.Index() > 0 {
			return nil // it goes on until the first worker ends
		}
		if err := f.settle(0); err != nil {
			return err
		}
		stage.Done()
		l.g.seconds["load"] = time.Since(begin).Seconds()
		runtime.GC() // what loading has left
		if err := f.measure(); err != nil {
			return err
		}
		l.loaded = true
		if err := l.report.load(); err != nil {
			return err
		}
		var err error
		if problem, err = f.follow(ctx); err != nil {
			return err
		}
		return f.measure()
	})
	if l.loaded { // it is the first process
		err = errors.Join(err, l.report.end())
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%s of %s: %w", l.kind.name, l.g.Source, err)
	}
	return problem
}

// liveFlow is the dataflow on one worker.
type liveFlow struct {
	*liveRun
	w        *timely.Worker
	edges    *differential.Input[differential.Pair[uint32, uint32]]
	vertices *differential.Input[uint32]
	roots    *differential.Input[uint32]
	probe    timely.Probe
	ask      *timely.Input[uint64] // for the size of all workers
	told     timely.Probe
}

func (l *liveRun) build(w *timely.Worker) *liveFlow {
	f := &liveFlow{liveRun: l, w: w}
	w.Dataflow(l.kind.name, func(s *timely.Scope) {
		in := liveInput{bothWays: l.g.Undirected, surfers: l.flags.surfers, iterations: l.flags.rounds}
		var edges differential.Collection[differential.Pair[uint32, uint32]]
		f.edges, edges = differential.NewInput[differential.Pair[uint32, uint32]](s)
		f.vertices, in.vertices = differential.NewInput[uint32](s)
		f.roots, in.roots = differential.NewInput[uint32](s)
		in.edges = differential.ByPair(edges)
		// All changes of the answer go to the first worker, and are there once the probe says so.
		l.kind.build(in).Updates().
			Exchange(func(differential.Update[liveAnswer]) uint64 { return 0 }).
			InspectBatch(func(_ timely.Time, batch []differential.Update[liveAnswer]) { l.answer.take(batch) }).
			Probe(&f.probe)
	})
	w.Dataflow("sizes", func(s *timely.Scope) {
		f.ask = timely.NewInput[uint64](s)
		f.ask.Stream().Broadcast().
			Map(func(uint64) liveSize {
				size := differential.Stats(w)
				return liveSize{int64(size.Edits), int64(size.Bytes)}
			}).
			Exchange(func(liveSize) uint64 { return 0 }).
			Inspect(func(_ timely.Time, size liveSize) { l.sizes = append(l.sizes, size) }).
			Probe(&f.told)
	})
	return f
}

// load inserts the worker's share of the graph. What the others do not need any more they close.
func (f *liveFlow) load(stage *progress.Stage) error {
	if err := f.liveRun.rows.Verify(); err != nil {
		return err
	}
	edges := make([]differential.Pair[uint32, uint32], 0, liveLoad)
	vertices := make([]uint32, 0, liveLoad)
	flush := func() error {
		f.edges.Insert(edges...)
		f.vertices.Insert(vertices...)
		stage.Add(int64(len(edges)))
		edges, vertices = edges[:0], vertices[:0]
		if _, err := f.w.Step(); err != nil {
			return err
		}
		for f.w.Congested() {
			if err := f.w.StepOrPark(0); err != nil {
				return err
			}
		}
		return nil
	}
	for v := f.w.Index(); v < f.g.Vertices; v += f.w.Peers() {
		vertices = append(vertices, uint32(v))
		for _, to := range f.liveRun.rows.Neighbours(uint32(v)) {
			if edges = append(edges, differential.Pair[uint32, uint32]{Key: uint32(v), Value: to}); len(edges) == liveLoad {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if len(vertices) == liveLoad {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if f.w.Index() == 0 {
		f.roots.Insert(f.liveRun.roots...)
		f.edges.AdvanceTo(1)
		f.vertices.AdvanceTo(1)
	} else {
		f.edges.Close()
		f.vertices.Close()
		f.ask.Close()
	}
	f.roots.Close()
	return nil
}

// settle waits until all of an epoch is known.
func (f *liveFlow) settle(epoch uint64) error {
	return f.w.StepUntil(f.probe.Passed(timely.Epoch(epoch)))
}

// measure asks all workers how much they keep.
func (f *liveFlow) measure() error {
	f.sizes = f.sizes[:0]
	epoch := f.ask.Epoch()
	f.ask.Send(0)
	f.ask.AdvanceTo(epoch + 1)
	return f.w.StepUntil(f.told.Passed(timely.Epoch(epoch)))
}

// follow makes one transaction after another. A problem is one with the changes, an error one of the run.
func (f *liveFlow) follow(ctx context.Context) (problem, err error) {
	source := f.source(ctx)
	bad := 0
	for {
		t, ok, err := f.next(ctx, source)
		if err != nil || !ok {
			if bad > 0 {
				problem = fmt.Errorf("%s undone", plural(bad, "transaction"))
			}
			return problem, err
		}
		f.answer.names = append(f.answer.names, t.names...)
		if t.problem != nil {
			if !f.flags.keepGoing {
				return t.problem, nil
			}
			bad++
			fmt.Fprintf(f.app.stderr, "weir: %v\n", t.problem)
			continue
		}
		if err := f.commit(t); err != nil {
			return nil, err
		}
	}
}

// next is the next transaction. While there is none the indices are merged, and then the worker sleeps.
func (f *liveFlow) next(ctx context.Context, source <-chan liveTransaction) (t liveTransaction, ok bool, err error) {
	for {
		select {
		case t, ok = <-source:
			return t, ok, nil
		default:
		}
		busy, err := f.w.Step()
		if err != nil {
			return t, false, err
		}
		if busy {
			continue
		}
		select {
		case t, ok = <-source:
			return t, ok, nil
		case <-ctx.Done():
			return t, false, ctx.Err()
		}
	}
}

// commit makes a transaction, and reports what came of it.
func (f *liveFlow) commit(t liveTransaction) error {
	epoch := f.edges.Epoch()
	f.answer.begin()
	begin := time.Now()
	f.vertices.Insert(t.vertices...)
	for _, c := range t.changes {
		f.edges.Update(c.edge, c.weight)
	}
	f.edges.AdvanceTo(epoch + 1)
	f.vertices.AdvanceTo(epoch + 1)
	if err := f.settle(epoch); err != nil {
		return err
	}
	return f.report.commit(t, time.Since(begin))
}
