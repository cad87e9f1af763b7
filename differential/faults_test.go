package differential_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"weir/differential"
	"weir/timely"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	number     = differential.Pair[uint32, int]
	numbers    = differential.Keyed[uint32, int]
	weightedAt struct {
		key    uint32
		value  int
		weight int64
	}
)

// runHistory runs a program that is fed, at the first worker, one list of changes in each epoch, and waits for each.
func runHistory(workers int, history [][]weightedAt, build func(s *timely.Scope, in numbers, probe *timely.Probe)) error {
	return timely.Run(timely.Threads(workers), func(w *timely.Worker) error {
		var in *differential.Input[number]
		var probe timely.Probe
		w.Dataflow("test", func(s *timely.Scope) {
			var c differential.Collection[number]
			in, c = differential.NewInput[number](s)
			build(s, differential.ByPair(c), &probe)
		})
		for e, changes := range history {
			if w.Index() == 0 {
				for _, x := range changes {
					in.Update(number{Key: x.key, Value: x.value}, x.weight)
				}
			}
			in.AdvanceTo(uint64(e) + 1)
			if err := w.StepUntil(probe.Passed(timely.Epoch(uint64(e)))); err != nil {
				return err
			}
		}
		in.Close()
		return w.StepUntil(probe.Done)
	})
}

// TestOverflow has weights leave the range of int64: the run ends with an error that says where.
func TestOverflow(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	one := func(x ...weightedAt) [][]weightedAt { return [][]weightedAt{x} }
	idle := make([][]weightedAt, 8)
	for _, c := range []struct {
		name, operator string
		history        [][]weightedAt
		build          func(s *timely.Scope, in numbers, probe *timely.Probe)
	}{
		{"a product in a join", "join", one(weightedAt{1, 1, 1 << 32}), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.JoinMap(in, func(k uint32, _, _ int) uint32 { return k }).Probe(probe)
		}},
		{"the least weight in a join", "join", one(weightedAt{1, 1, least}, weightedAt{1, 2, -1}), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			ones := in.Filter(func(_ uint32, v int) bool { return v == 2 })
			in.Filter(func(_ uint32, v int) bool { return v == 1 }).JoinMap(ones, func(k uint32, _, _ int) uint32 { return k }).Probe(probe)
		}},
		{"weights of one epoch", "arrange", one(weightedAt{1, 1, most}, weightedAt{1, 1, 1}), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Consolidate().Probe(probe)
		}},
		{"weights of one epoch, below", "consolidated", one(weightedAt{1, 1, least}, weightedAt{1, 1, -1}), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Arrange("consolidated").Consolidate().Probe(probe)
		}},
		{"a count over epochs", "count", [][]weightedAt{{{1, 1, most}}, {{1, 2, 1}}}, func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Count().Probe(probe)
		}},
		{"a count of one epoch", "count", one(weightedAt{1, 1, most}, weightedAt{1, 2, 1}), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Count().Probe(probe)
		}},
		{"a value in a sum", "sum", one(weightedAt{1, math.MaxInt, 2}), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Sum(func(v int) int64 { return int64(v) }).Probe(probe)
		}},
		{"a sum over epochs", "sum", [][]weightedAt{{{1, math.MaxInt, 1}}, {{1, 1, 1}}}, func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Sum(func(v int) int64 { return int64(v) }).Probe(probe)
		}},
		{"a negation", "", one(weightedAt{1, 1, least}), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Negate().Probe(probe)
		}},
		{"the least weight in an anti-join", "", one(weightedAt{1, 1, least}, weightedAt{1, 2, 1}), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.AntiJoin(in.Filter(func(_ uint32, v int) bool { return v == 2 }).Keys()).Probe(probe)
		}},
		{"results of a reduction", "twice", one(weightedAt{1, 1, 1}), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Reduce("twice", func(_ uint32, _ []differential.Weighted[int], emit func(int, int64)) { emit(1, most); emit(1, 1) }).Probe(probe)
		}},
		{"a result of a threshold is taken back", "threshold", [][]weightedAt{{{1, 1, 1}}, {{1, 1, -1}}}, func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Threshold(func(uint32, int, int64) int64 { return least }).Probe(probe)
		}},
		{"old batches that are merged", "old", append([][]weightedAt{{{1, 1, most}}, {{1, 1, 1}}, {{2, 1, 1}}, {{3, 1, 1}}}, idle...), func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			nothing := in.Filter(func(uint32, int) bool { return false })
			in.Arrange("old").JoinMap(nothing, func(k uint32, _, _ int) uint32 { return k }).Probe(probe)
		}},
		{"rounds", "", one(weightedAt{1, 1, 1}), func(s *timely.Scope, in numbers, probe *timely.Probe) {
			loop := s.Loop("late")
			late := differential.Pairs(in.EnterAt(loop, func(uint32, int) uint64 { return math.MaxUint64 }))
			v := differential.NewVariable(loop, late)
			v.Set(v.Collection().Consolidate())
			v.Collection().Leave(s).Probe(probe)
		}},
	} {
		for workers := 1; workers <= 3; workers++ {
			t.Run(fmt.Sprintf("%s, %d workers", c.name, workers), func(t *testing.T) {
				err := runHistory(workers, c.history, c.build)
				var own *differential.OverflowError
				if !errors.As(err, &own) {
					t.Fatalf("got %v, expected an overflow", err)
				}
				if want := c.operator + `" of dataflow "test"`; !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, expected %s", err, want)
				}
			})
		}
	}
}

