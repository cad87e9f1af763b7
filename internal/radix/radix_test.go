package radix

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// keys draws lengths around every threshold, and keys that differ in few or many
// bits, anywhere.
func keys(t *rapid.T) []uint64 {
	n := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(few-2, few+2), rapid.IntRange(1000, 5000), rapid.IntRange(parallelMin-1, 150_000)).Draw(t, "n")
	mask := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 0xff, 0xff00ff, 1<<63 | 1, 1<<22 - 1, 1<<11 - 1, ^uint64(0)})).Draw(t, "mask")
	base := rapid.Uint64().Draw(t, "base")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	out := make([]uint64, n)
	for i := range out {
		out[i] = base&^mask | rng.Uint64()&mask
	}
	return out
}

func narrow(keys []uint64) []uint32 {
	out := make([]uint32, len(keys))
	for i, k := range keys {
		out[i] = uint32(k)
	}
	return out
}

func TestSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := keys(t)
		checkSorted(t, k)
		checkSorted(t, narrow(k))
	})
}

func checkSorted[K Key](t *rapid.T, in []K) {
	want := slices.Clone(in)
	slices.Sort(want)
	got := slices.Clone(in)
	Sort(got, nil)
	if !slices.Equal(got, want) {
		t.Fatalf("Sort of %d %T is not sorted", len(in), in)
	}
	got = slices.Clone(in)
	if err := Parallel(context.Background(), 3, got, make([]K, len(in)+3)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("Parallel sort of %d %T is not sorted", len(in), in)
	}
}

func TestSortPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := keys(t)
		checkPairs(t, k)
		checkPairs(t, narrow(k))
	})
}

// checkPairs gives each key its index as value, which shows whether equal keys
// kept their order.
func checkPairs[K Key](t *rapid.T, in []K) {
	index := make([]uint32, len(in))
	for i := range index {
		index[i] = uint32(i)
	}
	want := slices.Clone(index)
	slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(in[a], in[b]) })
	for threads := 1; threads <= 3; threads += 2 {
		got, values := slices.Clone(in), slices.Clone(index)
		if threads == 1 {
			SortPairs(got, values, nil, nil)
		} else if err := ParallelPairs(context.Background(), threads, got, values, nil, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(values, want) {
			t.Fatalf("%d threads: %d pairs of %T are not sorted stably", threads, len(in), in)
		}
		for i, v := range values {
			if got[i] != in[v] {
				t.Fatalf("%d threads: key %d is %d, its value belongs to %d", threads, i, got[i], in[v])
			}
		}
	}
}

func TestParallelStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Parallel(ctx, 2, make([]uint64, parallelMin), nil); err != context.Canceled {
		t.Fatalf("error is %v, expected %v", err, context.Canceled)
	}
}

func BenchmarkSort(b *testing.B) {
	for _, mask := range []uint64{^uint64(0), 1<<32 - 1} {
		for _, n := range []int{512, 1 << 12, 1 << 16, 1 << 20, 1 << 22} {
			in := make([]uint64, n)
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range in {
				in[i] = rng.Uint64() & mask
			}
			keys, scratch := make([]uint64, n), make([]uint64, n)
			values, valueScratch := make([]uint32, n), make([]uint32, n)
			in32 := narrow(in)
			keys32, scratch32 := make([]uint32, n), make([]uint32, n)
			run := func(name string, f func()) {
				b.Run(fmt.Sprintf("bits=%d/n=%d/%s", popcount(mask), n, name), func(b *testing.B) {
					for b.Loop() {
						copy(keys, in)
						copy(keys32, in32)
						f()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
				})
			}
			run("slices", func() { slices.Sort(keys) })
			run("radix", func() { Sort(keys, scratch) })
			run("parallel", func() { _ = Parallel(context.Background(), 2, keys, scratch) })
			run("pairs", func() { SortPairs(keys, values, scratch, valueScratch) })
			run("uint32", func() { Sort(keys32, scratch32) })
		}
	}
}

func popcount(x uint64) (n int) {
	for ; x != 0; x &= x - 1 {
		n++
	}
	return n
}
