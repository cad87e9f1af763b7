package trace

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/timely"
)

// drain works until there is nothing more to do.
func drain(t *testing.T, tr *Trace) {
	t.Helper()
	for range 1_000_000 {
		more, err := tr.Work(1000)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
	}
	t.Fatalf("work has no end: %+v", tr.Stats())
}

// TestNothingIsLeftOfWhatWentAway loads, removes and moves on: the trace gives its memory back.
func TestNothingIsLeftOfWhatWentAway(t *testing.T) {
	for _, moved := range []string{"before removal", "after removal"} {
		b, tr := NewBatcher(), New()
		h := tr.Handle()
		for epoch, diff := range []int64{1, -1} {
			rng := rand.New(rand.NewPCG(1, 2))
			for range 100_000 {
				b.Add(rng.Uint64N(1000), rng.Uint64N(1000), timely.Epoch(uint64(epoch)), diff)
			}
			if err := tr.Insert(seal(t, b, timely.Epoch(uint64(epoch+1)))); err != nil {
				t.Fatal(err)
			}
			h.Ack(tr.Seq())
			if moved == "before removal" {
				h.Advance(tr.Upper())
			}
			drain(t, tr)
		}
		if moved == "after removal" && tr.Stats().Edits == 0 {
			t.Fatal("what can still be asked for was folded")
		}
		h.Advance(tr.Upper())
		drain(t, tr)
		if s := tr.Stats(); s != (Stats{}) {
			t.Fatalf("%s: after everything went away, the trace has %+v", moved, s)
		}
	}
}

// TestSettled checks that a graph that has been changed much takes as little memory as a new one.
func TestSettled(t *testing.T) {
	const n, vertices = 200_000, 20_000
	rng := rand.New(rand.NewPCG(3, 4))
	tr, h := loaded(t, n, rng)
	fresh := tr.Stats().Bytes
	b := NewBatcher()
	seal(t, b, timely.Epoch(1))
	type edge struct{ from, to uint64 }
	var there []edge
	for epoch := uint64(1); epoch < 2000; epoch++ {
		for range 100 {
			e := edge{rng.Uint64N(vertices), rng.Uint64N(vertices)}
			there = append(there, e)
			b.Add(e.from, e.to, timely.Epoch(epoch), 1)
			if len(there) > 1000 {
				i := rng.IntN(len(there))
				e, there[i] = there[i], there[len(there)-1]
				there = there[:len(there)-1]
				b.Add(e.from, e.to, timely.Epoch(epoch), -1)
			}
		}
		if err := tr.Insert(seal(t, b, timely.Epoch(epoch+1))); err != nil {
			t.Fatal(err)
		}
		h.Ack(tr.Seq())
		h.Advance(tr.Upper())
	}
	drain(t, tr)
	if s := tr.Stats(); s.Bytes > fresh*3/2 || s.Edits > n*3/2 {
		t.Fatalf("after many changes the trace has %+v, and had %d bytes", s, fresh)
	}
}

// TestSingleUpdates counts what single updates of a large trace make it do.
func TestSingleUpdates(t *testing.T) {
	n := 10_000_000
	if testing.Short() {
		n = 1_000_000
	}
	rng := rand.New(rand.NewPCG(5, 6))
	tr, h := loaded(t, n, rng)
	b := NewBatcher()
	seal(t, b, timely.Epoch(1))
	const updates = 50_000
	most, all, batches := 0, 0, 0
	for epoch := uint64(1); epoch <= updates; epoch++ {
		before := tr.moved
		follow(t, tr, h, b, rng, 1, n/10, epoch)
		step := tr.moved - before
		most, all = max(most, step), all+step
		batches = max(batches, len(h.Batches(nil)))
	}
	if limit := int(2 * math.Log2(float64(n))); batches > limit {
		t.Errorf("%d batches, expected %d at most", batches, limit)
	}
	if limit := int(5 * math.Log2(updates)); all > limit*updates {
		t.Errorf("%d edits moved for %d updates, expected %d for one at most", all, updates, limit)
	}
	if most > 2500 {
		t.Errorf("a step moved %d edits", most)
	}
	t.Logf("%d batches, %.1f edits moved for an update, %d at most; %+v", batches, float64(all)/updates, most, tr.Stats())
}

