package codec

import (
	"fmt"
	"math/bits"

	"weir/series/codec/bitpack"
)

// Paired columns, for residuals of which there are few, such as the eleven milliseconds of a jitter of five: two of
// them, a and b, all less than r, are one integer a + b·r. Where r is not a power of two, or little less, it has one
// bit less than both have.

const (
	mostPaired = 255 // the range of residuals
	// What is saved, one byte in so many, makes up for the time that decoding takes.
	worthPairs = 32
)

// pairWidth is how many bits two integers less than r take.
func pairWidth(r uint64) uint { return uint(bits.Len64(r*r - 1)) }

// planPaired plans for pairs of n residuals from lo to hi, with so many other bytes but the base, and takes the plan if
// it is worth it.
func planPaired(best *column, n, kind int, lo, hi int64, fixed int) {
	span := uint64(hi - lo)
	if n < 2 || span < 2 || span >= mostPaired || pairWidth(span+1) >= 2*uint(bits.Len64(span)) {
		return
	}
	size := fixed + varintSize(zigzag(lo)) + bitpack.Size((n+1)/2, pairWidth(span+1))
	if size < best.size-best.size/worthPairs {
		*best = column{kind: byte(kind), base: lo, pairs: span + 1, size: size}
	}
}

// appendPairs packs integers that are less than r. It overwrites them.
func appendPairs(dst []byte, vs []uint64, r uint64) []byte {
	n := 0
	for ; 2*n+1 < len(vs); n++ {
		vs[n] = vs[2*n] + vs[2*n+1]*r
	}
	if 2*n < len(vs) {
		vs[n] = vs[2*n]
		n++
	}
	return bitpack.Append(dst, vs[:n], pairWidth(r))
}

// unpackPairs reads integers that are less than r, or at least less than 2¹⁶ if they are none that were ever written.
func unpackPairs(dst []uint64, src []byte, r uint64) (rest []byte, err error) {
	if r < 2 {
		return nil, fmt.Errorf("%w: pairs of integers less than %d", ErrCorrupt, r)
	}
	n := len(dst) / 2
	pairs := dst[:(len(dst)+1)/2]
	if rest, err = unpack(pairs, src, pairWidth(r)); err != nil {
		return nil, err
	}
	inverse := 1<<32/r + 1 // exact for what is less than 2¹⁶
	if n < len(pairs) {
		dst[2*n] = pairs[n]
	}
	for i := n - 1; i >= 0; i-- {
		x := dst[i]
		b := x * inverse >> 32
		d := (*[2]uint64)(dst[2*i:])
		d[0], d[1] = x-b*r, b
	}
	return rest, nil
}
