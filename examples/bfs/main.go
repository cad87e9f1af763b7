// Bfs searches a random graph breadth first: nodes that are reached go around a loop, once
// for each step away from the root. A round is over when all workers have
// finished it, which an operator learns from its notifications.
//
//	go run ./examples/bfs -w 2 -nodes 1000000 -edges 5000000
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
	edges := flag.Int("edges", 3000, "`number` of random edges, from one node to another")
	flag.Parse()
	cfg, err := config()
	if err == nil {
		err = timely.Run(cfg, func(w *timely.Worker) error { return search(w, *nodes, *edges) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bfs:", err)
		os.Exit(1)
	}
}

type edge struct{ From, To uint32 }

func search(w *timely.Worker, nodes, edges int) error {
	first := func(uint64) uint64 { return 0 }
	sum := func(so uint64, batch []uint64) uint64 {
		for _, x := range batch {
			so += x
		}
		return so
	}
	w.Dataflow("bfs", func(s *timely.Scope) {
		graph := timely.ToStream(s, func(yield func(edge) bool) {
			random := rand.New(rand.NewPCG(1, 1)) // the same edges on all workers, of which each takes its share
			for i := range edges {
				e := edge{random.Uint32N(uint32(nodes)), random.Uint32N(uint32(nodes))}
				if i%w.Peers() == w.Index() && !yield(e) {
					return
				}
			}
		})
		root := timely.ToStream(s, func(yield func(uint32) bool) {
			if w.Index() == 0 {
				yield(0)
			}
		})
		loop := s.Loop("rounds")
		reached := timely.LoopVariable[uint32](loop, 0)
		visited, next := expand(graph.Enter(loop), root.Enter(loop).Concat(reached.Stream()))
		reached.Set(next)
		// The nodes of each round, counted on each worker, then on the first.
		visited.Count().Exchange(first).Accumulate(0, sum).
			Inspect(func(t timely.Time, n uint64) { fmt.Printf("%d steps away: %d nodes\n", t[1], n) })
	})
	return nil // the dataflow runs to its end
}

// expand sends the nodes that are seen for the first time, in the round in which they are, and
// the ends of their edges. Nodes and the edges from them are with the same worker.
func expand(graph timely.Stream[edge], nodes timely.Stream[uint32]) (visited, ends timely.Stream[uint32]) {
	op := timely.NewOperator(graph.Scope(), "expand")
	edges := op.Input(graph, timely.ByHash(func(e edge) uint64 { return uint64(e.From) }))
	heads := op.Input(nodes, timely.ByHash(func(x uint32) uint64 { return uint64(x) }))
	seenOut, visited := op.Output[uint32]()
	endsOut, ends := op.Output[uint32]()
	notify := op.Notificator()

	adjacent := map[uint32][]uint32{}
	seen := map[uint32]bool{}
	waiting := map[timely.Time][]uint32{}
	op.Build(func() {
		for _, batch, ok := edges.Next(); ok; _, batch, ok = edges.Next() {
			for _, e := range batch {
				adjacent[e.From] = append(adjacent[e.From], e.To)
			}
		}
		for t, batch, ok := heads.Next(); ok; t, batch, ok = heads.Next() {
			if waiting[t] == nil {
				notify.NotifyAt(t)
			}
			waiting[t] = append(waiting[t], batch...)
		}
		// A round is over when neither a node of it nor, in the first, an edge can come any more.
		for t, ok := notify.Next(); ok; t, ok = notify.Next() {
			for _, x := range waiting[t] {
				if !seen[x] {
					seen[x] = true
					seenOut.Send(t, x)
					endsOut.SendSlice(t, adjacent[x])
				}
			}
			delete(waiting, t)
		}
	})
	return visited, ends
}
