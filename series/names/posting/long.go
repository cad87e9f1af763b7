package posting

import (
	"encoding/binary"
	"slices"
)

const (
	windowBits  = 16
	windowWords = 1 << windowBits / 64

	// denseFrom is the number of delta bytes from which on a bitmap is smaller.
	denseFrom = windowWords * 8
)

// block holds the numbers of one window: deltas to the number before, of which
// the first is that before the window, or a bitmap.
type block struct {
	window uint32
	last   uint32
	deltas []byte
	dense  *[windowWords]uint64
}

// long is what a list holds beyond its first longFrom numbers. All blocks but
// the last are never changed again.
type long struct {
	blocks []block
}

func (l *long) add(id uint32) {
	window := id >> windowBits
	if len(l.blocks) == 0 || l.blocks[len(l.blocks)-1].window != window {
		l.seal()
		l.blocks = append(l.blocks, block{window: window, last: window << windowBits})
	}
	b := &l.blocks[len(l.blocks)-1]
	if b.dense != nil {
		setBit(b.dense[:], id-window<<windowBits)
		b.last = id
		return
	}
	b.deltas = binary.AppendUvarint(b.deltas, uint64(id-b.last))
	b.last = id
	if len(b.deltas) >= denseFrom {
		dense := new([windowWords]uint64)
		b.or(dense[:], window<<windowBits)
		b.deltas, b.dense = nil, dense
	}
}

// seal gives back what the last block has too much. Readers may hold the block
// as it was, so it is replaced rather than changed.
func (l *long) seal() {
	if len(l.blocks) == 0 {
		return
	}
	// A view taken before holds the slice of blocks without the last, and a copy of that.
	l.blocks[len(l.blocks)-1].deltas = slices.Clone(l.blocks[len(l.blocks)-1].deltas)
}

// view is a picture of l: the last block is copied, as the writer works on it.
func (l *long) view() longView {
	n := len(l.blocks) - 1
	open := l.blocks[n]
	if open.dense != nil {
		dense := *open.dense
		open.dense = &dense
	}
	return longView{l.blocks[:n:n], open}
}

func (l *long) bytes() int {
	total := cap(l.blocks) * 48
	for i := range l.blocks {
		total += cap(l.blocks[i].deltas)
		if l.blocks[i].dense != nil {
			total += windowWords * 8
		}
	}
	return total
}

type longView struct {
	closed []block
	open   block
}

func (l *longView) each(yield func(*block) bool) bool {
	for i := range l.closed {
		if !yield(&l.closed[i]) {
			return false
		}
	}
	return yield(&l.open)
}

func (b *block) walk(yield func(uint32) bool) bool {
	id := b.window << windowBits
	if b.dense != nil {
		return ones(b.dense[:], id, yield)
	}
	for rest := b.deltas; len(rest) > 0; {
		delta, n := uint32(rest[0]), 1
		if delta >= 0x80 {
			var x uint64
			x, n = binary.Uvarint(rest)
			delta = uint32(x)
		}
		rest = rest[n:]
		id += delta
		if !yield(id) {
			return false
		}
	}
	return true
}

// or sets the bits of b's numbers in a bitmap whose first bit is number base,
// a multiple of 64 and not above b's window.
func (b *block) or(set []uint64, base uint32) {
	if b.dense == nil {
		// As in walk, without a call for each number: most of a long union is here.
		id := b.window<<windowBits - base
		for rest := b.deltas; len(rest) > 0; {
			delta, n := uint32(rest[0]), 1
			if delta >= 0x80 {
				var x uint64
				x, n = binary.Uvarint(rest)
				delta = uint32(x)
			}
			rest = rest[n:]
			id += delta
			setBit(set, id)
		}
		return
	}
	from := int(b.window<<windowBits-base) >> 6
	if from >= len(set) {
		return
	}
	set = set[from:]
	dense := b.dense[:min(windowWords, len(set))]
	for i, w := range dense {
		set[i] |= w
	}
}
