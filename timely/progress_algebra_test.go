package timely

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawTime has small coordinates, so that times are often comparable, and
// sometimes the largest ones.
func drawTime() *rapid.Generator[Time] {
	coordinate := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(0, 3), rapid.Uint64Range(0, 3),
		rapid.Uint64Range(math.MaxUint64-2, math.MaxUint64))
	return rapid.Custom(func(t *rapid.T) Time {
		var at Time
		for i := range at {
			at[i] = coordinate.Draw(t, "coordinate")
		}
		return at
	})
}

// drawSmallTime has coordinates up to 3.
func drawSmallTime() *rapid.Generator[Time] {
	return rapid.Custom(func(t *rapid.T) Time {
		n := rapid.Uint64Range(0, 255).Draw(t, "time")
		return Time{n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6}
	})
}

func drawSummary(times *rapid.Generator[Time]) *rapid.Generator[Summary] {
	return rapid.Custom(func(t *rapid.T) Summary {
		return Summary{Keep: rapid.IntRange(0, MaxDepth).Draw(t, "keep"), Add: times.Draw(t, "add")}
	})
}

// grid yields all times with coordinates below n.
func grid(n uint64) func(yield func(Time) bool) {
	return func(yield func(Time) bool) {
		for i := range n * n * n * n {
			if !yield(Time{i % n, i / n % n, i / n / n % n, i / n / n / n}) {
				return
			}
		}
	}
}

func TestTimesAreALattice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawTime().Draw(t, "a"), drawTime().Draw(t, "b"), drawTime().Draw(t, "c")
		if !a.LessEqual(a) || a.Less(a) || a.Compare(a) != 0 {
			t.Fatalf("%v is not equal to itself", a)
		}
		if a.LessEqual(b) && b.LessEqual(a) && a != b {
			t.Fatalf("%v and %v are before one another", a, b)
		}
		if a.LessEqual(b) && b.LessEqual(c) && !a.LessEqual(c) {
			t.Fatalf("%v, %v and %v are in line, but not the first and the last", a, b, c)
		}
		if a.Less(b) != (a.LessEqual(b) && a != b) {
			t.Fatalf("Less disagrees with LessEqual on %v and %v", a, b)
		}
		if a.Less(b) && a.Compare(b) >= 0 || a.Compare(b) != -b.Compare(a) || (a.Compare(b) == 0) != (a == b) {
			t.Fatalf("Compare(%v, %v) is %d, and %d the other way", a, b, a.Compare(b), b.Compare(a))
		}
		if a.Compare(b) != slices.Compare(a[:], b[:]) {
			t.Fatalf("Compare(%v, %v) is %d", a, b, a.Compare(b))
		}
		join, meet := a.Join(b), a.Meet(b)
		if !a.LessEqual(join) || !b.LessEqual(join) || a.LessEqual(c) && b.LessEqual(c) && !join.LessEqual(c) {
			t.Fatalf("%v is not the least upper bound of %v and %v (or %v is)", join, a, b, c)
		}
		if !meet.LessEqual(a) || !meet.LessEqual(b) || c.LessEqual(a) && c.LessEqual(b) && !c.LessEqual(meet) {
			t.Fatalf("%v is not the greatest lower bound of %v and %v (or %v is)", meet, a, b, c)
		}
		if a.Join(a.Meet(b)) != a || a.Meet(a.Join(b)) != a || b.Join(a) != join || b.Meet(a) != meet {
			t.Fatalf("join and meet of %v and %v are not those of a lattice", a, b)
		}
	})
}

