package differential_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/differential"
	"weir/timely"
)

// indices runs a dataflow that is empty, and says how many operators of each name keep an index.
func indices(t *testing.T, build func(s *timely.Scope, in numbers)) map[string]int {
	t.Helper()
	names := map[string]int{}
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		w.Log(func(e timely.LogEvent) {
			if e.Kind == timely.LogOperator {
				names[e.Name]++
			}
		})
		w.Dataflow("shared", func(s *timely.Scope) {
			_, c := differential.NewInput[number](s)
			build(s, differential.ByPair(c))
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestSharing uses one Keyed many times, deep in loops too: it is arranged once.
func TestSharing(t *testing.T) {
	add := func(_ uint32, v, w int) (uint32, int) { return uint32(v), w }
	names := indices(t, func(s *timely.Scope, in numbers) {
		graph := in.Arrange("graph")
		graph.Join(graph, add)
		graph.Join(graph, add)
		graph.SemiJoin(differential.Pairs(graph).Map(func(p number) uint32 { return p.Key }))
		graph.AntiJoin(graph.Keys())
		graph.Distinct()
		graph.Min()
		graph.Max()
		graph.TopK(2)
		graph.Reduce("own", func(uint32, []differential.Weighted[int], func(int, int64)) {})
		graph.Threshold(func(uint32, int, int64) int64 { return 1 })
		graph.Consolidate().Join(graph.Min(), add) // what is reduced is arranged already
		graph.Iterate(func(loop *timely.Scope, outer numbers) numbers {
			outside := graph.Enter(loop)
			outside.Min().Join(outside, add)
			return outside.Iterate(func(loop *timely.Scope, inner numbers) numbers {
				inside := outside.Enter(loop)
				inside.Distinct().Join(inside, add)
				return inside.Distinct()
			})
		})
	})
	if names["graph"] != 1 {
		t.Errorf("the index is built %d times: %v", names["graph"], names)
	}
	// The keys of the two semi-joins, and nothing else.
	if names["arrange"] != 2 {
		t.Errorf("%d other indices are built, expected 2: %v", names["arrange"], names)
	}
}

// TestArrangedDeepInside joins a graph that is arranged outside of everything with what a loop in a loop in a loop makes,
// while the graph changes.
func TestArrangedDeepInside(t *testing.T) {
	const vertices, epochs = 12, 40
	type edges = differential.Keyed[uint32, uint32]
	for workers := 1; workers <= 3; workers++ {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(workers), 4))
			graph := map[edge]int64{}
			var changes []edge // of which each is for an epoch, and turns an edge on or off
			var want []map[number]int64
			for range epochs {
				x := edge{rng.Uint32N(vertices), rng.Uint32N(vertices)}
				graph[x] = 1 - graph[x]
				changes = append(changes, x)
				want = append(want, reachable(graph))
			}
			got := make([][]differential.Update[number], workers)
			err := timely.Run(timely.Threads(workers), func(w *timely.Worker) error {
				var in *differential.Input[edge]
				var probe timely.Probe
				w.Dataflow("deep", func(s *timely.Scope) {
					var c differential.Collection[edge]
					in, c = differential.NewInput[edge](s)
					graph := c.KeyBy(func(e edge) (uint32, uint32) { return e.From, e.To }).Arrange("graph")
					zero := graph.Keys().Filter(func(v uint32) bool { return v == 0 }).Distinct().KeyBy(func(v uint32) (uint32, uint32) { return v, v })
					// Each level goes one step further than those in it do by themselves.
					var search func(depth int, begin, graph edges) edges
					search = func(depth int, begin, graph edges) edges {
						return begin.Iterate(func(loop *timely.Scope, inner edges) edges {
							along := graph.Enter(loop)
							next := inner.Join(along, func(_, root, to uint32) (uint32, uint32) { return to, root }).Concat(inner).Distinct()
							if depth > 1 {
								next = search(depth-1, next, along)
							}
							return next
						})
					}
					search(3, zero, graph).Map(func(v, root uint32) number { return number{Key: v, Value: int(root)} }).
						Inspect(func(u differential.Update[number]) { got[w.Index()] = append(got[w.Index()], u) }).Probe(&probe)
				})
				for e, x := range changes {
					if w.Index() == 0 {
						weight := int64(1)
						for _, y := range changes[:e] {
							if x == y {
								weight = -weight
							}
						}
						in.Update(x, weight)
					}
					in.AdvanceTo(uint64(e) + 1)
					if e%3 == 0 {
						if err := w.StepUntil(probe.Passed(timely.Epoch(uint64(e)))); err != nil {
							return err
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for e := range want {
				if sum := sumUp(slices.Concat(got...), uint64(e)); !maps.Equal(sum, want[e]) {
					t.Fatalf("epoch %d: got %v, expected %v", e, sum, want[e])
				}
			}
		})
	}
}

// reachable is what can be reached from vertex 0, if that has an edge.
func reachable(graph map[edge]int64) map[number]int64 {
	found := map[number]int64{}
	for x, n := range graph {
		if x.From == 0 && n > 0 {
			found[number{}] = 1
		}
	}
	for more := true; more; {
		more = false
		for x, n := range graph {
			to := number{Key: x.To}
			if n > 0 && found[number{Key: x.From}] > 0 && found[to] == 0 {
				found[to], more = 1, true
			}
		}
	}
	return found
}

// TestMutualRecursion keeps the vertices at an even and at an odd number of steps from a root, each defined by the other.
func TestMutualRecursion(t *testing.T) {
	const vertices, epochs = 9, 30
	rng := rand.New(rand.NewPCG(1, 5))
	graph := map[edge]int64{}
	history := [][]weightedAt{{{vertices, 0, 1}}} // says that there is a root
	var want []map[number]int64
	for e := range epochs {
		x := edge{rng.Uint32N(vertices), rng.Uint32N(vertices)}
		weight := 1 - 2*graph[x]
		graph[x] += weight
		if e > 0 {
			history = append(history, nil)
		}
		history[e] = append(history[e], weightedAt{x.From, int(x.To), weight})
		found := map[number]int64{{}: 1}
		for more := true; more; {
			more = false
			for x, n := range graph {
				for parity := range 2 {
					from, to := number{x.From, parity}, number{x.To, 1 - parity}
					if n > 0 && found[from] > 0 && found[to] == 0 {
						found[to], more = 1, true
					}
				}
			}
		}
		want = append(want, found)
	}
	var got timely.Results[differential.Update[number]]
	err := runHistory(2, history, func(s *timely.Scope, graph numbers, probe *timely.Probe) {
		start := graph.Filter(func(from uint32, _ int) bool { return from == vertices }).Keys().Map(func(uint32) uint32 { return 0 })
		loop := s.Loop("parity")
		along := graph.Enter(loop)
		nothing := start.Filter(func(uint32) bool { return false })
		even, odd := differential.NewVariable(loop, start.Enter(loop)), differential.NewVariable(loop, nothing.Enter(loop))
		step := func(c differential.Collection[uint32]) differential.Collection[uint32] {
			return c.KeyBy(func(v uint32) (uint32, struct{}) { return v, struct{}{} }).
				JoinMap(along, func(_ uint32, _ struct{}, to int) uint32 { return uint32(to) })
		}
		evens, odds := step(odd.Collection()).Concat(start.Enter(loop)).Distinct(), step(even.Collection()).Distinct()
		even.Set(evens)
		odd.Set(odds)
		evens.Leave(s).Map(func(v uint32) number { return number{v, 0} }).Concat(odds.Leave(s).Map(func(v uint32) number { return number{v, 1} })).
			Probe(probe).Updates().Collect(&got)
	})
	if err != nil {
		t.Fatal(err)
	}
	var updates []differential.Update[number]
	for _, u := range got.All() {
		updates = append(updates, u)
	}
	for e := range want {
		if sum := sumUp(updates, uint64(e)); !maps.Equal(sum, want[e]) {
			t.Errorf("epoch %d: got %v, expected %v", e, sum, want[e])
		}
	}
}
