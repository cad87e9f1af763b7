package trace

import "weir/timely"

// ValueEdit is a change to the weight of a value of some key.
type ValueEdit struct {
	Val  uint64
	Time timely.Time
	Diff int64
}

// Cursor looks up keys in several batches, in ascending order of keys. The zero Cursor has no batches.
type Cursor struct {
	places []place
}

// place is how far a cursor is in a batch.
type place struct {
	batch      *Batch
	block, key int
}

// Reset begins anew with other batches, whose slice it does not keep.
func (c *Cursor) Reset(batches []*Batch) {
	clear(c.places)
	c.places = c.places[:0]
	for _, b := range batches {
		if len(b.blocks) > 0 {
			c.places = append(c.places, place{batch: b})
		}
	}
}

// Collect appends to dst all edits of key, each at the join of its time with from. Keys must not descend between
// calls of Reset. The edits come batch by batch, in each by value and time; they are not
// added up, and neither sorted over all.
func (c *Cursor) Collect(key uint64, from timely.Time, dst []ValueEdit) []ValueEdit {
	for i := range c.places {
		p := &c.places[i]
		blocks := p.batch.blocks
		if p.block < len(blocks) && p.batch.lasts[p.block] < key {
			p.block, p.key = p.batch.SeekBlock(p.block, key), 0
		}
		if p.block == len(blocks) {
			continue
		}
		b := blocks[p.block]
		p.key = b.Seek(p.key, key)
		if b.keys[p.key] != key {
			continue
		}
		dst = b.collect(p.key, from, dst)
		for next := p.block + 1; next < len(blocks) && p.batch.lasts[next-1] == key && blocks[next].keys[0] == key; next++ {
			dst = blocks[next].collect(0, from, dst)
		}
	}
	return dst
}

// collect appends the edits of key i.
func (b *Block) collect(i int, from timely.Time, dst []ValueEdit) []ValueEdit {
	lo, hi := b.Values(i)
	if b.from == nil && b.codes == nil {
		e := b.edits[0]
		t := b.times[e.Time].Join(from)
		for _, v := range b.vals[lo:hi] {
			dst = append(dst, ValueEdit{v, t, e.Diff})
		}
		return dst
	}
	for j := lo; j < hi; j++ {
		for _, e := range b.Edits(j) {
			dst = append(dst, ValueEdit{b.vals[j], b.times[e.Time].Join(from), e.Diff})
		}
	}
	return dst
}
