package tree

import (
	"slices"

	"weir/series/names"
	"weir/series/node"
)

// A Deletion takes away the points of a series from a time to another, both included, that were there when it was
// made. These are in nodes below an address.
type Deletion struct {
	From, To int64
	Below    uint64
}

// Delete takes away the points of a series from one time to another, both included. Points that come later stay, whatever
// their times. It writes what is in memory first, since a deletion is about nodes.
func (f *Forest) Delete(id names.ID, from, to int64) (Deletion, error) {
	s := f.find(id)
	if s == nil || from > to {
		return Deletion{}, nil
	}
	if err := f.Flush(id); err != nil {
		return Deletion{}, err
	}
	d := Deletion{From: from, To: to, Below: f.volumes.End()}
	f.addDeletion(id, s, d)
	return d, nil
}

// DeleteAgain carries out a deletion that is read from the log, behind the points that were there before it.
func (f *Forest) DeleteAgain(id names.ID, d Deletion) error {
	s := f.at(id)
	r := f.rareOf(id, s)
	if s.tailLen > 0 || s.vectors > 0 || r != nil && len(r.times) > 0 {
		// The nodes that they had been in when the deletion was made are lost, and all later ones with them.
		if err := f.Flush(id); err != nil {
			return err
		}
		d.Below = f.volumes.End()
	}
	f.addDeletion(id, s, d)
	return nil
}

func (f *Forest) addDeletion(id names.ID, s *state, d Deletion) {
	r := f.makeRare(id, s)
	if slices.Contains(r.deletions, d) {
		return
	}
	r.deletions = append(r.deletions, d)
	f.rareBytes += 24
}

// deletes reports whether a deletion of the list takes away points between two times below a node, and whether one
// takes away all of them.
func deletes(list []Deletion, first, last int64, oldest, at uint64) (some, all bool) {
	for _, d := range list {
		if d.Below <= oldest || d.To < first || last < d.From {
			continue
		}
		some = true
		if at < d.Below && d.From <= first && last <= d.To {
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
