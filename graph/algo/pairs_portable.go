//go:build !amd64 && !arm64

package algo

import (
	"unsafe"

	"weir/graph/order"
)

// pair32 is a pair as kernels read it; see the other file of this name.
type pair32 order.Pair

func (p pair32) x() uint16 { return p.X }
func (p pair32) y() uint16 { return p.Y }

func packed(pairs []order.Pair) []pair32 {
	return unsafe.Slice((*pair32)(unsafe.SliceData(pairs)), len(pairs))
}
