package timely

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// timed is a record and the epoch of it, which is what models work on.
type timed[D any] struct {
	epoch uint64
	x     D
}

func drawRecords(t *rapid.T) []timed[uint64] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) timed[uint64] {
		return timed[uint64]{rapid.Uint64Range(0, 4).Draw(t, "epoch"), rapid.Uint64Range(0, 40).Draw(t, "x")}
	}), 0, 60).Draw(t, "records")
}

// runModel feeds records, divided over the workers, to the dataflow that build makes,
// each worker with its epochs in order, and returns what is collected. Factor repeats
// each record, for batches that fill.
func runModel[E any](t *rapid.T, threads, factor int, records []timed[uint64], build func(w *Worker, s Stream[uint64]) Stream[E]) []timed[E] {
	t.Helper()
	return runModelOn(t, []Config{Threads(threads)}, factor, records, build)
}

// runModelOn is runModel with a configuration for each process.
func runModelOn[E any](t *rapid.T, processes []Config, factor int, records []timed[uint64], build func(w *Worker, s Stream[uint64]) Stream[E]) []timed[E] {
	t.Helper()
	var got Results[E]
	program := func(w *Worker) error {
		var in *Input[uint64]
		var probe Probe
		w.Dataflow("model", func(s *Scope) {
			in = NewInput[uint64](s)
			build(w, in.Stream()).Collect(&got).Probe(&probe)
		})
		mine := []timed[uint64]{}
		for i, r := range records {
			if i%w.Peers() == w.Index() {
				mine = append(mine, r)
			}
		}
		slices.SortStableFunc(mine, func(a, b timed[uint64]) int { return cmp.Compare(a.epoch, b.epoch) })
		for _, r := range mine {
			in.AdvanceTo(r.epoch)
			for range factor {
				in.Send(r.x)
			}
			if r.x%7 == 0 {
				if _, err := w.Step(); err != nil {
					return err
				}
			}
		}
		in.AdvanceTo(5)
		return w.StepUntil(probe.Passed(Epoch(4)))
	}
	errs := make([]error, len(processes))
	var all sync.WaitGroup
	for i, cfg := range processes {
		all.Go(func() { errs[i] = Run(cfg, program) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	list := []timed[E]{}
	for at, x := range got.All() {
		list = append(list, timed[E]{at[0], x})
	}
	return list
}

// same fails unless got and want are the same records, in any order.
func same[E any](t *rapid.T, got, want []timed[E]) {
	t.Helper()
	key := func(list []timed[E]) []string {
		keys := make([]string, 0, len(list))
		for _, r := range list {
			keys = append(keys, fmt.Sprintf("%d: %v", r.epoch, r.x))
		}
		slices.Sort(keys)
		return keys
	}
	if g, w := key(got), key(want); !slices.Equal(g, w) {
		t.Fatalf("got %q\nexpected %q", g, w)
	}
}

// repeat is what runModel's factor makes of the records.
func repeat(records []timed[uint64], factor int) []timed[uint64] {
	var all []timed[uint64]
	for _, r := range records {
		all = append(all, slices.Repeat([]timed[uint64]{r}, factor)...)
	}
	return all
}

// property checks an operator against a model, on random records, for 1 to 3 workers.
func property[E any](t *testing.T, build func(w *Worker, s Stream[uint64]) Stream[E], model func(records []timed[uint64], threads int) []timed[E]) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		factor := rapid.SampledFrom([]int{1, 1, 90}).Draw(t, "factor")
		threads := rapid.IntRange(1, 3).Draw(t, "threads")
		got := runModel(t, threads, factor, records, build)
		same(t, got, model(repeat(records, factor), threads))
	})
}

// each is a model that makes records of single ones.
func each[E any](f func(r timed[uint64]) []timed[E]) func([]timed[uint64], int) []timed[E] {
	return func(records []timed[uint64], threads int) []timed[E] {
		var out []timed[E]
		for _, r := range records {
			out = append(out, f(r)...)
		}
		return out
	}
}

