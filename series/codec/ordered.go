package codec

import (
	"fmt"
	"math"
	"math/bits"
)

// Ordered bits: the bit patterns, less the zeros that all of them end in, as integers in the order of the
// numbers. For what is not decimal: numbers that were float32 end in 29 zeros, and neighbours of similar
// magnitude begin alike.

// ordered is a plan for a vector.
type ordered struct {
	zeros uint // bits that were dropped
	ints  column
	size  int

	o [Max]int64
}

func (p *ordered) plan(vs []float64, dense bool) {
	var all uint64
	for _, v := range vs {
		all |= math.Float64bits(v)
	}
	p.zeros = min(uint(bits.TrailingZeros64(all)), 63)
	for i, v := range vs {
		b := math.Float64bits(v)
		sign := int64(b) >> 63
		p.o[i] = int64(b&math.MaxInt64>>p.zeros) ^ sign
	}
	p.ints = planColumn(p.o[:len(vs)], dense)
	p.size = 1 + p.ints.size
}

func (p *ordered) append(dst []byte, n int) []byte {
	return p.ints.append(append(dst, byte(p.zeros)), p.o[:n])
}

func decodeOrdered(dst []float64, src []byte) (rest []byte, err error) {
	if len(src) == 0 {
		return nil, errShort
	}
	zeros := uint(src[0])
	if zeros > 63 {
		return nil, fmt.Errorf("%w: %d bits dropped, expected at most 63", ErrCorrupt, zeros)
	}
	w := words(dst)
	if rest, err = decodeColumn(w, src[1:]); err != nil {
		return nil, err
	}
	for i, o := range w {
		sign := uint64(int64(o) >> 63)
		w[i] = (o^sign)<<(zeros&63) | sign<<63
	}
	return rest, nil
}
