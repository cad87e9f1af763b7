package order

// The curve is the one of the COST program, drawn with two bits a level from the
// highest bits of x and y down: quadrant (0,0) comes first, then (0,1), (1,1) and
// (1,0). Below quadrant (0,0) x and y change places, below (1,0) they change
// places and are mirrored, so that all ends meet.
//
// What a level does to those below it is a state of two bits: whether x and y
// have changed places, and whether they are mirrored. A table for each state
// takes four levels at once. Both tables fit the first-level cache.
var curveEnter, curveLeave = curveTables()

// curveState is where the state stands in the elements of both tables.
const curveState = 3 << 8

// curveTables makes the two tables. The index of both is state<<8 and eight bits
// below: 4 bits of x and 4 of y for curveEnter, 8 bits of the position for
// curveLeave. An element is the next state<<8 and eight bits of the other kind.
func curveTables() (enter, leave [1024]uint16) {
	for state := range uint16(4) {
		for x := range uint16(16) {
			for y := range uint16(16) {
				pos, s := uint16(0), state
				for bit := 3; bit >= 0; bit-- {
					a, b := x>>bit&1, y>>bit&1
					if s&1 != 0 {
						a, b = b, a
					}
					a, b = a^s>>1, b^s>>1
					pos = pos<<2 | 3*a ^ b
					if b == 0 {
						s ^= 1 | a<<1
					}
				}
				enter[state<<8|x<<4|y] = s<<8 | pos
				leave[state<<8|pos] = s<<8 | x<<4 | y
			}
		}
	}
	return enter, leave
}

// enterCurve16 takes 16 bits of x and y to 32 bits of position, from a state
// (as in the tables) to the next.
func enterCurve16(state, x, y uint32) (pos, next uint32) {
	e := uint32(curveEnter[state&curveState|x>>8&0xf0|y>>12&0xf])
	pos = e & 0xff
	e = uint32(curveEnter[e&curveState|x>>4&0xf0|y>>8&0xf])
	pos = pos<<8 | e&0xff
	e = uint32(curveEnter[e&curveState|x&0xf0|y>>4&0xf])
	pos = pos<<8 | e&0xff
	e = uint32(curveEnter[e&curveState|x<<4&0xf0|y&0xf])
	return pos<<8 | e&0xff, e & curveState
}

// leaveCurve16 is the inverse of enterCurve16.
func leaveCurve16(state, pos uint32) (x, y, next uint32) {
	e := uint32(curveLeave[state&curveState|pos>>24])
	x, y = e>>4&0xf, e&0xf
	e = uint32(curveLeave[e&curveState|pos>>16&0xff])
	x, y = x<<4|e>>4&0xf, y<<4|e&0xf
	e = uint32(curveLeave[e&curveState|pos>>8&0xff])
	x, y = x<<4|e>>4&0xf, y<<4|e&0xf
	e = uint32(curveLeave[e&curveState|pos&0xff])
	return x<<4 | e>>4&0xf, y<<4 | e&0xf, e & curveState
}

// Position is how far along the Hilbert curve through the matrix of 2^32 × 2^32
// the edge from x to y lies.
func Position(x, y uint32) uint64 {
	hi, state := enterCurve16(0, x>>16, y>>16)
	lo, _ := enterCurve16(state, x&0xffff, y&0xffff)
	return uint64(hi)<<32 | uint64(lo)
}

// Point is the edge at a position of the curve: the inverse of [Position].
func Point(position uint64) (x, y uint32) {
	hx, hy, state := leaveCurve16(0, uint32(position>>32))
	lx, ly, _ := leaveCurve16(state, uint32(position))
	return hx<<16 | lx, hy<<16 | ly
}
