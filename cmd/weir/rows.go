package main

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strconv"
)

// column is a value for each vertex.
type column struct {
	name string
	// append writes the value of a vertex as text.
	append func(dst []byte, v uint32) []byte
	named  bool // the values are names rather than numbers
	// compare is below 0 where vertex v comes before w when results are ranked.
	compare func(v, w uint32) int
	// vector appends the values of vertices lo to hi, little-endian.
	vector func(dst []byte, lo, hi int) []byte
}

type number interface {
	int32 | int64 | uint32 | float32 | float64
}

// numbers is a column of numbers. Ranked, the largest come first.
func numbers[T number](name string, values []T) column {
	return column{
		name:    name,
		append:  func(dst []byte, v uint32) []byte { return appendNumber(dst, values[v]) },
		compare: func(v, w uint32) int { return cmp.Compare(values[w], values[v]) },
		vector: func(dst []byte, lo, hi int) []byte {
			dst, _ = binary.Append(dst, binary.LittleEndian, values[lo:hi]) // numbers have a fixed size
			return dst
		},
	}
}

// ascending ranks the smallest first.
func (c column) ascending() column {
	compare := c.compare
	c.compare = func(v, w uint32) int { return compare(w, v) }
	return c
}

// vertices is a column of vertices, shown by their names.
func (g *opened) vertices(name string, values []uint32) column {
	c := numbers(name, values)
	c.append = func(dst []byte, v uint32) []byte { return g.Names.Append(dst, values[v]) }
	c.named = true
	return c
}

func appendNumber[T number](dst []byte, x T) []byte {
	switch x := any(x).(type) {
	case float32:
		return strconv.AppendFloat(dst, float64(x), 'g', -1, 32)
	case float64:
		return appendFloat(dst, x)
	case uint32:
		return strconv.AppendUint(dst, uint64(x), 10)
	case int32:
		return strconv.AppendInt(dst, int64(x), 10)
	case int64:
		return strconv.AppendInt(dst, x, 10)
	}
	return dst
}

func appendFloat(dst []byte, x float64) []byte {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.AppendInt(dst, int64(x), 10) // such as a length of whole weights
	}
	return strconv.AppendFloat(dst, x, 'g', -1, 64)
}

// rows are the results of an algorithm, one a vertex.
type rows struct {
	g       *opened
	id      string // what vertices are here, in headings
	columns []column
	// has says whether a vertex has a result; nil if all have.
	has func(v uint32) bool
}

// pick returns the k vertices that rank first by the first column, smaller
// vertices first among equals.
func (r *rows) pick(k int) []uint32 {
	if k = min(k, r.g.Vertices); k <= 0 {
		return nil
	}
	compare := func(v, w uint32) int { return cmp.Or(r.columns[0].compare(v, w), cmp.Compare(v, w)) }
	var best []uint32
	trim := func() {
		slices.SortFunc(best, compare)
		best = best[:min(k, len(best))]
	}
	limit := 2*k + 1024
	var last uint32 // the worst of the k best so far, once there are k
	full := false
	for v := range uint32(r.g.Vertices) {
		if r.has != nil && !r.has(v) || full && compare(v, last) > 0 {
			continue
		}
		if best = append(best, v); len(best) >= limit {
			trim()
			last, full = best[len(best)-1], len(best) == k
		}
	}
	trim()
	return best
}

// each calls f for the vertices of the k first rows, or of all in order if k is
// negative.
func (r *rows) each(k int, f func(v uint32) error) error {
	if k >= 0 {
		for _, v := range r.pick(k) {
			if err := f(v); err != nil {
				return err
			}
		}
		return nil
	}
	for v := range uint32(r.g.Vertices) {
		if r.has == nil || r.has(v) {
			if err := f(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeVector writes the raw values of all vertices, column after column.
func (r *rows) writeVector(w io.Writer) error {
	const chunk = 1 << 14
	var buf []byte
	for _, c := range r.columns {
		for lo := 0; lo < r.g.Vertices; lo += chunk {
			buf = c.vector(buf[:0], lo, min(lo+chunk, r.g.Vertices))
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeIDs writes the id of each vertex, one a line.
func (r *rows) writeIDs(w io.Writer) error {
	var buf []byte
	for v := range uint32(r.g.Vertices) {
		buf = append(r.g.Names.Append(buf[:0], v), '\n')
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
