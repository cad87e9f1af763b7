package codec

import (
	"math"
	"math/bits"
)

// A division takes several times as long as a multiplication. An integer d divided by b is d·high + d·low, where high
// is the first bits of 1/b, so few that the first product is exact, and low is the rest. Only the sum is rounded, but
// for the last bits of the second product, and as d/b itself would be. For if d has k bits, and high 53-k, the second
// product is at most 2^(k-52) of the quotient, and its error 2^(k-104) of it, less than 2^(k-51) units of its last place;
// while d/b is at least 1/2b of such a unit away from the middle between two numbers, m: d - b·m is not 0, and a
// multiple of half a unit. So b may be up to 2^(50-k).

// inverse is 1/b in two parts.
type inverse struct {
	high, low float64
	limit     float64 // of the magnitude of d; 0 where the inverse is of no use
}

var inverses = func() (all [len(divisors)]inverse) {
	for i, by := range divisors {
		k := 50 - bits.Len64(uint64(by)-1)
		if k < 25 {
			continue // what low is computed from would not be exact
		}
		high := math.Float64frombits(math.Float64bits(1/by) &^ (1<<k - 1))
		// Half of the limit makes up for the rounding of a bound.
		all[i] = inverse{high, (1 - high*by) / by, float64(uint64(1) << (k - 1))}
	}
	return all
}()

// decimals rebuilds integers, which are in the memory of dst, and divides them.
func (s *shape) decimals(dst []float64, divisor int) {
	by, inv := divisors[divisor], &inverses[divisor]
	w := words(dst)
	if s.kind == kindDeltas2 || !(s.bound(len(w)) < inv.limit) {
		s.rebuild(w)
		for i, d := range w {
			dst[i] = float64(int64(d)) / by
		}
		return
	}
	high, low := inv.high, inv.low
	scale, step := s.scale, s.base*s.scale
	if s.kind == kindValues {
		add := step + s.origin
		for i, r := range w {
			d := float64(int64(r*scale + add))
			dst[i] = float64(d*high) + float64(d*low)
		}
		return
	}
	v := s.first[0]*scale + s.origin
	dst[0] = float64(int64(v)) / by
	dst, w = dst[1:], w[1:]
	for i, r := range w {
		v += r*scale + step
		d := float64(int64(v))
		dst[i] = float64(d*high) + float64(d*low)
	}
}
