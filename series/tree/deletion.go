package tree

import (
	"fmt"
	"slices"
	"unsafe"

	"weir/series/names"
	"weir/series/node"
)

// A Deletion takes away the points of a series from one time to another, both included, that had come before it. It is
// a node itself, and those points are in nodes before it.
type Deletion struct {
	From, To int64
	// How many points of the series had come, in order and late. It is what the log says of a deletion besides its
	// times.
	Ordinal, Late uint64

	below uint64 // its address
}

// Delete takes away the points of a series from one time to another, both included. Points that come later stay,
// whatever their times. It is false if the series has none.
func (f *Forest) Delete(id names.ID, from, to int64) (d Deletion, ok bool, err error) {
	s := f.find(id)
	if s == nil || from > to {
		return d, false, nil
	}
	d = Deletion{From: from, To: to, Ordinal: s.ordinal}
	if r := f.rareOf(id, s); r != nil {
		d.Late = r.late
	}
	if d.Ordinal == 0 && d.Late == 0 || !f.View(id, from, to).any() {
		return d, false, nil
	}
	return d, true, f.delete(id, s, d)
}

// delete writes what is in memory, and then the deletion.
func (f *Forest) delete(id names.ID, s *state, d Deletion) error {
	if err := f.Flush(id); err != nil {
		return err
	}
	f.disturb(id)
	h := node.Header{Kind: node.Deletion, Series: id, Ordinal: d.Ordinal, Late: d.Late}
	f.bytes = node.AppendDeletion(f.bytes[:0], h, d.From, d.To)
	at, _, err := f.volumes.Append(f.bytes)
	if err != nil {
		return fmt.Errorf("writing a deletion of series %d: %w", id, err)
	}
	d.below = at
	f.addDeletion(id, s, d)
	return nil
}

// DeleteAgain carries out a deletion that is read from the log, behind the points that had come before it, unless it is
// in the volumes.
func (f *Forest) DeleteAgain(id names.ID, d Deletion) error {
	s := f.at(id)
	if r := f.rareOf(id, s); r != nil {
		same := func(e Deletion) bool { d.below = e.below; return e == d }
		if slices.ContainsFunc(r.deletions, same) || r.latePersisted > d.Late {
			return nil
		}
	}
	if s.persisted > d.Ordinal {
		return nil // points that came after it are in nodes, and so was it
	}
	return f.delete(id, s, d)
}

func (f *Forest) addDeletion(id names.ID, s *state, d Deletion) {
	r := f.makeRare(id, s)
	r.deletions = append(r.deletions, d)
	f.rareBytes += int(unsafe.Sizeof(d))
}

// deletes reports whether a deletion of the list takes away points between two times below a node, and whether one
// takes away all of them.
func deletes(list []Deletion, first, last int64, oldest, at uint64) (some, all bool) {
	for _, d := range list {
		if d.below <= oldest || d.To < first || last < d.From {
			continue
		}
		some = true
		if at < d.below && d.From <= first && last <= d.To {
			return true, true
		}
	}
	return some, false
}

func refDeleted(list []Deletion, r *node.Ref) (some, all bool) {
	if len(list) == 0 {
		return false, false
	}
	return deletes(list, r.FirstTime, r.LastTime, r.Oldest, r.At)
}