// TestBurst inserts many batches before a reader has heard of any.
func TestBurst(t *testing.T) {
	b, tr := NewBatcher(), New()
	h := tr.Handle()
	rng := rand.New(rand.NewPCG(7, 8))
	for epoch := range uint64(5000) {
		b.Add(rng.Uint64N(100), rng.Uint64N(100), timely.Epoch(epoch), 1)
		if err := tr.Insert(seal(t, b, timely.Epoch(epoch+1))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(h.Batches(nil)); n != 0 {
		t.Fatalf("a reader that has heard of nothing has %d batches", n)
	}
	if s := tr.Stats(); s.Batches != 5000 {
		t.Fatalf("%d batches were merged that a reader has not heard of", 5000-s.Batches)
	}
	h.Ack(tr.Seq())
	drain(t, tr)
	if n := len(h.Batches(nil)); n > 13 {
		t.Fatalf("%d batches are left", n)
	}
}

func TestNoReaders(t *testing.T) {
	tr, h := loaded(t, 1000, rand.New(rand.NewPCG(1, 1)))
	second := tr.Handle()
	h.Drop()
	h.Drop()
	if tr.Stats().Edits == 0 {
		t.Fatal("a trace with a reader has nothing")
	}
	second.Advance(nil)
	if tr.Stats() != (Stats{}) {
		t.Fatalf("a trace whose readers will not ask has %+v", tr.Stats())
	}
	third := tr.Handle() // second has not heard of the batches to come, and will not ask
	second.Drop()
	third.Drop()
	b := NewBatcher()
	seal(t, b, timely.Epoch(1))
	b.Add(1, 1, timely.Epoch(1), 1)
	if err := tr.Insert(seal(t, b, timely.Epoch(2))); err != nil {
		t.Fatal(err)
	}
	if tr.Stats() != (Stats{}) || tr.Seq() != 2 {
		t.Fatalf("a trace without readers has %+v of %d batches", tr.Stats(), tr.Seq())
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	_, h := loaded(t, 100_000, rand.New(rand.NewPCG(1, 1)))
	batches := h.Batches(nil)
	var c Cursor
	var edits []ValueEdit
	lookUp := func() {
		c.Reset(batches)
		for key := uint64(0); key < 10_000; key += 7 {
			edits = c.Collect(key, timely.Epoch(2), edits[:0])
		}
	}
	lookUp()
	if n := testing.AllocsPerRun(10, lookUp); n != 0 {
		t.Errorf("looking up keys allocates %v times", n)
	}
	b := NewBatcher()
	epoch := uint64(0)
	one := func() {
		b.Add(1, 2, timely.Epoch(epoch), 1)
		b.Add(3, 4, timely.Epoch(epoch), -1)
		epoch++
		seal(t, b, timely.Epoch(epoch))
	}
	one()
	if n := testing.AllocsPerRun(100, one); n > 3 {
		t.Errorf("a batch of two changes is made in %v allocations, expected 3", n)
	}
}

// TestMergeGivesBack merges two large batches: they, and what is made of them, take little more
// memory at any time than before.
func TestMergeGivesBack(t *testing.T) {
	tr, h := loaded(t, 1_000_000, rand.New(rand.NewPCG(1, 2)))
	b := NewBatcher()
	seal(t, b, timely.Epoch(1))
	edges(b, rand.New(rand.NewPCG(3, 4)), 500_000, 100_000, timely.Epoch(1))
	if err := tr.Insert(seal(t, b, timely.Epoch(2))); err != nil {
		t.Fatal(err)
	}
	h.Ack(tr.Seq())
	before := tr.Stats()
	steps, parts := 0, 0
	for more := true; more; steps++ {
		var err error
		if more, err = tr.Work(10_000); err != nil {
			t.Fatal(err)
		}
		s := tr.Stats()
		if s.Edits != before.Edits || s.Bytes > before.Bytes*5/4 {
			t.Fatalf("while merging the trace has %+v, before %+v", s, before)
		}
		parts = max(parts, s.Batches)
	}
	if parts != 3 || steps < 100 || len(h.Batches(nil)) != 1 {
		t.Fatalf("merging took %d steps, in which there were %d batches at most, and then %d", steps, parts, len(h.Batches(nil)))
	}
}
