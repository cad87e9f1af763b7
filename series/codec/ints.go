package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"weir/series/codec/bitpack"
	"weir/series/codec/classcode"
)

// Columns of integers: what most forms end in. The residuals of a column are its values, the differences
// of neighbours, or the differences of those; less a base, so that most are small and
// not negative; packed side by side. Those that do not fit leave their low bits in the column, and the rest
// in a list of patches (PFOR: Zukowski and others, Super-Scalar RAM-CPU Cache Compression, ICDE 2006). A
// patch has a sign, so that the base need not be the least: outliers on both sides are patched.

// The kinds of columns.
const (
	kindValues  = 0 // frame of reference
	kindDeltas  = 1
	kindDeltas2 = 2
	kindRaw     = 3 // 8 bytes each
	kindMask    = 3
	flagScaled  = 4 // all differences were divided by their greatest common divisor
	flagPatched = 8
	flagClassed = 16 // classes of magnitudes instead of packed integers
	flagPaired  = 32 // two integers in one
)

// column is a plan for integers: how to write them, and how many bytes that will take.
type column struct {
	kind    byte
	width   uint
	patch   uint // bits of a patch
	patches int
	base    int64
	classed bool
	pairs   uint64 // if not 0, the residuals are less than it, and two of them are one integer
	origin  int64  // the first value, where scaled
	scale   uint64
	size    int
}

// zigzag maps integers of small magnitude to small numbers.
func zigzag(x int64) uint64   { return uint64(x)<<1 ^ uint64(x>>63) }
func unzigzag(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }

// varintSize is how many bytes x takes as a varint.
func varintSize(x uint64) int { return (bits.Len64(x|1) + 6) / 7 }

// positionBits is the width of a position among n.
func positionBits(n int) uint { return uint(bits.Len(uint(n - 1))) }

// planColumn plans for 1 to Max integers, which dense allows to take longer to decode. It overwrites them
// where they have a common divisor: the plan goes with what is in vs afterwards.
func planColumn(vs []int64, dense bool) column {
	c := column{scale: divisor(vs)}
	if c.scale > 1 {
		c.origin = vs[0]
		divide(vs, c.scale)
	}
	var fixed [3]int // bytes beside the residuals
	if c.scale > 1 {
		head := varintSize(zigzag(c.origin)) + varintSize(c.scale)
		fixed = [3]int{head, head, head}
	}
	var lo, hi [3]int64
	spans(vs, &lo, &hi)
	n := len(vs)
	fixed[1] += varintSize(zigzag(vs[0]))
	if n > 2 {
		fixed[2] += varintSize(zigzag(vs[0])) + varintSize(zigzag(vs[1]-vs[0]))
	}
	var h [3]histogram
	count(vs, &lo, &h)
	best := column{size: math.MaxInt}
	consider := func(kind int, base int64, h *histogram) {
		k, ok := h.choose(n, n-kind)
		if k.size += 2 + fixed[kind] + varintSize(zigzag(base)); ok && k.size < best.size {
			best = k
			best.kind, best.base = byte(kind), base
		}
	}
	for kind := range min(n, 3) {
		consider(kind, lo[kind], &h[kind])
	}
	// Where few values lie far from the others, the least is no good base.
	for kind := range min(n, 3) {
		low, _, spread := bulk(vs, kind)
		if whole := uint64(hi[kind] - lo[kind]); n < 16 || whole/8 <= spread || low == lo[kind] {
			continue
		}
		for _, margin := range [...]uint64{0, spread/4 + 1, spread} {
			base := low - int64(margin)
			if base > low || base <= lo[kind] {
				continue
			}
			var around histogram
			around.count(vs, kind, base)
			consider(kind, base, &around)
		}
	}
	for kind := range min(n, 3) {
		planPaired(&best, n-kind, kind, lo[kind], hi[kind], 2+fixed[kind])
	}
	if dense && n >= leastClassed {
		planClassed(&best, vs, &fixed)
	}
	best.scale, best.origin = c.scale, c.origin
	if raw := 1 + 8*n; raw < best.size {
		if c.scale > 1 {
			for i, v := range vs {
				vs[i] = c.origin + v*int64(c.scale)
			}
		}
		return column{kind: kindRaw, scale: 1, size: raw}
	}
	return best
}

