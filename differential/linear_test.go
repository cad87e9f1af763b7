package differential_test

import (
	"maps"
	"testing"

	"weir/differential"
	"weir/timely"
)

// TestLinearLoops has loops that add up nothing by themselves, and must end all the same: changes that cancel each
// other would go around for ever.
func TestLinearLoops(t *testing.T) {
	type ints = differential.Collection[int]
	step := func(n int) int { return min(n+1, 9) }
	for _, c := range []struct {
		name string
		want map[int]int64 // of {1, 9} at first, and then {1, 5}
		make func(ints) ints
	}{
		{"itself", map[int]int64{1: 1, 5: 1}, func(in ints) ints {
			return in.Iterate(func(_ *timely.Scope, inner ints) ints { return inner })
		}},
		{"map", map[int]int64{9: 2}, func(in ints) ints {
			return in.Iterate(func(_ *timely.Scope, inner ints) ints { return inner.Map(step) })
		}},
		{"keyed", map[int]int64{9: 2}, func(in ints) ints {
			keyed := in.KeyBy(func(n int) (int, int) { return 0, n })
			return keyed.Iterate(func(_ *timely.Scope, inner differential.Keyed[int, int]) differential.Keyed[int, int] {
				return inner.MapValues(func(_, n int) int { return step(n) })
			}).Map(func(_, n int) int { return n })
		}},
		{"back and forth", map[int]int64{1: 1, 5: 1}, func(in ints) ints {
			return in.Iterate(func(_ *timely.Scope, inner ints) ints { return inner.Negate().Negate().Concat(inner, inner.Negate()) })
		}},
		{"two variables", map[int]int64{2: 1, 3: 1, 4: 1, 5: 1, 6: 2, 7: 2, 8: 2, 9: 2}, func(in ints) ints {
			scope := in.Scope()
			loop := scope.Loop("both")
			a := differential.NewVariable(loop, in.Enter(loop))
			b := differential.NewVariable(loop, in.Enter(loop).Filter(func(int) bool { return false }))
			b.Set(a.Collection().Map(step))
			a.Set(b.Collection().Filter(func(n int) bool { return n < 9 }).Concat(in.Enter(loop)))
			return b.Collection().Leave(scope)
		}},
		{"a loop in a loop", map[int]int64{9: 2}, func(in ints) ints {
			return in.Iterate(func(_ *timely.Scope, outer ints) ints {
				return outer.Iterate(func(_ *timely.Scope, inner ints) ints { return inner.Map(step) })
			})
		}},
		{"from an outer variable", map[int]int64{9: 2}, func(in ints) ints {
			return in.Iterate(func(scope *timely.Scope, outer ints) ints {
				loop := scope.Loop("inner")
				v := differential.NewVariable(loop, in.Enter(scope).Filter(func(int) bool { return false }).Enter(loop))
				v.Set(outer.Enter(loop))
				return v.Collection().Leave(scope).Map(step)
			})
		}},
	} {
		for workers := 1; workers <= 2; workers++ {
			got := map[int]int64{}
			err := timely.Run(timely.Threads(workers), func(w *timely.Worker) error {
				var in *differential.Input[int]
				w.Dataflow(c.name, func(s *timely.Scope) {
					var all ints
					in, all = differential.NewInput[int](s)
					c.make(all).Gather(func(_ timely.Time, changes []differential.Weighted[int]) error {
						for _, x := range changes {
							if got[x.Value] += x.Weight; got[x.Value] == 0 {
								delete(got, x.Value)
							}
						}
						return nil
					})
				})
				if w.Index() == 0 {
					in.Insert(1, 9)
					in.AdvanceTo(1)
					in.Insert(5)
					in.Remove(9)
				}
				return nil
			})
			if err != nil || !maps.Equal(got, c.want) {
				t.Errorf("%s, %d workers: got %v, %v, expected %v", c.name, workers, got, err, c.want)
			}
		}
	}
}
