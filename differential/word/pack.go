package word

import (
	"encoding/binary"
	"unsafe"
)

// bigEndian says in which order the bytes of numbers lie in memory.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// field is how one part of a packed type lies in memory and in its words.
type field struct {
	off   uintptr
	size  uint8 // bytes
	kind  partKind
	shift uint8 // of its lowest bit in the word
}

// fields lays the parts of a packed type into a word: the last part lowest, so that
// words compare by the first part first, and small values have small words.
func fields(ps []part) []field {
	fs := make([]field, len(ps))
	shift := uint8(0)
	for i := len(ps) - 1; i >= 0; i-- {
		p := ps[i]
		fs[i] = field{p.off, uint8(p.size), p.kind, shift}
		shift += 8 * uint8(p.size)
	}
	return fs
}

// mode is the way from a value to its word. The ways of the types that keys mostly have
// are short; all others go through the list of fields, or through the lexicon.
type mode uint8

const (
	general mode = iota
	number       // one integer in a type of its size
	double       // one float of 8 bytes, in 8
	pair44       // two integers of 4 bytes, in 8
	pair42       // one of 4 bytes and one of 2, in 8
)

// modeOf returns the way of a type that has these fields and this size, and what the words
// of all ways but the general one are flipped with, for the sake of signed integers.
func modeOf(fs []field, size uintptr) (m mode, flip uint64) {
	is := func(sizes ...uint8) bool {
		if len(fs) != len(sizes) {
			return false
		}
		at := uintptr(0)
		for i, f := range fs {
			if f.kind == floating && len(fs) > 1 || f.size != sizes[i] || f.off != at {
				return false
			}
			at += uintptr(f.size)
		}
		return true
	}
	switch {
	case size == 8 && is(8) && fs[0].kind == floating:
		m = double
	case len(fs) == 1 && fs[0].kind != floating && is(uint8(size)):
		m = number
	case size == 8 && is(4, 4):
		m = pair44
	case size == 8 && is(4, 2):
		m = pair42
	default:
		return general, 0
	}
	for _, f := range fs {
		flip |= f.order(0) << f.shift
	}
	return m, flip
}

// order turns the bits of a number into bits that compare as unsigned numbers as it does.
func (f *field) order(bits uint64) uint64 {
	top := uint64(1) << (8*f.size - 1)
	switch {
	case f.kind == unsigned:
		return bits
	case f.kind == floating && bits&top != 0:
		return bits ^ (top<<1 - 1)
	}
	return bits ^ top
}

// unorder undoes order.
func (f *field) unorder(bits uint64) uint64 {
	top := uint64(1) << (8*f.size - 1)
	switch {
	case f.kind == unsigned:
		return bits
	case f.kind == floating && bits&top == 0:
		return bits ^ (top<<1 - 1)
	}
	return bits ^ top
}

// pack returns the word of the value at p, whose type fs describes.
func pack(fs []field, p unsafe.Pointer) uint64 {
	w := uint64(0)
	for i := range fs {
		f := &fs[i]
		q := unsafe.Add(p, f.off)
		var bits uint64
		switch f.size {
		case 1:
			bits = uint64(*(*uint8)(q))
		case 2:
			bits = uint64(*(*uint16)(q))
		case 4:
			bits = uint64(*(*uint32)(q))
		default:
			bits = *(*uint64)(q)
		}
		w |= f.order(bits) << f.shift
	}
	return w
}

// unpack writes the value of a word to p.
func unpack(fs []field, p unsafe.Pointer, w uint64) {
	for i := range fs {
		f := &fs[i]
		q := unsafe.Add(p, f.off)
		bits := f.unorder(w >> f.shift & (1<<(8*f.size-1)<<1 - 1))
		switch f.size {
		case 1:
			*(*uint8)(q) = uint8(bits)
		case 2:
			*(*uint16)(q) = uint16(bits)
		case 4:
			*(*uint32)(q) = uint32(bits)
		default:
			*(*uint64)(q) = bits
		}
	}
}
