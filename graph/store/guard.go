package store

import (
	"fmt"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/mapfile"
)

// blocks is a section of a mapped file whose blocks are checked when they are
// first touched. It is the order.Guard of orders stored in one section.
type blocks struct {
	file  *File
	sec   *section
	data  []byte
	sums  []uint64
	check func(first uint64, data []byte) error // the content of a block that begins with element first; nil if any will do

	seen []atomic.Uint64 // a bit a block: checked and sound
	left atomic.Int64    // blocks not seen
}

// newBlocks prepares the section of the given kind; its table of checksums is
// checked now.
func (f *File) newBlocks(s *section, check func(first uint64, data []byte) error) (*blocks, error) {
	table := f.data[s.sumsAt:s.sumsEnd()]
	if got := sumBlock(table); got != s.sumSum {
		return nil, &DamageError{Path: f.Path(), Damage: []Damage{{
			Section: s.kind, Block: -1, Offset: s.sumsAt, Length: int64(len(table)),
			Holds:   "checksums",
			Problem: fmt.Sprintf("checksum is %#016x; expected %#016x", got, s.sumSum),
		}}}
	}
	sums, err := mapfile.View[uint64](table)
	if err != nil {
		return nil, fmt.Errorf("checksums of section %s: %w", s.kind, err)
	}
	b := &blocks{file: f, sec: s, data: f.data[s.offset : s.offset+s.length], sums: sums, check: check}
	b.seen = make([]atomic.Uint64, (s.blocks()+63)/64)
	b.left.Store(int64(s.blocks()))
	return b, nil
}

// Check makes sure that elements lo to hi are sound.
func (b *blocks) Check(lo, hi uint64) error {
	if b.left.Load() == 0 || lo >= hi {
		return nil
	}
	if n := b.sec.elements(); hi > n {
		return fmt.Errorf("%s: section %s: elements %d to %d of %d", b.file.Path(), b.sec.kind, lo, hi-1, n)
	}
	width, block := uint64(b.sec.width), uint64(b.sec.block)
	for i := lo * width / block; i <= (hi*width-1)/block; i++ {
		if b.seen[i/64].Load()>>(i%64)&1 == 1 {
			continue
		}
		if err := b.file.m.Protect(func() error { return b.verify(int(i)) }); err != nil {
			return err
		}
	}
	return nil
}

// verify checks block i whether it was seen or not. The caller protects against
// faults.
func (b *blocks) verify(i int) error {
	start := int64(i) * b.sec.block
	data := b.data[start:min(start+b.sec.block, int64(len(b.data)))]
	width := int64(b.sec.width)
	damage := func(problem string) error {
		return &DamageError{Path: b.file.Path(), Damage: []Damage{{
			Section: b.sec.kind, Block: i, Offset: b.sec.offset + start, Length: int64(len(data)),
			Holds:   fmt.Sprintf("%s %d to %d", kinds[b.sec.kind].holds, start/width, (start+int64(len(data))-1)/width),
			Problem: problem,
		}}}
	}
	if got, want := sumBlock(data), b.sums[i]; got != want {
		return damage(fmt.Sprintf("checksum is %#016x; expected %#016x", got, want))
	}
	if b.check != nil {
		if err := b.check(uint64(start/width), data); err != nil {
			return damage(err.Error())
		}
	}
	if old := b.seen[i/64].Or(1 << (i % 64)); old>>(i%64)&1 == 0 {
		b.left.Add(-1)
	}
	return nil
}

// guards checks the same elements in several sections: targets and weights.
type guards []*blocks

func (g guards) Check(lo, hi uint64) error {
	for _, b := range g {
		if err := b.Check(lo, hi); err != nil {
			return err
		}
	}
	return nil
}

// idsBelow checks that ids are below n.
func idsBelow(n int64) func(uint64, []byte) error {
	return func(first uint64, data []byte) error {
		ids, err := mapfile.View[uint32](data)
		if err != nil {
			return err
		}
		if n <= 1<<31 {
			// Pairs of ids are quick to check; blocks begin at multiples of 8 bytes.
			pairs, err := mapfile.View[uint64](data[:len(data)&^7])
			if err != nil {
				return err
			}
			if pairsBelow(pairs, uint64(n)) && (len(ids)%2 == 0 || int64(ids[len(ids)-1]) < n) {
				return nil
			}
		}
		for i, id := range ids {
			if int64(id) >= n {
				return fmt.Errorf("edge %d names vertex %d; expected less than %d", first+uint64(i), id, n)
			}
		}
		return nil
	}
}

// pairsBelow says whether both halves of all words are below n, which is at most
// 2^31. Of a half x below 2^31, the highest bit of 2^31 + n-1 - x is set exactly
// if x is below n, and no half borrows from the other; so the bit must be set in
// all differences, and in no x.
func pairsBelow(words []uint64, n uint64) bool {
	const top = 1<<63 | 1<<31
	if n == 0 {
		return len(words) == 0
	}
	limit := top | (n-1)<<32 | (n - 1)
	a, b := ^uint64(0), ^uint64(0)
	var c, d uint64
	for ; len(words) >= 4; words = words[4:] {
		w := (*[4]uint64)(words)
		a &= (limit - w[0]) & (limit - w[1])
		b &= (limit - w[2]) & (limit - w[3])
		c |= w[0] | w[1]
		d |= w[2] | w[3]
	}
	for _, w := range words {
		a &= limit - w
		c |= w
	}
	return a&b&top == top && (c|d)&top == 0
}

// weightsSound checks that no weight is not a number.
func weightsSound(first uint64, data []byte) error {
	weights, err := mapfile.View[float32](data)
	if err != nil {
		return err
	}
	for i, w := range weights {
		if w != w {
			return fmt.Errorf("the weight of edge %d is not a number", first+uint64(i))
		}
	}
	return nil
}

// pairsInside checks that the edges of the squares at the rim of the matrix lie
// inside it; in other squares every pair does.
func pairsInside(h *order.Hilbert) func(uint64, []byte) error {
	return func(first uint64, data []byte) error {
		pairs, err := mapfile.View[order.Pair](data)
		if err != nil {
			return err
		}
		end := first + uint64(len(pairs))
		for i := squareOf(h, first); i < len(h.Squares) && h.Starts[i] < end; i++ {
			s := h.Squares[i]
			width, height := h.N-int(s.X)<<16, h.N-int(s.Y)<<16
			if width >= order.SquareSide && height >= order.SquareSide {
				continue
			}
			lo, hi := max(h.Starts[i], first), min(h.Starts[i+1], end)
			for j, p := range pairs[lo-first : hi-first] {
				if int(p.X) >= width || int(p.Y) >= height {
					return fmt.Errorf("edge %d goes from vertex %d to %d; expected less than %d",
						lo+uint64(j), int(s.X)<<16|int(p.X), int(s.Y)<<16|int(p.Y), h.N)
				}
			}
		}
		return nil
	}
}
