package differential_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/differential"
	"weir/timely"
)

type sharedPair = differential.Pair[uint32, int]

// sumUp adds updates up to an epoch to what they are together.
func sumUp[D comparable](updates []differential.Update[D], epoch uint64) map[D]int64 {
	total := map[D]int64{}
	for _, u := range updates {
		if u.Time.LessEqual(timely.Epoch(epoch)) {
			if total[u.Data] += u.Weight; total[u.Data] == 0 {
				delete(total, u.Data)
			}
		}
	}
	return total
}

// A shared index answers for every epoch that it keeps, and a dataflow that imports it, early or late, sees
// the collection.
func TestSharedIndex(t *testing.T) {
	for seed := range uint64(30) {
		for workers := range 3 {
			t.Run(fmt.Sprintf("seed %d, %d workers", seed, workers+1), func(t *testing.T) { testShared(t, seed, workers+1) })
		}
	}
}

func testShared(t *testing.T, seed uint64, workers int) {
	const epochs = 30
	rng := rand.New(rand.NewPCG(seed, 2))
	changes := make([][]differential.Update[sharedPair], epochs)
	var all []differential.Update[sharedPair]
	for e := range changes {
		for range rng.IntN(5) {
			u := differential.Update[sharedPair]{Data: sharedPair{Key: rng.Uint32N(4), Value: rng.IntN(3)}, Time: timely.Epoch(uint64(e)), Weight: int64(rng.IntN(5) - 2)}
			changes[e] = append(changes[e], u)
			all = append(all, u)
		}
	}
	importAt := rng.IntN(epochs)
	type counted = differential.Pair[uint32, int64]
	var counts, joined timely.Results[differential.Update[counted]]
	err := timely.Run(timely.Threads(workers), func(w *timely.Worker) error {
		var in *differential.Input[sharedPair]
		var shared *differential.Shared[uint32, int]
		w.Dataflow("keep", func(s *timely.Scope) {
			var c differential.Collection[sharedPair]
			in, c = differential.NewInput[sharedPair](s)
			shared = differential.ByPair(c).Share()
		})
		var lookups []differential.Weighted[int]
		given := uint64(0) // up
		for e := range epochs {
			epoch := uint64(e)
			in.AdvanceTo(epoch)
			for i, u := range changes[e] {
				if i%workers == w.Index() {
					in.Update(u.Data, u.Weight)
				}
			}
			if e == importAt {
				w.Dataflow("use", func(s *timely.Scope) {
					k := shared.Import(s)
					differential.Pairs(k.Count()).Updates().Collect(&counts)
					k.JoinMap(k, func(key uint32, a, b int) counted { return counted{Key: key, Value: int64(a*10 + b)} }).Updates().Collect(&joined)
				})
			}
			if rng := rand.New(rand.NewPCG(seed, uint64(e))); rng.IntN(2) == 0 {
				in.AdvanceTo(epoch + 1)
				if err := w.StepUntil(func() bool { return shared.Complete(epoch) }); err != nil {
					return err
				}
				at := given + rng.Uint64N(epoch-given+1)
				want := sumUp(all, at)
				snapshot, err := shared.Snapshot(at)
				if err != nil {
					return err
				}
				found := maps.Collect(snapshot)
				for p, n := range found {
					if want[p] != n {
						t.Errorf("epoch %d of %d: %v is there %d times, expected %d", at, epoch, p, n, want[p])
					}
				}
				if workers == 1 && len(found) != len(want) {
					t.Errorf("epoch %d of %d: %v, expected %v", at, epoch, found, want)
				}
				for key := range uint32(5) {
					lookups, err = shared.Lookup(at, key, lookups[:0])
					if err != nil {
						return err
					}
					for _, v := range lookups {
						if p := (sharedPair{Key: key, Value: v.Value}); want[p] != v.Weight {
							t.Errorf("epoch %d of %d: %v is looked up %d times, expected %d", at, epoch, p, v.Weight, want[p])
						}
					}
				}
				given = at
				shared.AdvanceTo(at)
				if at > 0 {
					if _, err := shared.Lookup(at-1, 0, nil); err == nil {
						t.Errorf("an epoch that was given up is looked at")
					}
				}
			}
		}
		if _, err := shared.Snapshot(epochs); err == nil {
			t.Error("an epoch that is not complete is looked at")
		}
		in.Close()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for e := range uint64(epochs) {
		if e < uint64(importAt) {
			continue // what was before is added up
		}
		values := sumUp(all, e)
		wantCounts, wantJoined := map[counted]int64{}, map[counted]int64{}
		for key := range uint32(4) {
			n := int64(0)
			for v, weight := range values {
				if v.Key != key {
					continue
				}
				n += weight
				for v2, weight2 := range values {
					if v2.Key == key {
						wantJoined[counted{Key: key, Value: int64(v.Value*10 + v2.Value)}] += weight * weight2
					}
				}
			}
			if n != 0 {
				wantCounts[counted{Key: key, Value: n}] = 1
			}
		}
		maps.DeleteFunc(wantJoined, func(_ counted, n int64) bool { return n == 0 })
		for what, x := range map[string]struct{ got, want map[counted]int64 }{
			"count": {sumUp(updatesOf(&counts), e), wantCounts},
			"join":  {sumUp(updatesOf(&joined), e), wantJoined},
		} {
			if !maps.Equal(x.got, x.want) {
				t.Errorf("imported at %d, epoch %d: %s is %v, expected %v", importAt, e, what, x.got, x.want)
			}
		}
	}
}

func updatesOf[D any](r *timely.Results[D]) []D {
	var list []D
	for _, x := range r.All() {
		list = append(list, x)
	}
	return list
}

func TestCaptureIsInOrderOfTime(t *testing.T) {
	var got, gathered []string
	err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		var in *differential.Input[string]
		w.Dataflow("capture", func(s *timely.Scope) {
			var c differential.Collection[string]
			in, c = differential.NewInput[string](s)
			show := func(to *[]string) func(timely.Time, []differential.Weighted[string]) error {
				return func(t timely.Time, changes []differential.Weighted[string]) error {
					slices.SortFunc(changes, func(a, b differential.Weighted[string]) int { return cmp.Compare(a.Value, b.Value) })
					*to = append(*to, fmt.Sprint(t, changes))
					return nil
				}
			}
			c.Capture(show(&got))
			c.Gather(show(&gathered))
		})
		in.Insert("b", "a", "b")
		in.UpdateAt(3, "a", -1)
		in.UpdateAt(2, "c", 1)
		in.UpdateAt(2, "d", 1)
		in.AdvanceTo(1)
		in.Update("d", 2)
		in.AdvanceTo(2)
		in.Remove("d")
		in.UpdateAt(5, "e", 1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"(0) [{a 1} {b 2}]", "(1) [{d 2}]", "(2) [{c 1}]", "(3) [{a -1}]", "(5) [{e 1}]"}
	if !slices.Equal(got, want) || !slices.Equal(gathered, want) {
		t.Errorf("got %q\nand %q\nexpected %q", got, gathered, want)
	}
}
