package flat

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unsafe"
)

const (
	headerSize = 24
	// frameAlign divides the length of every frame, and is a multiple of the
	// alignment of every Go type.
	frameAlign = 8
	// magic reads "wfl\x01" in memory on a little-endian machine. The byte is
	// the version.
	magic = 0x016c6677
	// nilLength stands for the length of a nil slice.
	nilLength = 1<<64 - 1
	// lengthSize is what a string, slice or pointer takes in the fixed part.
	lengthSize = 8
)

// native is the order of the bytes in frames. On every machine that Go compiles
// for, its methods are single loads and stores.
var native = binary.NativeEndian

// roundUp returns the first multiple of align, a power of two, from n on.
func roundUp(n, align int) int { return (n + align - 1) &^ (align - 1) }

func putHeader(frame []byte, hash uint32, count uint64) {
	native.PutUint32(frame, magic)
	native.PutUint32(frame[4:], hash)
	native.PutUint64(frame[8:], count)
	native.PutUint64(frame[16:], uint64(len(frame)))
}

// open checks the header of the frame at the start of src, and returns its
// bytes, header included, and the number of its elements, which is not checked
// yet. The bytes are a copy if those of src are not aligned.
func (p *plan) open(src []byte, align int) (frame []byte, count uint64, err error) {
	if len(src) < headerSize {
		return nil, 0, fmt.Errorf("%w: %d bytes, its header alone takes %d", ErrShort, len(src), headerSize)
	}
	switch got := native.Uint32(src); {
	case got == bits.ReverseBytes32(magic):
		return nil, 0, fmt.Errorf("%w: it was written on a machine of the other byte order", ErrType)
	case got&0xffffff == magic&0xffffff && got != magic:
		return nil, 0, fmt.Errorf("%w: its format has version %d, this program reads %d", ErrType, got>>24, magic>>24)
	case got != magic:
		return nil, 0, fmt.Errorf("%w: it begins with % x, not with % x", ErrCorrupt, src[:4], native.AppendUint32(nil, magic))
	}
	if got := native.Uint32(src[4:]); got != p.hash {
		return nil, 0, fmt.Errorf("%w: its fingerprint is %08x, that of %s is %08x", ErrType, got, p.typ, p.hash)
	}
	total := native.Uint64(src[16:])
	if total < headerSize || total%frameAlign != 0 {
		return nil, 0, fmt.Errorf("%w: its length is %d, not a multiple of %d from %d on", ErrCorrupt, total, frameAlign, headerSize)
	}
	if total > uint64(len(src)) {
		return nil, 0, fmt.Errorf("%w: %d bytes of %d", ErrShort, len(src), total)
	}
	frame = src[:total:total]
	if uintptr(unsafe.Pointer(&frame[0]))&uintptr(align-1) != 0 && total > headerSize {
		words := make([]uint64, total/8)
		aligned := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), total)
		copy(aligned, frame)
		frame = aligned
	}
	return frame, native.Uint64(src[8:]), nil
}

// corrupt says what is wrong at an offset of a frame.
func corrupt(frame []byte, off int, format string, args ...any) error {
	return fmt.Errorf("%w at byte %d of %d: %s", ErrCorrupt, off, len(frame), fmt.Sprintf(format, args...))
}
