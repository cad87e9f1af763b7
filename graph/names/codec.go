package names

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"
)

// The serialised form of a table, little-endian, all parts at multiples of eight:
//
//	0   8 bytes   "wnames1\n"
//	8   uint32    kind
//	12  uint32    width w of an element in bytes, 4 or 8 (0 where there are none)
//	16  uint64    number of vertices n
//	24  uint64    Shifted: the first name; Text: bytes of all strings
//	32  elements  n × w for Increasing and Listed, (n+1) × w for Text, padded with 0 to 8
//	    strings   end to end, padded with 0 to 8
//
// It carries no checksum: it is a part of a file that has them.
const (
	magic      = "wnames1\n"
	headerSize = 32
)

// ErrFormat is wrapped by every error of [Unmarshal].
var ErrFormat = errors.New("not a valid table of names")

// littleEndian says whether slices of integers may be viewed as file bytes.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Size is the number of bytes of the serialised form: a multiple of eight.
func (t *Table) Size() int64 {
	if t == nil {
		return headerSize
	}
	return headerSize + int64(pad8(len(t.small)*4)) + int64(len(t.large))*8 + int64(pad8(len(t.arena)))
}

func pad8(n int) int { return (n + 7) &^ 7 }

// header is the first 32 bytes of the serialised form.
func (t *Table) header() []byte {
	h := make([]byte, 0, headerSize)
	h = append(h, magic...)
	if t == nil {
		return h[:headerSize]
	}
	width, extra := uint32(0), t.first
	if t.small != nil {
		width = 4
	} else if t.large != nil {
		width = 8
	}
	if t.kind == Text {
		extra = uint64(len(t.arena))
	}
	h = binary.LittleEndian.AppendUint32(h, uint32(t.kind))
	h = binary.LittleEndian.AppendUint32(h, width)
	h = binary.LittleEndian.AppendUint64(h, uint64(t.n))
	return binary.LittleEndian.AppendUint64(h, extra)
}

// WriteTo writes the serialised form, of which [Table.Size] tells the length.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	parts := [][]byte{t.header()}
	if t != nil {
		small, large := bytesOf(t.small), bytesOf(t.large)
		if !littleEndian {
			small, large = swapped(t.small, 4), swapped(t.large, 8)
		}
		parts = append(parts, small, large, t.arena)
	}
	var written int64
	for _, part := range parts {
		var zeros [8]byte
		for _, b := range [][]byte{part, zeros[:pad8(len(part))-len(part)]} {
			if len(b) == 0 {
				continue
			}
			n, err := w.Write(b)
			written += int64(n)
			if err != nil {
				return written, fmt.Errorf("write table of names: %w", err)
			}
		}
	}
	return written, nil
}

// AppendBinary appends the serialised form to dst.
func (t *Table) AppendBinary(dst []byte) ([]byte, error) {
	b := appender(slices.Grow(dst, int(t.Size())))
	_, err := t.WriteTo(&b)
	return b, err
}

