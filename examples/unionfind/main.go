// Unionfind keeps the connected components of a graph while its edges stream in. Each
// worker drops the edges that connect what it knows to be connected; the few that are left go to
// the first worker, which does the same: what comes out is a spanning forest.
//
//	go run ./examples/unionfind -w 2 -nodes 1000000 -edges 2000000
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"weir/timely"
)

func main() {
	config := timely.Flags(flag.CommandLine)
	nodes := flag.Int("nodes", 1000, "`number` of nodes")
	edges := flag.Int("edges", 800, "`number` of random edges")
	epoch := flag.Int("epoch", 100, "`number` of edges in an epoch")
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return components(w, *nodes, *edges, *epoch) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "unionfind:", err)
		os.Exit(1)
	}
}

type edge struct{ A, B uint32 }

func components(w *timely.Worker, nodes, edges, epoch int) error {
	var input *timely.Input[edge]
	var probe timely.Probe
	joined := map[uint64]int{} // on the first worker: how often two components became one, by epoch
	w.Dataflow("unionfind", func(s *timely.Scope) {
		input = timely.NewInput[edge](s)
		few := forest(input.Stream(), nodes)
		forest(few.Exchange(func(edge) uint64 { return 0 }), nodes).
			InspectBatch(func(t timely.Time, batch []edge) { joined[t[0]] += len(batch) }).
			Probe(&probe)
	})
	random := rand.New(rand.NewPCG(1, 1)) // the same edges on all workers, of which each takes its share
	left := nodes
	for sent, now := 0, uint64(0); sent < edges; now++ {
		for end := min(sent+epoch, edges); sent < end; sent++ {
			e := edge{random.Uint32N(uint32(nodes)), random.Uint32N(uint32(nodes))}
			if sent%w.Peers() == w.Index() {
				input.Send(e)
			}
		}
		input.AdvanceTo(now + 1)
		if err := w.StepUntil(probe.Passed(timely.Epoch(now))); err != nil {
			return err
		}
		// Another worker may be ahead, and some of its next edges here: they do not count yet.
		left -= joined[now]
		if w.Index() == 0 {
			fmt.Printf("%d edges: %d components\n", sent, left)
		}
	}
	return nil
}

// forest passes on the edges that connect what no earlier edge of the same worker has.
func forest(edges timely.Stream[edge], nodes int) timely.Stream[edge] {
	parent := make([]uint32, nodes)
	for i := range parent {
		parent[i] = uint32(i)
	}
	find := func(x uint32) uint32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]] // half as far the next time
			x = parent[x]
		}
		return x
	}
	return edges.Filter(func(e edge) bool {
		a, b := find(e.A), find(e.B)
		// The root of the lower number stays, for lack of a better rule.
		parent[max(a, b)] = min(a, b)
		return a != b
	})
}
