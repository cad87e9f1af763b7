package posting

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestModel holds lists of every shape against plain slices.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.IntRange(1, 6).Draw(t, "words")
		lists := New()
		model := make([][]uint32, words)
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		steps := make([]int, words)
		for w := range steps {
			steps[w] = rapid.SampledFrom([]int{1, 2, 9, 300, 40000}).Draw(t, "step")
			n := rapid.SampledFrom([]int{0, 1, 2, 3, 30, 500, longFrom, longFrom + 1, 30000}).Draw(t, "length")
			id := uint32(rnd.IntN(steps[w] * 2))
			for range n {
				word := uint32(w * 5000) // heads of several chunks
				if !lists.Add(word, id) {
					t.Fatalf("number %d was not added behind %v", id, model[w][max(0, len(model[w])-1):])
				}
				if lists.Add(word, id) {
					t.Fatalf("number %d was added twice", id)
				}
				model[w] = append(model[w], id)
				id += 1 + uint32(rnd.IntN(steps[w]))
			}
		}
		filled := 0
		for _, want := range model {
			filled += min(1, len(want))
		}
		if lists.Used() != filled {
			t.Fatalf("%d lists are in use, want %d", lists.Used(), filled)
		}
		for w, want := range model {
			v := lists.View(uint32(w * 5000))
			if v.Len() != len(want) || lists.Len(uint32(w*5000)) != len(want) {
				t.Fatalf("list has length %d, want %d", v.Len(), len(want))
			}
			if got := v.AppendTo(nil); !slices.Equal(got, want) {
				t.Fatalf("list of %d with steps up to %d differs", len(want), steps[w])
			}
			limit := uint32(rapid.IntRange(0, 1<<20).Draw(t, "limit"))
			set := make([]uint64, (limit+63)/64)
			v.Or(set)
			inside, _ := slices.BinarySearch(want, uint32(len(set)*64))
			count := 0
			for _, word := range set {
				count += bits.OnesCount64(word)
			}
			if count != inside {
				t.Fatalf("bitmap of %d words has %d numbers, want %d", len(set), count, inside)
			}
			for _, id := range want[:inside] {
				if set[id>>6]>>(id&63)&1 == 0 {
					t.Fatalf("bitmap lacks %d", id)
				}
			}
		}
	})
}

func TestWalkStops(t *testing.T) {
	lists := New()
	for id := range uint32(200000) {
		lists.Add(0, id)
	}
	v := lists.View(0)
	for _, stop := range []uint32{0, 1, longFrom - 1, longFrom, 70000, 199999} {
		seen := uint32(0)
		if v.Walk(func(id uint32) bool { seen++; return id < stop }) {
			t.Errorf("walk does not say that it was stopped at %d", stop)
		}
		if seen != stop+1 {
			t.Errorf("walk to %d saw %d numbers", stop, seen)
		}
	}
	if v := lists.View(1 << 30); v.Len() != 0 || !v.Walk(func(uint32) bool { return false }) {
		t.Error("a list that nobody added to is not empty")
	}
}

// TestReadersWhileWriting reads lists that grow: what a view holds must be a
// prefix of the list, and stay so.
func TestReadersWhileWriting(t *testing.T) {
	lists := New()
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for !done.Load() {
				for _, v := range lists.Views(nil, []uint32{0, 1, 2}) {
					n := uint32(0)
					v.Walk(func(uint32) bool { n++; return true })
					if int(n) != v.Len() {
						t.Errorf("view of %d numbers shows %d", v.Len(), n)
					}
				}
			}
		})
	}
	for id := range uint32(40000) {
		lists.Add(0, id)
		if id%30 == 0 {
			lists.AddAll([]uint32{1, 2 + id%5000}, id)
		}
	}
	done.Store(true)
	wg.Wait()
}

func BenchmarkOr(b *testing.B) {
	for _, step := range []uint32{1, 10, 100, 5000} {
		b.Run(fmt.Sprintf("every=%d", step), func(b *testing.B) {
			lists := New()
			n := 0
			for id := uint32(0); id < 1<<20; id += step {
				lists.Add(0, id)
				n++
			}
			set := make([]uint64, 1<<14)
			for b.Loop() {
				v := lists.View(0)
				v.Or(set)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/number")
			b.ReportMetric(float64(lists.Bytes()-headChunk*16)/float64(n), "B/number")
		})
	}
}
