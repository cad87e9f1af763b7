// Package xor is the compression of floating-point numbers that Gorilla published (Pelkonen and others,
// VLDB 2015): each number is combined with the one before by exclusive or, and of the result only the
// bits between its leading and its trailing zeros are written.
//
//	packed := xor.Append(nil, []float64{1, 1, 1.5})
//	var values [3]float64
//	rest, err := xor.Decode(values[:], packed)
//
// Bits are written from the highest of a byte on. The first number takes 64. Then, for each: 0 if it is the same as the
// one before; 10 and the bits that lie where they lay for the last number that said so; or 11, the number of leading
// zeros in 5 bits, that of the bits less 1 in 6, and the bits.
package xor

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// ErrShort is what [Decode] returns where the bits end too early.
var ErrShort = errors.New("the bits end before the last number")

const (
	leadingBits = 5
	countBits   = 6
	mostLeading = 1<<leadingBits - 1
)

// window is where the bits lie that were written last; none at first.
type window struct {
	leading, count uint
}

// fits reports whether x has no bits but in the window.
func (w window) fits(x uint64) bool {
	return w.count > 0 && uint(bits.LeadingZeros64(x)) >= w.leading && uint(bits.TrailingZeros64(x)) >= 64-w.leading-w.count
}

// tight is the smallest window of x.
func tight(x uint64) window {
	leading := min(uint(bits.LeadingZeros64(x)), mostLeading)
	return window{leading, 64 - leading - uint(bits.TrailingZeros64(x))}
}

// Size is how many bytes the values take.
func Size(vs []float64) int {
	if len(vs) == 0 {
		return 0
	}
	total := uint(64)
	var w window
	last := math.Float64bits(vs[0])
	for _, v := range vs[1:] {
		b := math.Float64bits(v)
		x := b ^ last
		last = b
		switch {
		case x == 0:
			total++
		case w.fits(x):
			total += 2 + w.count
		default:
			w = tight(x)
			total += 2 + leadingBits + countBits + w.count
		}
	}
	return int(total+7) / 8
}

// writer collects bits from the highest of acc on.
type writer struct {
	dst  []byte
	acc  uint64
	used uint
}

// write appends the low n bits of x, which has no others; n is 1 to 64.
func (w *writer) write(x uint64, n uint) {
	if w.used+n < 64 {
		w.used += n
		w.acc |= x << (64 - w.used)
		return
	}
	over := w.used + n - 64
	w.dst = binary.BigEndian.AppendUint64(w.dst, w.acc|x>>over)
	w.acc, w.used = x<<(64-over), over
}

// Append appends the compressed values to dst.
func Append(dst []byte, vs []float64) []byte {
	if len(vs) == 0 {
		return dst
	}
	out := writer{dst: dst}
	var w window
	last := math.Float64bits(vs[0])
	out.write(last, 64)
	for _, v := range vs[1:] {
		b := math.Float64bits(v)
		x := b ^ last
		last = b
		switch {
		case x == 0:
			out.write(0, 1)
		case w.fits(x):
			out.write(2, 2)
			out.write(x>>(64-w.leading-w.count), w.count)
		default:
			w = tight(x)
			out.write(3<<(leadingBits+countBits)|uint64(w.leading)<<countBits|uint64(w.count-1), 2+leadingBits+countBits)
			out.write(x>>(64-w.leading-w.count), w.count)
		}
	}
	for out.used > 0 {
		out.dst = append(out.dst, byte(out.acc>>56))
		out.acc <<= 8
		out.used -= min(out.used, 8)
	}
	return out.dst
}

// reader hands out bits from the highest of acc on.
type reader struct {
	src  []byte
	acc  uint64
	have uint
}

// read returns n bits, 1 to 56, and false where there are no more.
func (r *reader) read(n uint) (uint64, bool) {
	if r.have < n && !r.fill(n) {
		return 0, false
	}
	x := r.acc >> (64 - n)
	r.acc <<= n
	r.have -= n
	return x, true
}

func (r *reader) fill(n uint) bool {
	for r.have <= 56 && len(r.src) > 0 {
		r.acc |= uint64(r.src[0]) << (56 - r.have)
		r.have += 8
		r.src = r.src[1:]
	}
	return r.have >= n
}

// long reads 1 to 64 bits.
func (r *reader) long(n uint) (uint64, bool) {
	if n <= 56 {
		return r.read(n)
	}
	high, ok := r.read(n - 32)
	if !ok {
		return 0, false
	}
	low, ok := r.read(32)
	return high<<32 | low, ok
}

// Decode fills dst from what [Append] has written, and returns what follows it.
func Decode(dst []float64, src []byte) (rest []byte, err error) {
	if len(dst) == 0 {
		return src, nil
	}
	r := reader{src: src}
	last, ok := r.long(64)
	if !ok {
		return nil, ErrShort
	}
	dst[0] = math.Float64frombits(last)
	var w window
	for i := range dst[1:] {
		same, ok := r.read(1)
		if !ok {
			return nil, ErrShort
		}
		if same != 0 {
			fresh, ok := r.read(1)
			if !ok {
				return nil, ErrShort
			}
			if fresh != 0 {
				head, ok := r.read(leadingBits + countBits)
				if !ok {
					return nil, ErrShort
				}
				w = window{uint(head >> countBits), uint(head&(1<<countBits-1)) + 1}
			}
			if w.count == 0 || w.leading+w.count > 64 {
				return nil, errors.New("bits that lie nowhere")
			}
			x, ok := r.long(w.count)
			if !ok {
				return nil, ErrShort
			}
			last ^= x << (64 - w.leading - w.count)
		}
		dst[1+i] = math.Float64frombits(last)
	}
	// Whole bytes that were read ahead are not ours.
	unread := int(r.have / 8)
	return src[len(src)-len(r.src)-unread:], nil
}
