package mesh

import (
	"fmt"
	"sync"
	"testing"
)

// onWorkers runs f for each worker at once, and fails if the mesh does.
func onWorkers(t require, workers []*Peer, f func(p *Peer)) {
	var all sync.WaitGroup
	for _, p := range workers {
		all.Go(func() { f(p) })
	}
	all.Wait()
	for _, p := range workers {
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// rounds lets each worker send a message to all others and wait for those of all
// others, n times: a barrier.
func rounds(t require, workers []*Peer, n int) {
	onWorkers(t, workers, func(p *Peer) {
		to, from, err := p.Open[uint64]("barrier")
		if err != nil {
			t.Errorf("open: %v", err)
			return
		}
		var got []uint64
		come := 0
		for round := range n {
			for i := range to {
				if i != p.Index() {
					to[i].Send(uint64(round))
				}
			}
			for come < (round+1)*(p.Peers()-1) && p.Err() == nil {
				p.Park(0)
				p.Ready(func(int) {})
				got = from.Take(got[:0])
				come += len(got)
			}
		}
	})
}

func start(t testing.TB, cfg Config) *Mesh {
	t.Helper()
	m, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Between two barriers, each worker works for a while.
func BenchmarkWorkRound(b *testing.B) {
	m := start(b, Config{Threads: 2})
	defer m.Close()
	var all [2]struct {
		x uint64
		_ [56]byte
	}
	onWorkers(b, m.Workers(), func(p *Peer) {
		to, from, err := p.Open[uint64]("barrier")
		if err != nil {
			b.Errorf("open: %v", err)
			return
		}
		mine := &all[p.Index()]
		var got []uint64
		come := 0
		for round := range b.N {
			for range 10_000 { // 10 microseconds
				mine.x = mine.x*6364136223846793005 + 1442695040888963407
			}
			to[1-p.Index()].Send(mine.x)
			for come <= round && p.Err() == nil {
				p.Park(0)
				p.Ready(func(int) {})
				got = from.Take(got[:0])
				come += len(got)
			}
		}
	})
}

// A barrier of all workers of a process.
func BenchmarkRound(b *testing.B) {
	for _, threads := range []int{2, 4, 8} {
		b.Run(fmt.Sprintf("workers=%d", threads), func(b *testing.B) {
			m := start(b, Config{Threads: threads})
			defer m.Close()
			rounds(b, m.Workers(), b.N)
		})
	}
}

// stream sends n batches of 1,024 records from the first worker to the last, with at most
// window of them on their way, and hands their buffers back.
func stream(t require, workers []*Peer, n int) {
	const window = 32
	onWorkers(t, workers, func(p *Peer) {
		to, from, err := p.Open[[]uint64]("batches")
		if err != nil {
			t.Errorf("open: %v", err)
			return
		}
		last := p.Peers() - 1
		var got [][]uint64
		switch p.Index() {
		case 0:
			var buffers [][]uint64
			for range window {
				buffers = append(buffers, make([]uint64, 1024))
			}
			for sent := 0; sent < n && p.Err() == nil; {
				for _, buffer := range buffers {
					for i := range buffer {
						buffer[i] = uint64(sent + i)
					}
					to[last].Send(buffer)
					sent++
				}
				p.Park(0)
				p.Ready(func(int) {})
				buffers = from.Take(buffers[:0])
			}
		case last:
			var sum, want uint64
			come := 0
			for come < n && p.Err() == nil {
				p.Park(0)
				p.Ready(func(int) {})
				got = from.Take(got[:0])
				for _, buffer := range got {
					for _, x := range buffer {
						sum += x
					}
					want += 1024*uint64(come) + 1024*1023/2
					come++
					to[0].Send(buffer)
				}
			}
			if sum != want {
				t.Errorf("the sum of all records is %d, it should be %d", sum, want)
			}
		}
	})
}

func BenchmarkBatches(b *testing.B) {
	m := start(b, Config{Threads: 2})
	defer m.Close()
	b.SetBytes(1024 * 8)
	stream(b, m.Workers(), b.N)
}

// The same between two processes, over TCP.
func BenchmarkClusterRound(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("processes=2/threads=%d", threads), func(b *testing.B) {
			meshes, workers := startCluster(b, loopback(b, 2, threads))
			b.ResetTimer()
			rounds(b, workers, b.N)
			b.StopTimer()
			closeAll(b, meshes)
		})
	}
}

func BenchmarkClusterBatches(b *testing.B) {
	meshes, workers := startCluster(b, loopback(b, 2, 1))
	b.SetBytes(2 * 1024 * 8) // there and back
	b.ResetTimer()
	stream(b, workers, b.N)
	b.StopTimer()
	closeAll(b, meshes)
}
