package trace

import (
	"fmt"
	"math"
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

// loaded is a trace of a random graph, and its reader.
func loaded(tb testing.TB, n int, rng *rand.Rand) (*Trace, *Handle) {
	batcher := NewBatcher()
	edges(batcher, rng, n, n/10, timely.Time{})
	t := New()
	h := t.Handle()
	if err := t.Insert(seal(tb, batcher, timely.Epoch(1))); err != nil {
		tb.Fatal(err)
	}
	h.Ack(t.Seq())
	return t, h
}

// follow seals and inserts n changes at an epoch, and lets the reader follow.
func follow(tb testing.TB, t *Trace, h *Handle, batcher *Batcher, rng *rand.Rand, n, vertices int, epoch uint64) {
	for i := range n {
		batcher.Add(rng.Uint64N(uint64(vertices)), rng.Uint64N(uint64(vertices)), timely.Epoch(epoch), int64(1-i%2*2))
	}
	if err := t.Insert(seal(tb, batcher, timely.Epoch(epoch+1))); err != nil {
		tb.Fatal(err)
	}
	h.Ack(t.Seq())
	h.Advance(t.Upper())
}

func BenchmarkInsert(b *testing.B) {
	const n = 10_000_000
	for _, size := range []int{1, 2, 10, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			t, h := loaded(b, n, rng)
			batcher := NewBatcher()
			batcher.Seal(t.Upper())
			epoch := uint64(1)
			b.ReportAllocs()
			for b.Loop() {
				follow(b, t, h, batcher, rng, size, n/10, epoch)
				epoch++
			}
			b.ReportMetric(float64(t.Stats().Batches), "batches")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/change")
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	const n = 2_000_000
	for _, other := range []int{n, n / 4, n / 100, n / 10_000} {
		b.Run(fmt.Sprintf("%d+%d", n, other), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			var in [2]*Batch
			for i, size := range []int{n, other} {
				batcher := NewBatcher()
				edges(batcher, rng, size, n/10, timely.Time{})
				in[i] = seal(b, batcher, timely.Epoch(1))
			}
			m := new(merger)
			for b.Loop() {
				m.start(in[0], in[1], timely.Antichain{timely.Epoch(2)}, false)
				m.pass = math.MaxInt
				if _, _, err := m.work(math.MaxInt); err != nil {
					b.Fatal(err)
				}
				m.out.Done(nil, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n+other), "ns/edit")
		})
	}
}

// BenchmarkCollect looks up keys of a trace out of cache, few of many or many in a row.
func BenchmarkCollect(b *testing.B) {
	const n = 10_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	_, h := loaded(b, n, rng)
	batches := h.Batches(nil)
	for _, gap := range []uint64{1, 10, 1000, 100_000} {
		b.Run(fmt.Sprint("every ", gap), func(b *testing.B) {
			var c Cursor
			var edits []ValueEdit
			key := uint64(n)
			found := 0
			for b.Loop() {
				if key += 1 + rng.Uint64N(2*gap-1); key >= n/10 {
					key = rng.Uint64N(gap)
					c.Reset(batches)
				}
				edits = c.Collect(key, timely.Epoch(3), edits[:0])
				found += len(edits)
			}
			b.ReportMetric(float64(found)/float64(b.N), "edits/op")
		})
	}
}

func BenchmarkSeek(b *testing.B) {
	const n = 1 << 15
	for _, spread := range []string{"dense", "random", "skewed"} {
		blocks := make([]*Block, 64) // 16 MiB
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range blocks {
			keys := make([]uint64, n)
			at := uint64(0)
			for k := range keys {
				switch spread {
				case "dense":
					at++
				case "random":
					at += 1 + rng.Uint64N(1000)
				case "skewed":
					at += 1 + 1<<rng.Uint64N(40)
				}
				keys[k] = at
			}
			blocks[i] = &Block{keys: keys}
		}
		b.Run(spread, func(b *testing.B) {
			sum := 0
			for b.Loop() {
				block := blocks[rng.Uint64N(64)]
				sum += block.Seek(0, rng.Uint64N(block.last()))
			}
		})
	}
}
