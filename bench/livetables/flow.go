package main

import (
	"fmt"
	"sync/atomic"

	"weir/differential"
	"weir/differential/algorithms"
	"weir/timely"
)

// answer is a part of an answer: a vertex and its distance or label, or a degree and how many vertices have it.
type answer = differential.Pair[uint32, uint32]

// question is what is asked of a graph.
type question struct {
	build func(edges differential.Keyed[uint32, uint32], vertices differential.Collection[uint32]) differential.Collection[answer]
	// naive is the sum of the answers after so many changes.
	naive func(g graph, changes int) uint64
	// vertices and root say what the question needs beside the edges: all vertices, or the first.
	vertices, root bool
}

// questions are what is asked, by name.
var questions = map[string]question{
	"bfs": {
		build: func(edges differential.Keyed[uint32, uint32], roots differential.Collection[uint32]) differential.Collection[answer] {
			return differential.Pairs(algorithms.BFS(edges, roots))
		},
		naive: graph.distances, root: true,
	},
	"components": {
		build: func(edges differential.Keyed[uint32, uint32], vertices differential.Collection[uint32]) differential.Collection[answer] {
			return differential.Pairs(algorithms.Components(edges, vertices, algorithms.Logarithmic))
		},
		naive: graph.labels, vertices: true,
	},
	"degrees": {
		build: func(edges differential.Keyed[uint32, uint32], _ differential.Collection[uint32]) differential.Collection[answer] {
			degrees := edges.Count().Map(func(_ uint32, n int64) int64 { return n })
			return differential.Frequencies(degrees).Map(func(degree, n int64) answer { return answer{Key: uint32(degree), Value: uint32(n)} })
		},
		naive: graph.degrees,
	},
}

// flow is a question on one worker. Changed is how many answers have changed, at all workers, since somebody set
// it to 0, in epochs after the first.
type flow struct {
	worker   *timely.Worker
	graph    graph
	question question
	edges    *differential.Input[edge]
	vertices *differential.Input[uint32]
	probe    timely.Probe
	total    uint64 // the sum of this worker's answers
	changes  int    // that all workers have made
	changed  *atomic.Int64
	touched  []uint64 // by key: the epoch in which its answer changed last
}

func newFlow(w *timely.Worker, name string, g graph, changed *atomic.Int64) (*flow, error) {
	q, known := questions[name]
	if !known {
		return nil, fmt.Errorf("there is no question %q", name)
	}
	f := &flow{worker: w, graph: g, question: q, changed: changed}
	w.Dataflow(name, func(s *timely.Scope) {
		var edges differential.Collection[edge]
		var vertices differential.Collection[uint32]
		f.edges, edges = differential.NewInput[edge](s)
		f.vertices, vertices = differential.NewInput[uint32](s)
		q.build(differential.ByPair(edges), vertices).
			Updates().InspectBatch(func(_ timely.Time, batch []differential.Update[answer]) { f.take(batch) }).
			Probe(&f.probe)
	})
	return f, nil
}

// take adds up what changes of the answers.
func (f *flow) take(batch []differential.Update[answer]) {
	changed := int64(0)
	for i := range batch {
		u := &batch[i]
		f.total += uint64(u.Weight) * sum(u.Data.Key, u.Data.Value)
		if epoch := u.Time[0]; epoch > 0 {
			if need := int(u.Data.Key) + 1; need > len(f.touched) {
				f.touched = append(f.touched, make([]uint64, need-len(f.touched))...)
			}
			if at := &f.touched[u.Data.Key]; *at != epoch {
				*at = epoch
				changed++
			}
		}
	}
	if changed > 0 {
		f.changed.Add(changed)
	}
}

// between is how many edges a worker inserts before it works on what it has.
const between = 1 << 13

// load inserts the worker's share of the graph, and waits for the answer.
func (f *flow) load() error {
	w := f.worker
	step := func(n int) error {
		if n/w.Peers()%between != 0 {
			return nil
		}
		_, err := w.Step()
		return err
	}
	switch {
	case f.question.root && w.Index() == 0:
		f.vertices.Insert(0)
	case f.question.vertices:
		for n := w.Index(); n < int(f.graph.vertices); n += w.Peers() {
			f.vertices.Insert(uint32(n))
			if err := step(n); err != nil {
				return err
			}
		}
	}
	f.vertices.Close()
	for n := w.Index(); n < f.graph.edges; n += w.Peers() {
		f.edges.Insert(f.graph.edge(n))
		if err := step(n); err != nil {
			return err
		}
	}
	f.edges.AdvanceTo(1)
	return w.StepUntil(f.probe.Passed(timely.Epoch(0)))
}

// rewire makes so many changes in the present epoch, of which this worker makes its share.
func (f *flow) rewire(changes int) {
	for n := f.worker.Index(); n < changes; n += f.worker.Peers() {
		f.edges.Remove(f.graph.edge(f.changes + n))
		f.edges.Insert(f.graph.edge(f.changes + n + f.graph.edges))
	}
	f.changes += changes
}

// confirm ends the epoch, and waits until all of its effects are known.
func (f *flow) confirm() error {
	epoch := f.edges.Epoch()
	f.edges.AdvanceTo(epoch + 1)
	return f.worker.StepUntil(f.probe.Passed(timely.Epoch(epoch)))
}
