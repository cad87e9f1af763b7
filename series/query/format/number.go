package format

import (
	"math"
	"math/bits"
	"strconv"
)

// AppendNumber appends what C's %.17g prints, which tells every float64 from every other (but one NaN from another):
// 17 digits correctly rounded, without the zeros at their end; nan, inf and -inf.
func AppendNumber(dst []byte, v float64) []byte {
	magnitude := math.Abs(v)
	// Whole numbers of up to 17 digits are their digits. A conversion out of range is not asked for.
	if magnitude < 1e17 {
		if n := int64(v); float64(n) == v && (n != 0 || !math.Signbit(v)) {
			return strconv.AppendInt(dst, n, 10)
		}
		if magnitude >= 1e-10 {
			return appendFraction(dst, v)
		}
	}
	switch {
	case v != v:
		return append(dst, "nan"...)
	case magnitude > math.MaxFloat64:
		if v < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "inf"...)
	}
	return strconv.AppendFloat(dst, v, 'g', 17, 64)
}

// appendFraction appends a number that is not whole, from 1e-10 on.
//
// v is m*2^e. Its first 17 digits are v*10^p for the p that brings it between 1e16 and 1e17, and here m*5^p fits into
// 128 bits, so that a shift with correct rounding is all there is to do.
func appendFraction(dst []byte, v float64) []byte {
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	b := math.Float64bits(v)
	m, e := b&(1<<52-1)|1<<52, int(b>>52)-1075 // 1e-10 is far from denormal
	d := ((e + 52) * 78913) >> 18              // the exponent of the first digit, or one less: log10(2) is 78913/2^18
	p := 16 - d
	digits := scale(m, e, p)
	if digits >= 1e17 {
		d++
		digits = scale(m, e, p-1)
	}
	if digits >= 1e17 { // 9.99… rounded up
		d++
		digits /= 10
	}

	var text [17]byte
	high, low := digits/1e8, uint32(digits%1e8)
	text[0] = '0' + byte(high/1e8)
	put8((*[8]byte)(text[1:9]), uint32(high%1e8))
	put8((*[8]byte)(text[9:17]), low)
	n := 17
	for n > 1 && text[n-1] == '0' {
		n--
	}

	switch {
	case d < -4:
		dst = append(dst, text[0])
		if n > 1 {
			dst = append(dst, '.')
			dst = append(dst, text[1:n]...)
		}
		return append(dst, 'e', '-', '0'+byte(-d/10), '0'+byte(-d%10))
	case d < 0:
		dst = append(dst, "0.000"[:1-d]...)
		return append(dst, text[:n]...)
	case n <= d+1:
		return append(dst, text[:d+1]...)
	}
	dst = append(dst, text[:d+1]...)
	dst = append(dst, '.')
	return append(dst, text[d+1:n]...)
}

// scale is m*2^e*10^p, rounded to the nearest integer, half to even; p is at least 0 and at most 27, and -(e+p) too is
// at least 0, and less than 64.
func scale(m uint64, e, p int) uint64 {
	high, low := bits.Mul64(m, powersOf5[p])
	s := uint(-(e + p))
	q := high<<(64-s) | low>>s
	if s == 0 {
		return low
	}
	rest, half := low&(1<<s-1), uint64(1)<<(s-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return q
}

var powersOf5 = func() (t [28]uint64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = 5 * t[i-1]
	}
	return t
}()

// pairs is "00" to "99".
var pairs = func() (t [100][2]byte) {
	for i := range t {
		t[i] = [2]byte{'0' + byte(i/10), '0' + byte(i%10)}
	}
	return t
}()

// put8 writes a number below 1e8 as eight digits.
func put8(dst *[8]byte, n uint32) {
	a, b := n/1e4, n%1e4
	*(*[2]byte)(dst[0:]) = pairs[a/100]
	*(*[2]byte)(dst[2:]) = pairs[a%100]
	*(*[2]byte)(dst[4:]) = pairs[b/100]
	*(*[2]byte)(dst[6:]) = pairs[b%100]
}