func TestMapInPlace(t *testing.T) {
	property(t, func(_ *Worker, s Stream[uint64]) Stream[uint64] {
		return s.Concat(s.MapInPlace(func(x *uint64) { *x += 100 })) // the other branch must not see it
	}, each(func(r timed[uint64]) []timed[uint64] { return []timed[uint64]{r, {r.epoch, r.x + 100}} }))
}

func TestFlatMapAndFilter(t *testing.T) {
	property(t, func(_ *Worker, s Stream[uint64]) Stream[string] {
		return s.Filter(func(x uint64) bool { return x%3 != 0 }).FlatMap(func(x uint64, emit func(string)) {
			for range x % 3 {
				emit(fmt.Sprint(x))
			}
		})
	}, each(func(r timed[uint64]) []timed[string] {
		return slices.Repeat([]timed[string]{{r.epoch, fmt.Sprint(r.x)}}, int(r.x%3))
	}))
}

func TestPartition(t *testing.T) {
	property(t, func(_ *Worker, s Stream[uint64]) Stream[string] {
		parts := s.Partition(4, func(x uint64) int { return int(x % 4) })
		var named []Stream[string]
		for i, p := range parts[:3] { // nothing reads the last
			named = append(named, p.Map(func(x uint64) string { return fmt.Sprint(i, ":", x) }))
		}
		return named[0].Concat(named[1:]...)
	}, each(func(r timed[uint64]) []timed[string] {
		if r.x%4 == 3 {
			return nil
		}
		return []timed[string]{{r.epoch, fmt.Sprint(r.x%4, ":", r.x)}}
	}))
}

func TestBranch(t *testing.T) {
	property(t, func(_ *Worker, s Stream[uint64]) Stream[uint64] {
		even, odd := s.Branch(func(x uint64) bool { return x%2 == 0 })
		early, late := odd.BranchWhen(func(t Time) bool { return t[0] < 2 })
		return even.Concat(early.Map(func(x uint64) uint64 { return x + 1000 }), late.Map(func(x uint64) uint64 { return x + 2000 }))
	}, each(func(r timed[uint64]) []timed[uint64] {
		switch {
		case r.x%2 == 0:
		case r.epoch < 2:
			r.x += 1000
		default:
			r.x += 2000
		}
		return []timed[uint64]{r}
	}))
}

func TestBroadcast(t *testing.T) {
	property(t, func(w *Worker, s Stream[uint64]) Stream[[2]uint64] {
		return s.Broadcast().Map(func(x uint64) [2]uint64 { return [2]uint64{uint64(w.Index()), x} })
	}, func(records []timed[uint64], threads int) (want []timed[[2]uint64]) {
		for _, r := range records {
			for i := range threads {
				want = append(want, timed[[2]uint64]{r.epoch, [2]uint64{uint64(i), r.x}})
			}
		}
		return want
	})
}

func TestDelay(t *testing.T) {
	property(t, func(_ *Worker, s Stream[uint64]) Stream[uint64] {
		return s.Delay(func(t Time, x uint64) Time { return Epoch(t[0] + x%3) }).
			DelayBatch(func(t Time) Time { return Epoch((t[0] + 1) / 2 * 2) })
	}, each(func(r timed[uint64]) []timed[uint64] {
		return []timed[uint64]{{(r.epoch + r.x%3 + 1) / 2 * 2, r.x}}
	}))
}

