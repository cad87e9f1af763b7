package algorithms_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/differential"
	"weir/differential/algorithms"
	"weir/timely"
)

type (
	edges  = differential.Keyed[uint32, uint32]
	nodes  = differential.Collection[uint32]
	answer = [3]int64 // a record of any algorithm's result
)

// algorithm is one under test: how it is built, and what it should say, from scratch.
type algorithm struct {
	name  string
	build func(graph edges, roots nodes) differential.Collection[answer]
	naive func(g *graph) map[answer]int
}

var all = []algorithm{
	{"bfs", func(g edges, roots nodes) differential.Collection[answer] {
		return algorithms.BFS(g, roots).Map(func(v, d uint32) answer { return answer{int64(v), int64(d)} })
	}, func(g *graph) map[answer]int {
		return g.distances(func(a, b uint32) uint32 { return 1 })
	}},
	{"reach", func(g edges, roots nodes) differential.Collection[answer] {
		return algorithms.Reach(g, roots).Map(func(v uint32) answer { return answer{int64(v)} })
	}, func(g *graph) map[answer]int {
		reached := map[answer]int{}
		for x := range g.distances(func(a, b uint32) uint32 { return 0 }) {
			reached[answer{x[0]}] = 1
		}
		return reached
	}},
	{"shortest paths", func(g edges, roots nodes) differential.Collection[answer] {
		hops := g.MapValues(func(a, b uint32) algorithms.Hop[uint32] { return algorithms.Hop[uint32]{To: b, Length: length(a, b)} })
		return algorithms.ShortestPaths(hops, roots).Map(func(v uint32, d uint64) answer { return answer{int64(v), int64(d)} })
	}, func(g *graph) map[answer]int { return g.distances(length) }},
	{"components", func(g edges, roots nodes) differential.Collection[answer] {
		return algorithms.Components(g, algorithms.Ends(g).Concat(roots), nil).Map(two)
	}, func(g *graph) map[answer]int { return g.components() }},
	{"components by magnitude", func(g edges, roots nodes) differential.Collection[answer] {
		return algorithms.Components(g, algorithms.Ends(g).Concat(roots), algorithms.Logarithmic).Map(two)
	}, func(g *graph) map[answer]int { return g.components() }},
	{"scc", func(g edges, roots nodes) differential.Collection[answer] {
		return algorithms.SCC(g, algorithms.Ends(g).Concat(roots), nil).Map(two)
	}, func(g *graph) map[answer]int { return g.strong() }},
	{"scc by magnitude", func(g edges, roots nodes) differential.Collection[answer] {
		return algorithms.SCC(g, algorithms.Ends(g).Concat(roots), algorithms.Logarithmic).Map(two)
	}, func(g *graph) map[answer]int { return g.strong() }},
	{"pagerank", func(g edges, _ nodes) differential.Collection[answer] {
		return algorithms.PageRank(g, algorithms.Ends(g), algorithms.PageRankOptions{Surfers: 100}).Map(rank)
	}, func(g *graph) map[answer]int { return g.ranks(1 << 30) }},
	{"pagerank of four rounds", func(g edges, _ nodes) differential.Collection[answer] {
		return algorithms.PageRank(g, algorithms.Ends(g), algorithms.PageRankOptions{Surfers: 1000, Damping: 500, Rounds: 4}).Map(rank)
	}, func(g *graph) map[answer]int { return g.halfRanks(4) }},
	{"2-core", func(g edges, _ nodes) differential.Collection[answer] {
		return algorithms.KCore(g, 2).Map(func(v uint32) answer { return answer{int64(v)} })
	}, func(g *graph) map[answer]int { return g.core(2) }},
	{"3-core", func(g edges, _ nodes) differential.Collection[answer] {
		return algorithms.KCore(g, 3).Map(func(v uint32) answer { return answer{int64(v)} })
	}, func(g *graph) map[answer]int { return g.core(3) }},
	{"triangles", func(g edges, _ nodes) differential.Collection[answer] {
		return algorithms.Triangles(g).Map(func(t algorithms.Triangle[uint32]) answer { return answer{int64(t.A), int64(t.B), int64(t.C)} })
	}, func(g *graph) map[answer]int { return g.triangles() }},
}

func two(a, b uint32) answer { return answer{int64(a), int64(b)} }

func rank(v uint32, n int64) answer { return answer{int64(v), n} }

// length is that of an edge: some have none.
func length(a, b uint32) uint32 { return (a*7 + b*3) % 5 }

type edge = differential.Pair[uint32, uint32]

// change is one of a history: of an edge, or of a root.
type change struct {
	edge   edge
	isRoot bool
	weight int64
}

