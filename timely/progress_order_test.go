package timely

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawSteps makes a graph of few places and any summaries.
func drawSteps(t *rapid.T) [][]step {
	steps := make([][]step, rapid.IntRange(1, 7).Draw(t, "places"))
	for range rapid.IntRange(0, 2*len(steps)).Draw(t, "steps") {
		from := rapid.IntRange(0, len(steps)-1).Draw(t, "from")
		s := step{int32(rapid.IntRange(0, len(steps)-1).Draw(t, "to")), Summary{Keep: MaxDepth}}
		if rapid.IntRange(0, 2).Draw(t, "dropping") == 0 {
			s.summary.Keep = rapid.IntRange(0, MaxDepth).Draw(t, "keep")
		}
		for range rapid.IntRange(0, 2).Draw(t, "adding") {
			s.summary.Add[rapid.IntRange(0, MaxDepth-1).Draw(t, "coordinate")] = rapid.Uint64Range(1, 2).Draw(t, "add")
		}
		steps[from] = append(steps[from], s)
	}
	return steps
}

// stands says by trying all ways around whether a cycle through a place leaves some
// time as it is: none of the coordinates that it keeps is added to.
func stands(steps [][]step, start int32) bool {
	type way struct {
		at   int32
		keep int
		adds [MaxDepth]bool
	}
	seen := map[way]bool{}
	queue := []way{{start, MaxDepth, [MaxDepth]bool{}}}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, s := range steps[queue[0].at] {
			w := queue[0]
			w.at, w.keep = s.to, min(w.keep, s.summary.Keep)
			for i, n := range s.summary.Add {
				w.adds[i] = w.adds[i] || n > 0
			}
			advances := false
			for _, adds := range w.adds[:w.keep] {
				advances = advances || adds
			}
			if w.at == start && !advances {
				return true
			}
			if !seen[w] {
				seen[w] = true
				queue = append(queue, w)
			}
		}
	}
	return false
}

// TestOrderAgainstAllCycles checks that what is refused has a cycle that does not
// advance time, and that in what is not refused every step leads forward.
func TestOrderAgainstAllCycles(t *testing.T) {
	var refused, loops, plain int
	rapid.Check(t, func(t *rapid.T) {
		steps := drawSteps(t)
		refuse := false
		for p := range steps {
			refuse = refuse || stands(steps, int32(p))
		}
		order, cycle := arrange(steps)
		if (cycle != nil) != refuse {
			t.Fatalf("steps %v: found the cycle %v, but that there is one that does not advance is %v", steps, cycle, refuse)
		}
		if refuse {
			refused++
			// The cycle that is shown is one, and stands by itself.
			only := make([][]step, len(steps))
			for i, p := range cycle {
				next := cycle[(i+1)%len(cycle)]
				for _, s := range steps[p] {
					if s.to == next {
						only[p] = append(only[p], s)
					}
				}
			}
			if !stands(only, cycle[0]) {
				t.Fatalf("steps %v: the cycle %v is none that does not advance", steps, cycle)
			}
			return
		}
		if slices.ContainsFunc(order, func(p position) bool { return p.loops[0] != 0 }) {
			loops++
		} else {
			plain++
		}
		for from, list := range steps {
			for _, s := range list {
				at := drawSmallTime().Draw(t, "at")
				then, _ := s.summary.ResultsIn(at)
				a, b := reached{at: int32(from), time: at}, reached{at: s.to, time: then}
				if !a.before(&b, order) || b.before(&a, order) {
					t.Fatalf("steps %v: the step from %d at %v to %d at %v does not lead forward in %+v", steps, from, at, s.to, then, order)
				}
			}
		}
		// It is a strict order of all pairs of place and time.
		draw := rapid.Custom(func(t *rapid.T) reached {
			return reached{at: rapid.Int32Range(0, int32(len(steps)-1)).Draw(t, "place"), time: drawSmallTime().Draw(t, "time")}
		})
		a, b, c := draw.Draw(t, "a"), draw.Draw(t, "b"), draw.Draw(t, "c")
		if a.before(&a, order) || a != b && a.before(&b, order) == b.before(&a, order) ||
			a.before(&b, order) && b.before(&c, order) && !a.before(&c, order) {
			t.Fatalf("%+v, %+v and %+v are not in order", a, b, c)
		}
	})
	t.Logf("%d graphs are refused, %d have loops, %d have none", refused, loops, plain)
}

// chain are the shapes of operators with one input and one output, in a row.
func chain(n int) []nodeShape {
	shapes := make([]nodeShape, n)
	for i := range shapes {
		shapes[i] = nodeShape{
			name: fmt.Sprint("operator ", i), depth: 1, inputs: 1, outputs: 1,
			internal: [][][]Summary{{{Identity()}}},
			targets:  [][]edgeShape{nil},
		}
		if i+1 < n {
			shapes[i].connect(i+1, Identity())
		}
	}
	return shapes
}

