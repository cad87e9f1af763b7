package timely

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// bench has workers build something, and then do it b.N times. It reports the processor
// time that this took: on a machine with other work it says more than the time on the clock.
func bench(b *testing.B, threads int, build func(w *Worker) (times func(n uint64) error)) {
	b.Helper()
	var before time.Duration
	err := Run(Threads(threads), func(w *Worker) error {
		times := build(w)
		if w.Index() == 0 {
			b.ResetTimer()
			before = cpuTime(b)
		}
		return times(uint64(b.N))
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// rounds sends records in each of many epochs, and waits for their end.
func rounds(w *Worker, in *Input[uint64], probe *Probe, records int) func(n uint64) error {
	data := make([]uint64, records)
	for i := range data {
		data[i] = uint64(i + w.Index())
	}
	return func(n uint64) error {
		for range n {
			in.Send(data...)
			epoch := in.Epoch()
			in.AdvanceTo(epoch + 1)
			for probe.LessEqual(Epoch(epoch)) { // StepUntil without a function made for it
				if err := w.StepOrPark(0); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// BenchmarkRounds exchanges records and waits until all have come: a full round trip of
// progress between all workers.
func BenchmarkRounds(b *testing.B) {
	for _, threads := range []int{1, 2, 4, 16} {
		for _, size := range []int{1, 1000, 100_000} {
			b.Run(fmt.Sprintf("workers=%d/records=%d", threads, size), func(b *testing.B) {
				bench(b, threads, func(w *Worker) func(uint64) error {
					var in *Input[uint64]
					var probe Probe
					w.Dataflow("exchange", func(s *Scope) {
						in = NewInput[uint64](s)
						in.Stream().Exchange(func(x uint64) uint64 { return x }).Probe(&probe)
					})
					return rounds(w, in, &probe, size)
				})
				b.ReportMetric(float64(b.N)*float64(size*threads)/b.Elapsed().Seconds()/1e6, "Mrec/s")
			})
		}
	}
}

// BenchmarkFloor is what an exchange does to records, and nothing else: it copies them once, and
// appends them to a buffer for each worker where there are several.
func BenchmarkFloor(b *testing.B) {
	const size = 1000
	hash := func(x uint64) uint64 { return x }
	data := make([]uint64, size)
	for i := range data {
		data[i] = uint64(i)
	}
	for _, threads := range []uint64{1, 2} {
		b.Run(fmt.Sprintf("workers=%d/records=%d", threads, size), func(b *testing.B) {
			buffers := make([][]uint64, threads)
			buf := make([]uint64, 0, BatchLen)
			for range b.N {
				buf = append(buf[:0], data...)
				if threads == 1 {
					continue
				}
				for i := range buffers {
					buffers[i] = buffers[i][:0]
				}
				for _, x := range buf {
					to := hash(x) & (threads - 1)
					buffers[to] = append(buffers[to], x)
				}
			}
			b.ReportMetric(float64(b.N)*size/b.Elapsed().Seconds()/1e6, "Mrec/s")
		})
	}
}

// BenchmarkBarrier goes around a loop in which a worker goes on to the next round when all
// have ended this one.
func BenchmarkBarrier(b *testing.B) {
	for _, threads := range []int{1, 2, 4, 16} {
		b.Run(fmt.Sprintf("workers=%d", threads), func(b *testing.B) {
			bench(b, threads, func(w *Worker) func(uint64) error {
				var probe Probe
				w.Dataflow("barrier", func(s *Scope) { barrier(s, uint64(b.N)).Probe(&probe) })
				return func(uint64) error { return w.StepUntil(probe.Done) }
			})
		})
	}
}

// barrier is a loop of notifications alone: no record goes around.
func barrier(s *Scope, rounds uint64) Stream[int] {
	loop := s.Loop("barrier")
	v := LoopVariable[int](loop, 0)
	op := NewOperator(loop, "barrier")
	op.Input(v.Stream(), Pipeline[int]())
	_, stream := op.Output[int]()
	n := op.Notificator()
	first := op.InitialCapability()
	op.Build(func() {
		if first != nil {
			n.NotifyAt(Time{})
			first.Drop()
			first = nil
		}
		for t, ok := n.Next(); ok; t, ok = n.Next() {
			if t[1]++; t[1] < rounds {
				n.NotifyAt(t)
			}
		}
	})
	v.Set(stream)
	return stream.Leave(s)
}

// BenchmarkChain has one record go through chains of operators, or none.
func BenchmarkChain(b *testing.B) {
	for _, length := range []int{10, 100, 1000} {
		for _, records := range []int{0, 1, 1000} {
			b.Run(fmt.Sprintf("operators=%d/records=%d", length, records), func(b *testing.B) {
				bench(b, 1, func(w *Worker) func(uint64) error {
					var in *Input[uint64]
					var probe Probe
					w.Dataflow("chain", func(s *Scope) {
						in = NewInput[uint64](s)
						stream := in.Stream()
						for range length {
							stream = stream.MapInPlace(func(x *uint64) { *x++ })
						}
						stream.Probe(&probe)
					})
					return rounds(w, in, &probe, records)
				})
			})
		}
	}
}

// BenchmarkIdle has a record go through one of many dataflows of many operators each, in turn.
func BenchmarkIdle(b *testing.B) {
	const flows, length = 100, 100
	for _, records := range []int{0, 1} {
		b.Run(fmt.Sprintf("dataflows=%d/operators=%d/records=%d", flows, length, records), func(b *testing.B) {
			bench(b, 1, func(w *Worker) func(uint64) error {
				var inputs [flows]*Input[uint64]
				var probes [flows]Probe
				for i := range flows {
					w.Dataflow("chain", func(s *Scope) {
						inputs[i] = NewInput[uint64](s)
						stream := inputs[i].Stream()
						for range length {
							stream = stream.Map(func(x uint64) uint64 { return x })
						}
						stream.Probe(&probes[i])
					})
				}
				var turn [flows]func(uint64) error
				for i := range turn {
					turn[i] = rounds(w, inputs[i], &probes[i], records)
				}
				return func(n uint64) error {
					for i := range n {
						if err := turn[i%flows](1); err != nil {
							return err
						}
					}
					return nil
				}
			})
		})
	}
}

// BenchmarkBesideIdle exchanges records while a chain of operators has nothing to do.
func BenchmarkBesideIdle(b *testing.B) {
	for _, length := range []int{0, 1000} {
		b.Run(fmt.Sprintf("operators=%d", length), func(b *testing.B) {
			bench(b, 1, func(w *Worker) func(uint64) error {
				var in, idle *Input[uint64]
				var probe Probe
				w.Dataflow("beside", func(s *Scope) {
					in, idle = NewInput[uint64](s), NewInput[uint64](s)
					stream := idle.Stream()
					for range length {
						stream = stream.Map(func(x uint64) uint64 { return x })
					}
					in.Stream().Exchange(HashUint64).Probe(&probe)
				})
				return rounds(w, in, &probe, 1)
			})
		})
	}
}

// edge is an edge of a graph.
type edge struct{ from, to uint32 }

// BenchmarkUnionFind keeps a spanning forest of a stream of edges: each worker joins the trees of
// its edges, and hands on those that joined any, to be merged on one worker.
func BenchmarkUnionFind(b *testing.B) {
	const vertices, edges, round = 1_000_000, 10_000_000, 100_000
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", threads), func(b *testing.B) {
			for range b.N {
				if err := Run(Threads(threads), func(w *Worker) error {
					var in *Input[edge]
					var probe Probe
					w.Dataflow("union find", func(s *Scope) {
						in = NewInput[edge](s)
						stream := unionFind(in.Stream(), vertices)
						if w.Peers() > 1 {
							stream = unionFind(stream.Exchange(func(edge) uint64 { return 0 }), vertices)
						}
						stream.Probe(&probe)
					})
					rng := rand.New(rand.NewPCG(1, uint64(w.Index())))
					for sent := 0; sent < edges/w.Peers(); {
						for range round {
							x := rng.Uint64()
							in.Send(edge{uint32(x>>32) % vertices, uint32(x) % vertices})
						}
						sent += round
						in.AdvanceTo(in.Epoch() + 1)
						if _, err := w.Step(); err != nil {
							return err
						}
					}
					in.Close()
					return w.StepUntil(probe.Done)
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*edges/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
	}
}

// unionFind hands on the edges that join two trees. It ranks vertices by a hash of their
// number, and halves the paths that it goes.
func unionFind(s Stream[edge], vertices int) Stream[edge] {
	roots := make([]uint32, vertices)
	for i := range roots {
		roots[i] = uint32(i)
	}
	find := func(x uint32) uint32 {
		for roots[x] != x {
			roots[x] = roots[roots[x]]
			x = roots[x]
		}
		return x
	}
	return s.Filter(func(e edge) bool {
		x, y := find(e.from), find(e.to)
		if x == y {
			return false
		}
		if x*0x9e3779b1 < y*0x9e3779b1 {
			x, y = y, x
		}
		roots[x] = y
		return true
	})
}
