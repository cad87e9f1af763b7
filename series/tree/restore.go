package tree

import (
	"fmt"
	"slices"

	"weir/series/aggregate"
	"weir/series/names"
	"weir/series/node"
)

// Restore makes a node part of its tree that a Forest of an earlier run had written. All nodes that are not known yet
// must be given in the order of their addresses, before points are added, and behind the pages of a checkpoint; then the
// points of the log, by Again.
func (f *Forest) Restore(at uint64, length int, payload []byte) error {
	h, body, err := node.DecodeHeader(payload)
	if err == nil && (h.Series < f.first || (h.Series-f.first)%f.stride != 0) {
		err = fmt.Errorf("a node of series %d, which is not among those of every %d from %d", h.Series, f.stride, f.first)
	}
	if err == nil && f.loaded(h.Series, at) {
		return nil
	}
	if err == nil {
		ref := node.Ref{At: at, Oldest: at, Length: uint32(length)}
		switch h.Kind {
		case node.Leaf:
			err = f.restoreLeaf(h, body, ref)
		case node.Inner:
			err = f.restoreInner(h, body, ref)
		case node.Deletion:
			d := Deletion{Ordinal: h.Ordinal, Late: h.Late, below: at}
			if d.From, d.To, err = node.DecodeDeletion(body); err == nil {
				f.addDeletion(h.Series, f.at(h.Series), d)
			}
		case node.Replacement:
			err = f.restoreReplacement(h, body)
		}
	}
	if err != nil {
		return fmt.Errorf("the node at %#x: %w", at, err)
	}
	return nil
}

// loaded reports whether a node is part of a page of a checkpoint.
func (f *Forest) loaded(id names.ID, at uint64) bool {
	page := int((id-f.first)/f.stride) >> pageShift
	return page < len(f.positions) && at < f.positions[page]
}

func (f *Forest) restoreLeaf(h node.Header, body []byte, ref node.Ref) (err error) {
	var packed []byte
	f.vecs, packed, err = node.DecodeLeaf(f.vecs[:0], body)
	if err != nil {
		return err
	}
	for _, v := range f.vecs {
		f.times, f.values, err = v.Decode(f.times[:0], f.values[:0])
		if err != nil {
			return err
		}
		ref.Add(f.times, f.values)
	}
	s := f.at(h.Series)
	if len(packed) > 0 {
		f.makeEvents(h.Series, s)
	}
	if h.More || h.Continued || h.Late > 0 || h.Lane > 0 {
		f.makeRare(h.Series, s)
	}
	r := f.rareOf(h.Series, s)
	leaves := []laneRef{{h.Lane, ref}}
	if r != nil {
		if h.Continued {
			if len(r.chain) == 0 {
				return nil // it was begun by a node that is lost
			}
			leaves = append(r.chain, leaves...)
		}
		r.chain = nil
		if h.More {
			r.chain = leaves
			return nil
		}
		r.late, r.latePersisted = h.Late, h.Late
	}
	s.ordinal, s.persisted = h.Ordinal, h.Ordinal
	s.flags &^= closed // it was opened again for this leaf
	for _, leaf := range leaves {
		s.count(&leaf.Ref)
		if leaf.lane > 0 {
			r.lane(leaf.lane).push(leaf.Ref)
		} else if err := f.push(s, leaf.Ref); err != nil {
			return err
		}
	}
	return nil
}

func (f *Forest) restoreInner(h node.Header, body []byte, ref node.Ref) error {
	children, err := node.DecodeInner(nil, body)
	if err != nil {
		return err
	}
	for i := range children {
		ref.Merge(&children[i].Aggregate)
		ref.Oldest = min(ref.Oldest, children[i].Oldest)
		ref.Level = max(ref.Level, children[i].Level+1)
	}
	s := f.at(h.Series)
	if h.Lane > 0 {
		l := f.makeRare(h.Series, s).lane(h.Lane)
		l.refs, err = f.gather(l.refs, ref, children, &l.total)
		return err
	}
	s.flags &^= closed
	refs, err := f.gather(slices.Clone(f.lane0(s)), ref, children, &s.refsTotal)
	if err != nil {
		return err
	}
	return f.setLane0(s, refs)
}

