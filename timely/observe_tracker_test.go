package timely

import (
	"math/rand/v2"
	"testing"
)

// TestObservedFrontiers drives two trackers with the same changes: one keeps all
// frontiers, the other those of some places, and a few more as time goes on.
func TestObservedFrontiers(t *testing.T) {
	jumps, steps := 0, 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		shapes := drawShapes(seed, 3+rng.IntN(20), 1+rng.IntN(MaxDepth))
		all, err := newTracker(shapes)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		some, err := newTracker(shapes)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		n := len(all.places)
		asked := map[int32]bool{}
		for range rng.IntN(4) {
			asked[int32(rng.IntN(n))] = true
		}
		some.observe(func(at int32) bool { return asked[at] })
		for at := range some.jumps {
			jumps += len(some.jumps[at])
			steps += len(some.steps[at])
		}
		moved := map[int32]bool{}
		for range 60 {
			for range 1 + rng.IntN(4) {
				at := int32(rng.IntN(n))
				var time Time
				for i := range shapes[all.owner[at]].depth {
					time[i] = uint64(rng.IntN(3))
				}
				delta := int64(rng.IntN(4) - 1)
				if there := all.places[at].points.counts; len(there) > 0 && rng.IntN(3) > 0 {
					c := there[rng.IntN(len(there))]
					time, delta = c.Time, -c.Delta
				}
				all.update(at, time, delta)
				some.update(at, time, delta)
			}
			before := map[int32]Antichain{}
			for at := range asked {
				before[at] = append(Antichain(nil), some.frontier(at)...)
			}
			all.propagate()
			some.propagate()
			clear(moved)
			some.takeMoved(func(at int32) { moved[at] = true })
			if rng.IntN(20) == 0 {
				asked[int32(rng.IntN(n))] = true
			}
			for at := range asked {
				now := some.frontier(at)
				if want := all.frontier(at); !now.Equal(want) {
					t.Fatalf("seed %d: the frontier of %s is %v, expected %v", seed, all.describe(at), now, want)
				}
				if was, known := before[at]; known && !was.Equal(now) && !moved[at] {
					t.Fatalf("seed %d: the frontier of %s has moved, but nobody is told", seed, all.describe(at))
				}
			}
			if all.empty() != some.empty() {
				t.Fatalf("seed %d: one tracker is empty, the other not", seed)
			}
		}
	}
	if jumps*2 > steps {
		t.Errorf("there are %d jumps for %d steps", jumps, steps)
	}
}
