// Package eliasfano stores ascending integers in frames that need little more
// than the entropy of their gaps and decode fast without special instructions.
//
// A frame is up to [FrameLen] values in the form of Elias and Fano (1974),
// relative to a base that the reader knows, such as the last value of the frame
// before. With the highest at u above the base, each value is split: its lowest
// `low` bits are stored as they are; the rest, at most u>>low, is how many zeros
// precede the value's one in a string of bits.
//
//	low       1 byte, at most 56
//	u>>low    1 byte
//	ones      (u>>low + values) bits, from the lowest bit of each byte
//	lows      low × values bits, likewise
//
// Both strings are rounded up to bytes. This is within half a bit a value of what
// gaps at random need, whatever their size; and since the length of a frame
// depends on u alone, sizes are known before anything is written.
package eliasfano

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

const (
	// FrameLen is the largest number of values in a frame.
	FrameLen = 128
	// Slack is how far past the end of a frame its writer and reader may look.
	Slack = 8
	// MaxSize is the largest size of a frame.
	MaxSize = header + (255+FrameLen+7)/8 + maxLow*FrameLen/8

	header = 2
	// maxLow allows u>>low in a byte for every u, and one load for any lows.
	maxLow = 56
)

// Size is the length in bytes of a frame of n values of which the last is u above
// the base.
func Size(u uint64, n int) int {
	_, size := shape(u, n)
	return size
}

// shape is the number of low bits that makes the frame shortest, and its length.
func shape(u uint64, n int) (low uint, size int) {
	// One bit more costs n bits and halves what is left.
	if q := u / uint64(n); q > 0 {
		low = uint(min(bits.Len64(q)-1, maxLow))
	}
	for low < maxLow && (u>>low > 255 || u>>low-u>>(low+1) > uint64(n)) {
		low++
	}
	return low, sizeOf(int(u>>low), n, low)
}

func sizeOf(high, n int, low uint) int {
	return header + (high+n+7)/8 + (int(low)*n+7)/8
}

// Write writes the frame of values, which ascend from base or above, to the
// beginning of dst, and returns its length. Dst must be zero, and go on for
// [Slack] bytes after the frame, which stay zero.
func Write(dst []byte, base uint64, values []uint64) int {
	n := len(values)
	u := values[n-1] - base
	low, size := shape(u, n)
	dst[0], dst[1] = byte(low), byte(u>>low)
	ones := dst[header:]
	lows := ones[(int(u>>low)+n+7)/8:]
	mask := uint64(1)<<low - 1
	at := uint(0)
	for i, p := range values {
		p -= base
		one := int(p>>low) + i
		ones[one>>3] |= 1 << (one & 7)
		word := lows[at>>3:]
		binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|p&mask<<(at&7))
		at += low
	}
	return size
}

// ErrFrame says that bytes are not a frame.
var ErrFrame = errors.New("not a frame of ascending integers")

// Read reads the frame at the beginning of data into values, all of which it
// fills, and returns the length of the frame. Data must go on for [Slack] bytes
// after the frame. Whatever the bytes are, there is no panic; but the values of
// bytes that Write did not make may not ascend.
func Read(data []byte, base uint64, values []uint64) (size int, err error) {
	n := len(values)
	if len(data) < header+Slack || n == 0 || n > FrameLen {
		return 0, ErrFrame
	}
	low, high := uint(data[0]), int(data[1])
	size = sizeOf(high, n, low)
	if low > maxLow || size+Slack > len(data) {
		return 0, ErrFrame
	}
	ones := data[header:]
	lows := ones[(high+n+7)/8:]
	mask := uint64(1)<<(low&63) - 1
	i, at := 0, uint(0)
	for word := 0; word < high+n; word += 64 {
		w := binary.LittleEndian.Uint64(ones[word>>3:])
		if left := high + n - word; left < 64 {
			w &= 1<<left - 1
		}
		if i+bits.OnesCount64(w) > n {
			return 0, ErrFrame
		}
		// The number of zeros before a one is its place less the ones before.
		for ; w != 0; w &= w - 1 {
			zeros := uint64(word + bits.TrailingZeros64(w) - i)
			l := binary.LittleEndian.Uint64(lows[at>>3:]) >> (at & 7) & mask
			values[i] = base + zeros<<(low&63) + l
			i++
			at += low
		}
	}
	if i != n {
		return 0, ErrFrame
	}
	return size, nil
}