func (s *nodeShape) connect(to int, summary Summary) {
	s.targets[0] = append(s.targets[0], edgeShape{place{node: to}, summary})
}

// TestCyclesThatAreRefused has the mistakes that a program could make.
func TestCyclesThatAreRefused(t *testing.T) {
	once := func(coordinate int) Summary {
		s := Identity()
		s.Add[coordinate] = 1
		return s
	}
	for _, test := range []struct {
		name    string
		connect func(s []nodeShape)
		refused bool
	}{
		{"to itself", func(s []nodeShape) { s[3].connect(3, Identity()) }, true},
		{"around", func(s []nodeShape) { s[5].connect(0, Identity()) }, true},
		{"around with a feedback", func(s []nodeShape) { s[5].connect(0, once(1)) }, false},
		{"nested", func(s []nodeShape) {
			s[2].connect(1, once(2))
			s[2].targets[0][0].summary = Summary{Keep: 2}
			s[5].connect(0, once(1))
		}, false},
		{"nested, outer one without feedback", func(s []nodeShape) {
			s[2].connect(1, once(2))
			s[2].targets[0][0].summary = Summary{Keep: 2}
			s[5].connect(0, Identity())
		}, true},
		{"out of an inner loop and in again, with its feedback on the way", func(s []nodeShape) {
			s[1].targets[0][0].summary = once(1) // is forgotten at the next step
			s[2].targets[0][0].summary = Summary{Keep: 1}
			s[5].connect(1, Identity())
		}, true},
		{"two loops that go around by one another", func(s []nodeShape) {
			s[1].targets[0][0].summary = Summary{Keep: 1} // out of the one, into the other
			s[4].targets[0][0].summary = Summary{Keep: 1} // out of the other
			s[1].connect(1, once(1))
			s[4].connect(4, once(1))
			s[5].connect(0, Identity()) // and back into the one
		}, true},
		{"two loops that go around by one another, in a loop", func(s []nodeShape) {
			s[1].targets[0][0].summary = Summary{Keep: 2}
			s[4].targets[0][0].summary = Summary{Keep: 2}
			s[1].connect(1, once(2))
			s[4].connect(4, once(2))
			s[5].connect(0, once(1))
		}, false},
		{"four deep", func(s []nodeShape) {
			s[1].connect(1, once(3))
			s[1].targets[0][0].summary = Summary{Keep: 3}
			s[2].connect(1, once(2))
			s[2].targets[0][0].summary = Summary{Keep: 2}
			s[3].connect(0, once(1))
			s[3].targets[0][0].summary = Summary{Keep: 1}
			s[5].connect(0, once(0))
		}, false},
		{"the next epoch, round 0", func(s []nodeShape) {
			s[5].connect(0, Summary{Keep: 1, Add: Time{1}})
		}, false},
		{"round 1 always", func(s []nodeShape) {
			s[5].connect(0, Summary{Keep: 1, Add: Time{0, 1}})
		}, true},
	} {
		shapes := chain(6)
		test.connect(shapes)
		_, err := newTracker(shapes)
		if (err != nil) != test.refused {
			t.Errorf("%s: got error %v", test.name, err)
		}
		if err != nil && !strings.Contains(err.Error(), `input 0 of "operator `) {
			t.Errorf("%s: error %q names no operator", test.name, err)
		}
	}
}

// TestLargeShapes arranges many operators, in an order that is not that of their
// connections, which must take no more than linear time.
func TestLargeShapes(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	shapes := chain(n)
	names := rand.New(rand.NewPCG(1, 2)).Perm(n)
	shuffled := make([]nodeShape, n)
	for i, s := range shapes {
		for o := range s.targets[0] {
			s.targets[0][o].to.node = names[i+1]
		}
		shuffled[names[i]] = s
	}
	once := Identity()
	once.Add[1] = 1
	shuffled[names[n-1]].connect(names[n/2], once)
	tr, err := newTracker(shuffled)
	if err != nil {
		t.Fatal(err)
	}
	first := tr.input(names[0], 0)
	tr.update(first, Time{3}, 1)
	tr.propagate()
	if got := tr.frontier(tr.output(names[n-1], 0)); !got.Equal(Antichain{{3}}) {
		t.Errorf("at the end the frontier is %v", got)
	}
	tr.takeMoved(func(int32) {})
	tr.update(first, Time{3}, -1)
	tr.propagate()
	if got := tr.frontier(tr.output(names[n-1], 0)); len(got) != 0 || !tr.empty() {
		t.Errorf("in the end the frontier is %v", got)
	}
}
