package generate

import "math"

// grid numbers vertices row by row. All rows but the last have, for each
// column, an edge down and one to the right (none in the last column); the last
// row has only those to the right.
type grid struct{ rows, columns int64 }

func (g grid) fill(dst []uint64, first int64) {
	perRow := 2*g.columns - 1
	for i := range dst {
		e := first + int64(i)
		row, k := e/perRow, e%perRow
		if row == g.rows-1 {
			v := uint64(row*g.columns + k)
			dst[i] = v<<32 | (v + 1)
			continue
		}
		v := uint64(row*g.columns + k/2)
		if k%2 == 0 {
			dst[i] = v<<32 | (v + uint64(g.columns))
		} else {
			dst[i] = v<<32 | (v + 1)
		}
	}
}

// chain links each vertex to the next.
type chain struct{}

func (chain) fill(dst []uint64, first int64) {
	for i := range dst {
		v := uint64(first) + uint64(i)
		dst[i] = v<<32 | (v + 1)
	}
}

// star links vertex 0 to all others.
type star struct{}

func (star) fill(dst []uint64, first int64) {
	for i := range dst {
		dst[i] = uint64(first) + uint64(i) + 1
	}
}

// complete links each vertex to all that follow it.
type complete struct{ n int64 }

func (c complete) fill(dst []uint64, first int64) {
	// Counted from the end, the rows have 1, 2, 3, … edges.
	last := c.n*(c.n-1)/2 - 1
	back := last - first
	row := triangleRow(back)
	source := c.n - 2 - row
	target := c.n - 1 - (back - row*(row+1)/2)
	for i := range dst {
		dst[i] = uint64(source)<<32 | uint64(target)
		if target++; target == c.n {
			source++
			target = source + 1
		}
	}
}

// triangleRow is the row of element i of a triangle whose rows have 1, 2, 3, …
// elements: the largest r with r(r+1)/2 ≤ i.
func triangleRow(i int64) int64 {
	r := int64((math.Sqrt(8*float64(i)+1) - 1) / 2)
	for r*(r+1)/2 > i {
		r--
	}
	for (r+1)*(r+2)/2 <= i {
		r++
	}
	return r
}
