package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"weir/series/codec/bitpack"
)

// Decimals. A number that was written with k digits behind the point is d/10ᵏ for an integer d, rounded
// once; IEEE division rounds once too, so that dividing d by the divisor gives back the very same bits, while
// multiplying by 10⁻ᵏ (as ALP does: Afroozeh, Kuffó, Boncz, SIGMOD 2024) would miss some. Other divisors
// serve rates, of counts by seconds. What was computed by adding up decimals is off by a few units in the last
// place: a column of such corrections, mostly 0, makes up for them. Everything else (NaN, infinities, -0, outliers)
// is an exception, and kept as it is.

// divisors are those of the format, which has their index.
var divisors = [...]float64{
	1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	3, 6, 7, 9, 11, 12, 13, 14, 15, 30, 45, 60, 90, 120, 150, 180, 300, 600, 900, 1500, 1800, 3600, 15000, 86400,
	1 << 7, 1 << 8, 1 << 10, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 30,
}

const (
	// rounder, added to a number of a magnitude up to limit, leaves its nearest integer in the low bits.
	rounder = 3 << 51
	limit   = 1 << 51

	mostUnits = 64 // in the last place that a correction makes up for
	// Up to nearLimit, integers are so far apart that one number in 16 is at most as near by chance.
	nearLimit = 1 << 41
	samples   = 32 // that the search for a divisor looks at

	flagCorrected = 1
	flagExcept    = 2
)

// decimals is a plan for a vector, and what it is of.
type decimals struct {
	divisor   byte // its index
	corrected bool // some values need a correction
	except    int  // exceptions
	size      int

	ints, corrections, exceptions column

	d, units [Max]int64
	at       [Max]uint64 // of the exceptions
	bits     [Max]int64
}

// measure finds out which integers the values are, over a divisor.
func (p *decimals) measure(vs []float64, divisor byte) {
	p.divisor, p.corrected, p.except = divisor, false, 0
	by := divisors[divisor]
	var last int64
	for i, v := range vs {
		t := float64(v * by) // the conversion keeps the sum below from being fused with the product
		m := float64(t + rounder)
		q := float64(m-rounder) / by
		off := int64(math.Float64bits(v)) - int64(math.Float64bits(q))
		d := int64(math.Float64bits(m)) - int64(math.Float64bits(rounder))
		if off != 0 || !(math.Abs(t) < limit) {
			if -mostUnits < off && off < mostUnits && math.Abs(t) < limit {
				p.corrected = true
			} else {
				p.at[p.except], p.bits[p.except] = uint64(i), int64(math.Float64bits(v))
				p.except++
				d, off = last, 0
			}
		}
		p.d[i], p.units[i] = d, off
		last = d
	}
}

// plan plans for the values over a divisor, with columns that may be dense.
func (p *decimals) plan(vs []float64, divisor byte, dense bool) {
	p.measure(vs, divisor)
	n := len(vs)
	p.ints = planColumn(p.d[:n], dense)
	p.size = 2 + p.ints.size
	if p.corrected {
		p.corrections = planColumn(p.units[:n], dense)
		p.size += p.corrections.size
	}
	if p.except > 0 {
		p.exceptions = planColumn(p.bits[:p.except], dense)
		p.size += varintSize(uint64(p.except)) + bitpack.Size(p.except, positionBits(n)) + p.exceptions.size
	}
}

func (p *decimals) append(dst []byte, n int) []byte {
	var flags byte
	if p.corrected {
		flags |= flagCorrected
	}
	if p.except > 0 {
		flags |= flagExcept
	}
	dst = p.ints.append(append(dst, p.divisor, flags), p.d[:n])
	if p.corrected {
		dst = p.corrections.append(dst, p.units[:n])
	}
	if p.except > 0 {
		dst = binary.AppendUvarint(dst, uint64(p.except))
		dst = bitpack.Append(dst, p.at[:p.except], positionBits(n))
		dst = p.exceptions.append(dst, p.bits[:p.except])
	}
	return dst
}

