package order

import "slices"

// The curve is the one of the COST program, drawn with two bits a level from the
// highest bits of x and y down: quadrant (0,0) comes first, then (0,1), (1,1) and
// (1,0). Below quadrant (0,0) x and y change places, below (1,0) they change
// places and are mirrored, so that all ends meet.
//
// What a level does to those below it is a state of two bits: whether x and y
// have changed places, and whether they are mirrored. A table for each state
// takes several levels at once. The 16 levels of a square, or of all squares, are
// taken as 6, 5 and 5: of the first table only the part for one state is in use,
// so that all tables together stay in the first-level cache.
var (
	enter6, leave6 = curveTables(6)
	enter5, leave5 = curveTables(5)
)

// Where the state and the rest stand in an element of a table. In the tables to
// enter the rest is a position, in those to leave it is x and, above, y.
const (
	enterState = 12
	leaveState = 10
	leaveY     = 16
	mask6      = 63<<leaveY | 63
	mask5      = 31<<leaveY | 31
)

// curveTables makes the tables for a number of levels, for state after state. An
// index is x<<levels | y to enter, a position to leave.
func curveTables(levels int) (enter []uint16, leave []uint32) {
	cells := 1 << (2 * levels)
	enter, leave = make([]uint16, 4*cells), make([]uint32, 4*cells)
	for i := range enter {
		x, y, state := i%cells>>levels, i%(1<<levels), i/cells
		position, s := 0, state
		for bit := levels - 1; bit >= 0; bit-- {
			a, b := x>>bit&1, y>>bit&1
			if s&1 != 0 {
				a, b = b, a
			}
			a, b = a^s>>1, b^s>>1
			position = position<<2 | 3*a ^ b
			if b == 0 {
				s ^= 1 | a<<1
			}
		}
		enter[i] = uint16(s<<enterState | position)
		leave[state*cells+position] = uint32(s<<leaveState | x | y<<leaveY)
	}
	return enter, leave
}

// tables are the tables for the 16 levels below a state.
type tables[E uint16 | uint32] struct {
	first  *[1 << 12]E // for the state alone
	others *[1 << 12]E // for all states
}

func enterTables(state uint32) tables[uint16] {
	return tables[uint16]{(*[1 << 12]uint16)(enter6[state&3<<12:]), (*[1 << 12]uint16)(enter5)}
}

func leaveTables(state uint32) tables[uint32] {
	return tables[uint32]{(*[1 << 12]uint32)(leave6[state&3<<12:]), (*[1 << 12]uint32)(leave5)}
}

// enterSquare is the position of the lower 16 bits of x and y, with the tables of
// a state, and the state below. The loops over many edges repeat its body, which
// is too large to be inlined.
func enterSquare(t tables[uint16], x, y uint32) (position, state uint32) {
	e := uint32(t.first[x>>4&(63<<6)|y>>10&63])
	position = e & (1<<enterState - 1)
	e = uint32(t.others[e>>enterState<<10&(3<<10)|x&(31<<5)|y>>5&31])
	position = position<<10 | e&(1<<10-1)
	e = uint32(t.others[e>>enterState<<10&(3<<10)|x&31<<5|y&31])
	return position<<10 | e&(1<<10-1), e >> enterState
}

// leaveSquare is the inverse of enterSquare: xy has x in its lower and y in its
// upper 16 bits.
func leaveSquare(t tables[uint32], position uint32) (xy, state uint32) {
	e := t.first[position>>20]
	xy = e & mask6
	e = t.others[e&(3<<leaveState)|position>>10&(1<<10-1)]
	xy = xy<<5 | e&mask5
	e = t.others[e&(3<<leaveState)|position&(1<<10-1)]
	return xy<<5 | e&mask5, e >> leaveState & 3
}

// enterPairs is enterSquare for many: it appends the positions of pairs in the
// square of the given position and state.
func enterPairs(square, state uint32, pairs []Pair, positions []uint64) []uint64 {
	at := len(positions)
	positions = slices.Grow(positions, len(pairs))[:at+len(pairs)]
	dst := positions[at:]
	t := enterTables(state)
	first, others, hi := t.first, t.others, uint64(square)<<32
	for i, p := range pairs {
		x, y := uint32(p.X), uint32(p.Y)
		e := uint32(first[x>>4&(63<<6)|y>>10&63])
		position := e & (1<<enterState - 1)
		e = uint32(others[e>>enterState<<10&(3<<10)|x&(31<<5)|y>>5&31])
		position = position<<10 | e&(1<<10-1)
		e = uint32(others[e>>enterState<<10&(3<<10)|x&31<<5|y&31])
		dst[i] = hi | uint64(position<<10|e&(1<<10-1))
	}
	return positions
}

// leavePairs is leaveSquare for many: the pairs at the lower 32 bits of
// positions. Both may be the same memory.
func leavePairs[P uint32 | uint64](state uint32, positions []P, pairs []Pair) {
	t := leaveTables(state)
	first, others := t.first, t.others
	pairs = pairs[:len(positions)]
	for i, p := range positions {
		position := uint32(p)
		e := first[position>>20]
		xy := e & mask6
		e = others[e&(3<<leaveState)|position>>10&(1<<10-1)]
		xy = xy<<5 | e&mask5
		e = others[e&(3<<leaveState)|position&(1<<10-1)]
		xy = xy<<5 | e&mask5
		pairs[i] = Pair{X: uint16(xy), Y: uint16(xy >> 16)}
	}
}

// squarePosition is the position of a square among all squares, and the state in it.
func squarePosition(x, y uint32) (position, state uint32) {
	return enterSquare(enterTables(0), x, y)
}

// squareAt is the inverse of squarePosition.
func squareAt(position uint32) (x, y, state uint32) {
	xy, state := leaveSquare(leaveTables(0), position)
	return xy & 0xffff, xy >> 16, state
}

// Position is how far along the Hilbert curve through the matrix of 2^32 × 2^32
// the edge from x to y lies.
func Position(x, y uint32) uint64 {
	hi, state := squarePosition(x>>16, y>>16)
	lo, _ := enterSquare(enterTables(state), x, y)
	return uint64(hi)<<32 | uint64(lo)
}

// Point is the edge at a position of the curve: the inverse of [Position].
func Point(position uint64) (x, y uint32) {
	x, y, state := squareAt(uint32(position >> 32))
	xy, _ := leaveSquare(leaveTables(state), uint32(position))
	return x<<16 | xy&0xffff, y<<16 | xy>>16
}
