// Package dfcm is the compression of floating-point numbers that Akumuli published: a
// differential finite context method (Goeman and others, HPCA 2001; Burtscher, Ratanaworabhan, FPC, 2009)
// predicts each number, and only the bytes that differ from the prediction are written.
//
//	packed := dfcm.Append(nil, []float64{1, 2, 3})
//	var values [3]float64
//	rest, err := dfcm.Decode(values[:], packed)
//
// The prediction is the last number and the difference that followed the last few differences when
// they were seen before, all as integers modulo 2⁶⁴. Two numbers share a byte of flags, of four bits each: how many bytes follow, less 1, in
// the lower three, and in the fourth whether they are the leading ones of the difference from the prediction, which ends in zeros.
// Of numbers that are all predicted exactly, 16 in a row take one byte 0xff.
package dfcm

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// ErrShort is what [Decode] returns where the bytes end too early.
var ErrShort = errors.New("the bytes end before the last number")

const (
	entries = 128
	group   = 16   // numbers that one byte may stand for
	exact   = 0xff // that byte
	leading = 8    // flag of bytes that are the leading ones
)

// predictor guesses the next number.
type predictor struct {
	table [entries]uint64
	at    uint64
	last  uint64
}

func (p *predictor) guess() uint64 { return p.last + p.table[p.at%entries] }

// see learns the number.
func (p *predictor) see(b uint64) {
	d := b - p.last
	p.table[p.at%entries] = d
	p.at = (p.at<<5 ^ d>>50) % entries
	p.last = b
}

// flags says which bytes of a difference are written.
func flags(x uint64) (flag byte, count int) {
	low := (71 - bits.LeadingZeros64(x|1)) / 8 // without leading zeros
	high := 8 - min(bits.TrailingZeros64(x)/8, 7)
	if high < low {
		return leading | byte(high-1), high
	}
	return byte(low - 1), low
}

// Size is how many bytes the values take.
func Size(vs []float64) int {
	var p predictor
	size, misses, since := 0, 0, 0
	for i, v := range vs {
		if i%group == 0 {
			misses, since = 0, size
		}
		if i%2 == 0 {
			size++
		}
		b := math.Float64bits(v)
		x := b ^ p.guess()
		p.see(b)
		_, count := flags(x)
		size += count
		if x != 0 {
			misses++
		}
		if i%group == group-1 && misses == 0 {
			size = since + 1
		}
	}
	return size
}

// Append appends the compressed values to dst.
func Append(dst []byte, vs []float64) []byte {
	var p predictor
	var xs [group]uint64
	for len(vs) > 0 {
		n := min(group, len(vs))
		var any uint64
		for i, v := range vs[:n] {
			b := math.Float64bits(v)
			xs[i] = b ^ p.guess()
			any |= xs[i]
			p.see(b)
		}
		vs = vs[n:]
		if any == 0 && n == group {
			dst = append(dst, exact)
			continue
		}
		for i := 0; i < n; i += 2 {
			var second byte
			count2 := 0
			first, count1 := flags(xs[i])
			if i+1 < n {
				second, count2 = flags(xs[i+1])
			}
			dst = append(dst, first|second<<4)
			dst = write(dst, xs[i], first, count1)
			if i+1 < n {
				dst = write(dst, xs[i+1], second, count2)
			}
		}
	}
	return dst
}

func write(dst []byte, x uint64, flag byte, count int) []byte {
	if flag&leading != 0 {
		x >>= 64 - 8*count
	}
	n := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, x)
	return dst[:n+count]
}

// Decode fills dst from what [Append] has written, and returns what follows it.
func Decode(dst []float64, src []byte) (rest []byte, err error) {
	var p predictor
	var flag byte
	for i := 0; i < len(dst); i++ {
		if i%2 == 0 {
			if len(src) == 0 {
				return nil, ErrShort
			}
			flag = src[0]
			src = src[1:]
			if flag == exact && i%group == 0 && len(dst)-i >= group {
				for range group {
					b := p.guess()
					p.see(b)
					dst[i] = math.Float64frombits(b)
					i++
				}
				i--
				continue
			}
		}
		count := int(flag&7) + 1
		var x uint64
		switch {
		case len(src) >= 8:
			x = binary.LittleEndian.Uint64(src) & (^uint64(0) >> (64 - 8*count))
		case len(src) >= count:
			for k, b := range src[:count] {
				x |= uint64(b) << (8 * k)
			}
		default:
			return nil, ErrShort
		}
		src = src[count:]
		if flag&leading != 0 {
			x <<= 64 - 8*count
		}
		flag >>= 4
		b := x ^ p.guess()
		p.see(b)
		dst[i] = math.Float64frombits(b)
	}
	return src, nil
}
