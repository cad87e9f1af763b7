package codec

import (
	"fmt"

	"weir/series/codec/classcode"
)

// Classed columns, for leaves that are seldom read: the residuals, less a base in the middle of them and
// with their signs in the lowest bit, are coded by classes of magnitudes.

const (
	// leastClassed is how many integers are worth a code of their own.
	leastClassed = 64
	// What is saved, one byte in so many, makes up for the time that decoding takes.
	worthClasses = 32
)

// planClassed plans for classes, and takes the plan if it is worth it.
func planClassed(best *column, vs []int64, fixed *[3]int) {
	limit := best.size - best.size/worthClasses
	for kind := range 3 {
		_, middle, _ := bulk(vs, kind)
		var zs [Max]uint64
		for i := kind; i < len(vs); i++ {
			zs[i] = zigzag(residual(vs, kind, i) - middle)
		}
		size, ok := classcode.Size(zs[kind:len(vs)])
		if size += 1 + fixed[kind] + varintSize(zigzag(middle)); ok && size < limit {
			*best, limit = column{kind: byte(kind), base: middle, classed: true, size: size}, size
		}
	}
}

func decodeClassed(dst []uint64, src []byte) (rest []byte, err error) {
	if rest, err = classcode.Decode(dst, src); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	for i, z := range dst {
		dst[i] = uint64(unzigzag(z))
	}
	return rest, nil
}
