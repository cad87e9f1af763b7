package trace

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/timely"
)

// sums adds up changes.
func sums(all []update) map[update]int64 {
	out := map[update]int64{}
	for _, u := range all {
		out[update{record: u.record, time: u.time}] += u.diff
	}
	maps.DeleteFunc(out, func(_ update, n int64) bool { return n == 0 })
	return out
}

// TestBatcher goes through all ways of sorting: few and many changes, at one time and at several, whose keys and values
// fit a word together or not.
func TestBatcher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 2*fewChanges), rapid.IntRange(1000, 20_000)).Draw(t, "n")
		shape := rapid.SampledFrom([]uint64{1, 1 << 4, 1 << 12, 1 << 20, 1 << 33, math.MaxUint64})
		keys, vals := shape.Draw(t, "keys"), shape.Draw(t, "vals")
		base := rapid.SampledFrom([]uint64{0, 1 << 63, 12345}).Draw(t, "base")
		times := rapid.SampledFrom([]uint64{1, 2, 20}).Draw(t, "times")
		diffs := rapid.SampledFrom([]int64{0, 1, 1000}).Draw(t, "diffs")
		sorted := rapid.Bool().Draw(t, "sorted")
		defer func(spill int) { spillMin = spill }(spillMin)
		spillMin = rapid.SampledFrom([]int{64, 1000, spillMin}).Draw(t, "spill")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		all := make([]update, n)
		for i := range all {
			all[i].record = record{base + rng.Uint64N(keys), base + rng.Uint64N(vals)}
			all[i].time = timely.Time{rng.Uint64N(times), rng.Uint64N(times)}
			all[i].diff = 1
			if diffs > 0 {
				all[i].diff = rng.Int64N(2*diffs+1) - diffs
			}
		}
		if sorted {
			slices.SortFunc(all, func(a, b update) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.val, b.val)) })
		}
		b := NewBatcher()
		for round := uint64(0); ; round++ {
			for _, u := range all {
				if u.time[0] >= round {
					b.Add(u.key, u.val, u.time, u.diff)
				}
			}
			upper := timely.Antichain{{round + times/2 + 1}}
			rest := slices.Clone(all)
			early := slices.DeleteFunc(rest, func(u update) bool { return u.time[0] < round || upper.LessEqual(u.time) })
			want := sums(early)
			batch, err := b.Seal(upper)
			if err != nil {
				t.Fatal(err)
			}
			if got := sums(checkBatch(t.Fatalf, batch)); !maps.Equal(got, want) {
				t.Fatalf("batch %d has %d changes, expected %d or others", round, len(got), len(want))
			}
			// The others stay: they are sealed with the same added again.
			late := slices.DeleteFunc(slices.Clone(all), func(u update) bool { return u.time[0] < round || !upper.LessEqual(u.time) })
			batch, err = b.Seal(nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := sums(checkBatch(t.Fatalf, batch)), sums(late); !maps.Equal(got, want) {
				t.Fatalf("second batch %d has %d changes, expected %d or others", round, len(got), len(want))
			}
			if b.Len() != 0 || len(b.Frontier()) != 0 || !batch.Lower().Equal(upper) || len(batch.Upper()) != 0 {
				t.Fatalf("%d changes are left, at %v, of batch from %v to %v", b.Len(), b.Frontier(), batch.Lower(), batch.Upper())
			}
			if round == 1 {
				return
			}
		}
	})
}

// TestWideWords sorts keys and values that do not fit a word together.
func TestWideWords(t *testing.T) {
	for _, diff := range []int64{1, 2} { // all the same, or not
		rng := rand.New(rand.NewPCG(9, 9))
		b := NewBatcher()
		var all []update
		for i := range 5000 {
			u := update{record: record{rng.Uint64() >> 60 << 60, rng.Uint64()}, diff: 1}
			if i%2 == 0 {
				u.diff = diff
			}
			all = append(all, u, u)
			b.Add(u.key, u.val, u.time, u.diff)
			b.Add(u.key, u.val, u.time, u.diff)
		}
		batch := seal(t, b, timely.Epoch(1))
		if got := sums(checkBatch(t.Fatalf, batch)); !maps.Equal(got, sums(all)) {
			t.Fatalf("batch has %d changes, expected %d or others", len(got), len(sums(all)))
		}
	}
}

