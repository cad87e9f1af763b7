package tree

import (
	"weir/series/names"
)

// Fragments says how far the nodes of a series are from what a Fold would make of them. All of it is known without
// reading anything.
type Fragments struct {
	Points    uint64 // in nodes, those that were deleted included
	Leaves    int    // how many there are; in a ring of volumes, those that are gone count too
	Small     int    // leaves that are less than half full, and were written since the last Fold
	Lanes     int    // trees of late points: reading merges as many
	Late      uint64 // points in them
	Waiting   int    // late points that are in memory yet: they will be in another lane
	Deletions int
	First     int64  // the time of the first point in nodes, if there is one
	Oldest    uint64 // the lowest address of a node that the series needs; 0 if there is none
}

// Fragmented says how far a series is from what a Fold would make of it.
func (f *Forest) Fragmented(id names.ID) (x Fragments) {
	s := f.find(id)
	if s == nil {
		return x
	}
	x.Leaves, x.Small = int(s.leaves), int(s.small)
	if refs := f.lane0(s); len(refs) > 0 {
		x.Points, x.First, x.Oldest = s.refsTotal.Count, refs[0].FirstTime, oldest(refs)
	}
	r := f.rareOf(id, s)
	if r == nil {
		return x
	}
	x.Deletions, x.Waiting = len(r.deletions), len(r.times)
	for i := range r.lanes {
		l := &r.lanes[i]
		if len(l.refs) == 0 {
			continue
		}
		x.Lanes++
		x.Late += l.total.Count
		if x.Oldest == 0 || l.refs[0].FirstTime < x.First {
			x.First = l.refs[0].FirstTime
		}
		if o := oldest(l.refs); x.Oldest == 0 || o < x.Oldest {
			x.Oldest = o
		}
	}
	x.Points += x.Late
	return x
}

// OldestNode is the lowest address of a node that any series needs, or that of the next node if none needs any. Of
// volumes below it nothing is read anymore, but by a View of before. They may go once all that was appended until now
// is durable: it is why they are not needed.
func (f *Forest) OldestNode() uint64 {
	lowest := f.volumes.End()
	_ = f.each(func(id names.ID, _ *state) error {
		if x := f.Fragmented(id); x.Oldest != 0 {
			lowest = min(lowest, x.Oldest)
		}
		return nil
	})
	return lowest
}
