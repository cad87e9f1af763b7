package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"weir/series/codec/bitpack"
)

// Front bits, for noise: sign, exponent and perhaps some more leading bits are one of a few patterns in a
// small table, all others are kept as they are (ALP_rd: Afroozeh, Kuffó, Boncz, SIGMOD 2024). A pattern that
// is not in the table is an exception.

const (
	mostFronts = 8  // in the table
	leastRight = 48 // bits that are kept as they are: the others are 16 at most
	mostRight  = 60
)

// fronts is a plan for a vector, and what finds it.
type fronts struct {
	right  uint // bits kept as they are
	codes  int  // patterns in the table
	table  [mostFronts]uint16
	except int
	size   int

	counts *frontCounts // zeros between plans
	seen   [Max]uint16  // which of them are not zero
}

// frontCounts says how often the first 16 bits are what.
type frontCounts [1 << 16]uint16

// pattern is one that occurs, and how often.
type pattern struct{ bits, count uint16 }

// plan plans for the values; again uses the split of the last plan.
func (p *fronts) plan(vs []float64, right uint) {
	seen := p.seen[:0]
	for _, v := range vs {
		front := uint16(math.Float64bits(v) >> leastRight)
		if p.counts[front] == 0 {
			seen = append(seen, front)
		}
		p.counts[front]++
	}
	slices.Sort(seen)
	p.size = math.MaxInt
	lo, hi := uint(leastRight), uint(mostRight)
	if right != 0 {
		lo, hi = right, right
	}
	for r := lo; r <= hi; r++ {
		p.consider(vs, seen, r)
	}
	for _, front := range seen {
		p.counts[front] = 0
	}
}

// consider plans for one split, and keeps it if it is the smallest so far.
func (p *fronts) consider(vs []float64, seen []uint16, right uint) {
	var top [mostFronts]pattern // the most frequent ones, in descending order
	n := 0
	add := func(x pattern) {
		if n == mostFronts {
			if x.count <= top[n-1].count {
				return
			}
			n--
		}
		at := n
		for at > 0 && top[at-1].count < x.count {
			top[at] = top[at-1]
			at--
		}
		top[at] = x
		n++
	}
	x := pattern{bits: seen[0] >> (right - leastRight)}
	for _, front := range seen {
		b := front >> (right - leastRight)
		if b != x.bits {
			add(x)
			x = pattern{bits: b}
		}
		x.count += p.counts[front]
	}
	add(x)
	covered := 0
	for codes := 1; codes <= n; codes++ {
		covered += int(top[codes-1].count)
		if codes&(codes-1) != 0 && codes < n {
			continue // there is room for more
		}
		except := len(vs) - covered
		size := 2 + 2*codes + varintSize(uint64(except)) + bitpack.Size(len(vs), uint(bits.Len(uint(codes-1)))) + bitpack.Size(len(vs), right) +
			bitpack.Size(except, positionBits(len(vs))) + bitpack.Size(except, 64-right)
		if size < p.size {
			p.right, p.codes, p.except, p.size = right, codes, except, size
			for i := range codes {
				p.table[i] = top[i].bits
			}
		}
	}
}

func (p *fronts) append(dst []byte, vs []float64) []byte {
	dst = append(dst, byte(p.right), byte(p.codes))
	for _, front := range p.table[:p.codes] {
		dst = binary.LittleEndian.AppendUint16(dst, front)
	}
	var codes, rights, at, lefts [Max]uint64
	except := 0
	for i, v := range vs {
		b := math.Float64bits(v)
		rights[i] = b & (1<<p.right - 1)
		code := slices.Index(p.table[:p.codes], uint16(b>>p.right))
		if code < 0 {
			at[except], lefts[except] = uint64(i), b>>p.right
			except++
			code = 0
		}
		codes[i] = uint64(code)
	}
	dst = binary.AppendUvarint(dst, uint64(except))
	dst = bitpack.Append(dst, at[:except], positionBits(len(vs)))
	dst = bitpack.Append(dst, lefts[:except], 64-p.right)
	dst = bitpack.Append(dst, codes[:len(vs)], uint(bits.Len(uint(p.codes-1))))
	return bitpack.Append(dst, rights[:len(vs)], p.right)
}

func decodeFront(dst []float64, src []byte) (rest []byte, err error) {
	if len(src) < 2 {
		return nil, errShort
	}
	right, n := uint(src[0]), int(src[1])
	if right < leastRight || right > 63 || n == 0 || n > mostFronts || len(src) < 2+2*n {
		return nil, fmt.Errorf("%w: front bits begin with % x", ErrCorrupt, src[:2])
	}
	var table [mostFronts]uint64
	for i := range n {
		table[i] = uint64(binary.LittleEndian.Uint16(src[2+2*i:])) << right
	}
	r := reader{src: src[2+2*n:]}
	except := r.uvarint()
	if r.failed || except > uint64(len(dst)) {
		return nil, fmt.Errorf("%w: %d exceptions among %d values", ErrCorrupt, except, len(dst))
	}
	var at, lefts, codes [Max]uint64
	if rest, err = unpackPositions(at[:except], r.src, len(dst), len(dst)); err != nil {
		return nil, err
	}
	if rest, err = unpack(lefts[:except], rest, 64-right); err != nil {
		return nil, err
	}
	if rest, err = unpack(codes[:len(dst)], rest, uint(bits.Len(uint(n-1)))); err != nil {
		return nil, err
	}
	w := words(dst)
	if rest, err = unpack(w, rest, right); err != nil {
		return nil, err
	}
	for i, code := range codes[:len(w)] {
		w[i] |= table[code%mostFronts]
	}
	for i, p := range at[:except] {
		w[p] = w[p]&(1<<right-1) | lefts[i]<<right
	}
	return rest, nil
}