func TestSummariesCompose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, next, last := drawSummary(drawTime()).Draw(t, "s"), drawSummary(drawTime()).Draw(t, "next"), drawSummary(drawTime()).Draw(t, "last")
		at := drawTime().Draw(t, "at")
		if got, ok := Identity().ResultsIn(at); !ok || got != at {
			t.Fatalf("identity makes %v of %v", got, at)
		}
		middle, ok := s.ResultsIn(at)
		end := Time{}
		if ok {
			end, ok = next.ResultsIn(middle)
		}
		both, exists := s.FollowedBy(next)
		got, arrives := Time{}, false
		if exists {
			got, arrives = both.ResultsIn(at)
		}
		switch {
		case ok && (!arrives || got != end):
			t.Fatalf("from %v, %v and then %v lead to %v, but %v to %v, %v", at, s, next, end, both, got, arrives)
		case !ok && arrives && next.Keep == MaxDepth:
			// A path that overflows a coordinate and then drops it may count as one
			// that arrives, which is on the safe side.
			t.Fatalf("from %v, %v and then %v lead nowhere, but %v to %v", at, s, next, both, got)
		}
		left, okLeft := both, exists
		if okLeft {
			left, okLeft = both.FollowedBy(last)
		}
		right, okRight := next.FollowedBy(last)
		if okRight {
			right, okRight = s.FollowedBy(right)
		}
		if okLeft && okRight && left != right {
			t.Fatalf("%v, %v, %v: %v from the left, %v from the right", s, next, last, left, right)
		}
		if later := at.Join(drawTime().Draw(t, "later")); ok {
			if after, ok := s.ResultsIn(later); ok && !middle.LessEqual(after) {
				t.Fatalf("%v leads from %v to %v, but from the later %v to %v", s, at, middle, later, after)
			}
		}
	})
}

// TestSummaryOrder finds by trying all times whether one path is never later than
// another.
func TestSummaryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, other := drawSummary(drawSmallTime()).Draw(t, "s"), drawSummary(drawSmallTime()).Draw(t, "other")
		want := true
		for at := range grid(5) {
			a, _ := s.ResultsIn(at)
			b, _ := other.ResultsIn(at)
			want = want && a.LessEqual(b)
		}
		if got := s.LessEqual(other); got != want {
			t.Fatalf("%v at most %v is %v, expected %v", s, other, got, want)
		}
	})
}

// minimal is the times of list that no other is before, once each.
func minimal(list []Time) Antichain {
	var least Antichain
	for _, t := range list {
		if !slices.ContainsFunc(list, func(u Time) bool { return u.Less(t) }) && !slices.Contains(least, t) {
			least = append(least, t)
		}
	}
	return least
}

func TestAntichain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		build := func(name string) ([]Time, Antichain) {
			list := rapid.SliceOfN(drawSmallTime(), 0, 8).Draw(t, name)
			var a Antichain
			for i, at := range list {
				want := !slices.ContainsFunc(list[:i], func(u Time) bool { return u.LessEqual(at) })
				if got := a.Insert(at); got != want {
					t.Fatalf("insert %v after %v: got %v, expected %v", at, list[:i], got, want)
				}
			}
			if want := minimal(list); !a.Equal(want) || len(a) != len(want) {
				t.Fatalf("of %v came %v, expected %v", list, a, want)
			}
			return list, a
		}
		list, a := build("a")
		other, b := build("b")
		dominates := true
		for at := range grid(4) {
			before := slices.ContainsFunc(list, func(u Time) bool { return u.LessEqual(at) })
			strictly := slices.ContainsFunc(list, func(u Time) bool { return u.Less(at) })
			if a.LessEqual(at) != before || a.Less(at) != strictly {
				t.Fatalf("%v and %v: got %v, %v, expected %v, %v", a, at, a.LessEqual(at), a.Less(at), before, strictly)
			}
			if slices.ContainsFunc(other, func(u Time) bool { return u.LessEqual(at) }) && !before {
				dominates = false
			}
		}
		if got := a.Dominates(b); got != dominates {
			t.Fatalf("%v dominates %v: got %v", a, b, got)
		}
		if got := a.Equal(b); got != (dominates && b.Dominates(a)) {
			t.Fatalf("%v equals %v: got %v", a, b, got)
		}
	})
}

