package tree

import (
	"cmp"
	"slices"

	"weir/series/names"
)

// rare is what few series have: late points, deletions, texts.
type rare struct {
	// Late points as they came.
	times         []int64
	values        []float64
	late          uint64 // how many came
	latePersisted uint64 // how many of these are in nodes
	latest        int64  // the highest of times, if there are any
	segment       uint32 // of the log, where the oldest of these is that is in no node
	// mixed says that among the late points are some that had come in order: they were read from the log in another
	// order than they were written in. What is in memory is then written as a whole.
	mixed bool

	lanes   []lane
	numbers uint32 // the highest number that a lane ever had

	deletions []Deletion

	texts     *texts // of the tail; nil if the series has no texts
	lateTexts *texts

	chain []laneRef // while it is restored: leaves of a chain that is not whole yet
}

func (f *Forest) rareOf(id names.ID, s *state) *rare {
	if s.flags&hasRare == 0 {
		return nil
	}
	return f.rare[id]
}

func (f *Forest) makeRare(id names.ID, s *state) *rare {
	if r := f.rareOf(id, s); r != nil {
		return r
	}
	r := &rare{}
	f.rare[id] = r
	s.flags |= hasRare
	return r
}

// lane is the lane of a number, made if need be. The pointer is good until another one is made.
func (r *rare) lane(number uint32) *lane {
	for i := range r.lanes {
		if r.lanes[i].number == number {
			return &r.lanes[i]
		}
	}
	r.lanes = append(r.lanes, lane{number: number})
	r.numbers = max(r.numbers, number)
	return &r.lanes[len(r.lanes)-1]
}

// sortLate puts the late points in the order of their times, those of one time in the order in which they came, or only
// the last of them.
func (r *rare) sortLate(last bool) (times []int64, values []float64) {
	order := make([]int, len(r.times))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(r.times[i], r.times[j]) })
	times, values = make([]int64, 0, len(order)), make([]float64, 0, len(order))
	for k, i := range order {
		if last && k+1 < len(order) && r.times[order[k+1]] == r.times[i] {
			continue
		}
		times, values = append(times, r.times[i]), append(values, r.values[i])
	}
	return times, values
}

// addLate adds the late points to a chain: to the first lane behind whose end they can be without that a later lane has
// points of the same times, which came before them, or to a new lane.
func (r *rare) addLate(c *chain, last bool) error {
	if len(r.times) == 0 {
		return nil
	}
	times, values := r.sortLate(last)
	number := r.nextNumber(last)
	for i := len(r.lanes) - 1; i >= 0; i-- {
		l := &r.lanes[i]
		end := l.total.LastTime
		if end > times[0] || end == times[0] && last {
			break
		}
		if !last || !r.mixed && !l.mixed() {
			number = l.number
		}
		if end == times[0] {
			break
		}
	}
	return c.addPoints(number, times, values, r.lateTexts, nil)
}

// lateWritten forgets the late points, which are in nodes now.
func (r *rare) lateWritten() {
	r.times, r.values = nil, nil
	r.latePersisted, r.segment, r.mixed = r.late, 0, false
	if r.lateTexts != nil {
		r.lateTexts = &texts{}
	}
}

// behind reports whether there are late points of a time or later ones. A point that comes after them is late as well,
// whatever became of those that they were late for.
func (r *rare) behind(time int64) bool {
	return len(r.times) > 0 && time <= r.latest ||
		slices.ContainsFunc(r.lanes, func(l lane) bool { return l.total.Count > 0 && time <= l.total.LastTime })
}

// putLate adds a late point.
func (f *Forest) putLate(id names.ID, s *state, time int64, value float64) error {
	r := f.makeRare(id, s)
	if len(r.times) >= f.limits.Late {
		if err := f.flushLate(id, s, r); err != nil {
			return err
		}
	}
	if len(r.times) == 0 || time > r.latest {
		r.latest = time
	}
	r.times, r.values = append(r.times, time), append(r.values, value)
	f.rareBytes += 16
	return nil
}

// flushLate writes the late points.
func (f *Forest) flushLate(id names.ID, s *state, r *rare) error {
	if len(r.times) == 0 {
		return nil
	}
	if r.mixed {
		return f.flush(id, s)
	}
	c := f.newChain(id, s, r)
	c.header.Ordinal, c.header.Late = s.persisted, r.late
	if err := r.addLate(&c, f.keepsLast(s)); err != nil {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	f.rareBytes -= 16 * len(r.times)
	r.lateWritten()
	if s.ordinal == s.persisted {
		s.segment = 0
	}
	return f.apply(id, s, r, c.refs)
}
