package tree

import (
	"encoding/binary"
	"fmt"
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

// encodeTail makes the tail a vector of the open leaf, or part of its last one, where that is short.
func (f *Forest) encodeTail(s *state) error {
	times, values := f.tailOf(s)
	times, values = times[:s.tailLen], values[:s.tailLen]
	if len(times) == 0 {
		return nil
	}
	total := aggregate.Aggregate{}
	if s.vectors > 0 {
		total = f.openTotal(s)
	}
	total.Add(times, values)
	f.vecs = f.openVectors(f.vecs[:0], s)
	kept := alike(f.vecs, len(times))
	if kept < len(f.vecs) {
		f.times, f.values = f.times[:0], f.values[:0]
		for _, v := range f.vecs[kept:] {
			var err error
			if f.times, f.values, err = v.Decode(f.times, f.values); err != nil {
				return fmt.Errorf("the open leaf: %w", err)
			}
		}
		f.times, f.values = append(f.times, times...), append(f.values, values...)
		times, values = f.times, f.values
	}
	f.encoded = codec.AppendTimes(f.encoded[:0], &s.hint, times)
	f.encoded = codec.AppendValues(f.encoded, &s.hint, values)
	n := 0
	for _, v := range f.vecs[:kept] {
		n += vectorHeader + len(v.Bytes)
	}
	if err := f.growOpen(s, n+vectorHeader+len(f.encoded)); err != nil {
		return err
	}
	*(*aggregate.Aggregate)(unsafe.Pointer(unsafe.SliceData(f.openBlock(s)))) = total
	s.openLen, s.vectors = uint16(n), uint8(kept)
	f.putVector(s, times[0], f.encoded)
	s.tailLen = 0
	return nil
}

// putVector puts a vector, for which there is room, behind the others of the open leaf.
func (f *Forest) putVector(s *state, first int64, encoded []byte) {
	b := f.openBlock(s)[openHeader+int(s.openLen):]
	binary.LittleEndian.PutUint64(b, uint64(first))
	binary.LittleEndian.PutUint16(b[8:], uint16(len(encoded)))
	copy(b[vectorHeader:], encoded)
	s.openLen += uint16(vectorHeader + len(encoded))
	s.vectors++
}

// shorter is how many times as long a vector may be as the points that it is encoded again with.
const shorter = 2

// alike is how many vectors, the first ones, are to stay when n points come behind them: not those at the end that are
// hardly longer than what comes. So a point is encoded again a few times only, much as a binary counter carries.
func alike(vectors []node.Vector, n int) (kept int) {
	kept = len(vectors)
	for kept > 0 {
		k := vectors[kept-1].Points()
		if k > n*shorter || k+n > codec.Max {
			break
		}
		n += k
		kept--
	}
	return kept
}

// merge makes the vectors of the open leaf as long as they can be, where that makes them smaller.
func (f *Forest) merge(s *state) error {
	total := f.openTotal(s)
	if s.vectors == 1 || int(total.Count) >= int(s.vectors)*codec.Max/2 {
		return nil
	}
	f.times, f.values = f.times[:0], f.values[:0]
	f.vecs = f.openVectors(f.vecs[:0], s)
	for _, v := range f.vecs {
		var err error
		if f.times, f.values, err = v.Decode(f.times, f.values); err != nil {
			return fmt.Errorf("the open leaf: %w", err)
		}
	}
	f.encoded = f.encoded[:0]
	var first [maxOpenVectors]int64
	var ends [maxOpenVectors]int
	n := 0
	for times, values := f.times, f.values; len(times) > 0; n++ {
		k := min(codec.Max, len(times))
		first[n] = times[0]
		f.encoded = codec.AppendTimes(f.encoded, &s.hint, times[:k])
		f.encoded = codec.AppendValues(f.encoded, &s.hint, values[:k])
		ends[n] = len(f.encoded)
		times, values = times[k:], values[k:]
	}
	size := n*vectorHeader + len(f.encoded)
	if size >= int(s.openLen) {
		return nil
	}
	begin := 0
	s.openLen, s.vectors = 0, 0
	for i, end := range ends[:n] {
		f.putVector(s, first[i], f.encoded[begin:end])
		begin = end
	}
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