// TestMutableAntichain has counts come and go, below zero too.
func TestMutableAntichain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m MutableAntichain
		counts := map[Time]int64{}
		var followed []Time // the frontier, made of the changes alone
		for range rapid.IntRange(1, 60).Draw(t, "updates") {
			at, delta := drawSmallTime().Draw(t, "at"), rapid.Int64Range(-2, 2).Draw(t, "delta")
			changes := m.Update(at, delta, []Change{{at, 77}})
			if counts[at] += delta; counts[at] == 0 {
				delete(counts, at)
			}
			var positive []Time
			for u, n := range counts {
				if n > 0 {
					positive = append(positive, u)
				}
			}
			want := minimal(positive)
			if !m.Frontier().Equal(want) || len(m.Frontier()) != len(want) {
				t.Fatalf("counts %v: frontier %v, expected %v", counts, m.Frontier(), want)
			}
			if changes[0] != (Change{at, 77}) {
				t.Fatalf("what was in the list has become %v", changes[0])
			}
			for _, c := range changes[1:] {
				i := slices.Index(followed, c.Time)
				switch {
				case c.Delta == 1 && i < 0:
					followed = append(followed, c.Time)
				case c.Delta == -1 && i >= 0:
					followed = slices.Delete(followed, i, i+1)
				default:
					t.Fatalf("change %+v to frontier %v", c, followed)
				}
			}
			if !Antichain(followed).Equal(want) {
				t.Fatalf("the changes lead to %v, expected %v", followed, want)
			}
			if len(m.counts) != len(counts) || m.Count(at) != counts[at] {
				t.Fatalf("count %d at %v of %v, expected %v", m.Count(at), at, m.counts, counts)
			}
		}
	})
}

func TestChangeBatch(t *testing.T) {
	type key struct {
		at   int32
		time Time
	}
	rapid.Check(t, func(t *rapid.T) {
		var b changeBatch
		for range rapid.IntRange(1, 3).Draw(t, "takes") {
			want := map[key]int64{}
			for range rapid.IntRange(0, 200).Draw(t, "changes") {
				c := pointChange{rapid.Int32Range(0, 4).Draw(t, "at"), Time{rapid.Uint64Range(0, 4).Draw(t, "time")}, rapid.Int64Range(-2, 2).Draw(t, "delta")}
				b.add(c)
				want[key{c.at, c.time}] += c.delta
			}
			list := b.take()
			if !slices.IsSortedFunc(list, func(c, d pointChange) int { return cmp.Or(cmp.Compare(c.at, d.at), c.time.Compare(d.time)) }) {
				t.Fatalf("%v is not sorted", list)
			}
			for _, c := range list {
				k := key{c.at, c.time}
				if c.delta == 0 || want[k] != c.delta {
					t.Fatalf("change %+v, expected %d", c, want[k])
				}
				delete(want, k)
			}
			for k, n := range want {
				if n != 0 {
					t.Fatalf("change %d of %+v is missing", n, k)
				}
			}
		}
	})
}

// TestChangeBatchStaysSmall adds what comes to nothing, over many times.
func TestChangeBatchStaysSmall(t *testing.T) {
	var b changeBatch
	for i := range uint64(100_000) {
		b.add(pointChange{1, Epoch(i), 1})
		if i >= 20 {
			b.add(pointChange{1, Epoch(i - 20), -1})
		}
	}
	if cap(b.list) > 1000 {
		t.Errorf("the list has room for %d changes", cap(b.list))
	}
	if got := len(b.take()); got != 20 {
		t.Errorf("%d changes are left, expected 20", got)
	}
}

func TestActiveSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "size")
		var s activeSet
		s.grow(n)
		want := map[int]bool{}
		for range rapid.IntRange(0, 100).Draw(t, "changes") {
			if i := rapid.IntRange(0, n-1).Draw(t, "i"); rapid.Bool().Draw(t, "add") {
				s.add(i)
				want[i] = true
			} else {
				s.remove(i)
				delete(want, i)
			}
			if s.empty() != (len(want) == 0) {
				t.Fatalf("empty is %v with %v", s.empty(), want)
			}
		}
		got := map[int]bool{}
		last := -1
		for i := s.next(0); i >= 0; i = s.next(i + 1) {
			if i <= last || !want[i] {
				t.Fatalf("%d comes after %d of %v", i, last, want)
			}
			got[i], last = true, i
		}
		if len(got) != len(want) {
			t.Fatalf("got %v, expected %v", got, want)
		}
	})
}
