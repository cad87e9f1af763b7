package tree

import (
	"slices"

	"weir/series/aggregate"
	"weir/series/names"
	"weir/series/node"
)

// View is a series as it was at one moment, in the range of times that was asked for. It may be read by one goroutine at
// a time, while its Forest changes.
type View struct {
	volumes   Volumes
	lanes     []laneView  // in the order in which points of one time count
	first     [1]laneView // their memory, if it is only one
	deletions []Deletion
	events    bool
	last      bool // of points of one time, the last one counts
	from, to  int64
}

// laneView is points in the order of their times: below references, then in vectors, then as they are.
type laneView struct {
	refs    []node.Ref
	vectors []node.Vector
	last    int64 // a bound of the times of the vectors
	times   []int64
	values  []float64
	texts   [][]byte
}

// View returns what there is of a series from one time to another, both included.
func (f *Forest) View(id names.ID, from, to int64) *View {
	v := &View{volumes: f.volumes, from: from, to: to}
	s := f.find(id)
	if s == nil || from > to {
		return v
	}
	v.last = f.keepsLast(s)
	r := f.rareOf(id, s)
	main := laneView{refs: overlapping(f.lane0(s), from, to)}
	if s.vectors > 0 {
		if total := f.openTotal(s); total.FirstTime <= to && from <= total.LastTime {
			main.last = total.LastTime
			vectors := f.openVectors(f.vecs[:0], s)
			f.vecs = vectors
			var bytes []byte
			for _, vec := range vectors {
				bytes = append(bytes, vec.Bytes...)
			}
			for _, vec := range vectors {
				n := len(vec.Bytes)
				main.vectors = append(main.vectors, node.Vector{FirstTime: vec.FirstTime, Bytes: bytes[:n:n]})
				bytes = bytes[n:]
			}
		}
	}
	if s.tailLen > 0 {
		times, values := f.tailOf(s)
		lo, hi := span(times[:s.tailLen], from, to)
		main.times, main.values = slices.Clone(times[lo:hi]), slices.Clone(values[lo:hi])
		if r != nil && r.texts != nil {
			main.texts = r.texts.copies(main.values)
		}
	}
	v.lanes = append(v.first[:0], main)
	if r == nil {
		return v
	}
	v.events = r.texts != nil
	v.deletions = slices.Clone(r.deletions)
	for i := range r.lanes {
		if refs := overlapping(r.lanes[i].refs, from, to); len(refs) > 0 {
			v.lanes = append(v.lanes, laneView{refs: refs})
		}
	}
	if len(r.times) > 0 {
		var late laneView
		late.times, late.values = r.sortLate(v.last)
		lo, hi := span(late.times, from, to)
		late.times, late.values = late.times[lo:hi], late.values[lo:hi]
		if r.lateTexts != nil {
			late.texts = r.lateTexts.copies(late.values)
		}
		v.lanes = append(v.lanes, late)
	}
	return v
}

// any reports whether there may be a point.
func (v *View) any() bool {
	for i := range v.lanes {
		if l := &v.lanes[i]; len(l.refs) > 0 || len(l.vectors) > 0 || len(l.times) > 0 {
			return true
		}
	}
	return false
}

// firstNode is an address that the first node ever is not below: all volumes are there if none of them may be read from
// a higher one on only.
const firstNode = 1<<41 - 1

// Total is the aggregate of all points of a series, if that is known without reading anything.
func (f *Forest) Total(id names.ID) (total aggregate.Aggregate, ok bool) {
	s := f.find(id)
	if s == nil {
		return aggregate.Aggregate{}, true
	}
	if s.flags&hasRare != 0 && !f.rare[id].plain() {
		return aggregate.Aggregate{}, false
	}
	// References are elsewhere in memory; they are looked at only if something was dropped.
	if gone := f.volumes.Oldest(); s.refsLen > 0 && gone > firstNode && oldest(f.lane0(s)) < gone {
		return aggregate.Aggregate{}, false
	}
	if s.refsLen > 0 {
		total = s.refsTotal
	}
	memory := f.totalInMemory(s)
	total.Merge(&memory)
	return total, true
}

// oldest is the lowest address of a node below references, of which there is one at least.
func oldest(refs []node.Ref) uint64 {
	lowest := refs[0].Oldest
	for i := range refs {
		lowest = min(lowest, refs[i].Oldest)
	}
	return lowest
}

// plain reports whether all points are in lane 0.
func (r *rare) plain() bool {
	return len(r.times) == 0 && len(r.lanes) == 0 && len(r.deletions) == 0 && r.texts == nil
}

// copies is the texts at places, which become 0, the value of every event.
func (t *texts) copies(values []float64) [][]byte {
	texts := make([][]byte, len(values))
	for i, v := range values {
		texts[i] = slices.Clone(t.at(v))
	}
	clear(values)
	return texts
}

// overlapping copies the references below which there may be points of a range.
func overlapping(refs []node.Ref, from, to int64) []node.Ref {
	var some []node.Ref
	for i := range refs {
		if refs[i].FirstTime <= to && from <= refs[i].LastTime {
			some = append(some, refs[i])
		}
	}
	return some
}

// span is where the times from one to another are.
func span(times []int64, from, to int64) (lo, hi int) {
	lo, _ = slices.BinarySearch(times, from)
	hi = len(times)
	if to < 1<<63-1 {
		hi, _ = slices.BinarySearch(times, to+1)
	}
	return lo, max(lo, hi)
}