func TestSealNothing(t *testing.T) {
	b := NewBatcher()
	tr := New()
	h := tr.Handle()
	for epoch := range uint64(1000) {
		batch := seal(t, b, timely.Epoch(epoch+1))
		if len(batch.Blocks()) != 0 || batch.Len() != 0 {
			t.Fatalf("batch of nothing has %d blocks", len(batch.Blocks()))
		}
		if err := tr.Insert(batch); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.Batches(nil); len(got) != 0 || tr.Seq() != 0 || tr.Stats() != (Stats{}) {
		t.Fatalf("trace of nothing has %d batches, %+v", len(got), tr.Stats())
	}
	if !tr.Upper().Equal(timely.Antichain{timely.Epoch(1000)}) {
		t.Fatalf("trace ends at %v", tr.Upper())
	}
	b.Add(1, 2, timely.Epoch(1000), 5)
	b.Add(1, 2, timely.Epoch(1000), -5)
	if batch := seal(t, b, timely.Epoch(1001)); len(batch.Blocks()) != 0 {
		t.Fatal("batch has changes that are none")
	}
}

func TestInsertInOrder(t *testing.T) {
	b, tr := NewBatcher(), New()
	seal(t, b, timely.Epoch(1))
	if err := tr.Insert(seal(t, b, timely.Epoch(2))); err == nil {
		t.Fatal("a batch that begins after the trace's end was inserted")
	}
}

func TestOverflow(t *testing.T) {
	check := func(what string, err error) {
		t.Helper()
		var overflow *OverflowError
		if !errors.As(err, &overflow) {
			t.Fatalf("%s: error is %v", what, err)
		}
		if text := err.Error(); !strings.Contains(text, "value 0x8 of key 0x7") || !strings.Contains(text, "9223372036854775807 + 1") {
			t.Fatalf("%s: error does not tell what overflowed: %s", what, text)
		}
		if overflow.Key != 7 || overflow.Val != 8 || overflow.A != math.MaxInt64 || overflow.B != 1 {
			t.Fatalf("%s: error is %v", what, err)
		}
	}
	for _, n := range []int{0, 10, 1000} {
		b := NewBatcher()
		for i := range n {
			b.Add(uint64(i), 1, timely.Time{}, 2)
		}
		b.Add(7, 8, timely.Time{}, math.MaxInt64)
		b.Add(7, 8, timely.Time{}, 1)
		_, err := b.Seal(nil)
		check("seal", err)
	}

	var build Builder
	build.Add(7, 8, timely.Time{}, math.MaxInt64)
	build.Add(7, 8, timely.Time{}, 1)
	check("build", build.Err())

	b, tr := NewBatcher(), New()
	h := tr.Handle()
	var err error
	for i, diff := range []int64{math.MaxInt64, 1} {
		b.Add(7, 8, timely.Epoch(uint64(i)), diff)
		if err := tr.Insert(seal(t, b, timely.Epoch(uint64(i+1)))); err != nil {
			t.Fatal(err)
		}
		h.Ack(tr.Seq())
		h.Advance(timely.Antichain{timely.Epoch(uint64(i))})
	}
	_, err = tr.Work(100)
	check("merge", err)
	_, err = tr.Work(100)
	check("merge again", err)
	if n := len(h.Batches(nil)); n != 2 {
		t.Fatalf("%d batches after a failed merge, expected 2", n)
	}
}

func TestUniformSumOverflows(t *testing.T) {
	b := NewBatcher()
	for range 3 {
		b.Add(7, 8, timely.Time{}, math.MaxInt64/2)
	}
	if _, err := b.Seal(nil); err == nil {
		t.Fatal("three times half the largest weight fit")
	}
}

// TestBuilder keeps values of many keys, times and weights apart.
func TestBuilder(t *testing.T) {
	small(t)
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) update {
			return update{
				record: record{rapid.Uint64Range(0, 5).Draw(t, "key"), rapid.Uint64Range(0, 20).Draw(t, "val")},
				time:   timely.Time{rapid.Uint64Range(0, 12).Draw(t, "time"), rapid.Uint64Range(0, 3).Draw(t, "round")},
				diff:   rapid.Int64Range(-2, 2).Draw(t, "diff"),
			}
		}), 0, 300).Draw(t, "changes")
		slices.SortStableFunc(all, func(a, b update) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.val, b.val)) })
		var b Builder
		for range 2 {
			for _, u := range all {
				b.Add(u.key, u.val, u.time, u.diff)
			}
			batch := b.Done(timely.Antichain{{}}, nil)
			if got, want := sums(checkBatch(t.Fatalf, batch)), sums(all); !maps.Equal(got, want) {
				t.Fatalf("changes are %v, expected %v", got, want)
			}
		}
	})
}
