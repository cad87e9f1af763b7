package tree

import (
	"fmt"

	"weir/series/names"
)

// MaxText is how many bytes the text of an event has at most: as many as fit a leaf in any case.
const MaxText = 16 << 10

// A Place is where a point stands in the order in which the points of a series came: its number among those that came
// in order, or among the late ones. It is what the log says of a point, so that what is read from it a second time is
// not added a second time.
type Place struct {
	Ordinal uint64
	Late    bool
}

// Append adds a point. It is in memory when Append returns; segment is where the log has it, which FlushOlder goes
// by until the point is in a node.
func (f *Forest) Append(id names.ID, time int64, value float64, segment uint32) (Place, error) {
	s := f.at(id)
	late, err := f.room(id, s, time)
	if err != nil {
		return Place{}, err
	}
	if late {
		if err := f.putLate(id, s, time, value); err != nil {
			return Place{}, err
		}
		r := f.rare[id]
		r.late++
		if r.segment == 0 {
			r.segment = segment
		}
		f.touch(s, segment)
		return Place{r.late - 1, true}, nil
	}
	if err := f.put(s, time, value); err != nil {
		return Place{}, err
	}
	s.ordinal++
	f.touch(s, segment)
	return Place{s.ordinal - 1, false}, nil
}

func (f *Forest) touch(s *state, segment uint32) {
	if s.segment == 0 {
		s.segment = segment
	}
	s.touched = f.clock
}

// AppendEvent is Append for a series whose points are texts. The text is not kept.
func (f *Forest) AppendEvent(id names.ID, time int64, text []byte, segment uint32) (Place, error) {
	if len(text) > MaxText {
		return Place{}, fmt.Errorf("a text of %d bytes, want at most %d", len(text), MaxText)
	}
	s := f.at(id)
	r := f.makeEvents(id, s)
	t, _, err := f.textsFor(id, s, r, time, false)
	if err != nil {
		return Place{}, err
	}
	return f.Append(id, time, t.put(text), segment)
}

// textsFor is where the text of a point goes, and whether the point is late. It flushes first what has to be flushed
// before there is room for the point, since a text is in its place afterwards.
func (f *Forest) textsFor(id names.ID, s *state, r *rare, time int64, late bool) (*texts, bool, error) {
	if !late {
		if len(r.texts.bytes) > maxTexts {
			if err := f.flush(id, s); err != nil {
				return nil, false, err
			}
		}
		var err error
		if late, err = f.room(id, s, time); err != nil {
			return nil, false, err
		}
	}
	if !late {
		return r.texts, false, nil
	}
	if len(r.lateTexts.bytes) > maxTexts || len(r.times) >= f.limits.Late {
		if err := f.flushLate(id, s, r); err != nil {
			return nil, false, err
		}
	}
	return r.lateTexts, true, nil
}

func (f *Forest) makeEvents(id names.ID, s *state) *rare {
	r := f.makeRare(id, s)
	if r.texts == nil {
		r.texts, r.lateTexts = &texts{}, &texts{}
		s.flags |= hasTexts
	}
	return r
}

// Again adds a point that is read from the log, unless the series has it. Points of a series must be read in the order
// of their ordinals. It reports whether the point was added.
func (f *Forest) Again(id names.ID, time int64, value float64, text []byte, place Place, segment uint32) (bool, error) {
	s := f.at(id)
	if place.Late && s.flags&hasRare != 0 && place.Ordinal < f.rare[id].late || !place.Late && place.Ordinal < s.ordinal {
		return false, nil
	}
	// A point that had come in order may be late now: it had come before the points were encoded that are encoded now.
	late := place.Late
	var err error
	if text != nil {
		var t *texts
		if t, late, err = f.textsFor(id, s, f.makeEvents(id, s), time, late); err == nil {
			value = t.put(text)
		}
	} else if !late {
		if late, err = f.room(id, s, time); late && err == nil {
			if gone, err := f.superseded(id, s, time); gone || err != nil {
				s.ordinal = place.Ordinal + 1
				return false, err
			}
		}
	}
	if err != nil {
		return false, err
	}
	if late {
		if err := f.putLate(id, s, time, value); err != nil {
			return false, err
		}
		r := f.rare[id]
		if place.Late {
			r.late = place.Ordinal + 1
		} else {
			r.mixed = true
			s.ordinal = place.Ordinal + 1
		}
		if r.segment == 0 {
			r.segment = segment
		}
	} else {
		if err := f.put(s, time, value); err != nil {
			return false, err
		}
		s.ordinal = place.Ordinal + 1
	}
	f.touch(s, segment)
	return true, nil
}

// Tick moves the clock on by which CloseCold tells the series that nothing was added to for long.
func (f *Forest) Tick() { f.clock++ }