func TestAccumulate(t *testing.T) {
	property(t, func(_ *Worker, s Stream[uint64]) Stream[uint64] {
		toFirst := func(uint64) uint64 { return 0 }
		sum := func(so uint64, batch []uint64) uint64 {
			for _, x := range batch {
				so += x
			}
			return so
		}
		// The sum of all records, plus a million for each record.
		count := s.Count().Exchange(toFirst).Accumulate(0, sum).Map(func(n uint64) uint64 { return n * 1e6 })
		return s.Accumulate(0, sum).Concat(count).Exchange(toFirst).Accumulate(0, sum)
	}, func(records []timed[uint64], _ int) (want []timed[uint64]) {
		sums := map[uint64]uint64{}
		for _, r := range records {
			sums[r.epoch] += 1e6 + r.x
		}
		for epoch, sum := range sums {
			want = append(want, timed[uint64]{epoch, sum})
		}
		return want
	})
}

func TestAggregate(t *testing.T) {
	type count struct {
		Key    string
		N, Sum uint64
	}
	property(t, func(_ *Worker, s Stream[uint64]) Stream[count] {
		return s.Aggregate(func(x uint64) string { return fmt.Sprint(x % 5) },
			func(so *count, x uint64) { so.N++; so.Sum += x },
			func(key string, so count) count { so.Key = key; return so })
	}, func(records []timed[uint64], _ int) (want []timed[count]) {
		sums := map[timed[string]]count{}
		for _, r := range records {
			key := fmt.Sprint(r.x % 5)
			so := sums[timed[string]{r.epoch, key}]
			sums[timed[string]{r.epoch, key}] = count{key, so.N + 1, so.Sum + r.x}
		}
		for at, c := range sums {
			want = append(want, timed[count]{at.epoch, c})
		}
		return want
	})
}

func TestDistinct(t *testing.T) {
	property(t, func(_ *Worker, s Stream[uint64]) Stream[uint64] { return Distinct(s) },
		func(records []timed[uint64], _ int) []timed[uint64] {
			seen := map[timed[uint64]]bool{}
			for _, r := range records {
				seen[r] = true
			}
			return slices.Collect(maps.Keys(seen))
		})
}