// search finds the divisor of most of some values, and how many of them need neither a correction
// nor an exception, and how many no exception.
func search(some []float64) (divisor byte, exact, near int) {
	score := -1
	for i, by := range divisors {
		hits, close := 0, 0
		for k, v := range some {
			if k == 8 && hits+close < 4 || k == 16 && hits+close < 10 {
				break
			}
			t := float64(v * by)
			if !(math.Abs(t) < limit) {
				continue
			}
			q := float64(float64(t+rounder)-rounder) / by
			switch off := int64(math.Float64bits(v)) - int64(math.Float64bits(q)); {
			case off == 0:
				hits++
			case -mostUnits < off && off < mostUnits && math.Abs(t) < nearLimit:
				close++
			}
		}
		if s := 4*hits + 3*close; s > score {
			divisor, exact, near, score = byte(i), hits, hits+close, s
		}
		if hits == len(some) {
			break
		}
	}
	return divisor, exact, near
}

// sample spreads over the values.
func sample(vs []float64, some *[samples]float64) []float64 {
	if len(vs) <= samples {
		return some[:copy(some[:], vs)]
	}
	for i := range some {
		// Not in order, so that the first few that are looked at are from everywhere.
		some[i*11%samples] = vs[i*len(vs)/samples]
	}
	return some[:]
}

// planDecimals plans for decimals, if the values are; clean is whether all of them are, without any
// correction. Other is a second place to plan in.
func planDecimals(p, other *decimals, vs []float64, hint *Hint) (best *decimals, clean bool) {
	if hint.known {
		p.plan(vs, hint.divisor, hint.Dense)
		if p.except == 0 && !p.corrected {
			return p, true
		}
		if p.except*8 <= len(vs) && hint.settled > 0 {
			hint.settled--
			return p, false
		}
	} else if hint.pause > 0 {
		hint.pause--
		return nil, false
	}
	var some [samples]float64
	list := sample(vs, &some)
	divisor, _, near := search(list)
	if near*4 < len(list)*3 {
		hint.known = false
		hint.failures = min(hint.failures+1, 4)
		hint.pause = 1<<hint.failures - 2
		return nil, false
	}
	other.plan(vs, divisor, hint.Dense)
	if other.except > 0 {
		// Perhaps rare values have more digits than those that were looked at.
		for i, at := range other.at[:min(other.except, samples/2)] {
			list[i] = vs[at]
		}
		rare, _, near := search(list)
		if near > 0 && rare != divisor {
			p.plan(vs, rare, hint.Dense)
			if p.size < other.size {
				p, other = other, p
			}
		}
	}
	if hint.known && hint.divisor != other.divisor {
		// What was known may still be the best.
		p.plan(vs, hint.divisor, hint.Dense)
		if p.size <= other.size {
			p, other = other, p
		}
	}
	hint.known, hint.divisor, hint.failures, hint.settled = true, other.divisor, 0, 16
	return other, other.except == 0 && !other.corrected
}

func decodeDecimal(dst []float64, src []byte) (rest []byte, err error) {
	if len(src) < 2 {
		return nil, errShort
	}
	divisor, flags := int(src[0]), src[1]
	if divisor >= len(divisors) || flags&^(flagCorrected|flagExcept) != 0 {
		return nil, fmt.Errorf("%w: decimals begin with % x", ErrCorrupt, src[:2])
	}
	w := words(dst)
	s, rest, err := readColumn(w, src[2:])
	if err != nil {
		return nil, err
	}
	s.decimals(dst, divisor)
	if flags&flagCorrected != 0 {
		if rest, err = correct(w, rest); err != nil {
			return nil, err
		}
	}
	if flags&flagExcept != 0 {
		return except(w, rest)
	}
	return rest, nil
}

// correct adds units in the last place.
func correct(w []uint64, src []byte) (rest []byte, err error) {
	var units [Max]uint64
	if rest, err = decodeColumn(units[:len(w)], src); err != nil {
		return nil, err
	}
	for i, u := range units[:len(w)] {
		w[i] += u
	}
	return rest, nil
}

// except puts exceptions into their places.
func except(w []uint64, src []byte) (rest []byte, err error) {
	r := reader{src: src}
	n := r.uvarint()
	if r.failed || n == 0 || n > uint64(len(w)) {
		return nil, fmt.Errorf("%w: %d exceptions among %d values", ErrCorrupt, n, len(w))
	}
	var at, bits [Max]uint64
	if rest, err = unpackPositions(at[:n], r.src, len(w), len(w)); err != nil {
		return nil, err
	}
	if rest, err = decodeColumn(bits[:n], rest); err != nil {
		return nil, err
	}
	for i, p := range at[:n] {
		w[p] = bits[i]
	}
	return rest, nil
}