// TestLargestWeights has weights at the ends of the range of int64, which do not leave it.
func TestLargestWeights(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	history := [][]weightedAt{{{1, 1, most}, {2, 1, least + 1}}, {{1, 1, least + 1}, {2, 1, -1}}, {{1, 1, 1}, {2, 1, most}}, {}, {}}
	var counts timely.Results[differential.Update[differential.Pair[uint32, int64]]]
	err := runHistory(1, history, func(_ *timely.Scope, in numbers, probe *timely.Probe) {
		differential.Pairs(in.Count()).Updates().Collect(&counts)
		in.Distinct().Probe(probe)
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []differential.Update[differential.Pair[uint32, int64]]
	for _, u := range counts.All() {
		got = append(got, u)
	}
	for e, want := range []map[differential.Pair[uint32, int64]]int64{
		{{Key: 1, Value: most}: 1, {Key: 2, Value: least + 1}: 1},
		{{Key: 2, Value: least}: 1},
		{{Key: 1, Value: 1}: 1, {Key: 2, Value: -1}: 1},
	} {
		if sum := sumUp(got, uint64(e)); fmt.Sprint(sum) != fmt.Sprint(want) {
			t.Errorf("epoch %d: got %v, expected %v", e, sum, want)
		}
	}
}

// TestPanics has functions of the user's panic: the run ends with an error that says in which operator.
func TestPanics(t *testing.T) {
	ouch := func() { panic("ouch") }
	for _, c := range []struct {
		operator string
		build    func(s *timely.Scope, in numbers, probe *timely.Probe)
	}{
		{"map", func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Map(func(uint32, int) int { ouch(); return 0 }).Probe(probe)
		}},
		{"filter", func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Filter(func(uint32, int) bool { ouch(); return false }).Probe(probe)
		}},
		{"flatmap", func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			differential.Pairs(in).FlatMap(func(number, func(int)) { ouch() }).Probe(probe)
		}},
		{"join", func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.JoinFlat(in, func(uint32, int, int, func(int)) { ouch() }).Probe(probe)
		}},
		{"median", func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Reduce("median", func(uint32, []differential.Weighted[int], func(int, int64)) { ouch() }).Probe(probe)
		}},
		{"threshold", func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Threshold(func(uint32, int, int64) int64 { ouch(); return 0 }).Probe(probe)
		}},
		{"sum", func(_ *timely.Scope, in numbers, probe *timely.Probe) {
			in.Sum(func(int) int64 { ouch(); return 0 }).Probe(probe)
		}},
		{"", func(s *timely.Scope, in numbers, probe *timely.Probe) { // EnterAt
			loop := s.Loop("loop")
			in.EnterAt(loop, func(uint32, int) uint64 { ouch(); return 0 }).Leave(s).Probe(probe)
		}},
		{"median", func(_ *timely.Scope, in numbers, probe *timely.Probe) { // in a loop, in a later round
			in.Iterate(func(_ *timely.Scope, inner numbers) numbers {
				return inner.Reduce("median", func(_ uint32, values []differential.Weighted[int], emit func(int, int64)) {
					if values[0].Value > 3 {
						ouch()
					}
					emit(values[0].Value+1, 1)
				})
			}).Probe(probe)
		}},
	} {
		for workers := 1; workers <= 3; workers++ {
			t.Run(fmt.Sprintf("%s, %d workers", c.operator, workers), func(t *testing.T) {
				err := runHistory(workers, [][]weightedAt{{}, {{1, 1, 1}, {2, 1, 1}}, {}}, c.build)
				for _, want := range []string{`operator "`, c.operator + `" of dataflow "test"`, "ouch", "faults_test.go"} {
					if !strings.Contains(fmt.Sprint(err), want) {
						t.Errorf("got %v, expected %s", err, want)
					}
				}
			})
		}
	}
}

// TestMisuse has functions called when they must not be.
func TestMisuse(t *testing.T) {
	var kept func(int)
	err := runHistory(1, [][]weightedAt{{{1, 1, 1}}, {{2, 1, 1}}}, func(_ *timely.Scope, in numbers, probe *timely.Probe) {
		differential.Pairs(in).FlatMap(func(_ number, emit func(int)) { kept = emit }).Inspect(func(differential.Update[int]) {}).Probe(probe)
		in.Inspect(func(u differential.Update[number]) {
			if u.Data.Key == 2 {
				kept(1)
			}
		}).Probe(probe)
	})
	var misuse *timely.MisuseError
	if !errors.As(err, &misuse) {
		t.Errorf("emit called too late: got %v, expected a misuse", err)
	}
	err = runHistory(1, [][]weightedAt{{{1, 1, 1}}, {}}, func(_ *timely.Scope, in numbers, probe *timely.Probe) {
		updates := differential.Pairs(in).Updates().Map(func(u differential.Update[number]) differential.Update[number] {
			u.Time[1] = 7
			return u
		})
		differential.FromUpdates(updates).Distinct().Probe(probe)
	})
	if !errors.As(err, &misuse) {
		t.Errorf("a time with a round outside of loops: got %v, expected a misuse", err)
	}
	err = timely.Run(timely.Threads(1), func(w *timely.Worker) error {
		var in *differential.Input[number]
		w.Dataflow("late", func(s *timely.Scope) { in, _ = differential.NewInput[number](s) })
		in.AdvanceTo(3)
		in.UpdateAt(2, number{}, 1)
		return nil
	})
	if !errors.As(err, &misuse) {
		t.Errorf("an update for an epoch that is over: got %v, expected a misuse", err)
	}
}
