package tree

import (
	"fmt"

	"weir/series/aggregate"
	"weir/series/arena"
	"weir/series/codec"
	"weir/series/names"
	"weir/series/node"
)

// chain writes leaves that count all or not at all.
type chain struct {
	f       *Forest
	header  node.Header
	written int // nodes
	next    struct {
		payload []byte // with a header in which neither More nor Continued is set
		total   aggregate.Aggregate
		lane    uint32
		set     bool
	}
	refs []laneRef
}

type laneRef struct {
	lane uint32
	node.Ref
}

// newChain begins a chain after which all points that came in order are in nodes, and the late ones that were before.
func (f *Forest) newChain(id names.ID, s *state, r *rare) chain {
	c := chain{f: f, header: node.Header{Kind: node.Leaf, Series: id, Ordinal: s.ordinal}}
	if r != nil {
		c.header.Late = r.latePersisted
	}
	return c
}

// add adds a leaf. It is written when it is known whether another one follows.
func (c *chain) add(lane uint32, total aggregate.Aggregate, vectors []node.Vector, texts []byte) error {
	if c.next.set {
		if err := c.write(node.More); err != nil {
			return err
		}
	}
	h := c.header
	h.Lane = lane
	c.next.payload = node.AppendLeaf(c.next.payload[:0], h, vectors, texts)
	c.next.total, c.next.lane, c.next.set = total, lane, true
	return nil
}

func (c *chain) write(more byte) error {
	if c.written > 0 {
		more |= node.Continued
	}
	c.next.payload[0] |= more
	at, length, err := c.f.volumes.Append(c.next.payload)
	if err != nil {
		return fmt.Errorf("writing a leaf of series %d: %w", c.header.Series, err)
	}
	c.written++
	c.next.set = false
	c.refs = append(c.refs, laneRef{c.next.lane, node.Ref{Aggregate: c.next.total, At: at, Oldest: at, Length: uint32(length)}})
	return nil
}

// finish writes the last leaf. Only now do the leaves count, and c.refs are the references to them.
func (c *chain) finish() error {
	if !c.next.set {
		return nil
	}
	return c.write(0)
}

// addPoints adds leaves of points, which are in the order of their times. The values of events are places in texts.
func (c *chain) addPoints(lane uint32, times []int64, values []float64, texts *texts, hint *codec.Hint) error {
	l := &c.f.leaf
	for len(times) > 0 {
		n := l.fill(times, values, texts, hint)
		if err := c.add(lane, l.total, l.vectors, l.texts); err != nil {
			return err
		}
		times, values = times[n:], values[n:]
	}
	return nil
}

// Flush writes all points of a series that are in memory only, and reports an error if it cannot; they stay in memory
// then.
func (f *Forest) Flush(id names.ID) error {
	s := f.find(id)
	if s == nil {
		return nil
	}
	if err := f.flush(id, s); err != nil {
		return err
	}
	if s.flags&hasRare != 0 {
		return f.flushLate(id, s, f.rare[id])
	}
	return nil
}

// flush writes the open leaf with the tail, and late points only if what the header would say would not be true
// without them.
func (f *Forest) flush(id names.ID, s *state) error {
	r := f.rareOf(id, s)
	mixed := r != nil && r.mixed
	if s.tailLen == 0 && s.vectors == 0 && !mixed {
		return nil
	}
	if s.refsLen >= maxRefs {
		if err := f.raise(id, s); err != nil {
			return err
		}
	}
	if err := f.reopen(s); err != nil {
		return err
	}
	c := f.newChain(id, s, r)
	if mixed {
		c.header.Late = r.late
		if err := r.addLate(&c, f.keepsLast(s)); err != nil {
			return err
		}
	}
	if err := f.addOpen(&c, s, r); err != nil {
		return err
	}
	if err := c.finish(); err != nil {
		return err
	}
	f.freeOpen(s)
	s.tailLen = 0
	if arena.Size(int(s.tailClass)) > 512 || f.limits.Tail < codec.Max {
		f.freeTail(s) // it begins small again: series that are flushed may be idle
	}
	s.persisted, s.segment = s.ordinal, 0
	if r != nil {
		if mixed {
			f.rareBytes -= 16 * len(r.times)
			r.lateWritten()
		}
		if r.texts != nil {
			r.texts.bytes = r.texts.bytes[:0]
		}
		if len(r.times) > 0 {
			s.segment = r.segment
		}
	}
	return f.apply(id, s, r, c.refs)
}

// addOpen adds the open leaf and the tail to a chain, in vectors of full length.
func (f *Forest) addOpen(c *chain, s *state, r *rare) error {
	times, values := f.tailOf(s)
	times, values = times[:s.tailLen], values[:s.tailLen]
	if s.vectors == 0 {
		var t *texts
		if r != nil {
			t = r.texts
		}
		return c.addPoints(0, times, values, t, &s.hint)
	}
	total := f.totalInMemory(s)
	vectors := f.openVectors(f.vecs[:0], s)
	if int(total.Count) < (len(vectors)+min(len(times), 1))*codec.Max/2 {
		f.times, f.values = f.times[:0], f.values[:0]
		var err error
		for _, v := range vectors {
			if f.times, f.values, err = v.Decode(f.times, f.values); err != nil {
				return fmt.Errorf("the open leaf of series %d: %w", c.header.Series, err)
			}
		}
		f.times, f.values = append(f.times, times...), append(f.values, values...)
		return c.addPoints(0, f.times, f.values, nil, &s.hint)
	}
	if len(times) > 0 {
		f.encoded = codec.AppendTimes(f.encoded[:0], &s.hint, times)
		f.encoded = codec.AppendValues(f.encoded, &s.hint, values)
		vectors = append(vectors, node.Vector{FirstTime: times[0], Bytes: f.encoded})
	}
	f.vecs = vectors
	return c.add(0, total, vectors, nil)
}

// apply makes leaves that were written part of the tree.
func (f *Forest) apply(id names.ID, s *state, r *rare, refs []laneRef) error {
	for _, ref := range refs {
		s.count(&ref.Ref)
		if ref.lane != 0 {
			r.lane(ref.lane).push(ref.Ref)
			continue
		}
		if err := f.push(s, ref.Ref); err != nil {
			return err
		}
	}
	if r != nil {
		for i := range r.lanes {
			f.raiseLane(id, &r.lanes[i])
		}
	}
	// Where inner nodes cannot be written now, they are when the next leaf is.
	_ = f.raise(id, s)
	return nil
}
