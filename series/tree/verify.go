package tree

import (
	"errors"
	"fmt"
	"math"

	"weir/series/aggregate"
	"weir/series/names"
	"weir/series/node"
)

// Verify reads all nodes of a series, and calls bad with what the tree says of each that cannot be read or is not as it
// says: how many points were below it, and of which times.
func (f *Forest) Verify(id names.ID, bad func(ref node.Ref, err error)) {
	s := f.find(id)
	if s == nil {
		return
	}
	v := verifier{f: f, bad: bad, id: id}
	for _, ref := range f.lane0(s) {
		v.visit(ref)
	}
	if r := f.rareOf(id, s); r != nil {
		for i := range r.lanes {
			for _, ref := range r.lanes[i].refs {
				v.visit(ref)
			}
		}
	}
}

type verifier struct {
	f       *Forest
	id      names.ID
	bad     func(node.Ref, error)
	payload []byte
}

func (v *verifier) visit(ref node.Ref) {
	if ref.At < v.f.volumes.Oldest() {
		return // its volume was dropped
	}
	children, err := v.check(&ref)
	if err != nil {
		v.bad(ref, err)
	}
	for _, child := range children {
		v.visit(child)
	}
}

func (v *verifier) check(ref *node.Ref) (children []node.Ref, err error) {
	v.payload, err = v.f.volumes.Read(v.payload[:0], ref.At, int(ref.Length))
	if err != nil {
		return nil, err
	}
	h, body, err := node.DecodeHeader(v.payload)
	if err != nil {
		return nil, err
	}
	if h.Series != v.id {
		return nil, fmt.Errorf("it is a node of series %d", h.Series)
	}
	var total aggregate.Aggregate
	if ref.Level > 0 {
		if children, err = node.DecodeInner(nil, body); err != nil {
			return nil, err
		}
		for i := range children {
			total.Merge(&children[i].Aggregate)
		}
	} else {
		f := v.f
		var texts []byte
		if f.vecs, texts, err = node.DecodeLeaf(f.vecs[:0], body); err != nil {
			return nil, err
		}
		for _, vec := range f.vecs {
			if f.times, f.values, err = vec.Decode(f.times[:0], f.values[:0]); err != nil {
				return nil, err
			}
			total.Add(f.times, f.values)
		}
		if len(texts) > 0 {
			if texts, err = unpack(texts); err != nil {
				return nil, err
			}
		}
		for len(texts) > 0 {
			if _, texts, err = node.NextText(texts); err != nil {
				return nil, err
			}
		}
	}
	if !agree(&total, &ref.Aggregate) {
		return children, errors.New("what is in it is not what its parent says")
	}
	return children, nil
}

// agree reports whether two aggregates are of the same points; sums may have been added up in another order.
func agree(a, b *aggregate.Aggregate) bool {
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y }
	return a.Count == b.Count && a.NaNs == b.NaNs && a.FirstTime == b.FirstTime && a.LastTime == b.LastTime &&
		same(a.First, b.First) && same(a.Last, b.Last) && same(a.Min, b.Min) && same(a.Max, b.Max)
}
