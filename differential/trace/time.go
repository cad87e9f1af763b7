package trace

import (
	"slices"

	"weir/timely"
)

// Join is the earliest time at or after both a and b.
func Join(a, b timely.Time) timely.Time { return a.Join(b) }

// Meet is the latest time at or before both a and b.
func Meet(a, b timely.Time) timely.Time { return a.Meet(b) }

// AdvanceTime is the latest time that nobody who asks only at times at or after
// frontier can tell from t: the meet over f of frontier of Join(t, f). Where the
// frontier is empty nobody asks at all, and it returns t.
func AdvanceTime(t timely.Time, frontier timely.Antichain) timely.Time {
	if len(frontier) == 0 {
		return t
	}
	advanced := t.Join(frontier[0])
	for _, f := range frontier[1:] {
		advanced = advanced.Meet(t.Join(f))
	}
	return advanced
}

// Union is the frontier of what is at or after a time of a or one of b: the minimal
// times of both. It is a new slice.
func Union(a, b timely.Antichain) timely.Antichain {
	union := slices.Clone(a)
	for _, t := range b {
		union.Insert(t)
	}
	return union
}
