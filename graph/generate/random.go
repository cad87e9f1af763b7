package generate

import (
	"fmt"
	"math"
	"math/bits"
)

// The random numbers are counted, not stepped: number i of a stream is a hash of
// the stream's key and i, so that any of them can be had at once. The hash is
// the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).

// golden is 2^64 divided by the golden ratio, odd: the step of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// Streams of one seed are apart from one another by these numbers.
const (
	streamEnds = iota + 1
	streamWeights
	streamPermutation
	streamNoise
)

// mix is SplitMix64's finaliser, a bijection in which each bit of the input
// moves about half of the bits of the output.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// key is where a stream of a seed begins. Two keys are hashes, so that the
// streams of neighbouring seeds do not overlap.
func key(seed, stream uint64) uint64 { return mix(mix(seed+golden) + stream*golden) }

// at is number i of the stream of a key.
func at(key, i uint64) uint64 { return mix(key + i*golden) }

// below scales a random number to [0, n).
func below(random, n uint64) uint64 {
	hi, _ := bits.Mul64(random, n)
	return hi
}

// unit scales a random number to [0, 1).
func unit(random uint64) float64 { return float64(random>>11) / (1 << 53) }

// permutation is a bijection on numbers of a few bits: multiplications by odd
// numbers and shifts to the right, each of which can be undone, hence no array.
type permutation struct {
	mask   uint64
	shift  uint
	odd    [3]uint64
	offset [3]uint64
}

// newPermutation is the permutation of the numbers below 2^scale for a seed.
func newPermutation(scale int, seed uint64) permutation {
	p := permutation{mask: 1<<scale - 1, shift: uint(scale+1) / 2}
	k := key(seed, streamPermutation)
	for i := range p.odd {
		p.odd[i] = at(k, uint64(2*i)) | 1
		p.offset[i] = at(k, uint64(2*i+1))
	}
	return p
}

// of is where x goes. x must be below 2^scale.
func (p *permutation) of(x uint64) uint64 {
	x = (x*p.odd[0] + p.offset[0]) & p.mask
	x ^= x >> p.shift
	x = (x*p.odd[1] + p.offset[1]) & p.mask
	x ^= x >> p.shift
	x = (x*p.odd[2] + p.offset[2]) & p.mask
	return x ^ x>>p.shift
}

// check says what is wrong with w.
func (w Weights) check() error {
	switch {
	case w == Weights{}:
		return nil
	case !(w.Min >= 0) || !(w.Max >= w.Min) || math.IsInf(float64(w.Max), 0) || w.Max == 0:
		return fmt.Errorf("weights from %v to %v: want 0 ≤ least ≤ greatest, and the greatest above 0", w.Min, w.Max)
	case w.Whole && (w.Max > 1<<24 || w.Min != float32(math.Trunc(float64(w.Min))) || w.Max != float32(math.Trunc(float64(w.Max)))):
		return fmt.Errorf("whole weights from %v to %v: want whole numbers up to 2^24", w.Min, w.Max)
	}
	return nil
}

// fill writes the weights of the edges from index first.
func (w Weights) fill(dst []float32, key uint64, first int64) {
	if w.Whole {
		n := uint64(w.Max-w.Min) + 1
		for i := range dst {
			dst[i] = w.Min + float32(below(at(key, uint64(first)+uint64(i)), n))
		}
		return
	}
	span := float64(w.Max) - float64(w.Min)
	for i := range dst {
		dst[i] = float32(float64(w.Min) + span*unit(at(key, uint64(first)+uint64(i))))
	}
}
