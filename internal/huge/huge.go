// Package huge makes large slices that live on huge pages.
//
// A graph algorithm reads and writes its vertex arrays at random. With 4 KiB
// pages nearly every such access of an array above a few megabytes misses the
// TLB; with 2 MiB pages it does not, which doubles the rate of gathers on the
// machines we measure on. The memory stays ordinary Go heap: nothing has to be
// freed by hand, and the advice to the kernel is only advice.
package huge

import (
	"math/bits"
	"unsafe"
)

// pageSize is the size of a huge page on every platform that we advise on.
const pageSize = 2 << 20

// Make returns a zeroed slice of length and capacity n. T must hold no
// pointers: the elements may share a heap object with alignment slack.
// Slices below one huge page are made as usual.
func Make[T any](n int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if hi, lo := bits.Mul64(uint64(n), uint64(size)); hi != 0 || lo < pageSize || pageSize%size != 0 {
		return make([]T, n)
	}
	slack := pageSize / size
	raw := make([]T, n+slack)
	skip := 0
	if off := uintptr(unsafe.Pointer(unsafe.SliceData(raw))) % pageSize; off != 0 {
		skip = int(pageSize-off) / size
	}
	// The last huge page may end in the slack, but never outside the allocation.
	room := (n + slack - skip) * size / pageSize * pageSize
	want := (n*size + pageSize - 1) / pageSize * pageSize
	advise(unsafe.Slice((*byte)(unsafe.Pointer(&raw[skip])), min(room, want)))
	return raw[skip : skip+n : skip+n]
}
