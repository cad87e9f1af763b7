package differential_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"weir/differential"
	"weir/timely"
)

// Strings that no index has any more are forgotten, and those that one has are not, while
// joins and reductions put off, fold and hand on what has them.
func TestWordsAreForgotten(t *testing.T) {
	const window, perEpoch = 400, 20
	epochs := 2000
	if testing.Short() {
		epochs = 400
	}
	for workers := range 3 {
		t.Run(fmt.Sprintf("%d workers", workers+1), func(t *testing.T) {
			restore := differential.SetJoinFuel(64) // so that much is put off
			defer restore()
			var got timely.Results[differential.Update[differential.Pair[string, string]]]
			err := timely.Run(timely.Threads(workers+1), func(w *timely.Worker) error {
				var in *differential.Input[differential.Pair[string, string]]
				var probe timely.Probe
				w.Dataflow("words", func(s *timely.Scope) {
					var c differential.Collection[differential.Pair[string, string]]
					in, c = differential.NewInput[differential.Pair[string, string]](s)
					k := differential.ByPair(c)
					least := k.Min()
					twice := k.Join(least, func(key, a, b string) (string, string) { return b, a + "/" + key })
					differential.Pairs(twice.Max().Distinct()).Probe(&probe).Updates().Collect(&got)
				})
				most := 0
				rng := rand.New(rand.NewPCG(7, uint64(w.Index())))
				var live []differential.Pair[string, string]
				for e := range epochs {
					in.AdvanceTo(uint64(e))
					if w.Index() == 0 {
						for range perEpoch {
							p := differential.Pair[string, string]{
								Key:   fmt.Sprintf("key %d of the epoch %d", rng.IntN(10), e/10),
								Value: fmt.Sprintf("a value that is there once, %d", rng.Uint64()),
							}
							live = append(live, p)
							in.Insert(p)
						}
						for len(live) > window {
							in.Remove(live[0])
							live = live[1:]
						}
						if e == epochs-1 {
							in.Remove(live...)
							in.Insert(differential.Pair[string, string]{Key: "last", Value: "one"})
						}
					}
					in.AdvanceTo(uint64(e) + 1)
					if e%3 == 0 {
						if err := w.StepUntil(probe.Passed(timely.Epoch(uint64(e)))); err != nil {
							return err
						}
					}
					most = max(most, differential.Lexicons(w))
				}
				// Of each pair some five strings are in some index, at most twice as many are
				// known before a sweep, and some that are on their way.
				if limit := 40 * window; !testing.Short() && most > limit {
					t.Errorf("worker %d knew %d strings at once, expected %d at most", w.Index(), most, limit)
				}
				in.Close()
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			total := sumUp(updatesOf(&got), uint64(epochs))
			want := map[differential.Pair[string, string]]int64{{Key: "one", Value: "one/last"}: 1}
			if !maps.Equal(total, want) {
				t.Errorf("in the end there is %v, expected %v", total, want)
			}
		})
	}
}