func (f *Forest) restoreReplacement(h node.Header, body []byte) error {
	x, err := node.DecodeReplacement(body)
	if err != nil {
		return err
	}
	s := f.at(h.Series)
	if x.Events {
		f.makeEvents(h.Series, s)
	} else if h.Late > 0 {
		f.makeRare(h.Series, s)
	}
	refs := append(x.Refs, remaining(f.lane0(s), x.Below)...)
	block, err := f.allocRefs(len(refs))
	if err != nil {
		return err
	}
	s.ordinal, s.persisted = h.Ordinal, h.Ordinal
	if r := f.rareOf(h.Series, s); r != nil {
		r.late, r.latePersisted, r.chain = h.Late, h.Late, nil
	}
	f.replace(h.Series, s, &x, block, refs)
	return nil
}

// gather puts ref in the place of the references that are below it: its children, which are side by side. Addresses do
// not tell which these are, since those of a series that was folded are in no order.
func (f *Forest) gather(refs []node.Ref, ref node.Ref, children []node.Ref, total *aggregate.Aggregate) ([]node.Ref, error) {
	oldest := f.volumes.Oldest()
	begin, end := len(refs), 0
	for i := 0; i < len(children); i++ {
		c := &children[i]
		at := indexOf(refs, c.At, end)
		if at < 0 && c.At >= oldest {
			// A node that was written when the series was closed, and read back when it was opened again, may have some
			// of them below it, together with others; or a node of which only the later ones were not too old.
			opened, err := f.openAbove(refs, c)
			if err != nil {
				return nil, err
			}
			if opened != nil {
				refs, begin, end, i = opened, len(opened), 0, -1
				continue
			}
		}
		if at >= 0 {
			begin, end = min(begin, at), max(end, at+1)
			continue
		}
		// It is lost, or what it was in is. What is below it, or was put above that at another time, may be there.
		if j := slices.IndexFunc(refs, func(r node.Ref) bool { return r.At >= oldest && straddles(&r, &ref) }); j >= 0 {
			inside, err := readInner(f.volumes, nil, refs[j])
			if err != nil {
				return nil, err
			}
			refs = slices.Replace(refs, j, j+1, inside...)
			begin, end, i = len(refs), 0, -1
			continue
		}
		for j := range refs {
			if below(&refs[j], &ref) {
				begin, end = min(begin, j), max(end, j+1)
			}
		}
	}
	if begin >= end {
		total.Merge(&ref.Aggregate) // what is below it was in volumes that are gone
		begin = 0
		for begin < len(refs) && before(&refs[begin], &ref) {
			begin++
		}
		end = begin
	}
	return slices.Replace(refs, begin, end, ref), nil
}

// indexOf is where the reference to the node at an address is, looked for first at a likely place; -1 if there is none.
func indexOf(refs []node.Ref, at uint64, likely int) int {
	if likely < len(refs) && refs[likely].At == at {
		return likely
	}
	return slices.IndexFunc(refs, func(r node.Ref) bool { return r.At == at })
}

// below reports whether all points of r are below another node of its lane, as far as can be told without reading it.
func below(r, above *node.Ref) bool {
	return above.Oldest <= r.Oldest && r.At < above.At && above.FirstTime <= r.FirstTime && r.LastTime <= above.LastTime
}

// straddles reports whether some of the points of r, which is no leaf, and not all of them, are below another node.
func straddles(r, above *node.Ref) bool {
	return r.Level > 0 && r.At < above.At && r.FirstTime < above.LastTime && above.FirstTime < r.LastTime &&
		(r.FirstTime < above.FirstTime || above.LastTime < r.LastTime)
}

// before reports whether the points of a come before those of b. One of them ends no later than the other begins.
func before(a, b *node.Ref) bool {
	if first, last := a.LastTime <= b.FirstTime, b.LastTime <= a.FirstTime; first != last {
		return first
	}
	return a.At < b.Oldest // all are of one time
}

// openAbove puts what the nodes above c refer to in the place of the reference to the uppermost of them, and returns all;
// nil if c is below none.
func (f *Forest) openAbove(refs []node.Ref, c *node.Ref) ([]node.Ref, error) {
	for i := range refs {
		if !below(c, &refs[i]) {
			continue
		}
		inside, err := readInner(f.volumes, nil, refs[i])
		if err != nil {
			return nil, err
		}
		if indexOf(inside, c.At, 0) < 0 {
			if inside, err = f.openAbove(inside, c); err != nil {
				return nil, err
			}
		}
		if inside != nil {
			return slices.Replace(refs, i, i+1, inside...), nil
		}
	}
	return nil, nil
}

// Known is how many points of a series are in nodes: those that came in order, and those that came late.
func (f *Forest) Known(id names.ID) (ordinal, late uint64) {
	s := f.find(id)
	if s == nil {
		return 0, 0
	}
	if r := f.rareOf(id, s); r != nil {
		late = r.latePersisted
	}
	return s.persisted, late
}
