package word

import "unsafe"

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

// order turns the bits of a number into bits that compare as unsigned numbers as it does.
func (f *field) order(bits uint64) uint64 {
	top := uint64(1) << (8*f.size - 1)
	switch {
	case f.kind == unsigned:
		return bits
	case f.kind == floating && bits&top != 0:
		return bits ^ (top | top - 1)
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
		return bits ^ (top | top - 1)
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
