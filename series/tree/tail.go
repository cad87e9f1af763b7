package tree

import (
	"sort"

	"weir/series/aggregate"
	"weir/series/arena"
	"weir/series/names"
)

// pointBytes is what a point of the tail takes.
const pointBytes = 16

// tailOf is the times and values of the tail of a series, of the length of its block.
func (f *Forest) tailOf(s *state) (times []int64, values []float64) {
	if s.tail == arena.None {
		return nil, nil
	}
	times = arena.View[int64](&f.arena, s.tail, int(s.tailClass))
	values = arena.View[float64](&f.arena, s.tail, int(s.tailClass))
	n := len(times) / 2
	return times[:n], values[n:]
}

// growTail makes room for a point more.
func (f *Forest) growTail(s *state) error {
	times, values := f.tailOf(s)
	class := max(int(s.tailClass)+1, min(int(s.tailClass)+arena.PerTwice, arena.Class(pointBytes*f.limits.Tail)))
	if s.tail == arena.None {
		class = 0
	}
	h, err := f.arena.Alloc(class)
	if err != nil {
		return err
	}
	old, oldClass := s.tail, s.tailClass
	s.tail, s.tailClass = h, uint8(class)
	newTimes, newValues := f.tailOf(s)
	copy(newTimes, times[:s.tailLen])
	copy(newValues, values[:s.tailLen])
	f.arena.Free(old, int(oldClass))
	return nil
}

func (f *Forest) freeTail(s *state) {
	f.arena.Free(s.tail, int(s.tailClass))
	s.tail, s.tailClass, s.tailLen = arena.None, 0, 0
}

// floor is the time before which a point is late, whatever the tail holds: the last one that is encoded.
func (f *Forest) floor(s *state) (time int64, ok bool) {
	if s.vectors > 0 {
		return f.openTotal(s).LastTime, true
	}
	return s.refsTotal.LastTime, s.refsTotal.Count > 0
}

// late reports whether a point comes too late for the tail.
func (f *Forest) late(id names.ID, s *state, time int64) bool {
	if s.flags&hasRare != 0 && f.rare[id].behind(time) {
		return true
	}
	last := f.keepsLast(s)
	if s.tailLen > 0 && !last {
		if times, _ := f.tailOf(s); time >= times[s.tailLen-1] {
			return false
		}
	}
	floor, ok := f.floor(s)
	return ok && (time < floor || time == floor && last)
}

// room makes room in the tail for a point unless it is late, and reports whether it is: also for want of the points
// that were in the tail.
func (f *Forest) room(id names.ID, s *state, time int64) (late bool, err error) {
	if f.late(id, s, time) {
		return true, nil
	}
	if int(s.tailLen) < f.limits.Tail {
		return false, nil
	}
	if err := f.seal(id, s); err != nil {
		return false, err
	}
	return f.late(id, s, time), nil
}

// put adds a point that is not late to the tail: behind those of the same time, or in their place.
func (f *Forest) put(s *state, time int64, value float64) error {
	times, values := f.tailOf(s)
	if f.keepsLast(s) && replaceValue(times[:s.tailLen], values, time, value) {
		return nil
	}
	if int(s.tailLen) == len(times) {
		if err := f.growTail(s); err != nil {
			return err
		}
		times, values = f.tailOf(s)
	}
	n := int(s.tailLen)
	at := n
	if n > 0 && time < times[n-1] {
		at = sort.Search(n, func(i int) bool { return times[i] > time })
		copy(times[at+1:n+1], times[at:n])
		copy(values[at+1:n+1], values[at:n])
	}
	times[at], values[at] = time, value
	s.tailLen++
	return nil
}

// seal encodes the tail, and writes the leaf if that makes it full. After an error there is as much in memory as there
// was before, and no room for a point.
func (f *Forest) seal(id names.ID, s *state) error {
	if s.flags&hasRare != 0 && f.rare[id].texts != nil {
		return f.flush(id, s) // events are encoded together with their texts
	}
	if s.full(f.limits) {
		return f.flush(id, s)
	}
	if err := f.encodeTail(s); err != nil {
		return err
	}
	if s.full(f.limits) {
		if err := f.merge(s); err != nil || int(s.openLen) < f.limits.Leaf*nearlyFull/8 && s.vectors < maxOpenVectors/2 {
			return err
		}
		// If this fails, it is tried again when the tail is full again.
		_ = f.flush(id, s)
	}
	return nil
}

// nearlyFull is how many eighths of a leaf are worth writing, once its vectors are as long as they can be.
const nearlyFull = 7

func (s *state) full(l Limits) bool {
	return s.vectors > 0 && (int(s.openLen) >= l.Leaf || int(s.vectors) >= maxOpenVectors)
}

// totalInMemory is the aggregate of what is in no node.
func (f *Forest) totalInMemory(s *state) aggregate.Aggregate {
	var a aggregate.Aggregate
	if s.vectors > 0 {
		a = f.openTotal(s)
	}
	if s.tailLen > 0 {
		times, values := f.tailOf(s)
		a.Add(times[:s.tailLen], values[:s.tailLen])
	}
	return a
}
