package differential_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weir/differential"
	"weir/timely"
)

type edge struct{ From, To uint32 }

// bfs is the distance of each vertex that can be reached from a root.
func bfs(graph differential.Keyed[uint32, uint32], roots differential.Keyed[uint32, uint32]) differential.Keyed[uint32, uint32] {
	return roots.Iterate(func(loop *timely.Scope, inner differential.Keyed[uint32, uint32]) differential.Keyed[uint32, uint32] {
		return inner.Join(graph.Enter(loop), func(_ uint32, d uint32, next uint32) (uint32, uint32) { return next, d + 1 }).
			Concat(roots.Enter(loop)).Min()
	})
}

func naiveBFS(edges map[edge]int, root uint32) map[uint32]uint32 {
	out := map[uint32][]uint32{}
	for e, n := range edges {
		if n > 0 {
			out[e.From] = append(out[e.From], e.To)
		}
	}
	dist := map[uint32]uint32{root: 0}
	for queue := []uint32{root}; len(queue) > 0; queue = queue[1:] {
		for _, to := range out[queue[0]] {
			if _, ok := dist[to]; !ok {
				dist[to] = dist[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return dist
}

func TestBFSFollowsItsGraph(t *testing.T) {
	for seed := range uint64(20) {
		for workers := 1; workers <= 3; workers++ {
			t.Run(fmt.Sprintf("seed %d, %d workers", seed, workers), func(t *testing.T) { testBFS(t, seed, workers) })
		}
	}
}

func testBFS(t *testing.T, seed uint64, workers int) {
	const vertices, epochs = 20, 12
	var results timely.Results[differential.Update[differential.Pair[uint32, uint32]]]
	rng := rand.New(rand.NewPCG(seed, 1))
	history := make([][]differential.Update[edge], epochs)
	edges := map[edge]int{}
	var want []map[uint32]uint32
	for e := range history {
		for range rng.IntN(6) {
			x := edge{rng.Uint32N(vertices), rng.Uint32N(vertices)}
			w := int64(1)
			if edges[x] > 0 && rng.IntN(2) == 0 {
				w = -1
			} else if len(edges) > 10 {
				for y, n := range edges {
					if n > 0 && (y.From < x.From) {
						x, w = y, -1
						break
					}
				}
			}
			edges[x] += int(w)
			history[e] = append(history[e], differential.Update[edge]{Data: x, Weight: w})
		}
		want = append(want, naiveBFS(edges, 0))
	}
	err := timely.Run(timely.Threads(workers), func(w *timely.Worker) error {
		var in *differential.Input[edge]
		var roots *differential.Input[uint32]
		var probe timely.Probe
		w.Dataflow("bfs", func(s *timely.Scope) {
			var graph differential.Collection[edge]
			var start differential.Collection[uint32]
			in, graph = differential.NewInput[edge](s)
			roots, start = differential.NewInput[uint32](s)
			dist := bfs(graph.KeyBy(func(e edge) (uint32, uint32) { return e.From, e.To }),
				start.KeyBy(func(n uint32) (uint32, uint32) { return n, 0 }))
			differential.Pairs(dist).Probe(&probe).Updates().Collect(&results)
		})
		if w.Index() == 0 {
			roots.Insert(0)
		}
		roots.Close()
		for e, changes := range history {
			in.AdvanceTo(uint64(e))
			for i, u := range changes {
				if i%workers == w.Index() {
					in.Update(u.Data, u.Weight)
				}
			}
			if seed%3 == 0 {
				in.AdvanceTo(uint64(e) + 1)
				if err := w.StepUntil(probe.Passed(timely.Epoch(uint64(e)))); err != nil {
					return err
				}
			}
		}
		in.Close()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for e := range history {
		got := map[differential.Pair[uint32, uint32]]int64{}
		for _, u := range results.All() {
			if u.Time.LessEqual(timely.Epoch(uint64(e))) {
				if got[u.Data] += u.Weight; got[u.Data] == 0 {
					delete(got, u.Data)
				}
			}
		}
		for v, d := range want[e] {
			if got[differential.Pair[uint32, uint32]{Key: v, Value: d}] != 1 {
				t.Errorf("epoch %d: vertex %d is %d far, got %v", e, v, d, got)
			}
		}
		if len(got) != len(want[e]) {
			t.Errorf("epoch %d: %d results, expected %d: %v, %v", e, len(got), len(want[e]), got, want[e])
		}
	}
}
