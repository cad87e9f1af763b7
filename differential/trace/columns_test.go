package trace

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/timely"
)

// Every word that a reader may still come upon is in a column, and so is all that is staged.
func TestColumnsHaveAllWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	staged, tr := NewBatcher(), New()
	h := tr.Handle()
	words := func(columns [][]uint64) map[uint64]bool {
		m := map[uint64]bool{}
		for _, c := range columns {
			for _, w := range c {
				m[w] = true
			}
		}
		return m
	}
	for epoch := range uint64(300) {
		added := map[uint64]bool{}
		for range rng.IntN(20) {
			key, val := rng.Uint64N(50), 1000+rng.Uint64N(50)
			staged.Add(key, val, timely.Epoch(epoch), int64(rng.IntN(3)-1))
		}
		for key := range words(staged.Columns(false, nil)) {
			added[key] = true
		}
		vals := words(staged.Columns(true, nil))
		batch, err := staged.Seal(timely.Antichain{timely.Epoch(epoch + 1)})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range batch.Blocks() {
			for _, key := range b.Keys() {
				if !added[key] {
					t.Fatalf("epoch %d: key %d was staged and in no column", epoch, key)
				}
			}
			for _, val := range b.Vals() {
				if !vals[val] {
					t.Fatalf("epoch %d: value %d was staged and in no column", epoch, val)
				}
			}
		}
		if err := tr.Insert(batch); err != nil {
			t.Fatal(err)
		}
		if epoch%3 == 0 {
			h.Ack(tr.Seq())
			h.Advance(timely.Antichain{timely.Epoch(epoch)})
		}
		keys, values := map[uint64]bool{}, map[uint64]bool{}
		for _, b := range h.Batches(nil) {
			for _, block := range b.Blocks() {
				for _, k := range block.Keys() {
					keys[k] = true
				}
				for _, v := range block.Vals() {
					values[v] = true
				}
			}
		}
		haveKeys, haveValues := words(tr.Columns(false, nil)), words(tr.Columns(true, nil))
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			if !haveKeys[k] {
				t.Fatalf("epoch %d: key %d is in no column", epoch, k)
			}
		}
		for _, v := range slices.Sorted(maps.Keys(values)) {
			if !haveValues[v] {
				t.Fatalf("epoch %d: value %d is in no column", epoch, v)
			}
		}
	}
}