// TestStateMachine has machines that say the sum of their records so far, and are done
// when it exceeds a bound. Times come backwards. One record a time leaves no choice of sequence.
func TestStateMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Uint64Range(0, 20), 0, 30).Draw(t, "records")
		threads := rapid.IntRange(1, 3).Draw(t, "threads")
		var got Results[[2]uint64]
		err := Run(Threads(threads), func(w *Worker) error {
			var in *UnorderedInput[uint64]
			w.Dataflow("states", func(s *Scope) {
				in = NewUnorderedInput[uint64](s)
				in.Stream().StateMachine(func(x uint64) uint64 { return x % 3 }, func(k uint64, sum *uint64, x uint64, emit func([2]uint64)) bool {
					*sum += x
					emit([2]uint64{k, *sum})
					return *sum > 30
				}).Collect(&got)
			})
			for i := len(list) - 1; i >= 0; i-- {
				if i%w.Peers() == w.Index() {
					in.Send(Epoch(uint64(i)), list[i])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sums := map[uint64]uint64{}
		for i, x := range list {
			k := x % 3
			sums[k] += x
			if at := got.At(Epoch(uint64(i))); len(at) != 1 || at[0] != [2]uint64{k, sums[k]} {
				t.Fatalf("at %d: got %v, expected %v", i, at, [2]uint64{k, sums[k]})
			}
			if sums[k] > 30 {
				delete(sums, k)
			}
		}
	})
}

func TestMapErr(t *testing.T) {
	property(t, func(_ *Worker, s Stream[uint64]) Stream[string] {
		good, bad := MapErr(s, func(x uint64) (string, error) {
			if x%3 == 0 {
				return "", errors.New("divisible")
			}
			return fmt.Sprint(x), nil
		})
		return good.Concat(bad.Map(func(f Failed[uint64]) string { return f.Error() }))
	}, each(func(r timed[uint64]) []timed[string] {
		if r.x%3 == 0 {
			return []timed[string]{{r.epoch, fmt.Sprintf("%d: divisible", r.x)}}
		}
		return []timed[string]{{r.epoch, fmt.Sprint(r.x)}}
	}))
}

func TestIterate(t *testing.T) {
	property(t, func(_ *Worker, s Stream[uint64]) Stream[uint64] {
		return s.Iterate("halve", func(x Stream[uint64]) (again, out Stream[uint64]) {
			even, odd := x.Exchange(HashUint64).Branch(func(x uint64) bool { return x%2 == 0 && x > 0 })
			return even.Map(func(x uint64) uint64 { return x / 2 }), odd
		})
	}, each(func(r timed[uint64]) []timed[uint64] {
		for r.x > 0 && r.x%2 == 0 {
			r.x /= 2
		}
		return []timed[uint64]{r}
	}))
}

func TestOperatorErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(s Stream[uint64])
		want  string
	}{
		{"partition", func(s Stream[uint64]) { s.Partition(3, func(uint64) int { return 3 }) }, `operator "partition" of dataflow "errors": a record goes to part 3, expected 0 to 2`},
		{"delay", func(s Stream[uint64]) { s.Delay(func(Time, uint64) Time { return Time{} }) }, "a record at (1) is delayed to (0), expected a later time"},
		{"delay batch", func(s Stream[uint64]) { s.DelayBatch(func(Time) Time { return Time{} }) }, "records at (1) are delayed to (0)"},
		{"branch", func(s Stream[uint64]) { s.Branch(func(uint64) bool { panic(&MisuseError{"neither"}) }) }, `operator "branch" of dataflow "errors": neither`},
		{"must", func(s Stream[uint64]) {
			Must(MapErr(s, func(uint64) (int, error) { return 0, errors.New("no such page") }))
		}, `operator "must" of dataflow "errors": at (1): 5: no such page`},
		{"hash", func(s Stream[uint64]) {
			s.Aggregate(func(uint64) struct{ P *int } { return struct{ P *int }{} }, func(*int, uint64) {}, func(struct{ P *int }, int) int { return 0 })
		}, "field P: ptr values have none that is the same in all processes"},
	} {
		err := Run(Threads(1), func(w *Worker) error {
			var in *Input[uint64]
			w.Dataflow("errors", func(s *Scope) {
				in = NewInput[uint64](s)
				c.build(in.Stream())
			})
			in.AdvanceTo(1)
			in.Send(5)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, expected %q", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "goroutine") {
			t.Errorf("%s: a stack tells nothing here: %v", c.name, err)
		}
	}
}

func TestHashOf(t *testing.T) {
	type pair struct {
		Name string
		_    int32
		N    int16
		F    float64
		A    [2]bool
	}
	h := HashOf[pair]()
	a := pair{Name: "a", N: 1, F: 0}
	b := pair{Name: strings.Clone("a"), N: 1, F: math.Copysign(0, -1)}
	if a != b || h(a) != h(b) {
		t.Errorf("equal keys hash to %x and %x", h(a), h(b))
	}
	for _, c := range []pair{{Name: "b", N: 1}, {Name: "a", N: 2}, {Name: "a", N: 1, F: 1}, {Name: "a", N: 1, A: [2]bool{true, false}}, {Name: "a", N: 1, A: [2]bool{false, true}}} {
		if h(a) == h(c) {
			t.Errorf("%v and %v have the same hash", a, c)
		}
	}
	type id int8
	if HashOf[int32]()(-1) == HashOf[int32]()(1) || HashOf[id]()(3) == HashOf[id]()(4) || HashOf[string]()("x") != HashString("x") ||
		HashOf[uint64]()(9) != HashUint64(9) || HashOf[complex64]()(1i) == HashOf[complex64]()(1) {
		t.Error("hashes of plain types")
	}
	for _, f := range []func(){func() { HashOf[any]() }, func() { HashOf[chan int]() }, func() { HashOf[[1]*int]() }} {
		func() {
			defer func() {
				if _, ok := recover().(*MisuseError); !ok {
					t.Error("a key that cannot be hashed is taken")
				}
			}()
			f()
		}()
	}
}