type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// bytesOf views integers as bytes in the machine's own order.
func bytesOf[T uint32 | uint64](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// swapped encodes integers on a big-endian machine.
func swapped[T uint32 | uint64](s []T, width int) []byte {
	b := make([]byte, len(s)*width)
	for i, v := range s {
		if width == 4 {
			binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
		}
	}
	return b
}

// Unmarshal reads the serialised form at the start of data, which may go on
// behind it. The table uses data where it lies (a mapped file, say): data must
// stay valid and unchanged as long as the table is used. All that could make
// the table fail later is checked here; that the names are distinct is not.
func Unmarshal(data []byte) (*Table, error) {
	if len(data) < headerSize || string(data[:8]) != magic {
		return nil, fmt.Errorf("%w: no header", ErrFormat)
	}
	kind := Kind(binary.LittleEndian.Uint32(data[8:]))
	width := int(binary.LittleEndian.Uint32(data[12:]))
	n := binary.LittleEndian.Uint64(data[16:])
	extra := binary.LittleEndian.Uint64(data[24:])
	if n > Limit {
		return nil, fmt.Errorf("%w: %d vertices, at most %d are possible", ErrFormat, n, uint64(Limit))
	}
	t := &Table{kind: kind, n: int(n)}
	elements := t.n
	switch kind {
	case Identity, Shifted:
		elements = 0
	case Text:
		elements++
	case Increasing, Listed:
	default:
		return nil, fmt.Errorf("%w: %v is not known", ErrFormat, kind)
	}
	if elements == 0 {
		width = 4 // whatever it says: there is nothing to read
	}
	if width != 8 && (width != 4 || kind == Listed && elements > 0) {
		return nil, fmt.Errorf("%w: elements of %d bytes for %v", ErrFormat, width, kind)
	}
	body := data[headerSize:]
	if uint64(len(body)) < uint64(elements)*uint64(width) {
		return nil, fmt.Errorf("%w: %d bytes for %d elements of %d bytes", ErrFormat, len(body), elements, width)
	}
	if width == 4 {
		t.small = view[uint32](body, elements, width)
	} else {
		t.large = view[uint64](body, elements, width)
	}
	if err := t.adopt(kind, extra, body[min(pad8(elements*width), len(body)):]); err != nil {
		return nil, err
	}
	if kind == Identity {
		return nil, nil
	}
	return t, nil
}

// adopt checks the elements of t and takes its strings from rest.
func (t *Table) adopt(kind Kind, extra uint64, rest []byte) error {
	switch kind {
	case Identity:
		if t.n != 0 || extra != 0 {
			return fmt.Errorf("%w: identity with %d names", ErrFormat, t.n)
		}
	case Shifted:
		if t.first = extra; extra > math.MaxUint64-uint64(t.n) {
			return fmt.Errorf("%w: names from %d pass 2^64", ErrFormat, extra)
		}
	case Increasing:
		if i := disorder(t.small, false); i > 0 {
			return fmt.Errorf("%w: name %d of vertex %d after %d", ErrFormat, t.small[i], i, t.small[i-1])
		}
		if i := disorder(t.large, false); i > 0 {
			return fmt.Errorf("%w: name %d of vertex %d after %d", ErrFormat, t.large[i], i, t.large[i-1])
		}
	case Text:
		if extra > uint64(len(rest)) {
			return fmt.Errorf("%w: %d bytes of strings, %d are there", ErrFormat, extra, len(rest))
		}
		t.arena = rest[:extra:extra]
		if t.small != nil {
			return checkStarts(t.small, extra)
		}
		return checkStarts(t.large, extra)
	}
	return nil
}

func checkStarts[T uint32 | uint64](starts []T, size uint64) error {
	if i := disorder(starts, true); i > 0 {
		return fmt.Errorf("%w: string %d ends at %d, before it starts at %d", ErrFormat, i-1, starts[i], starts[i-1])
	}
	if first, last := starts[0], starts[len(starts)-1]; first != 0 || uint64(last) != size {
		return fmt.Errorf("%w: strings from %d to %d in %d bytes", ErrFormat, first, last, size)
	}
	return nil
}

// disorder is the first i where s[i] is below s[i-1], or equal to it unless
// equal is allowed; 0 where there is none.
func disorder[T uint32 | uint64](s []T, equal bool) int {
	for i := 1; i < len(s); i++ {
		if s[i] < s[i-1] || s[i] == s[i-1] && !equal {
			return i
		}
	}
	return 0
}

// view is n integers at the start of b: b itself where the machine allows it,
// else a copy.
func view[T uint32 | uint64](b []byte, n, width int) []T {
	if n == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if littleEndian && uintptr(p)%uintptr(width) == 0 {
		return unsafe.Slice((*T)(p), n)
	}
	s := make([]T, n)
	for i := range s {
		if width == 4 {
			s[i] = T(binary.LittleEndian.Uint32(b[4*i:]))
		} else {
			s[i] = T(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return s
}
