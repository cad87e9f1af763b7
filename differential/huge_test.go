package differential_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"weir/differential"
	"weir/timely"
)

// TestHugeFanOut joins values of one key that match ten million times: others have their turn in between.
func TestHugeFanOut(t *testing.T) {
	left, right := 100, 100_000 // one side of several blocks
	if testing.Short() {
		left, right = 50, 20_000
	}
	for _, swapped := range []bool{false, true} {
		t.Run(fmt.Sprintf("swapped %v", swapped), func(t *testing.T) {
			var matches, sum atomic.Int64
			turns, longest := 0, time.Duration(0)
			err := timely.Run(timely.Threads(1), func(w *timely.Worker) error {
				var a, b, other *differential.Input[number]
				var joined, moved timely.Probe
				w.Dataflow("join", func(s *timely.Scope) {
					var as, bs differential.Collection[number]
					a, as = differential.NewInput[number](s)
					b, bs = differential.NewInput[number](s)
					differential.ByPair(as).JoinFlat(differential.ByPair(bs), func(_ uint32, v, w int, _ func(int)) {
						matches.Add(1)
						sum.Add(int64(v) * int64(w))
					}).Probe(&joined)
				})
				w.Dataflow("other", func(s *timely.Scope) {
					var c differential.Collection[number]
					other, c = differential.NewInput[number](s)
					c.Distinct().Probe(&moved)
				})
				first, second, n, m := a, b, left, right
				if swapped {
					first, second, n, m = b, a, right, left
				}
				for v := range n {
					first.Insert(number{Key: 7, Value: v})
				}
				first.Close()
				for more := true; more; {
					var err error
					if more, err = w.Step(); err != nil {
						return err
					}
				}
				for v := range m {
					second.Insert(number{Key: 7, Value: v})
				}
				second.Close()
				for !joined.Done() {
					e := other.Epoch()
					start := time.Now()
					other.Insert(number{Key: 1, Value: int(e)})
					other.AdvanceTo(e + 1)
					if err := w.StepUntil(moved.Passed(timely.Epoch(e))); err != nil {
						return err
					}
					longest = max(longest, time.Since(start))
					turns++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			n, m := int64(left), int64(right)
			if matches.Load() != n*m || sum.Load() != n*(n-1)/2*(m*(m-1)/2) {
				t.Errorf("%d matches of sum %d, expected %d of %d", matches.Load(), sum.Load(), n*m, n*(n-1)/2*(m*(m-1)/2))
			}
			if least := int(n * m >> 20); turns < least {
				t.Errorf("another dataflow had %d turns in between, expected %d at least", turns, least)
			}
			t.Logf("%d matches, %d turns of another dataflow, the longest %v", matches.Load(), turns, longest)
		})
	}
}

// TestLargeKey reduces a key whose values fill several blocks.
func TestLargeKey(t *testing.T) {
	const n = 40_000 // of which 3 divides n-1
	var got timely.Results[differential.Update[number]]
	all := make([]weightedAt, n)
	for i := range all {
		all[i] = weightedAt{3, i, int64(i%3 + 1)}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	history := [][]weightedAt{all[:n/2], all[n/2:], {{3, 0, -1}, {3, n - 1, -1}, {3, n, 1}, {4, 1, 1}}}
	err := runHistory(2, history, func(_ *timely.Scope, in numbers, probe *timely.Probe) {
		differential.Pairs(in.Min().
			Concat(in.Max().MapValues(func(_ uint32, v int) int { return -v }), in.Count().MapValues(func(_ uint32, n int64) int { return int(n)*8 + 2 }),
				in.Reduce("number", func(_ uint32, values []differential.Weighted[int], emit func(int, int64)) {
					if !slices.IsSortedFunc(values, func(a, b differential.Weighted[int]) int { return a.Value - b.Value }) {
						panic("not in order")
					}
					emit(len(values)*8+3, 1)
				}))).Probe(probe).Updates().Collect(&got)
	})
	if err != nil {
		t.Fatal(err)
	}
	var updates []differential.Update[number]
	for _, u := range got.All() {
		updates = append(updates, u)
	}
	count := 0
	for _, x := range all {
		count += int(x.weight)
	}
	least, most, half := n, 0, 0
	for _, x := range all[:n/2] {
		least, most, half = min(least, x.value), max(most, x.value), half+int(x.weight)
	}
	want := []map[number]int64{
		{{3, least}: 1, {3, -most}: 1, {3, half*8 + 2}: 1, {3, (n/2)*8 + 3}: 1},
		{{3, 0}: 1, {3, 1 - n}: 1, {3, count*8 + 2}: 1, {3, n*8 + 3}: 1},
		// The least and the greatest were there once.
		{{3, 1}: 1, {3, -n}: 1, {3, (count-1)*8 + 2}: 1, {3, (n-1)*8 + 3}: 1, {4, 1}: 1, {4, -1}: 1, {4, 8 + 2}: 1, {4, 8 + 3}: 1},
	}
	for e := range want {
		if sum := sumUp(updates, uint64(e)); !maps.Equal(sum, want[e]) {
			t.Errorf("epoch %d: got %v, expected %v", e, sum, want[e])
		}
	}
}

// TestLongHistory changes few records for thousands of epochs: answers stay right, and indices small.
func TestLongHistory(t *testing.T) {
	epochs := 3000
	if testing.Short() {
		epochs = 200
	}
	for workers := 1; workers <= 3; workers++ {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) { testLongHistory(t, workers, epochs) })
	}
}

func testLongHistory(t *testing.T, workers, epochs int) {
	b := &builder[uint32, int]{uint32s, ints}
	// The last node is a search from the second input along the first.
	nodes := []node{
		{op: opInput}, {op: opInput},
		{op: opJoin, args: []int{0, 1}, keyed: true},
		{op: opMin, args: []int{0}},
		{op: opReduce, args: []int{1}, f: 3},
		{op: opLoop, keyed: true, loop: &loop{iterate: true, next: []int{5}, result: 5, body: []node{
			{op: opEnter, args: []int{1}, keyed: true}, {op: opEnter, args: []int{0}, keyed: true}, {op: opVariable, args: []int{0}},
			{op: opJoin, args: []int{2, 1}, f: 2, keyed: true}, {op: opConcat, args: []int{3, 0}, keyed: true}, {op: opMin, args: []int{4}},
		}}},
	}
	rng := rand.New(rand.NewPCG(uint64(workers), 3))
	changes := make([][]edit, epochs)
	there := []multiset{{}, {}}
	var want [][]multiset
	for e := range changes {
		for range rng.IntN(4) {
			x := edit{input: rng.IntN(2), epoch: e, rec: rec{rng.IntN(domain), rng.IntN(domain)}, weight: 1}
			if there[x.input][x.rec] > int64(rng.IntN(3)) {
				x.weight = -1
			}
			there[x.input].add(x.rec, x.weight)
			changes[e] = append(changes[e], x)
		}
		want = append(want, evaluate(nodes, there, nil, nil, 0)[2:])
		there = []multiset{maps.Clone(there[0]), maps.Clone(there[1])}
	}
	got := make([][]output, workers)
	largest := make([]int, workers)
	err := timely.Run(timely.Threads(workers), func(w *timely.Worker) error {
		var probe timely.Probe
		inputs := make([]*differential.Input[pair[uint32, int]], 2)
		var sizes []func() int
		w.Dataflow("long", func(s *timely.Scope) {
			in := make([]*forms[uint32, int], 2)
			for i := range in {
				var c differential.Collection[pair[uint32, int]]
				inputs[i], c = differential.NewInput[pair[uint32, int]](s)
				in[i] = fromCollection(c)
			}
			for i, made := range b.build(nodes, s, in, nil, nil) {
				if i < 2 || i == 3 || i == 4 {
					stats := differential.StatsOf(made.asKeyed())
					sizes = append(sizes, func() int { return stats().Edits })
				}
				if i >= 2 {
					made.asCollection().Inspect(func(u differential.Update[pair[uint32, int]]) {
						got[w.Index()] = append(got[w.Index()], output{i, b.rec(u.Data.Key, u.Data.Value), u.Time, u.Weight})
					}).Probe(&probe)
				}
			}
		})
		for e, list := range changes {
			for i, x := range list {
				if i%workers == w.Index() {
					inputs[x.input].Update(b.pair(x.rec), x.weight)
				}
			}
			for _, in := range inputs {
				in.AdvanceTo(uint64(e) + 1)
			}
			if e%7 == 0 || e%50 > 30 { // else several epochs are on their way
				if err := w.StepUntil(probe.Passed(timely.Epoch(uint64(e)))); err != nil {
					return err
				}
				for _, size := range sizes {
					largest[w.Index()] = max(largest[w.Index()], size())
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(got...)
	slices.SortFunc(all, func(a, b output) int { return a.time.Compare(b.time) })
	sums := make([]multiset, len(nodes))
	for i := range sums {
		sums[i] = multiset{}
	}
	for e := range want {
		for ; len(all) > 0 && all[0].time[0] == uint64(e); all = all[1:] {
			sums[all[0].node].add(all[0].rec, all[0].weight)
		}
		for i := range want[e] {
			if !maps.Equal(sums[2+i], want[e][i]) {
				t.Fatalf("node %d after epoch %d is %v, expected %v", 2+i, e, sums[2+i], want[e][i])
			}
		}
	}
	// There are no more than 25 records, and perhaps 20 epochs under way.
	t.Logf("the largest index had %d changes", slices.Max(largest))
	if slices.Max(largest) > 400 {
		t.Errorf("the largest index had %d changes, of %d records at most", slices.Max(largest), domain*domain)
	}
}
