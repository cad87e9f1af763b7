package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Repeated values: where the value changes, and a vector of the values it changes to. Where is a bit for each
// value, or a column of the lengths of all runs but the last, less 1.

const (
	changeBits = 0
	changeRuns = 1
)

// repeats is a plan for a vector.
type repeats struct {
	where byte
	runs  column
	size  int // without the vector within

	changes int
	values  [Max]float64
	lengths [Max]int64
}

// split finds the runs of equal bit patterns.
func (p *repeats) split(vs []float64) {
	p.values[0] = vs[0]
	n, begin := 1, 0
	last := math.Float64bits(vs[0])
	for i, v := range vs[1:] {
		b := math.Float64bits(v)
		if b == last {
			continue
		}
		p.lengths[n-1] = int64(i - begin)
		p.values[n] = v
		n++
		begin, last = i+1, b
	}
	p.changes = n
}

func (p *repeats) plan(n int, dense bool) {
	p.where, p.size = changeBits, (n+7)/8
	if p.changes > 1 {
		p.runs = planColumn(p.lengths[:p.changes-1], dense)
		if p.runs.size < p.size {
			p.where, p.size = changeRuns, p.runs.size
		}
	}
	p.size += varintSize(uint64(p.changes)) + 1
}

// append writes all but the vector within.
func (p *repeats) append(dst []byte, vs []float64) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(p.changes)), p.where)
	if p.where == changeRuns {
		return p.runs.append(dst, p.lengths[:p.changes-1])
	}
	last := ^math.Float64bits(vs[0])
	var set byte
	for i, v := range vs {
		if b := math.Float64bits(v); b != last {
			set |= 1 << (i % 8)
			last = b
		}
		if i%8 == 7 || i == len(vs)-1 {
			dst = append(dst, set)
			set = 0
		}
	}
	return dst
}

func decodeRepeat(dst []float64, src []byte) (rest []byte, err error) {
	r := reader{src: src}
	changes, where := r.uvarint(), r.byte()
	if r.failed || changes == 0 || changes > uint64(len(dst)) || where > changeRuns {
		return nil, fmt.Errorf("%w: %d changes of kind %d among %d values", ErrCorrupt, changes, where, len(dst))
	}
	n := int(changes)
	// The values go to the end of dst, from where they are moved to their places, the first one first:
	// no place is behind what is still to be moved.
	inner := dst[len(dst)-n:]
	if where == changeBits {
		size := (len(dst) + 7) / 8
		if len(r.src) < size {
			return nil, errShort
		}
		set := r.src[:size]
		total := 0
		for _, b := range set {
			total += bits.OnesCount8(b)
		}
		if total != n || set[0]&1 == 0 || len(dst)%8 != 0 && set[size-1]>>(len(dst)%8) != 0 {
			return nil, fmt.Errorf("%w: bits of changes %x for %d changes among %d values", ErrCorrupt, set, n, len(dst))
		}
		if rest, err = decodeInner(inner, r.src[size:]); err != nil {
			return nil, err
		}
		at := -1
		for i := range dst {
			at += int(set[i/8] >> (i % 8) & 1)
			dst[i] = inner[at]
		}
		return rest, nil
	}
	var lengths [Max]uint64
	if n > 1 {
		if r.src, err = decodeColumn(lengths[:n-1], r.src); err != nil {
			return nil, err
		}
	}
	left := len(dst)
	for i, l := range lengths[:n-1] {
		if l >= uint64(left-1) {
			return nil, fmt.Errorf("%w: run %d is %d longer than 1, with %d values left", ErrCorrupt, i, l, left)
		}
		left -= int(l) + 1
	}
	lengths[n-1] = uint64(left - 1)
	if rest, err = decodeInner(inner, r.src); err != nil {
		return nil, err
	}
	at := 0
	for i, l := range lengths[:n] {
		v := inner[i]
		for j := range dst[at : at+int(l)+1] {
			dst[at+j] = v
		}
		at += int(l) + 1
	}
	return rest, nil
}
