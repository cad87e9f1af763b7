package order

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// A frame is up to frameEdges ascending positions in Elias and Fano's form (1974),
// relative to the last position of the frame before. With the highest at u, each
// position is split: its lowest `low` bits are stored as they are; the rest, at
// most u>>low, is how many zeros precede the position's one in a string of bits.
//
//	low       1 byte, at most maxLow
//	u>>low    1 byte
//	ones      (u>>low + edges) bits, from the lowest bit of each byte
//	lows      low × edges bits, likewise
//
// Both strings are rounded up to bytes. This is within half a bit of what gaps at
// random need, whatever their size, and its length depends on u alone.
const (
	frameEdges  = 128
	frameHeader = 2
	// maxLow allows u>>low in a byte for every u, and one load for any lows.
	maxLow = 56
	// frameSlack is how far past the end of a frame its reader may look.
	frameSlack = 8
)

// frameShape is the number of low bits that makes the frame shortest, and its
// length in bytes.
func frameShape(u uint64, edges int) (low uint, size int) {
	// One bit more costs `edges` bits and halves what is left.
	if q := u / uint64(edges); q > 0 {
		low = uint(min(bits.Len64(q)-1, maxLow))
	}
	for low < maxLow && (u>>low > 255 || u>>low-u>>(low+1) > uint64(edges)) {
		low++
	}
	return low, frameSize(int(u>>low), edges, low)
}

func frameSize(high, edges int, low uint) int {
	return frameHeader + (high+edges+7)/8 + (int(low)*edges+7)/8
}

// writeFrame writes the frame of positions, which are relative to base, to the
// beginning of dst, and returns its length. Dst must be zero, and go on for
// frameSlack bytes after the frame.
func writeFrame(dst []byte, base uint64, positions []uint64) int {
	n := len(positions)
	u := positions[n-1] - base
	low, size := frameShape(u, n)
	dst[0], dst[1] = byte(low), byte(u>>low)
	ones := dst[frameHeader:]
	lows := ones[(int(u>>low)+n+7)/8:]
	mask := uint64(1)<<low - 1
	at := uint(0)
	for i, p := range positions {
		p -= base
		one := int(p>>low) + i
		ones[one>>3] |= 1 << (one & 7)
		word := lows[at>>3:]
		binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|p&mask<<(at&7))
		at += low
	}
	return size
}

var errFrame = errors.New("not a frame of positions")

// readFrame reads the frame at the beginning of data into positions, all of
// which it fills, and returns the length of the frame. Data must go on for
// frameSlack bytes after the frame.
func readFrame(data []byte, base uint64, positions []uint64) (size int, err error) {
	n := len(positions)
	if len(data) < frameHeader+frameSlack || n == 0 || n > frameEdges {
		return 0, errFrame
	}
	low, high := uint(data[0]), int(data[1])
	size = frameSize(high, n, low)
	if low > maxLow || size+frameSlack > len(data) {
		return 0, errFrame
	}
	ones := data[frameHeader:]
	lows := ones[(high+n+7)/8:]
	mask := uint64(1)<<(low&63) - 1
	i, at := 0, uint(0)
	for word := 0; word < high+n; word += 64 {
		w := binary.LittleEndian.Uint64(ones[word>>3:])
		if left := high + n - word; left < 64 {
			w &= 1<<left - 1
		}
		if i+bits.OnesCount64(w) > n {
			return 0, errFrame
		}
		// The number of zeros before a one is its place less the ones before.
		for ; w != 0; w &= w - 1 {
			zeros := uint64(word + bits.TrailingZeros64(w) - i)
			l := binary.LittleEndian.Uint64(lows[at>>3:]) >> (at & 7) & mask
			positions[i] = base + zeros<<(low&63) + l
			i++
			at += low
		}
	}
	if i != n {
		return 0, errFrame
	}
	return size, nil
}
