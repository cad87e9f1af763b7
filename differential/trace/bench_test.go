package trace

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"weir/timely"
)

// edges adds random edges among vertices at a time.
func edges(b *Batcher, rng *rand.Rand, n, vertices int, t timely.Time) {
	for range n {
		x := rng.Uint64()
		b.Add(x>>32*uint64(vertices)>>32, x&(1<<32-1)*uint64(vertices)>>32, t, 1)
	}
}

func seal(tb testing.TB, b *Batcher, upper timely.Time) *Batch {
	batch, err := b.Seal(timely.Antichain{upper})
	if err != nil {
		tb.Fatal(err)
	}
	return batch
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var batch *Batch
			for b.Loop() {
				batcher := NewBatcher()
				edges(batcher, rand.New(rand.NewPCG(1, 2)), n, n/10, timely.Time{})
				batch = seal(b, batcher, timely.Epoch(1))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/edge")
			b.ReportMetric(float64(batch.Bytes())/float64(batch.Len()), "B/edge")
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapSys)/float64(batch.Bytes()), "heap/result")
		})
	}
}

// BenchmarkRewire seals batches in which as many edges go as come.
func BenchmarkRewire(b *testing.B) {
	for _, n := range []int{1, 10, 32, 100, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			batcher := NewBatcher()
			epoch := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				for range n {
					batcher.Add(rng.Uint64()>>40, rng.Uint64()>>40, timely.Epoch(epoch), -1)
					batcher.Add(rng.Uint64()>>40, rng.Uint64()>>40, timely.Epoch(epoch), 1)
				}
				epoch++
				seal(b, batcher, timely.Epoch(epoch))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*n), "ns/change")
		})
	}
}
