package timely

import (
	"fmt"
	"math"
	"strings"
)

// MaxDepth is how many coordinates a [Time] has: the epoch, and one for each loop
// around an operator.
const MaxDepth = 4

// Time is a logical timestamp: the epoch of the input first, then the round of each
// loop around the operator, outermost first. Coordinates of loops that an
// operator is not in are 0. Times are ordered coordinate by coordinate, so that
// some are neither before nor after one another.
type Time [MaxDepth]uint64

// Epoch is the time of the inputs of epoch e, outside of all loops.
func Epoch(e uint64) Time { return Time{e} }

// LessEqual says that t is before or at u: no coordinate of t is larger.
func (t Time) LessEqual(u Time) bool {
	return t[0] <= u[0] && t[1] <= u[1] && t[2] <= u[2] && t[3] <= u[3]
}

// Less says that t is before u and not u itself.
func (t Time) Less(u Time) bool { return t != u && t.LessEqual(u) }

// Join is the earliest time at or after both t and u.
func (t Time) Join(u Time) Time {
	return Time{max(t[0], u[0]), max(t[1], u[1]), max(t[2], u[2]), max(t[3], u[3])}
}

// Meet is the latest time at or before both t and u.
func (t Time) Meet(u Time) Time {
	return Time{min(t[0], u[0]), min(t[1], u[1]), min(t[2], u[2]), min(t[3], u[3])}
}

// Compare orders times lexicographically, which extends the partial order: where
// t.Less(u), Compare is negative.
func (t Time) Compare(u Time) int {
	for i := range t {
		switch {
		case t[i] < u[i]:
			return -1
		case t[i] > u[i]:
			return 1
		}
	}
	return 0
}

// String shows the coordinates, without those at the end that are 0.
func (t Time) String() string {
	last := MaxDepth
	for last > 1 && t[last-1] == 0 {
		last--
	}
	var b strings.Builder
	b.WriteByte('(')
	for i, c := range t[:last] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, c)
	}
	b.WriteByte(')')
	return b.String()
}

// Summary is what happens to the time of a message on a path through a dataflow:
// the first Keep coordinates are kept and the others are dropped to 0, as on
// leaving a loop, and then Add is added, as on going once around it. That of a path
// that changes nothing is [Identity]; the zero Summary drops everything. Summaries
// are closed under composition.
type Summary struct {
	Keep int
	Add  Time
}

// Identity is the summary of a path that leaves times as they are.
func Identity() Summary { return Summary{Keep: MaxDepth} }

// ResultsIn is the time of a message that leaves at t when it arrives. False says
// that it never does: a coordinate would overflow.
func (s Summary) ResultsIn(t Time) (Time, bool) {
	for i := range t {
		if i >= s.Keep {
			t[i] = 0
		}
		if t[i] > math.MaxUint64-s.Add[i] {
			return Time{}, false
		}
		t[i] += s.Add[i]
	}
	return t, true
}

// FollowedBy is the summary of the path of s and then that of next. False says
// that nothing arrives there. A message whose coordinate overflows on the first and
// is dropped on the second counts as one that arrives.
func (s Summary) FollowedBy(next Summary) (Summary, bool) {
	add, ok := Summary{Keep: next.Keep, Add: next.Add}.ResultsIn(s.Add)
	return Summary{Keep: min(s.Keep, next.Keep), Add: add}, ok
}

// LessEqual says that a message on the path of s never arrives later than on that
// of other, whenever it leaves.
func (s Summary) LessEqual(other Summary) bool {
	return s.Keep <= other.Keep && s.Add.LessEqual(other.Add)
}

// String shows the summary as what it does to a time.
func (s Summary) String() string {
	if s.Keep >= MaxDepth {
		return "+" + s.Add.String()
	}
	return fmt.Sprintf("[:%d]+%v", s.Keep, s.Add)
}
