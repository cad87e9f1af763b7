package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Dictionaries: the distinct values in the order of their bits, as a vector, and a column of places in it.

const mostDistinct = 200

// dictionary is a plan for a vector.
type dictionary struct {
	distinct int
	ints     column
	size     int // without the vector within

	table  [1024]uint16 // places in keys by hash, plus 1
	keys   [mostDistinct]uint64
	places [Max]int64
	values [mostDistinct]float64
}

// find looks for the distinct values, and reports whether they are few.
func (p *dictionary) find(vs []float64) bool {
	clear(p.table[:])
	p.distinct = 0
	for i, v := range vs {
		key := math.Float64bits(v)
		h := key * 0x9e3779b97f4a7c15 >> 54
		for {
			at := p.table[h]
			if at == 0 {
				if p.distinct == mostDistinct {
					return false
				}
				p.keys[p.distinct] = key
				p.distinct++
				at = uint16(p.distinct)
				p.table[h] = at
			}
			if p.keys[at-1] == key {
				p.places[i] = int64(at - 1)
				break
			}
			h = (h + 1) % 1024
		}
	}
	return true
}

// monotone orders bit patterns as the numbers are.
func monotone(b uint64) int64 { return int64(b) ^ int64(b)>>63&math.MaxInt64 }

// plan brings what was found into order.
func (p *dictionary) plan(vs []float64) {
	n := p.distinct
	var order [mostDistinct]uint16
	for i := range n {
		order[i] = uint16(i)
	}
	slices.SortFunc(order[:n], func(a, b uint16) int {
		if monotone(p.keys[a]) < monotone(p.keys[b]) {
			return -1
		}
		return 1
	})
	var rank [mostDistinct]int64
	for i, at := range order[:n] {
		rank[at] = int64(i)
		p.values[i] = math.Float64frombits(p.keys[at])
	}
	for i := range vs {
		p.places[i] = rank[p.places[i]]
	}
	p.ints = planColumn(p.places[:len(vs)])
	p.size = varintSize(uint64(n)) + p.ints.size
}

func decodeDict(dst []float64, src []byte) (rest []byte, err error) {
	r := reader{src: src}
	n := r.uvarint()
	if r.failed || n == 0 || n > Max {
		return nil, fmt.Errorf("%w: dictionary of %d values", ErrCorrupt, n)
	}
	var room [Max]float64
	table := room[:n]
	if rest, err = decodeInner(table, r.src); err != nil {
		return nil, err
	}
	w := words(dst)
	if rest, err = decodeColumn(w, rest); err != nil {
		return nil, err
	}
	for i, place := range w {
		if place >= uint64(len(table)) {
			return nil, fmt.Errorf("%w: place %d in a dictionary of %d values", ErrCorrupt, place, n)
		}
		dst[i] = table[place]
	}
	return rest, nil
}

// append writes the column; head, before the vector within, the number.
func (p *dictionary) head(dst []byte) []byte {
	return binary.AppendUvarint(dst, uint64(p.distinct))
}

func (p *dictionary) append(dst []byte, n int) []byte { return p.ints.append(dst, p.places[:n]) }