// history makes changes in epochs, and the graph after each.
func history(rng *rand.Rand) ([][]change, []*graph) {
	vertices := 3 + rng.Uint32N(14)
	size := 1 + rng.IntN(30) // that the number of edges wanders around
	g := newGraph()
	var epochs [][]change
	var graphs []*graph
	for range 3 + rng.IntN(8) {
		var changes []change
		for range rng.IntN(1 + size/2) {
			c := change{edge: edge{Key: rng.Uint32N(vertices), Value: rng.Uint32N(vertices)}, weight: 1}
			if there := g.list(); len(there) > 0 && rng.IntN(2*size) < len(there) {
				c = change{edge: there[rng.IntN(len(there))], weight: -1}
			}
			changes = append(changes, c)
			g.apply(c)
		}
		if rng.IntN(3) == 0 {
			c := change{edge: edge{Key: rng.Uint32N(vertices)}, isRoot: true, weight: 1}
			if g.roots[c.edge.Key] > 0 {
				c.weight = -1
			}
			changes = append(changes, c)
			g.apply(c)
		}
		epochs = append(epochs, changes)
		graphs = append(graphs, g.clone())
	}
	return epochs, graphs
}

// TestFollow holds every algorithm against the naive answer after each epoch of random histories.
func TestFollow(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 8
	}
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				workers := 1 + int(seed%3)
				if err := follow(a, seed, workers); err != nil {
					t.Fatalf("seed %d, %d workers: %v", seed, workers, err)
				}
			}
		})
	}
}

func follow(a algorithm, seed uint64, workers int) error {
	rng := rand.New(rand.NewPCG(seed, 4))
	epochs, graphs := history(rng)
	inFlight := 1 + rng.Uint64N(3)
	var results timely.Results[differential.Update[answer]]
	err := timely.Run(timely.Threads(workers), func(w *timely.Worker) error {
		var in *differential.Input[edge]
		var roots *differential.Input[uint32]
		var probe timely.Probe
		w.Dataflow(a.name, func(s *timely.Scope) {
			var list differential.Collection[edge]
			var start nodes
			in, list = differential.NewInput[edge](s)
			roots, start = differential.NewInput[uint32](s)
			a.build(differential.ByPair(list), start).Probe(&probe).Updates().Collect(&results)
		})
		for e, changes := range epochs {
			in.AdvanceTo(uint64(e))
			roots.AdvanceTo(uint64(e))
			for i, c := range changes {
				switch {
				case i%workers != w.Index():
				case c.isRoot:
					roots.Update(c.edge.Key, c.weight)
				default:
					in.Update(c.edge, c.weight)
				}
			}
			if done := uint64(e); done >= inFlight {
				if err := w.StepUntil(probe.Passed(timely.Epoch(done - inFlight))); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for e, g := range graphs {
		got := map[answer]int{}
		for _, u := range results.All() {
			if u.Time.LessEqual(timely.Epoch(uint64(e))) {
				if got[u.Data] += int(u.Weight); got[u.Data] == 0 {
					delete(got, u.Data)
				}
			}
		}
		if want := a.naive(g); !maps.Equal(got, want) {
			return fmt.Errorf("epoch %d: got %v, expected %v\nof roots %v and edges %v", e, got, want, g.roots, g.list())
		}
	}
	return nil
}

// Strings are vertices as good as numbers, and what is less is what comes first in bytes.
func TestNames(t *testing.T) {
	var components, strong timely.Results[differential.Update[differential.Pair[string, string]]]
	var triangles timely.Results[differential.Update[algorithms.Triangle[string]]]
	err := timely.Run(timely.Threads(2), func(w *timely.Worker) error {
		var in *differential.Input[differential.Pair[string, string]]
		w.Dataflow("names", func(s *timely.Scope) {
			var list differential.Collection[differential.Pair[string, string]]
			in, list = differential.NewInput[differential.Pair[string, string]](s)
			graph := differential.ByPair(list)
			differential.Pairs(algorithms.Components(graph, algorithms.Ends(graph), nil)).Consolidate().Updates().Collect(&components)
			differential.Pairs(algorithms.SCC(graph, algorithms.Ends(graph), nil)).Consolidate().Updates().Collect(&strong)
			algorithms.Triangles(graph).Consolidate().Updates().Collect(&triangles)
		})
		if w.Index() == 0 {
			for _, e := range [][2]string{{"Lima", "Oslo"}, {"Oslo", "Rome"}, {"Rome", "Lima"}, {"Bonn", "Rome"}, {"Male", "Suva"}} {
				in.Insert(differential.Pair[string, string]{Key: e[0], Value: e[1]})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		got  *timely.Results[differential.Update[differential.Pair[string, string]]]
		want []string
	}{
		"components": {&components, []string{"{Bonn Bonn} 1", "{Lima Bonn} 1", "{Male Male} 1", "{Oslo Bonn} 1", "{Rome Bonn} 1", "{Suva Male} 1"}},
		"scc":        {&strong, []string{"{Bonn Bonn} 1", "{Lima Lima} 1", "{Male Male} 1", "{Oslo Lima} 1", "{Rome Lima} 1", "{Suva Suva} 1"}},
	} {
		var got []string
		for _, u := range c.got.All() {
			got = append(got, fmt.Sprint(u.Data, u.Weight))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, expected %q", name, got, c.want)
		}
	}
	if all := triangles.At(timely.Epoch(0)); len(all) != 1 || all[0].Data != (algorithms.Triangle[string]{A: "Lima", B: "Oslo", C: "Rome"}) {
		t.Errorf("triangles are %v", all)
	}
}
