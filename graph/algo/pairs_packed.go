//go:build amd64 || arm64

package algo

import (
	"unsafe"

	"weir/graph/order"
)

// pair32 is a pair as one number: one load an edge instead of two. It needs a
// little-endian processor that reads from any address.
type pair32 uint32

func (p pair32) x() uint16 { return uint16(p) }
func (p pair32) y() uint16 { return uint16(p >> 16) }

// packed is pairs themselves, seen as numbers.
func packed(pairs []order.Pair) []pair32 {
	return unsafe.Slice((*pair32)(unsafe.Pointer(unsafe.SliceData(pairs))), len(pairs))
}
