package tree

import (
	"slices"

	"weir/series/names"
)

// Where only the last of points of one time counts, no two points of one lane are of one time: a point takes the place
// of the one in the tail, and is late if the time is one of what is encoded already. Of points of one time in different
// lanes, that of the last lane counts. A Fold writes no other.

// KeepLast makes only the last of points of one time count, in the order in which they came. Of events all count. It
// comes before anything else, and of one store always or never: points that are in volumes already are not looked at.
func (f *Forest) KeepLast() { f.last = true }

func (f *Forest) keepsLast(s *state) bool { return f.last && s.flags&hasTexts == 0 }

// mixed reports whether a lane has points that had come in order. It shows in the number, as every node has it.
func (l *lane) mixed() bool { return l.number%2 == 1 }

// nextNumber is that of a new lane for the late points.
func (r *rare) nextNumber(last bool) uint32 {
	n := r.numbers + 1
	if last && (n%2 == 1) != r.mixed {
		n++
	}
	return n
}

// replaceValue puts a value in the place of that of the same time, and reports whether there was one.
func replaceValue(times []int64, values []float64, time int64, value float64) bool {
	n := len(times)
	if n == 0 || time > times[n-1] {
		return false
	}
	i, found := slices.BinarySearch(times, time)
	if found {
		values[i] = value
	}
	return found
}

// superseded reports whether a point that had come in order, and is late when it is read from the log, is not the last of
// its time: late ones that are in nodes came after it, or they would not have been late.
func (f *Forest) superseded(id names.ID, s *state, time int64) (bool, error) {
	r := f.rareOf(id, s)
	if r == nil || !f.keepsLast(s) {
		return false, nil
	}
	v := View{volumes: f.volumes, from: time, to: time}
	for i := range r.lanes {
		if refs := overlapping(r.lanes[i].refs, time, time); len(refs) > 0 && !r.lanes[i].mixed() {
			v.lanes = append(v.lanes, laneView{refs: refs})
		}
	}
	if len(v.lanes) == 0 {
		return false, nil
	}
	w := v.walk(false, false, nil)
	defer w.end()
	_, found, err := w.peek()
	return found, err
}

// supersede takes the points of a key, with which the next items begin, out of all lanes but the one that has the last
// of them. It reports whether there is something to take out: then the lanes are to be looked at again.
func (w *walk) supersede(key int64) (again bool, err error) {
	last := -1
	for i := range w.lanes {
		l := &w.lanes[i]
		top := len(l.stack) - 1
		if top < 0 || l.stack[top].first != key {
			continue
		}
		if last < 0 {
			last = i
			continue
		}
		// Two begin with the key. Which points these are is known once they are decoded.
		for _, k := range []int{last, i} {
			if opened, err := w.openTop(&w.lanes[k]); opened || err != nil {
				return true, err
			}
		}
		loser := last
		if w.backward {
			loser = i // lanes are in the opposite order
		} else {
			last = i
		}
		w.lanes[loser].dropFirst()
		again = true
	}
	return again, nil
}

// openTop makes points of what is on top of a lane, and reports whether it was something else.
func (w *walk) openTop(l *laneWalk) (bool, error) {
	top := len(l.stack) - 1
	it := l.stack[top]
	if it.kind == points {
		return false, nil
	}
	l.stack = l.stack[:top]
	if it.kind == vector {
		return true, w.decode(l, it)
	}
	if _, all := refDeleted(w.view.deletions, &it.ref); all {
		return true, nil
	}
	return true, w.open(l, it.ref)
}

// dropFirst takes away the first point of the points on top.
func (l *laneWalk) dropFirst() {
	top := len(l.stack) - 1
	rest := l.stack[top].cut(1)
	if l.stack[top] = rest; len(rest.times) == 0 {
		l.stack = l.stack[:top]
	}
}
