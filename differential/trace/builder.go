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
	lists  lists
	times  []timely.Time
	lookup map[timely.Time]uint32 // of times, when there are many
	rank   []uint32
	order  []uint32
	epoch  int // of the growing block: indices of another one mean nothing
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
	var batch *Batch
	if len(b.blocks) == 0 {
		// Small batches are made all the time, in as few allocations as can be.
		one := new(single)
		batch = &one.Batch
		if len(b.vals) > 0 {
			b.fill(&one.Block, &one.room)
			one.block[0], one.last[0] = &one.Block, one.Block.last()
			b.blocks, b.lasts = one.block[:0], one.last[:0]
			b.push(&one.Block)
		}
	} else {
		b.flush()
		batch = new(Batch)
	}
	*batch = Batch{
		blocks: b.blocks, lasts: b.lasts, lower: lower, upper: upper,
		edits: b.edits, values: b.values, bytes: b.bytes + batchBytes + 16*len(b.blocks),
	}
	b.blocks, b.lasts, b.edits, b.values, b.bytes, b.err = nil, nil, 0, 0, 0, nil
	return batch
}

// single is a batch of one block in one allocation.
type single struct {
	Batch
	Block
	block [1]*Block
	last  [1]uint64
	room  room
}

// room is memory for the columns of a block, as far as they fit: a few values, to come and to go at one time.
type room struct {
	words [8]uint64
	ends  [6]uint32
	codes [4]uint8
	edits [2]Edit
	times [1]timely.Time
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
	if limit := cmp.Or(b.limit, blockTarget); len(b.vals) >= limit || len(b.lists.edits) >= limit {
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
		sortEdits(edits)
		n := 0
		for _, e := range edits[1:] {
			if e.Time != edits[n].Time {
				if edits[n].Diff != 0 {
					n++
				}
				edits[n] = e
				continue
			}
			edits[n].Diff = b.sum(key, val, b.times[e.Time], edits[n].Diff, e.Diff)
		}
		if edits[n].Diff != 0 {
			n++
		}
		edits = edits[:n]
	}
	if len(edits) > 0 {
		b.startKey(key)
		b.vals = append(b.vals, val)
		b.lists.add(edits)
	}
}

// sum adds up two weights of a value at a time.
func (b *Builder) sum(key, val uint64, t timely.Time, x, y int64) int64 {
	sum, ok := add(x, y)
	if !ok && b.err == nil {
		b.err = &OverflowError{key, val, t, x, y}
	}
	return sum
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
	b.vals = append(b.vals, val)
	b.lists.addOne(e)
}

// repeat adds values of the current key, or of the keys whose starts are set already, with the same single edit each.
func (b *Builder) repeat(e Edit, vals []uint64) {
	if len(vals) > 0 {
		b.vals = append(b.vals, vals...)
		b.lists.addOne(e)
		b.lists.again(len(vals) - 1)
	}
}

// flush ends the growing block.
func (b *Builder) flush() {
	if len(b.vals) > 0 {
		block := new(Block)
		b.fill(block, &room{})
		b.push(block)
	}
}

// fill makes a block of what has grown, in room as far as it fits, and starts the next.
func (b *Builder) fill(block *Block, room *room) {
	b.starts = append(b.starts, uint32(len(b.vals)))
	lists := &b.lists
	block.count = lists.count
	block.edits = exact(lists.edits, room.edits[:], 0)
	// Those that never change their type share an allocation, where there are few.
	nk, ns := len(b.keys), len(b.starts)
	if len(b.vals) <= fewChanges {
		words := exact(b.keys, room.words[:], len(b.vals))
		block.keys, block.vals = words[:nk:nk], append(words, b.vals...)[nk:]
		ends := exact(b.starts, room.ends[:], len(lists.from))
		block.starts = ends[:ns:ns]
		if len(lists.from) > 0 {
			block.from = append(ends, lists.from...)[ns:]
		}
	} else {
		block.keys, block.starts, block.vals = exact(b.keys, nil, 0), exact(b.starts, nil, 0), exact(b.vals, nil, 0)
		if len(lists.from) > 0 {
			block.from = exact(lists.from, nil, 0)
		}
	}
	if len(lists.codes) > 0 {
		block.codes = exact(lists.codes, room.codes[:], 0)
	}
	if len(b.times) == 1 {
		block.times = exact(b.times, room.times[:], 0)
	} else {
		b.sortTimes(block)
	}
	b.keys, b.starts, b.vals, b.times = b.keys[:0], b.starts[:0], b.vals[:0], b.times[:0]
	lists.reset()
	if len(b.lookup) > 0 {
		clear(b.lookup)
	}
	b.epoch++
}

// exact is a copy of s in room, or in new memory if it does not fit, with capacity for some more and no others.
func exact[T any](s, room []T, more int) []T {
	n := len(s) + more
	if n > len(room) {
		return append(make([]T, 0, n), s...)
	}
	return append(room[:0:n], s...)
}

// push adds a block after everything else.
func (b *Builder) push(block *Block) {
	b.blocks, b.lasts = append(b.blocks, block), append(b.lasts, block.last())
	b.edits += block.Len()
	b.values += len(block.vals)
	b.bytes += block.bytes()
}

// sortTimes gives a new block those of the times that its edits have, in order.
func (b *Builder) sortTimes(block *Block) {
	const unused = ^uint32(0)
	rank := b.rank[:0]
	for range b.times {
		rank = append(rank, unused)
	}
	for _, e := range block.edits {
		rank[e.Time] = 0
	}
	order := b.order[:0]
	sorted := true
	for i, r := range rank {
		if r == unused {
			continue
		}
		if n := len(order); n > 0 && sorted {
			sorted = b.times[order[n-1]].Compare(b.times[i]) < 0
		}
		order = append(order, uint32(i))
	}
	b.rank, b.order = rank, order
	if !sorted {
		slices.SortFunc(order, func(x, y uint32) int { return b.times[x].Compare(b.times[y]) })
	}
	block.times = make([]timely.Time, len(order))
	for i, o := range order {
		block.times[i] = b.times[o]
		rank[o] = uint32(i)
	}
	if sorted && len(order) == len(rank) {
		return
	}
	for i := range block.edits {
		block.edits[i].Time = rank[block.edits[i].Time]
	}
	if sorted {
		return
	}
	if block.from == nil {
		sortEdits(block.edits)
		return
	}
	for i, lo := range block.from[:len(block.from)-1] {
		if edits := block.edits[lo:block.from[i+1]]; len(edits) > 1 {
			sortEdits(edits)
		}
	}
}

// sortEdits sorts edits by time; mostly there are two.
func sortEdits(edits []Edit) {
	if len(edits) > 12 {
		slices.SortFunc(edits, func(x, y Edit) int { return cmp.Compare(x.Time, y.Time) })
		return
	}
	for i := 1; i < len(edits); i++ {
		for j := i; j > 0 && edits[j-1].Time > edits[j].Time; j-- {
			edits[j-1], edits[j] = edits[j], edits[j-1]
		}
	}
}