// divisor is the greatest common divisor of the differences, or 1.
func divisor(vs []int64) uint64 {
	var g uint64
	for _, v := range vs[1:] {
		d := v - vs[0]
		if d == 0 {
			continue
		}
		a := uint64(max(d, -d))
		switch {
		case g == 0:
			g = a
		case g&(g-1) == 0:
			g = 1 << min(bits.TrailingZeros64(a), bits.TrailingZeros64(g))
		case (a|g)>>32 == 0:
			if uint32(a)%uint32(g) != 0 {
				g = gcd(g, a)
			}
		case a%g != 0:
			g = gcd(g, a)
		}
		if g == 1 {
			return 1
		}
	}
	return max(g, 1)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// divide replaces values by their distance from the first, in units.
func divide(vs []int64, unit uint64) {
	first := vs[0]
	if unit&(unit-1) == 0 {
		shift := uint(bits.TrailingZeros64(unit)) & 63
		for i, v := range vs {
			vs[i] = (v - first) >> shift
		}
		return
	}
	for i, v := range vs {
		vs[i] = (v - first) / int64(unit)
	}
}

// spans finds the least and the greatest of values, differences, and differences of those.
func spans(vs []int64, lo, hi *[3]int64) {
	lo0, lo1, lo2 := vs[0], int64(math.MaxInt64), int64(math.MaxInt64)
	hi0, hi1, hi2 := vs[0], int64(math.MinInt64), int64(math.MinInt64)
	last, before := vs[0], int64(0)
	for i, v := range vs[1:] {
		d := v - last
		lo0, hi0 = min(lo0, v), max(hi0, v)
		lo1, hi1 = min(lo1, d), max(hi1, d)
		if i > 0 {
			dd := d - before
			lo2, hi2 = min(lo2, dd), max(hi2, dd)
		}
		last, before = v, d
	}
	*lo, *hi = [3]int64{lo0, lo1, lo2}, [3]int64{hi0, hi1, hi2}
}

// histogram counts residuals by how many bits they have, those below the base apart: by the bits of their
// complement.
type histogram struct {
	over, under [65]uint16
}

// count makes the histograms of all three kinds over their least residuals.
func count(vs []int64, lo *[3]int64, h *[3]histogram) {
	h[0].over[bits.Len64(uint64(vs[0]-lo[0]))]++
	last, before := vs[0], int64(0)
	for i, v := range vs[1:] {
		d := v - last
		h[0].over[bits.Len64(uint64(v-lo[0]))]++
		h[1].over[bits.Len64(uint64(d-lo[1]))]++
		if i > 0 {
			h[2].over[bits.Len64(uint64(d-before-lo[2]))]++
		}
		last, before = v, d
	}
}

// count makes the histogram of one kind over any base.
func (h *histogram) count(vs []int64, kind int, base int64) {
	for i := kind; i < len(vs); i++ {
		r := residual(vs, kind, i) - base
		if r >= 0 {
			h.over[bits.Len64(uint64(r))]++
		} else {
			h.under[bits.Len64(uint64(^r))]++
		}
	}
}

func residual(vs []int64, kind, i int) int64 {
	switch kind {
	case kindValues:
		return vs[i]
	case kindDeltas:
		return vs[i] - vs[i-1]
	}
	return vs[i] - 2*vs[i-1] + vs[i-2]
}

// bulk is where most residuals lie: from low on, as far as spread, around the middle, judged by some of them.
func bulk(vs []int64, kind int) (low, middle int64, spread uint64) {
	var some [16]int64
	step := max((len(vs)-kind)/len(some), 1)
	n := 0
	for i := kind; i < len(vs) && n < len(some); i += step {
		r := residual(vs, kind, i)
		at := n
		for at > 0 && some[at-1] > r {
			some[at] = some[at-1]
			at--
		}
		some[at] = r
		n++
	}
	if n < 4 {
		return math.MinInt64, 0, math.MaxUint64
	}
	return some[1], some[n/2], uint64(some[n-2] - some[1])
}

// choose finds the width at which packed residuals and patches take the fewest bytes, and how many
// those are; it returns false where too many lie below the base. A column of residuals belongs to n values.
func (h *histogram) choose(n, residuals int) (best column, ok bool) {
	patched, below := 0, 0 // residuals wider than the width at hand, and those below the base
	most, least := 0, 0    // bits of the widest of both
	for b := 64; b >= 0; b-- {
		if h.over[b] > 0 && most == 0 {
			most = b
		}
		if h.under[b] > 0 {
			below += int(h.under[b])
			least = max(least, b)
		}
	}
	for width := most; width >= 0; width-- {
		if width < most {
			patched += int(h.over[width+1])
		}
		patches := patched + below
		if 2*patches > n {
			break // a position takes more than what that many save
		}
		size := bitpack.Size(residuals, uint(width))
		var bitsOf uint
		if patches > 0 {
			// One bit more than the widest needs: the sign.
			bitsOf = uint(max(most-width, least-width, 0) + 1)
			if bitsOf > 64 {
				continue
			}
			size += varintSize(uint64(patches)) + 1 + bitpack.Size(patches, positionBits(n)) + bitpack.Size(patches, bitsOf)
		}
		if !ok || size < best.size {
			best, ok = column{width: uint(width), patch: bitsOf, patches: patches, size: size}, true
		}
	}
	return best, ok
}

// append writes what was planned.
func (c *column) append(dst []byte, vs []int64) []byte {
	head := c.kind
	if c.kind == kindRaw {
		dst = append(dst, head)
		for _, v := range vs {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
		return dst
	}
	if c.scale > 1 {
		head |= flagScaled
	}
	if c.patches > 0 {
		head |= flagPatched
	}
	switch {
	case c.classed:
		dst = append(dst, head|flagClassed)
	case c.pairs > 0:
		dst = append(dst, head|flagPaired, byte(c.pairs))
	default:
		dst = append(dst, head, byte(c.width))
	}
	if c.scale > 1 {
		dst = binary.AppendUvarint(binary.AppendVarint(dst, c.origin), c.scale)
	}
	if c.kind >= kindDeltas {
		dst = binary.AppendVarint(dst, vs[0])
	}
	if c.kind == kindDeltas2 {
		dst = binary.AppendVarint(dst, vs[1]-vs[0])
	}
	dst = binary.AppendVarint(dst, c.base)
	var low [Max]uint64
	rs := low[:len(vs)-int(c.kind)]
	switch c.kind {
	case kindValues:
		for i, v := range vs {
			rs[i] = uint64(v - c.base)
		}
	case kindDeltas:
		last := vs[0]
		for i, v := range vs[1:] {
			rs[i] = uint64(v - last - c.base)
			last = v
		}
	default:
		last, before := vs[1], vs[1]-vs[0]
		for i, v := range vs[2:] {
			d := v - last
			rs[i] = uint64(d - before - c.base)
			last, before = v, d
		}
	}
	if c.classed {
		for i, r := range rs {
			rs[i] = zigzag(int64(r))
		}
		dst, _ = classcode.Append(dst, rs) // which the plan has tried
		return dst
	}
	if c.pairs > 0 {
		return appendPairs(dst, rs, c.pairs)
	}
	if c.patches > 0 {
		var at, high [Max]uint64
		n := 0
		for i, r := range rs {
			if rest := int64(r) >> c.width; rest != 0 {
				at[n], high[n] = uint64(i), zigzag(rest)
				n++
				rs[i] = r &^ (^uint64(0) << c.width)
			}
		}
		dst = append(binary.AppendUvarint(dst, uint64(n)), byte(c.patch))
		dst = bitpack.Append(dst, at[:n], positionBits(len(vs)))
		dst = bitpack.Append(dst, high[:n], c.patch)
	}
	return bitpack.Append(dst, rs, c.width)
}

// decodeColumn fills dst, of 1 to Max words, from a column.
func decodeColumn(dst []uint64, src []byte) (rest []byte, err error) {
	s, rest, err := readColumn(dst, src)
	if err == nil {
		s.rebuild(dst)
	}
	return rest, err
}

// readColumn fills dst, of 1 to Max words, with the residuals of a column, from the first that is none on, and returns
// what they are to become.
func readColumn(dst []uint64, src []byte) (s shape, rest []byte, err error) {
	if len(src) < 1 {
		return s, nil, errShort
	}
	head, kind := src[0], int(src[0]&kindMask)
	s = shape{kind: kind, scale: 1}
	if kind == kindRaw {
		if head != kindRaw || len(src) < 1+8*len(dst) {
			return s, nil, fmt.Errorf("%w: column of raw integers with head %#x in %d bytes", ErrCorrupt, head, len(src))
		}
		for i := range dst {
			dst[i] = binary.LittleEndian.Uint64(src[1+8*i:])
		}
		s.kind, s.most = kindValues, 1<<63
		return s, src[1+8*len(dst):], nil
	}
	ways := head & (flagPatched | flagClassed | flagPaired)
	if head >= 2*flagPaired || ways&(ways-1) != 0 || kind >= len(dst) && kind > 0 {
		return s, nil, fmt.Errorf("%w: column of %d integers begins with %#x", ErrCorrupt, len(dst), head)
	}
	r := reader{src: src[1:]}
	var width uint
	if head&flagClassed == 0 {
		width = uint(r.byte())
	}
	if head&flagScaled != 0 {
		s.origin, s.scale = uint64(r.varint()), r.uvarint()
	}
	for i := range kind {
		s.first[i] = uint64(r.varint())
	}
	s.base = uint64(r.varint())
	if r.failed {
		return s, nil, errShort
	}
	s.most = math.Ldexp(1, int(width))
	residuals := dst[kind:]
	switch {
	case head&flagClassed != 0:
		s.most = 1 << 63
		rest, err = decodeClassed(residuals, r.src)
	case head&flagPaired != 0:
		s.most = 1 << 16
		rest, err = unpackPairs(residuals, r.src, uint64(width))
	case head&flagPatched != 0:
		s.most = 1 << 63
		rest, err = unpackPatched(residuals, r.src, width, len(dst))
	default:
		rest, err = unpack(residuals, r.src, width)
	}
	return s, rest, err
}

// unpack reads packed integers.
func unpack(dst []uint64, src []byte, width uint) (rest []byte, err error) {
	if err := bitpack.Unpack(dst, src, width); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return src[bitpack.Size(len(dst), width):], nil
}

// unpackPatched reads a list of patches, then packed residuals, and applies the patches to them. The column
// is of so many values.
func unpackPatched(dst []uint64, src []byte, width uint, values int) (rest []byte, err error) {
	r := reader{src: src}
	n, patch := r.uvarint(), uint(r.byte())
	if r.failed || n == 0 || n > uint64(len(dst)) {
		return nil, fmt.Errorf("%w: %d patches for %d integers", ErrCorrupt, n, len(dst))
	}
	var at, high [Max]uint64
	if src, err = unpackPositions(at[:n], r.src, values, len(dst)); err != nil {
		return nil, err
	}
	if src, err = unpack(high[:n], src, patch); err != nil {
		return nil, err
	}
	if rest, err = unpack(dst, src, width); err != nil {
		return nil, err
	}
	for i, p := range at[:n] {
		dst[p] += uint64(unzigzag(high[i])) << width
	}
	return rest, nil
}

// unpackPositions reads a list of positions among the values, which are less than limit.
func unpackPositions(at []uint64, src []byte, values, limit int) (rest []byte, err error) {
	if rest, err = unpack(at, src, positionBits(values)); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(at, func(p uint64) bool { return p >= uint64(limit) }); i >= 0 {
		return nil, fmt.Errorf("%w: position %d of %d", ErrCorrupt, at[i], limit)
	}
	return rest, nil
}
