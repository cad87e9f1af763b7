package algo

import "weir/graph/order"

// rankKernel adds src of each edge's source to acc of its target. Both slices are
// padded to whole square sides.
type rankKernel[T Float] struct {
	src, acc []T
	warm     *[order.SquareSide]T // the side of src that was read last
	sum      T                    // of what was read to warm it; nobody needs it
}

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

// gatherSum adds up x at the given indices. Long rows have four sums, because one
// would make each addition wait for the one before it; short ones do not, because
// most rows are short and four sums cost more to begin and to end.
func gatherSum[T Float](x []T, indices []uint32) T {
	var a, b, c, d T
	if len(indices) >= 16 {
		for len(indices) >= 4 {
			i := (*[4]uint32)(indices)
			a += x[i[0]]
			b += x[i[1]]
			c += x[i[2]]
			d += x[i[3]]
			indices = indices[4:]
		}
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
	if src != k.warm && len(s.Pairs) >= warmFrom {
		k.warm = src
		k.sum += warm(src)
	}
	pairs := packed(s.Pairs)
	for len(pairs) >= 4 {
		// Four loads before the first store, so that their misses overlap.
		p := (*[4]pair32)(pairs)
		a, b, c, d := src[p[0].x()], src[p[1].x()], src[p[2].x()], src[p[3].x()]
		acc[p[0].y()] += a
		acc[p[1].y()] += b
		acc[p[2].y()] += c
		acc[p[3].y()] += d
		pairs = pairs[4:]
	}
	for _, p := range pairs {
		acc[p.y()] += src[p.x()]
	}
}

// warmFrom is how many edges a block must have for warming to pay: there are that
// many cache lines in a side.
const warmFrom = 1 << 12

// warm reads a side of a square in sequence, which fetches it from the third level
// of cache at several times the speed at which the edges would at random.
func warm[T Float](side *[order.SquareSide]T) T {
	const line = 8 // elements in half a cache line of float32, or in one of float64
	var a, b, c, d T
	for i := 0; i < len(side); i += 4 * line {
		q := (*[3*line + 1]T)(side[i:])
		a += q[0]
		b += q[line]
		c += q[2*line]
		d += q[3*line]
	}
	return (a + b) + (c + d)
}
