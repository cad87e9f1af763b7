// Package classcode compresses integers that are mostly small: a Huffman code says of each
// which class of magnitudes it is in, and its other bits follow as they are. It comes near to the entropy of
// smooth distributions, and decodes several times slower than packed integers: it is for what is seldom read.
//
//	packed, ok := classcode.Append(nil, []uint64{3, 1, 4, 1, 5, 9, 2, 6})
//	var values [8]uint64
//	rest, err := classcode.Decode(values[:], packed)
//
// Integers below 4 are classes 0 to 3. Of an integer of b ≥ 3 bits, the class is 2·b-2, plus 1 if its second highest bit is set,
// and the b-2 bits below that are written. The code is canonical: shorter codes have smaller numbers, and of the same length those of smaller
// classes. Bytes are: the least class that occurs, how many classes follow on it, their code lengths in four bits
// each (0 where a class does not occur), and then for each integer the code, its highest bit first, and the other bits, the lowest first; all
// bits are written from the lowest of a byte on.
package classcode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

const (
	longest = 9                  // bits of a code
	most    = 42                 // bits of an integer
	classes = 2*most - 2 + 1 + 1 // that there are
	full    = 1 << longest
)

// ErrFormat is wrapped by the errors of [Decode].
var ErrFormat = errors.New("not integers in classes")

// classOf is the class of an integer, and how many bits are written besides.
func classOf(v uint64) (class, rest uint) {
	if v < 4 {
		return uint(v), 0
	}
	b := uint(bits.Len64(v))
	return 2*b - 2 + uint(v>>(b-2)&1), b - 2
}

// base is the least integer of a class, and how many bits the class leaves open.
func base(class uint) (least uint64, rest uint) {
	if class < 4 {
		return uint64(class), 0
	}
	rest = class/2 - 1
	return uint64(2|class&1) << rest, rest
}

// code is how classes are written.
type code struct {
	lo, n   int // classes from lo on
	lengths [classes]byte
	size    int // bits of all integers
}

// plan finds the code for integers; it returns false where they are in one class only, or too large.
func plan(vs []uint64) (c code, ok bool) {
	var counts [classes]int
	for _, v := range vs {
		if v>>most != 0 {
			return c, false
		}
		class, _ := classOf(v)
		counts[class]++
	}
	var used [classes]int
	n := 0
	for class, count := range counts {
		if count > 0 {
			used[n] = class
			n++
		}
	}
	if n < 2 {
		return c, false
	}
	c.lo, c.n = used[0], used[n-1]-used[0]+1
	c.assign(&counts, used[:n])
	for _, class := range used[:n] {
		_, rest := base(uint(class))
		c.size += counts[class] * (int(c.lengths[class]) + int(rest))
	}
	return c, true
}

// assign finds the lengths of codes: Huffman's, cut to the longest that is allowed, and then
// lengthened or shortened until they fill all of the code.
func (c *code) assign(counts *[classes]int, used []int) {
	slices.SortStableFunc(used, func(a, b int) int { return counts[a] - counts[b] })
	// Two queues: classes in ascending order, and the nodes made of the two lightest, which come in
	// that order by themselves.
	n := len(used)
	var weight, parent [2 * classes]int
	for i, class := range used {
		weight[i] = counts[class]
	}
	leaf, node := 0, n
	for made := n; made < 2*n-1; made++ {
		for range 2 {
			lightest := node
			if leaf < n && (node >= made || weight[leaf] <= weight[node]) {
				lightest = leaf
				leaf++
			} else {
				node++
			}
			weight[made] += weight[lightest]
			parent[lightest] = made
		}
	}
	var depth [2 * classes]int
	for i := 2*n - 3; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
	}
	filled := 0
	for i, class := range used {
		c.lengths[class] = byte(min(depth[i], longest))
		filled += full >> c.lengths[class]
	}
	for filled > full {
		for _, class := range used { // the rarest that can be lengthened
			if l := c.lengths[class]; l < longest {
				c.lengths[class]++
				filled -= full >> (l + 1)
				break
			}
		}
	}
	for filled < full {
		for _, class := range slices.Backward(used) { // the most frequent that can be shortened
			if room := full >> c.lengths[class]; filled+room <= full {
				c.lengths[class]--
				filled += room
				break
			}
		}
	}
}

// Size is how many bytes the integers take, and false where they are all of one class, or one has more than 42 bits.
func Size(vs []uint64) (size int, ok bool) {
	c, ok := plan(vs)
	return 2 + (c.n+1)/2 + (c.size+7)/8, ok
}

