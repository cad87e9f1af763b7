package trace

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"weir/timely"
)

func TestSeek(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 10), rapid.IntRange(0, 2000)).Draw(t, "n")
		gap := rapid.SampledFrom([]uint64{1, 2, 1000, 1 << 40}).Draw(t, "gap")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		keys := make([]uint64, 0, n)
		at := rapid.SampledFrom([]uint64{0, 1 << 62}).Draw(t, "first")
		for range n {
			keys = append(keys, at)
			at += 1 + rng.Uint64N(gap)
			if rng.IntN(100) == 0 {
				at += 1 << 50 // a gap that no interpolation expects
			}
		}
		if n > 0 && rapid.Bool().Draw(t, "extreme") {
			keys[n-1] = math.MaxUint64
		}
		b := &Block{keys: keys}
		for range 100 {
			from := rng.IntN(n + 1)
			key := rng.Uint64N(at + 2)
			if n > 0 && rng.IntN(2) == 0 {
				key = keys[rng.IntN(n)] + rng.Uint64N(3) - 1
			}
			want := from + sort.Search(n-from, func(i int) bool { return keys[from+i] >= key })
			if got := b.Seek(from, key); got != want {
				t.Fatalf("Seek(%d, %d) of %d keys is %d, expected %d", from, key, n, got, want)
			}
		}
	})
}

func TestAdvanceTime(t *testing.T) {
	time := rapid.Custom(func(t *rapid.T) timely.Time {
		return timely.Time{rapid.Uint64Range(0, 3).Draw(t, "0"), rapid.Uint64Range(0, 3).Draw(t, "1"), rapid.Uint64Range(0, 3).Draw(t, "2")}
	})
	rapid.Check(t, func(t *rapid.T) {
		at := time.Draw(t, "time")
		var frontier timely.Antichain
		for _, f := range rapid.SliceOfN(time, 1, 4).Draw(t, "frontier") {
			frontier.Insert(f)
		}
		advanced := AdvanceTime(at, frontier)
		if !at.LessEqual(advanced) || AdvanceTime(advanced, frontier) != advanced {
			t.Fatalf("%v is advanced to %v and that to %v", at, advanced, AdvanceTime(advanced, frontier))
		}
		asked := time.Draw(t, "asked").Join(frontier[rapid.IntRange(0, len(frontier)-1).Draw(t, "after")])
		if at.LessEqual(asked) != advanced.LessEqual(asked) {
			t.Fatalf("at %v, %v can be told from %v, to which %v advances it", asked, at, advanced, frontier)
		}
	})
	if got := AdvanceTime(timely.Epoch(3), nil); got != timely.Epoch(3) {
		t.Fatalf("nobody asks, and time 3 is %v", got)
	}
}

func TestUnion(t *testing.T) {
	a := timely.Antichain{{0, 5}, {3, 1}}
	got := Union(a, timely.Antichain{{2, 1}, {1, 6}, {9, 0}})
	if want := (timely.Antichain{{0, 5}, {2, 1}, {9, 0}}); !got.Equal(want) {
		t.Fatalf("union is %v, expected %v", got, want)
	}
	if len(a) != 2 || !slices.Contains(a, timely.Time{3, 1}) {
		t.Fatalf("union changed its argument to %v", a)
	}
}

// TestForms checks that settled changes take the smallest form.
func TestForms(t *testing.T) {
	var b Builder
	for i := range uint64(1000) {
		b.Add(i, i, timely.Time{}, 1)
	}
	uniform := b.Done(nil, nil).blocks[0]
	if uniform.codes != nil || uniform.from != nil || len(uniform.edits) != 1 {
		t.Fatal("values of the same edit store it more than once")
	}
	for i := range uint64(1000) {
		b.Add(i, i, timely.Epoch(i%3), int64(1+i%2))
	}
	coded := b.Done(nil, nil).blocks[0]
	if len(coded.codes) != 1000 || len(coded.from) != 7 || len(coded.edits) != 6 {
		t.Fatalf("values of 6 edits have %d codes and %d edits", len(coded.codes), len(coded.edits))
	}
	// Distances of a loop that is still open: each came in some round, and most went in another.
	for i := range uint64(4000) {
		b.Add(i, i, timely.Time{0, 9 - i%10}, 1)
		if i%8 > 0 {
			b.Add(i, i, timely.Time{0, 10 + i%12}, -1)
		}
	}
	loop := b.Done(nil, nil).blocks[0]
	if len(loop.codes) != 4000 || loop.Len() != 7500 || loop.bytes() > 4000*24 {
		t.Fatalf("4000 values of %d edits take %d bytes", loop.Len(), loop.bytes())
	}
	for i := range uint64(4000) {
		edits := loop.Edits(int(i))
		if got := loop.Times()[edits[0].Time]; got != (timely.Time{0, 9 - i%10}) || edits[0].Diff != 1 {
			t.Fatalf("value %d begins with %v", i, edits[0])
		}
		if len(edits) != int(1+min(i%8, 1)) {
			t.Fatalf("value %d has %d edits", i, len(edits))
		}
	}
	for i := range uint64(1000) {
		b.Add(i, i, timely.Time{}, int64(i+1))
	}
	listed := b.Done(nil, nil).blocks[0]
	for i := range 1000 {
		if e := listed.Edits(i); len(e) != 1 || e[0].Diff != int64(i+1) {
			t.Fatalf("value %d has edits %v", i, e)
		}
	}
}
