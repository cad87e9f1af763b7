package algo

import "weir/graph/order"

// rankKernel adds src of each edge's source to acc of its target. Both slices are
// padded to whole square sides.
type rankKernel[T Float] struct{ src, acc []T }

func (k *rankKernel[T]) Rows(r order.Rows) {
	src, acc := k.src, k.acc
	targets, lo := r.Targets, r.Offsets[0]
	if r.Reversed {
		// Pull: the sum of a row stays in registers.
		own := acc[r.First:][:len(r.Offsets)-1]
		for i, hi := range r.Offsets[1:] {
			own[i] += gatherSum(src, targets[lo:hi])
			lo = hi
		}
		return
	}
	// Push: what a row hands out stays in a register.
	own := src[r.First:][:len(r.Offsets)-1]
	for i, hi := range r.Offsets[1:] {
		x := own[i]
		for _, u := range targets[lo:hi] {
			acc[u] += x
		}
		lo = hi
	}
}

// gatherSum adds up x at the given indices. Four sums, because one would make each
// addition wait for the one before it.
func gatherSum[T Float](x []T, indices []uint32) T {
	var a, b, c, d T
	for len(indices) >= 4 {
		i := (*[4]uint32)(indices)
		a += x[i[0]]
		b += x[i[1]]
		c += x[i[2]]
		d += x[i[3]]
		indices = indices[4:]
	}
	for _, i := range indices {
		a += x[i]
	}
	return (a + b) + (c + d)
}

func (k *rankKernel[T]) Square(s order.Square) {
	// A 16-bit index into an array of 65536 elements needs no check.
	src := (*[order.SquareSide]T)(k.src[s.X:])
	acc := (*[order.SquareSide]T)(k.acc[s.Y:])
	for _, p := range s.Pairs {
		acc[p.Y] += src[p.X]
	}
}
