package mapfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// ErrByteOrder says that this machine's integers are big-endian, so that weir's
// little-endian files cannot be used in place.
var ErrByteOrder = errors.New("this machine is big-endian; weir's binary files are little-endian and are used in place")

// HostOrder returns ErrByteOrder on a big-endian machine.
func HostOrder() error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return ErrByteOrder
	}
	return nil
}

// View returns the bytes of b as elements of type T, without copying: it lives
// as long as b. T must be of fixed size, without pointers and without padding.
// It is an error if b is not aligned for T, is not a whole number of elements,
// or on a big-endian machine.
func View[T any](b []byte) ([]T, error) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if err := HostOrder(); err != nil && size > 1 {
		return nil, err
	}
	if len(b)%size != 0 {
		return nil, fmt.Errorf("view %d bytes as elements of %d bytes: %d bytes are left over", len(b), size, len(b)%size)
	}
	if len(b) == 0 {
		return []T{}, nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if align := unsafe.Alignof(zero); uintptr(p)%align != 0 {
		return nil, fmt.Errorf("view %d bytes as elements of %d bytes: they start %d bytes off the alignment of %d", len(b), size, uintptr(p)%align, align)
	}
	return unsafe.Slice((*T)(p), len(b)/size), nil
}

// Bytes returns the memory of s, without copying, in the machine's own byte
// order: a caller that writes it to a file asks [HostOrder] first. T must be as
// [View] says.
func Bytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}
