package trace

import (
	"cmp"
	"slices"

	"weir/timely"
)

// Builder makes a batch of changes that come in order of key and value. The zero Builder is ready.
type Builder struct {
	blocks               []*Block
	lasts                []uint64
	edits, values, bytes int
	err                  error
	limit                int // of values in a block, 0 for blockTarget

	// The value that Add adds to.
	open     bool
	key, val uint64
	current  []Edit

	// The block that grows, of which Time is an index into times, unsorted.
	keys   []uint64
	starts []uint32
	vals   []uint64
	codes  []uint8  // empty while all edits are distinct[0]
	from   []uint32 // empty while all values have one edit
	list   []Edit
	// distinct is the different edits, while each value has one.
	distinct []Edit
	times    []timely.Time
	lookup   map[timely.Time]uint32 // of times, when there are many
	epoch    int                    // of the growing block: indices of another one mean nothing
}

// Add adds a change. Keys must ascend, and so must the values of a key; times come in any order. Changes
// of one value at one time add up.
func (b *Builder) Add(key, val uint64, t timely.Time, diff int64) {
	if diff == 0 {
		return
	}
	if !b.open || key != b.key || val != b.val {
		b.close()
		b.open, b.key, b.val = true, key, val
	}
	b.current = append(b.current, Edit{diff, b.intern(t)})
}

// Err is the first *OverflowError so far, or nil. It is to be asked before [Builder.Done].
func (b *Builder) Err() error {
	b.close()
	return b.err
}

// Done returns the batch of everything added, and makes the builder ready for the next. The batch keeps lower and upper.
func (b *Builder) Done(lower, upper timely.Antichain) *Batch {
	b.close()
	b.flush()
	batch := &Batch{blocks: b.blocks, lasts: b.lasts, lower: lower, upper: upper, edits: b.edits, values: b.values, bytes: b.bytes + batchBytes + 16*len(b.blocks)}
	b.blocks, b.lasts, b.edits, b.values, b.bytes, b.err = nil, nil, 0, 0, 0, nil
	return batch
}

// close ends the value that Add adds to.
func (b *Builder) close() {
	if !b.open {
		return
	}
	b.open = false
	b.fold(b.key, b.val, b.current)
	b.current = b.current[:0]
	b.breathe()
}

// breathe ends the growing block when it is large.
func (b *Builder) breathe() {
	if limit := cmp.Or(b.limit, blockTarget); len(b.vals) >= limit || len(b.list) >= 2*limit {
		b.flush()
	}
}

// intern is the index of t among the growing block's times.
func (b *Builder) intern(t timely.Time) uint32 {
	const few = 8
	n := len(b.times)
	if n <= few {
		for i := n - 1; i >= 0; i-- {
			if b.times[i] == t {
				return uint32(i)
			}
		}
	} else {
		if b.times[n-1] == t {
			return uint32(n - 1)
		}
		if b.lookup == nil {
			b.lookup = make(map[timely.Time]uint32)
		}
		for i := len(b.lookup); i < n; i++ {
			b.lookup[b.times[i]] = uint32(i)
		}
		if i, ok := b.lookup[t]; ok {
			return i
		}
	}
	b.times = append(b.times, t)
	return uint32(n)
}

// fold adds a value with edits in any order, some perhaps at the same time. It changes edits.
func (b *Builder) fold(key, val uint64, edits []Edit) {
	if len(edits) > 1 {
		slices.SortFunc(edits, func(x, y Edit) int { return cmp.Compare(x.Time, y.Time) })
		n := 0
		for _, e := range edits[1:] {
			if e.Time != edits[n].Time {
				if edits[n].Diff != 0 {
					n++
				}
				edits[n] = e
				continue
			}
			sum, ok := add(edits[n].Diff, e.Diff)
			if !ok && b.err == nil {
				b.err = &OverflowError{key, val, b.times[e.Time], edits[n].Diff, e.Diff}
			}
			edits[n].Diff = sum
		}
		if edits[n].Diff != 0 {
			n++
		}
		edits = edits[:n]
	}
	switch len(edits) {
	case 0:
	case 1:
		b.startKey(key)
		b.single(val, edits[0])
	default:
		b.startKey(key)
		b.spread()
		b.vals = append(b.vals, val)
		b.list = append(b.list, edits...)
		b.from = append(b.from, uint32(len(b.list)))
	}
}

