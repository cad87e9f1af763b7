package text

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// str views bytes as a string for a call that does not keep it.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// exactPowers are the powers of ten that a float64 holds exactly.
var exactPowers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseFloat is the float64 nearest to a decimal number. It also knows inf,
// infinity and nan in any case, hexadecimal numbers as C knows them, and
// nan(0x7ff8…), a NaN bit for bit.
//
// A number whose digits make an integer below 2⁵³ takes one division by an exact
// power of ten, which rounds correctly (Clinger, "How to Read Floating Point
// Numbers Accurately", 1990); the others go to strconv.
func parseFloat(b []byte) (float64, bool) {
	i := 0
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		i = 1
	}
	var mantissa uint64
	first := i
	for i < len(b) && b[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		i++
	}
	digits, fraction := i-first, 0
	if i < len(b) && b[i] == '.' {
		i++
		for i < len(b) && b[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			i++
			fraction++
		}
		digits += fraction
	}
	// 19 digits cannot have overflowed.
	if i != len(b) || digits == 0 || digits > 19 || mantissa > 1<<53 {
		return slowFloat(b)
	}
	v := float64(mantissa)
	if fraction > 0 {
		v /= exactPowers[fraction]
	}
	if negative {
		v = -v
	}
	return v, true
}

// slowFloat is parseFloat for all that is not short and plain.
func slowFloat(b []byte) (float64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	hexadecimal, power := false, false
	for _, c := range b {
		switch c {
		case '_': // strconv admits it in places
			return 0, false
		case 'x', 'X':
			hexadecimal = true
		case 'p', 'P':
			power = true
		case '(':
			return payloadNaN(b)
		}
	}
	s := str(b)
	if hexadecimal && !power {
		s = string(b) + "p0"
	}
	v, err := strconv.ParseFloat(s, 64)
	// Beyond the range is ±Inf, as in C.
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// payloadNaN reads nan(0x…), which has all bits of a NaN.
func payloadNaN(b []byte) (float64, bool) {
	const begin = "nan(0x"
	if len(b) < len(begin)+2 || string(b[:len(begin)]) != begin || b[len(b)-1] != ')' {
		return 0, false
	}
	bits, err := strconv.ParseUint(str(b[len(begin):len(b)-1]), 16, 64)
	v := math.Float64frombits(bits)
	return v, err == nil && v != v
}

// defaultNaN is what "nan" is read as.
var defaultNaN = math.Float64bits(math.NaN())

// appendFloat appends the shortest text that parseFloat reads as v, bit for bit.
func appendFloat(dst []byte, v float64) []byte {
	if v != v && math.Float64bits(v) != defaultNaN {
		dst = append(dst, "nan(0x"...)
		dst = strconv.AppendUint(dst, math.Float64bits(v), 16)
		return append(dst, ')')
	}
	switch {
	case v != v:
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// eightDigits reads eight bytes as a decimal number, and says whether all were
// digits. See Lemire, "Quickly parsing eight digits" (2018).
func eightDigits(b []byte) (uint64, bool) {
	x := binary.LittleEndian.Uint64(b) ^ 0x3030303030303030
	if (x+0x7676767676767676|x)&0x8080808080808080 != 0 {
		return 0, false
	}
	x = x*10 + x>>8
	return (x&0x000000ff000000ff*0x000f424000000064 + x>>16&0x000000ff000000ff*0x0000271000000001) >> 32 & 0xffffffff, true
}

// leadingDigits is the decimal number that b begins with, and how many digits
// it has; of a number that does not fit 64 bits, ok is false.
func leadingDigits(b []byte) (v uint64, n int, ok bool) {
	for n < 16 && len(b)-n >= 8 {
		d, all := eightDigits(b[n:])
		if !all {
			break
		}
		v = v*100000000 + d
		n += 8
	}
	ok = true
	for n < len(b) && b[n]-'0' <= 9 {
		hi, lo := bits.Mul64(v, 10)
		sum, carry := bits.Add64(lo, uint64(b[n]-'0'), 0)
		ok = ok && hi == 0 && carry == 0
		v = sum
		n++
	}
	return v, n, ok
}

// parseInt is a whole number with an optional sign.
func parseInt(b []byte) (int64, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	v, n, ok := leadingDigits(b)
	switch {
	case n == 0 || n != len(b) || !ok:
		return 0, false
	case negative:
		return int64(-v), v <= 1<<63
	}
	return int64(v), v < 1<<63
}
