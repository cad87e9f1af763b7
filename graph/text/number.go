package text

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// padding is how many bytes behind the text of a chunk may be read, so that
// eight bytes can be loaded from any place in it.
const padding = 16

// digits reads the decimal number at b[i:], of which the first eight bytes are
// looked at: n is how many of them are digits. Where n is 8 the number may be
// longer, and [number] must be asked. Eight bytes are handled at once, as in
// Lemire's "Quickly parsing eight digits" (2018): a mask of the bytes that are
// no digits gives the length, a shift drops what follows, and three
// multiplications add up.
func digits(b []byte, i int) (v uint64, n int) {
	x := binary.LittleEndian.Uint64(b[i:]) ^ 0x3030303030303030
	// The lowest byte above 9 gets its high bit set; higher bytes may be wrong.
	end := bits.TrailingZeros64(((x + 0x7676767676767676) | x) & 0x8080808080808080)
	x <<= uint(64-end&^7) & 127 // 64, which clears x, where there is no digit
	x = x*10 + x>>8
	x = (x&0x000000ff000000ff*0x000f424000000064 + x>>16&0x000000ff000000ff*0x0000271000000001) >> 32
	return x & 0xffffffff, end >> 3
}

// number reads the decimal number at b[i:]: n is how many digits it has, or 0
// where it has none or more than 19, which may not fit.
func number(b []byte, i int) (v uint64, n int) {
	for n <= 19 {
		c := b[i+n] - '0'
		if c > 9 {
			return v, n
		}
		v = v*10 + uint64(c)
		n++
	}
	return 0, 0
}

var (
	errNegative = errors.New("is negative")
	errHuge     = errors.New("does not fit 64 bits")
	errNoInt    = errors.New("is not an integer")
)

// parseID reads a whole field as an id.
func parseID(field []byte) (uint64, error) {
	if len(field) > 1 && field[0] == '-' && allDigits(field[1:]) {
		return 0, errNegative
	}
	if !allDigits(field) {
		return 0, errNoInt
	}
	v, err := strconv.ParseUint(str(field), 10, 64)
	if err != nil {
		return 0, errHuge
	}
	return v, nil
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return len(b) > 0
}

// str views bytes as a string for a call that does not keep it.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// exactPowers are the powers of ten that a float64 holds exactly, as far as
// plainWeight needs them.
var exactPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// plainWeight reads a weight of the form 12 or 12.25 at b[i:] with at most 15
// digits, which one division turns into the nearest float64. It returns the
// length, or 0 where the weight is of another form.
func plainWeight(b []byte, i int) (w float64, n int) {
	v, n := number(b, i)
	if n == 0 {
		return 0, 0
	}
	if b[i+n] != '.' {
		if n > 15 {
			return 0, 0
		}
		return float64(v), n
	}
	f, k := number(b, i+n+1)
	if k == 0 || n+k > 15 {
		return 0, 0
	}
	return (float64(v)*exactPowers[k] + float64(f)) / exactPowers[k], n + 1 + k
}

var (
	errNoNumber  = errors.New("is not a decimal number")
	errNotFinite = errors.New("is not finite")
	errTooLarge  = errors.New("is too large for 32-bit floating point")
)

// parseWeight reads a whole field as a weight.
func parseWeight(field []byte) (float64, error) {
	w, err := strconv.ParseFloat(str(field), 64)
	for _, c := range field {
		// ParseFloat also knows hexadecimal, underscores, nan and inf.
		if !(c-'0' <= 9 || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E') {
			if err == nil && (math.IsNaN(w) || math.IsInf(w, 0)) {
				return 0, errNotFinite
			}
			return 0, errNoNumber
		}
	}
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, errNoNumber
	}
	if math.IsInf(float64(float32(w)), 0) {
		return 0, errTooLarge
	}
	return w, nil
}

// narrow is w as it is stored, and whether w is an integer that got rounded.
func narrow(w float64) (float32, bool) {
	f := float32(w)
	return f, float64(f) != w && w == math.Trunc(w)
}
