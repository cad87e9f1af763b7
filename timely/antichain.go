package timely

import "slices"

// Antichain is a set of times of which none is before another: the minimal times
// of something, such as those that may still come. The nil Antichain is empty:
// nothing comes any more.
type Antichain []Time

// LessEqual says that some time of a is before or at t, so that t may still come.
func (a Antichain) LessEqual(t Time) bool {
	for i := range a { // not slices.ContainsFunc: this is asked for every batch
		if a[i].LessEqual(t) {
			return true
		}
	}
	return false
}

// Less says that some time of a is before t.
func (a Antichain) Less(t Time) bool {
	return slices.ContainsFunc(a, func(m Time) bool { return m.Less(t) })
}

// Insert adds t unless a has a time before or at it, and drops the times after
// it. It returns whether t was added.
func (a *Antichain) Insert(t Time) bool {
	if a.LessEqual(t) {
		return false
	}
	*a = append(slices.DeleteFunc(*a, t.LessEqual), t)
	return true
}

// Equal says that a and b have the same times.
func (a Antichain) Equal(b Antichain) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(t Time) bool { return !slices.Contains(b, t) })
}

// Dominates says that every time at or after one of b is at or after one of a.
func (a Antichain) Dominates(b Antichain) bool {
	return !slices.ContainsFunc(b, func(t Time) bool { return !a.LessEqual(t) })
}

// Change is a change to how many of something there are at a time.
type Change struct {
	Time  Time
	Delta int64
}

// findTime is where t is in a list in lexicographic order, or where it belongs. Mostly the
// list is short, and t the first in it or after all others.
func findTime(list []Change, t Time) (int, bool) {
	if len(list) > 8 {
		if list[len(list)-1].Time.Compare(t) < 0 {
			return len(list), false
		}
		return slices.BinarySearchFunc(list, t, func(c Change, t Time) int { return c.Time.Compare(t) })
	}
	for i := range list {
		if order := list[i].Time.Compare(t); order >= 0 {
			return i, order == 0
		}
	}
	return len(list), false
}

// MutableAntichain counts times and knows the minimal ones of those whose count is
// positive. Counts may be negative for a while: a worker may hear of a message
// being consumed before it hears of it being produced.
type MutableAntichain struct {
	counts   []Change // in lexicographic order, none of them 0
	frontier Antichain
}

// Frontier is the antichain of minimal times. It belongs to m and changes with it.
func (m *MutableAntichain) Frontier() Antichain { return m.frontier }

// Count is the number at t.
func (m *MutableAntichain) Count(t Time) int64 {
	i, found := findTime(m.counts, t)
	if !found {
		return 0
	}
	return m.counts[i].Delta
}

// Update adds delta to the count at t and appends to changes what that does to the
// frontier: -1 for a time that leaves it, +1 for one that enters.
func (m *MutableAntichain) Update(t Time, delta int64, changes []Change) []Change {
	if delta == 0 {
		return changes
	}
	list := m.counts
	i, found := findTime(list, t)
	was := int64(0)
	if found {
		was = list[i].Delta
		if list[i].Delta += delta; list[i].Delta == 0 {
			list = slices.Delete(list, i, i+1)
		}
	} else {
		list = slices.Insert(list, i, Change{t, delta})
	}
	m.counts = list
	now := was + delta
	switch {
	case was <= 0 && now > 0:
		return m.enter(t, changes)
	case was > 0 && now <= 0:
		return m.leave(t, i, changes)
	}
	return changes
}

// enter brings t into the frontier, if nothing is before it.
func (m *MutableAntichain) enter(t Time, changes []Change) []Change {
	if m.frontier.LessEqual(t) {
		return changes
	}
	kept := m.frontier[:0]
	for _, f := range m.frontier {
		if t.LessEqual(f) {
			changes = append(changes, Change{f, -1})
		} else {
			kept = append(kept, f)
		}
	}
	m.frontier = append(kept, t)
	return append(changes, Change{t, 1})
}

// leave takes t, whose place among the counts is i, out of the frontier, if it is in
// it, and brings in the times that only t kept out.
func (m *MutableAntichain) leave(t Time, i int, changes []Change) []Change {
	at := slices.Index(m.frontier, t)
	if at < 0 {
		return changes
	}
	m.frontier = slices.Delete(m.frontier, at, at+1)
	changes = append(changes, Change{t, -1})
	// Counts are in lexicographic order, so a time that enters is never after one
	// that enters later, and none of those after t is before i.
	for _, c := range m.counts[i:] {
		if c.Delta > 0 && t.LessEqual(c.Time) && !m.frontier.LessEqual(c.Time) {
			m.frontier = append(m.frontier, c.Time)
			changes = append(changes, Change{c.Time, 1})
		}
	}
	return changes
}
