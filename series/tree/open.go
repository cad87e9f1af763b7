package tree

import (
	"encoding/binary"
	"unsafe"

	"weir/series/aggregate"
	"weir/series/arena"
	"weir/series/codec"
	"weir/series/node"
)

// The block of an open leaf begins with the aggregate of its vectors. Each of them is its first time in 8 bytes, its
// length in 2, and itself.
const (
	openHeader     = int(unsafe.Sizeof(aggregate.Aggregate{}))
	vectorHeader   = 10
	maxOpenVectors = node.MaxVectors - 1 // the tail becomes one more
)

func (f *Forest) openBlock(s *state) []byte { return f.arena.Get(s.open, int(s.openClass)) }

// openTotal is the aggregate of the vectors of the open leaf, of which there is one at least.
func (f *Forest) openTotal(s *state) aggregate.Aggregate {
	return *(*aggregate.Aggregate)(unsafe.Pointer(unsafe.SliceData(f.openBlock(s))))
}

// openVectors appends the vectors of the open leaf to dst. They are in the arena.
func (f *Forest) openVectors(dst []node.Vector, s *state) []node.Vector {
	if s.vectors == 0 {
		return dst
	}
	b := f.openBlock(s)[openHeader : openHeader+int(s.openLen)]
	for len(b) > 0 {
		n := int(binary.LittleEndian.Uint16(b[8:]))
		dst = append(dst, node.Vector{FirstTime: int64(binary.LittleEndian.Uint64(b)), Bytes: b[vectorHeader : vectorHeader+n]})
		b = b[vectorHeader+n:]
	}
	return dst
}

// encodeTail makes the tail a vector of the open leaf.
func (f *Forest) encodeTail(s *state) error {
	times, values := f.tailOf(s)
	times, values = times[:s.tailLen], values[:s.tailLen]
	if len(times) == 0 {
		return nil
	}
	f.encoded = codec.AppendTimes(f.encoded[:0], &s.hint, times)
	f.encoded = codec.AppendValues(f.encoded, &s.hint, values)
	if err := f.growOpen(s, int(s.openLen)+vectorHeader+len(f.encoded)); err != nil {
		return err
	}
	b := f.openBlock(s)
	total := (*aggregate.Aggregate)(unsafe.Pointer(unsafe.SliceData(b)))
	if s.vectors == 0 {
		*total = aggregate.Aggregate{}
	}
	total.Add(times, values)
	b = b[openHeader+int(s.openLen):]
	binary.LittleEndian.PutUint64(b, uint64(times[0]))
	binary.LittleEndian.PutUint16(b[8:], uint16(len(f.encoded)))
	copy(b[vectorHeader:], f.encoded)
	s.openLen += uint16(vectorHeader + len(f.encoded))
	s.vectors++
	s.tailLen = 0
	return nil
}

// growOpen makes room for n bytes of vectors.
func (f *Forest) growOpen(s *state, n int) error {
	class := arena.Class(openHeader + n)
	if s.open != arena.None && class <= int(s.openClass) {
		return nil
	}
	h, err := f.arena.Alloc(class)
	if err != nil {
		return err
	}
	if s.open != arena.None {
		copy(f.arena.Get(h, class), f.openBlock(s))
		f.arena.Free(s.open, int(s.openClass))
	}
	s.open, s.openClass = h, uint8(class)
	return nil
}

func (f *Forest) freeOpen(s *state) {
	f.arena.Free(s.open, int(s.openClass))
	s.open, s.openClass, s.openLen, s.vectors = arena.None, 0, 0, 0
}
