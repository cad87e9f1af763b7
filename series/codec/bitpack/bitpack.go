// Package bitpack writes integers of any width side by side, without gaps, and reads them
// back: value i occupies the bits from i·width on, the lowest bit of a byte first, and the column is
// filled up with zero bits to whole bytes.
//
//	packed := bitpack.Append(nil, []uint64{5, 7, 1}, 3) // 2 bytes
//	var values [3]uint64
//	err := bitpack.Unpack(values[:], packed, 3)
package bitpack

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// Size is how many bytes n values of a width take. The width is 0 to 64.
func Size(n int, width uint) int { return (n*int(width) + 7) / 8 }

// Append appends the values to dst. Each must be less than 2 to the width, which is 0 to 64.
func Append(dst []byte, vs []uint64, width uint) []byte {
	if width == 0 {
		return dst
	}
	var acc uint64
	var used uint
	for _, v := range vs {
		acc |= v << used
		used += width
		if used >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			used -= 64
			acc = v >> (width - used)
		}
	}
	for used > 0 {
		dst = append(dst, byte(acc))
		acc >>= 8
		used -= min(used, 8)
	}
	return dst
}

// Unpack fills dst from the column at the start of src, which may go on behind it: it is faster
// if it does. It fails where src is shorter than the column, or the width more than 64.
func Unpack(dst []uint64, src []byte, width uint) error {
	if width > 64 {
		return fmt.Errorf("values of %d bits, expected at most 64", width)
	}
	if size := Size(len(dst), width); len(src) < size {
		return fmt.Errorf("%d bytes left, expected %d for %d values of %d bits", len(src), size, len(dst), width)
	}
	if width == 0 {
		clear(dst)
		return nil
	}
	// Groups of 8 values begin at whole bytes. The fast loops read up to 8 bytes behind the
	// last byte of a group.
	groups := 0
	if len(src) >= int(width)+8 {
		groups = min(len(dst)/8, (len(src)-8)/int(width))
	}
	switch {
	case groups == 0:
	case width <= 8:
		narrow(dst[:groups*8], src, width)
	case width <= 28:
		middle(dst[:groups*8], src, width)
	default:
		wide(dst[:groups*8], src, width)
	}
	for at := groups * 8; at < len(dst); at += 8 {
		var group [64 + 8]byte
		copy(group[:], src[at/8*int(width):])
		var values [8]uint64
		wide(values[:], group[:], width)
		copy(dst[at:], values[:])
	}
	return nil
}

// load reads 8 bytes at an offset that the caller has checked.
func load(p unsafe.Pointer, offset uint) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, offset))[:])
}

// narrow unpacks groups that one word holds.
func narrow(dst []uint64, src []byte, width uint) {
	mask := uint64(1)<<width - 1
	at := 0
	for len(dst) >= 8 {
		d := (*[8]uint64)(dst)
		x := binary.LittleEndian.Uint64(src[at:])
		y := x >> (4 * (width & 15))
		d[0] = x & mask
		d[4] = y & mask
		x >>= width & 63
		y >>= width & 63
		d[1] = x & mask
		d[5] = y & mask
		x >>= width & 63
		y >>= width & 63
		d[2] = x & mask
		d[6] = y & mask
		x >>= width & 63
		y >>= width & 63
		d[3] = x & mask
		d[7] = y & mask
		at += int(width)
		dst = dst[8:]
	}
}

// middle unpacks groups of which a word holds any two neighbours, and the bits before them in
// their first byte.
func middle(dst []uint64, src []byte, width uint) {
	mask := uint64(1)<<width - 1
	o1, s1 := 2*width/8, 2*width%8
	o2, s2 := 4*width/8, 4*width%8
	o3, s3 := 6*width/8, 6*width%8
	p := unsafe.Pointer(unsafe.SliceData(src))
	for len(dst) >= 8 {
		d := (*[8]uint64)(dst)
		a := load(p, 0)
		b := load(p, o1) >> (s1 & 63)
		c := load(p, o2) >> (s2 & 63)
		e := load(p, o3) >> (s3 & 63)
		d[0] = a & mask
		d[2] = b & mask
		d[4] = c & mask
		d[6] = e & mask
		d[1] = a >> (width & 63) & mask
		d[3] = b >> (width & 63) & mask
		d[5] = c >> (width & 63) & mask
		d[7] = e >> (width & 63) & mask
		dst = dst[8:]
		if len(dst) >= 8 {
			p = unsafe.Add(p, width)
		}
	}
}

// wide unpacks groups of any width.
func wide(dst []uint64, src []byte, width uint) {
	mask := ^uint64(0) >> (64 - width)
	p := unsafe.Pointer(unsafe.SliceData(src))
	for len(dst) >= 8 {
		d := (*[8]uint64)(dst)
		if width <= 57 {
			for j := range uint(8) {
				d[j] = load(p, j*width/8) >> (j * width % 8) & mask
			}
		} else {
			for j := range uint(8) {
				o, s := j*width/8, j*width%8
				high := uint64(*(*byte)(unsafe.Add(p, o+8)))
				d[j] = (load(p, o)>>s | high<<(64-s)) & mask
			}
		}
		dst = dst[8:]
		if len(dst) >= 8 {
			p = unsafe.Add(p, width)
		}
	}
}
