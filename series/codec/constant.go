package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// One value all along: the bytes of its bit pattern from the first on, without the zero bytes that it ends in;
// or, if that is shorter, as a decimal.

// constantDecimal marks a constant that is a decimal, with the index of its divisor.
const constantDecimal = 0x80

func planConstant(v float64) (size int) {
	var room [16]byte
	return len(appendConstant(room[:0], v))
}

func appendConstant(dst []byte, v float64) []byte {
	b := math.Float64bits(v)
	n := (64 - bits.TrailingZeros64(b) + 7) / 8
	if n > 2 {
		if divisor, exact, _ := search([]float64{v}); exact == 1 {
			by := divisors[divisor]
			d := int64(math.RoundToEven(float64(v * by)))
			if size := varintSize(zigzag(d)); size < n {
				return binary.AppendVarint(append(dst, constantDecimal|divisor), d)
			}
		}
	}
	dst = append(dst, byte(n))
	for i := range n {
		dst = append(dst, byte(b>>(56-8*i)))
	}
	return dst
}

func decodeConstant(dst []float64, src []byte) (rest []byte, err error) {
	if len(src) == 0 {
		return nil, errShort
	}
	head := src[0]
	src = src[1:]
	var v float64
	if head&constantDecimal != 0 {
		divisor := int(head &^ constantDecimal)
		r := reader{src: src}
		d := r.varint()
		if r.failed || divisor >= len(divisors) {
			return nil, fmt.Errorf("%w: constant with head %#x", ErrCorrupt, head)
		}
		v, src = float64(d)/divisors[divisor], r.src
	} else {
		if head > 8 || len(src) < int(head) {
			return nil, fmt.Errorf("%w: constant with head %#x", ErrCorrupt, head)
		}
		var b [8]byte
		copy(b[:], src[:head])
		v, src = math.Float64frombits(binary.BigEndian.Uint64(b[:])), src[head:]
	}
	for i := range dst {
		dst[i] = v
	}
	return src, nil
}