// startKey makes key the one that values are added to.
func (b *Builder) startKey(key uint64) {
	if n := len(b.keys); n == 0 || b.keys[n-1] != key {
		b.keys = append(b.keys, key)
		b.starts = append(b.starts, uint32(len(b.vals)))
	}
}

// single adds a value that has one edit.
func (b *Builder) single(val uint64, e Edit) {
	switch {
	case len(b.from) > 0:
		b.list = append(b.list, e)
		b.from = append(b.from, uint32(len(b.list)))
	case len(b.codes) == 0 && len(b.distinct) > 0 && b.distinct[0] == e:
	default:
		b.encode(e)
	}
	b.vals = append(b.vals, val)
}

// encode adds the code of e, for a value that is about to be added.
func (b *Builder) encode(e Edit) {
	if len(b.vals) == 0 {
		b.distinct = append(b.distinct[:0], e)
		return
	}
	code, ok := b.code(e)
	if !ok {
		b.spread()
		b.list = append(b.list, e)
		b.from = append(b.from, uint32(len(b.list)))
		return
	}
	for len(b.codes) < len(b.vals) {
		b.codes = append(b.codes, 0)
	}
	b.codes = append(b.codes, code)
}

// code is the index of e among the distinct edits, unless there are too many.
func (b *Builder) code(e Edit) (uint8, bool) {
	i := slices.Index(b.distinct, e)
	if i < 0 {
		if i = len(b.distinct); i > 255 {
			return 0, false
		}
		b.distinct = append(b.distinct, e)
	}
	return uint8(i), true
}

// spread gives each value a list of edits, unless that is so.
func (b *Builder) spread() {
	if len(b.from) > 0 {
		return
	}
	b.from = append(b.from, 0)
	for i := range b.vals {
		e := b.distinct[0]
		if len(b.codes) > 0 {
			e = b.distinct[b.codes[i]]
		}
		b.list = append(b.list, e)
		b.from = append(b.from, uint32(i+1))
	}
	b.codes = b.codes[:0]
}

// flush ends the growing block.
func (b *Builder) flush() {
	if len(b.vals) > 0 {
		b.starts = append(b.starts, uint32(len(b.vals)))
		block := &Block{keys: slices.Clone(b.keys), starts: slices.Clone(b.starts), vals: slices.Clone(b.vals)}
		edits := b.distinct
		switch {
		case len(b.from) > 0:
			edits = b.list
			block.from = slices.Clone(b.from)
		case len(b.codes) > 0:
			block.codes = slices.Clone(b.codes)
		}
		block.edits = slices.Clone(edits)
		block.sortTimes(b.times)
		b.push(block)
	}
	b.keys, b.starts, b.vals, b.codes, b.from, b.list = b.keys[:0], b.starts[:0], b.vals[:0], b.codes[:0], b.from[:0], b.list[:0]
	b.distinct, b.times = b.distinct[:0], b.times[:0]
	clear(b.lookup)
	b.epoch++
}

// push adds a block after everything else.
func (b *Builder) push(block *Block) {
	b.blocks, b.lasts = append(b.blocks, block), append(b.lasts, block.last())
	b.edits += block.Len()
	b.values += len(block.vals)
	b.bytes += block.bytes()
}

// sortTimes gives a new block those of times that its edits have, in order.
func (b *Block) sortTimes(times []timely.Time) {
	if len(times) == 1 {
		b.times = slices.Clone(times)
		return
	}
	const unused = ^uint32(0)
	rank := make([]uint32, len(times))
	for i := range rank {
		rank[i] = unused
	}
	for _, e := range b.edits {
		rank[e.Time] = 0
	}
	var used []uint32
	for i, r := range rank {
		if r != unused {
			used = append(used, uint32(i))
		}
	}
	slices.SortFunc(used, func(x, y uint32) int { return times[x].Compare(times[y]) })
	b.times = make([]timely.Time, len(used))
	for i, u := range used {
		b.times[i] = times[u]
		rank[u] = uint32(i)
	}
	for i := range b.edits {
		b.edits[i].Time = rank[b.edits[i].Time]
	}
	if b.from == nil {
		return
	}
	for j := range b.vals {
		if edits := b.edits[b.from[j]:b.from[j+1]]; len(edits) > 1 {
			slices.SortFunc(edits, func(x, y Edit) int { return cmp.Compare(x.Time, y.Time) })
		}
	}
}
