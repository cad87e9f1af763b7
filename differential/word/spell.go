package word

import (
	"encoding/binary"
	"unsafe"
)

// spelling is how values of an interned type are written as bytes: runs of memory as they
// are, strings as their length and bytes. Values are the same if their bytes are.
type spelling struct {
	pieces []piece
	buf    []byte
}

// piece is a run of bytes without padding, or a string.
type piece struct {
	off  uintptr
	n    uintptr
	text bool
}

// maxKept bounds the memory that is kept for spelling the next value.
const maxKept = 1 << 16

// spellingOf joins neighbours of parts.
func spellingOf(ps []part) spelling {
	var pieces []piece
	for _, p := range ps {
		if last := len(pieces) - 1; last >= 0 && p.kind != text && !pieces[last].text && pieces[last].off+pieces[last].n == p.off {
			pieces[last].n += p.size
			continue
		}
		pieces = append(pieces, piece{p.off, p.size, p.kind == text})
	}
	return spelling{pieces: pieces}
}

// spell returns the bytes of the value at p. They are valid until the next call, and while
// the value is there.
func (s *spelling) spell(p unsafe.Pointer) []byte {
	if len(s.pieces) == 1 {
		one := &s.pieces[0]
		if one.text {
			str := *(*string)(unsafe.Add(p, one.off))
			return unsafe.Slice(unsafe.StringData(str), len(str))
		}
		return unsafe.Slice((*byte)(unsafe.Add(p, one.off)), one.n)
	}
	b := s.buf[:0]
	for i := range s.pieces {
		q := unsafe.Add(p, s.pieces[i].off)
		if s.pieces[i].text {
			str := *(*string)(q)
			b = binary.AppendUvarint(b, uint64(len(str)))
			b = append(b, str...)
		} else {
			b = append(b, unsafe.Slice((*byte)(q), s.pieces[i].n)...)
		}
	}
	if cap(b) <= maxKept {
		s.buf = b
	} else {
		s.buf = nil
	}
	return b
}

// read writes the value spelled by b, which is never changed again, to p.
func (s *spelling) read(p unsafe.Pointer, b []byte) {
	if len(s.pieces) == 1 && s.pieces[0].text {
		*(*string)(unsafe.Add(p, s.pieces[0].off)) = unsafe.String(unsafe.SliceData(b), len(b))
		return
	}
	for i := range s.pieces {
		q := unsafe.Add(p, s.pieces[i].off)
		if s.pieces[i].text {
			n, width := binary.Uvarint(b)
			b = b[width:]
			if n > 0 {
				*(*string)(q) = unsafe.String(&b[0], n)
			}
			b = b[n:]
		} else {
			b = b[copy(unsafe.Slice((*byte)(q), s.pieces[i].n), b):]
		}
	}
}
