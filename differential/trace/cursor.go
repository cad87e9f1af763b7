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
	batch *Batch
	block *Block // nil at the end
	last  uint64 // key of block
	at    int    // of block
	key   int    // of block
}

// Reset begins anew with other batches, whose slice it does not keep.
func (c *Cursor) Reset(batches []*Batch) {
	clear(c.places)
	c.places = c.places[:0]
	for _, b := range batches {
		if len(b.blocks) > 0 {
			c.places = append(c.places, place{batch: b, block: b.blocks[0], last: b.lasts[0]})
		}
	}
}

// Collect appends to dst all edits of key, each at the join of its time with from. Keys must not descend between
// calls of Reset. The edits come batch by batch, in each by value and time; they are not
// added up, and neither sorted over all.
func (c *Cursor) Collect(key uint64, from timely.Time, dst []ValueEdit) []ValueEdit {
	for i := range c.places {
		p := &c.places[i]
		if p.last < key && !p.seekBlock(key) {
			continue
		}
		p.key = p.block.Seek(p.key, key)
		if p.block.keys[p.key] != key {
			continue
		}
		dst = p.block.collect(p.key, from, dst)
		if p.last == key {
			dst = p.collectMore(key, from, dst)
		}
	}
	return dst
}

// CollectValue is as Collect, for one value of the key.
func (c *Cursor) CollectValue(key, val uint64, from timely.Time, dst []ValueEdit) []ValueEdit {
	for i := range c.places {
		p := &c.places[i]
		if p.last < key && !p.seekBlock(key) {
			continue
		}
		p.key = p.block.Seek(p.key, key)
		if p.block.keys[p.key] != key {
			continue
		}
		// The key may go on in the blocks after this one, its values ascend.
		b, at := p.block, p.key
		for next := p.at + 1; ; next++ {
			lo, hi := b.Values(at)
			if j := lo + seek(b.vals[lo:hi], 0, val); j < hi {
				if b.vals[j] == val {
					for _, e := range b.Edits(j) {
						dst = append(dst, ValueEdit{val, b.times[e.Time].Join(from), e.Diff})
					}
				}
				break
			}
			if next == len(p.batch.blocks) || p.batch.lasts[next-1] != key || p.batch.blocks[next].keys[0] != key {
				break
			}
			b, at = p.batch.blocks[next], 0
		}
	}
	return dst
}

// seekBlock goes to the block where key is or should be, if there is one.
func (p *place) seekBlock(key uint64) bool {
	if p.block == nil {
		return false
	}
	p.key = 0
	if p.at = p.batch.SeekBlock(p.at+1, key); p.at == len(p.batch.blocks) {
		p.block = nil
		return false
	}
	p.block, p.last = p.batch.blocks[p.at], p.batch.lasts[p.at]
	return true
}

// collectMore appends the edits of key in the blocks after the first that has it.
func (p *place) collectMore(key uint64, from timely.Time, dst []ValueEdit) []ValueEdit {
	for i := p.at + 1; i < len(p.batch.blocks) && p.batch.lasts[i-1] == key && p.batch.blocks[i].keys[0] == key; i++ {
		dst = p.batch.blocks[i].collect(0, from, dst)
	}
	return dst
}

// collect appends the edits of key i.
func (b *Block) collect(i int, from timely.Time, dst []ValueEdit) []ValueEdit {
	lo, hi := b.Values(i)
	if b.from == nil && len(b.edits) == 1 {
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