// Append appends the integers to dst, and returns false, and dst as it was, where [Size] does.
func Append(dst []byte, vs []uint64) (_ []byte, ok bool) {
	c, ok := plan(vs)
	if !ok {
		return dst, false
	}
	dst = append(dst, byte(c.lo), byte(c.n))
	for i := 0; i < c.n; i += 2 {
		dst = append(dst, c.lengths[c.lo+i]|c.at(i+1)<<4)
	}
	var codes [classes]uint16
	next := uint16(0)
	for l := 1; l <= longest; l++ {
		for class := c.lo; class < c.lo+c.n; class++ {
			if int(c.lengths[class]) == l {
				codes[class] = bits.Reverse16(next << (16 - l))
				next++
			}
		}
		next <<= 1
	}
	var acc uint64
	var have uint
	for _, v := range vs {
		class, rest := classOf(v)
		l := uint(c.lengths[class])
		acc |= (uint64(codes[class]) | v&(1<<rest-1)<<l) << have
		have += l + rest // 7 + 9 + 40 at most
		n := len(dst)
		dst = binary.LittleEndian.AppendUint64(dst, acc)[:n+int(have/8)]
		acc >>= have &^ 7
		have &= 7
	}
	if have > 0 {
		dst = append(dst, byte(acc))
	}
	return dst, true
}

// at is the length of the code of the i-th class, 0 behind the last one.
func (c *code) at(i int) byte {
	if i < c.n {
		return c.lengths[c.lo+i]
	}
	return 0
}

// entry is what the next bits mean.
type entry struct {
	base         uint64
	length, rest uint8
}

// Decode fills dst from what [Append] has written, and returns what follows it.
func Decode(dst []uint64, src []byte) (rest []byte, err error) {
	if len(src) < 2 {
		return nil, fmt.Errorf("%w: they end too early", ErrFormat)
	}
	lo, n := int(src[0]), int(src[1])
	if lo+n > classes || len(src) < 2+(n+1)/2 {
		return nil, fmt.Errorf("%w: %d classes from %d on in %d bytes", ErrFormat, n, lo, len(src))
	}
	var table [full]entry
	if err := fill(&table, src[2:], lo, n); err != nil {
		return nil, err
	}
	src = src[2+(n+1)/2:]
	at := uint(0)
	i := 0
	for i < len(dst) && int(at/8)+8 <= len(src) {
		w := binary.LittleEndian.Uint64(src[at/8:]) >> (at & 7)
		e := &table[w%full]
		dst[i] = e.base + w>>(e.length&63)&(1<<(e.rest&63)-1)
		at += uint(e.length + e.rest)
		i++
	}
	for ; i < len(dst); i++ {
		if int(at/8) >= len(src) {
			return nil, fmt.Errorf("%w: they end too early", ErrFormat)
		}
		var b [8]byte
		copy(b[:], src[at/8:])
		w := binary.LittleEndian.Uint64(b[:]) >> (at & 7)
		e := &table[w%full]
		dst[i] = e.base + w>>(e.length&63)&(1<<(e.rest&63)-1)
		at += uint(e.length + e.rest)
	}
	size := int(at+7) / 8
	if size > len(src) {
		return nil, fmt.Errorf("%w: they end too early", ErrFormat)
	}
	return src[size:], nil
}

// fill makes the table of a code from its lengths.
func fill(table *[full]entry, lengths []byte, lo, n int) error {
	at := 0
	var counts [longest + 1]int
	length := func(i int) int { return int(lengths[i/2] >> (i % 2 * 4) & 15) }
	for i := range n {
		l := length(i)
		if l > longest {
			return fmt.Errorf("%w: a code of %d bits, expected at most %d", ErrFormat, l, longest)
		}
		if l > 0 {
			counts[l]++
			at += full >> l
		}
	}
	if at != full {
		return fmt.Errorf("%w: codes for %d of %d cases", ErrFormat, at, full)
	}
	// The first code of each length, as an index of the table before its bits are reversed.
	var next [longest + 1]int
	for l := 1; l < longest; l++ {
		next[l+1] = next[l] + counts[l]*(full>>l)
	}
	for i := range n {
		l := length(i)
		if l == 0 {
			continue
		}
		least, rest := base(uint(lo + i))
		e := entry{least, uint8(l), uint8(rest)}
		first := int(bits.Reverse16(uint16(next[l])) >> (16 - longest))
		for j := first; j < full; j += 1 << l {
			table[j] = e
		}
		next[l] += full >> l
	}
	return nil
}
