package timely

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawShapes are the shapes of a random dataflow.
func drawShapes(seed uint64, operators, deep int) []nodeShape {
	d := &Dataflow{name: "random", worker: &Worker{}}
	b := &builder{flow: d}
	k := &sketch{rng: rand.New(rand.NewPCG(seed, 0)), left: operators, deep: deep, plain: true}
	k.dataflow(&Scope{builder: b, depth: 1})
	if b.problem != nil {
		panic(fmt.Sprint("seed ", seed, ": ", b.problem))
	}
	return d.shapes
}

// naiveTracker is the dumbest tracker: it knows what is where, and looks for
// everything that can come of it from the beginning each time.
type naiveTracker struct {
	steps [][]step
	count []map[Time]int64
}

func (n *naiveTracker) frontiers() []Antichain {
	front := make([]Antichain, len(n.steps))
	for at, counts := range n.count {
		for time, count := range counts {
			if count > 0 {
				front[at].Insert(time)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for at, steps := range n.steps {
			for _, s := range steps {
				for _, time := range front[at] {
					if then, ok := s.summary.ResultsIn(time); ok && front[s.to].Insert(then) {
						changed = true
					}
				}
			}
		}
	}
	return front
}

// trackerTest drives a tracker and the naive one side by side.
type trackerTest struct {
	*testing.T
	seed   uint64
	rng    *rand.Rand
	shapes []nodeShape
	real   *tracker
	model  *naiveTracker
	before []Antichain // all frontiers, after the last round
	known  []bool      // those that were kept then; nil is all

	turns, moves, net float64 // of the worklist; on the way; in the end
}

// change makes a random change. It may take counts below zero, but is not
// likely to leave them there.
func (t *trackerTest) change() {
	at := int32(t.rng.IntN(len(t.real.places)))
	var time Time
	for i := range t.shapes[t.real.owner[at]].depth {
		time[i] = uint64(t.rng.IntN(3))
	}
	delta := int64(t.rng.IntN(4) - 1)
	if there := t.real.places[at].points.counts; len(there) > 0 && t.rng.IntN(3) > 0 {
		c := there[t.rng.IntN(len(there))]
		time, delta = c.Time, -c.Delta
		if steps := t.real.steps[at]; len(steps) > 0 && t.rng.IntN(2) == 0 {
			// It goes on to the next place, as messages do.
			s := steps[t.rng.IntN(len(steps))]
			if then, ok := s.summary.ResultsIn(time); ok {
				t.update(s.to, then, 1)
			}
		}
	}
	t.update(at, time, delta)
}

func (t *trackerTest) update(at int32, time Time, delta int64) {
	t.real.update(at, time, delta)
	t.model.count[at][time] += delta
}

// settle lets the tracker propagate the changes, and checks what comes of it. It
// checks too that each turn is after those before: no place and time is come to
// twice, whatever the dataflow is like.
func (t *trackerTest) settle() {
	tr := t.real
	var last reached
	for n := 0; len(tr.work) > 0; n++ {
		r := tr.work[0]
		if n > 0 && !last.before(&r, tr.order) {
			t.Fatalf("seed %d: the turn of %s at %v comes after that of %s at %v", t.seed,
				tr.describe(r.at), r.time, tr.describe(last.at), last.time)
		}
		last = r
		tr.scratch = tr.scratch[:0]
		tr.advance()
		t.moves += float64(len(tr.scratch))
		t.turns++
	}
	want := t.model.frontiers()
	for at, now := range want {
		if tr.seen != nil && !tr.seen[at] {
			continue
		}
		if got := tr.frontier(int32(at)); !got.Equal(now) {
			t.Fatalf("seed %d: the frontier of %s is %v, expected %v", t.seed, tr.describe(int32(at)), got, now)
		}
		if !t.before[at].Equal(now) && !tr.places[at].changed && (t.known == nil || t.known[at]) {
			t.Fatalf("seed %d: the frontier of %s has moved, but nobody is told", t.seed, tr.describe(int32(at)))
		}
		for _, time := range t.before[at] {
			if !slices.Contains(now, time) {
				t.net++
			}
		}
		for _, time := range now {
			if !slices.Contains(t.before[at], time) {
				t.net++
			}
		}
	}
	t.before, t.known = want, slices.Clone(tr.seen)
	told := map[int32]bool{}
	tr.takeMoved(func(at int32) {
		if told[at] || tr.places[at].changed {
			t.Fatalf("seed %d: %s is told of twice", t.seed, tr.describe(at))
		}
		told[at] = true
	})
}

// TestTrackerAgainstNaive makes random changes to random dataflows.
func TestTrackerAgainstNaive(t *testing.T) {
	seeds := uint64(4000)
	if testing.Short() {
		seeds = 400
	}
	var turns, moves, net float64
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		shapes := drawShapes(seed, 3+rng.IntN(20), 1+rng.IntN(MaxDepth))
		tr, err := newTracker(shapes)
		if err != nil {
			t.Fatalf("seed %d: a dataflow whose loops have feedbacks is refused: %v", seed, err)
		}
		test := &trackerTest{
			T: t, seed: seed, rng: rng, shapes: shapes, real: tr,
			model:  &naiveTracker{steps: tr.steps, count: make([]map[Time]int64, len(tr.steps))},
			before: make([]Antichain, len(tr.places)),
		}
		if kept := rng.IntN(5); kept < 4 { // else all are
			tr.observe(func(int32) bool { return rng.IntN(4) < kept })
			test.known = slices.Clone(tr.seen)
		}
		for i := range test.model.count {
			test.model.count[i] = map[Time]int64{}
		}
		for range 15 {
			for range 1 + rng.IntN(6) {
				test.change()
			}
			if rng.IntN(10) == 0 {
				tr.frontier(int32(rng.IntN(len(tr.places)))) // which is kept from now on
			}
			test.settle()
		}
		for at := range tr.places {
			for _, c := range slices.Clone(tr.places[at].points.counts) {
				test.update(int32(at), c.Time, -c.Delta)
			}
		}
		test.settle()
		if !tr.empty() {
			t.Fatalf("seed %d: there is nothing anywhere, but the tracker is not empty", seed)
		}
		turns, moves, net = turns+test.turns, moves+test.moves, net+test.net
	}
	t.Logf("%.0f changes to frontiers, by %.2f times as many on the way, in %.2f turns each", net, moves/net, turns/net)
	if moves > 1.5*net || turns > 2*net {
		t.Errorf("propagation does more work than frontiers change")
	}
}

// TestNoWaveTwice moves a capability along a chain of diamonds, whose long sides have
// loops. Places are numbered against the stream, so that an order by their numbers would have
// changes overtake one another.
func TestNoWaveTwice(t *testing.T) {
	const diamonds = 30
	once := Identity()
	once.Add[1] = 1
	// Operators 3i to 3i+2 are a diamond, from the last to the first.
	shapes := chain(3*diamonds + 1)
	for i := range shapes {
		shapes[i].targets[0] = nil
	}
	for i := range diamonds {
		top, side, bottom := 3*i+3, 3*i+1, 3*i
		shapes[top].connect(bottom, Identity())
		shapes[top].connect(side, Identity())
		shapes[side].connect(side, once)
		shapes[side].connect(3*i+2, Summary{Keep: 1})
		shapes[3*i+2].connect(bottom, Identity())
	}
	tr, err := newTracker(shapes)
	if err != nil {
		t.Fatal(err)
	}
	count := func() (turns int) {
		for ; len(tr.work) > 0; turns++ {
			tr.advance()
		}
		return turns
	}
	from := tr.input(3*diamonds, 0)
	tr.update(from, Time{0}, 1)
	count()
	for epoch := range uint64(10) {
		tr.update(from, Time{epoch}, -1)
		tr.update(tr.output(3*diamonds, 0), Time{epoch}, 1)
		if turns := count(); turns > 4 {
			t.Errorf("a message that becomes a capability takes %d turns", turns)
		}
		tr.update(tr.output(3*diamonds, 0), Time{epoch}, -1)
		tr.update(from, Time{epoch + 1}, 1)
		// Two changes each of the 6 or 8 places of a diamond, and of rounds 1 at the loop.
		if turns, limit := count(), 2*8*(diamonds+1); turns > limit {
			t.Errorf("moving an epoch takes %d turns, expected at most %d", turns, limit)
		}
		if got := tr.frontier(tr.output(0, 0)); !got.Equal(Antichain{{epoch + 1}}) {
			t.Fatalf("frontier %v", got)
		}
	}
}

func BenchmarkTrackerChain(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint("operators=", n), func(b *testing.B) {
			tr, err := newTracker(chain(n))
			if err != nil {
				b.Fatal(err)
			}
			tr.update(0, Time{0}, 1)
			tr.propagate()
			epoch := uint64(0)
			for b.Loop() {
				tr.update(0, Time{epoch}, -1)
				epoch++
				tr.update(0, Time{epoch}, 1)
				tr.propagate()
				tr.takeMoved(func(int32) {})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*n), "ns/place")
		})
	}
}
