package tree

import (
	"unsafe"

	"weir/series/aggregate"
	"weir/series/names"
	"weir/series/node"
)

// Trim forgets the nodes of a series whose points are all of times before one; the others stay, with a few older points
// in them. It reports whether there were some. What it does is not written down: whoever restores the series from
// before it trims it again.
func (f *Forest) Trim(id names.ID, before int64) (trimmed bool, err error) {
	s := f.find(id)
	if s == nil || f.folds[id] != nil {
		return false, nil
	}
	if refs := f.lane0(s); len(refs) > 0 && refs[0].FirstTime < before {
		kept, err := trim(f.volumes, nil, refs, before)
		if err != nil {
			return false, err
		}
		trimmed = len(kept) != len(refs) || kept[0].At != refs[0].At
		if trimmed {
			if err := f.setLane0(s, kept); err != nil {
				return false, err
			}
			s.flags &^= closed
			s.refsTotal = totalOf(kept)
		}
	}
	if r := f.rareOf(id, s); r != nil {
		some, err := f.trimRare(r, before)
		if err != nil {
			return trimmed, err
		}
		trimmed = trimmed || some
		if x := f.Fragmented(id); len(r.deletions) > 0 {
			f.forgetDeletions(r, x.Oldest)
		}
	}
	return trimmed, nil
}

// trim appends the references to dst below which there are points of a time or later ones, as high in the tree as it is
// possible.
func trim(v Volumes, dst, refs []node.Ref, before int64) ([]node.Ref, error) {
	for _, ref := range refs {
		switch {
		case ref.LastTime < before || ref.At < v.Oldest():
		case ref.Level == 0 || ref.FirstTime >= before:
			dst = append(dst, ref)
		default:
			below, err := readInner(v, nil, ref)
			if err != nil {
				return dst, err
			}
			if dst, err = trim(v, dst, below, before); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

func totalOf(refs []node.Ref) (total aggregate.Aggregate) {
	for i := range refs {
		total.Merge(&refs[i].Aggregate)
	}
	return total
}

func (f *Forest) trimRare(r *rare, before int64) (trimmed bool, err error) {
	lanes := r.lanes[:0]
	for _, l := range r.lanes {
		if len(l.refs) > 0 && l.refs[0].FirstTime < before {
			kept, err := trim(f.volumes, nil, l.refs, before)
			if err != nil {
				return trimmed, err
			}
			if len(kept) != len(l.refs) || kept[0].At != l.refs[0].At {
				trimmed = true
				l.refs, l.total = kept, totalOf(kept)
			}
		}
		if len(l.refs) > 0 {
			lanes = append(lanes, l)
		}
	}
	clear(r.lanes[len(lanes):])
	r.lanes = lanes
	return trimmed, nil
}

// forgetDeletions forgets those that are older than all nodes, the oldest of which is at an address; 0 if there is none.
func (f *Forest) forgetDeletions(r *rare, oldest uint64) {
	kept := r.deletions[:0]
	for _, d := range r.deletions {
		if oldest != 0 && oldest < d.below {
			kept = append(kept, d)
		}
	}
	f.rareBytes -= (len(r.deletions) - len(kept)) * int(unsafe.Sizeof(Deletion{}))
	r.deletions = kept
}
