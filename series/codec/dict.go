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

	table  [1024]uint16         // places in keys by hash, plus 1
	keys   [mostDistinct]uint64 // in the order of their first occurrence
	sorted [mostDistinct]uint64
	places [Max]int64
	values [mostDistinct]float64
}

// slot is where a key is in the table, or where there is room for it.
func (p *dictionary) slot(key uint64) uint64 {
	h := key * 0x9e3779b97f4a7c15 >> 54
	for at := p.table[h]; at != 0 && p.keys[at-1] != key; at = p.table[h] {
		h = (h + 1) % uint64(len(p.table))
	}
	return h
}

// find looks for the distinct values, and reports whether they are few.
func (p *dictionary) find(vs []float64) bool {
	clear(p.table[:])
	p.distinct = 0
	for i, v := range vs {
		key := monotone(math.Float64bits(v))
		h := p.slot(key)
		if p.table[h] == 0 {
			if p.distinct == mostDistinct {
				return false
			}
			p.keys[p.distinct] = key
			p.distinct++
			p.table[h] = uint16(p.distinct)
		}
		p.places[i] = int64(p.table[h] - 1)
	}
	return true
}

// monotone orders bit patterns as the numbers are, and back again.
func monotone(b uint64) uint64 { return b ^ (uint64(int64(b)>>63) | 1<<63) }
func bitsOf(m uint64) uint64   { return m ^ (uint64(^int64(m)>>63) | 1<<63) }

// plan brings what was found into order.
func (p *dictionary) plan(vs []float64, dense bool) {
	n := p.distinct
	sorted := p.sorted[:n]
	copy(sorted, p.keys[:n])
	slices.Sort(sorted)
	var rank [mostDistinct]int64
	for i, key := range sorted {
		rank[p.table[p.slot(key)]-1] = int64(i)
		p.values[i] = math.Float64frombits(bitsOf(key))
	}
	for i := range vs {
		p.places[i] = rank[p.places[i]]
	}
	p.ints = planColumn(p.places[:len(vs)], dense)
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
