package text

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"weir/graph/names"
)

// planDeclared reads the beginning of a format that declares its size.
func planDeclared(file string, format Format, text []byte, whole bool) (*plan, error) {
	d := &declaration{file: file, text: text, whole: whole}
	p := &plan{format: format, sep: ' ', integers: true, dst: 1, wgt: 2, columns: 2, base: 1, fixed: true}
	var err error
	switch format {
	case MatrixMarket:
		p.style = percentComments
		err = d.matrixMarket(p)
	case METIS:
		p.style = percentComments
		err = d.metis(p)
	case DIMACS:
		p.style = letterComments
		err = d.dimacs(p)
	}
	if err != nil {
		return nil, err
	}
	p.body, p.before = int64(d.at), d.seen
	return p, nil
}

// declaration walks the lines before the first edge.
type declaration struct {
	file  string
	text  []byte
	whole bool
	at    int // where the next line begins
	line  []byte
	seen  tally
}

// next moves to the next line that is neither blank nor a comment.
func (d *declaration) next(style commentStyle, what string) error {
	for {
		end := bytes.IndexByte(d.text[d.at:], '\n')
		switch {
		case end >= 0:
			d.line, d.at = d.text[d.at:d.at+end], d.at+end+1
		case !d.whole:
			return errMore
		case d.at == len(d.text):
			return fmt.Errorf("read graph %s: it ends before %s", d.file, what)
		default:
			d.line, d.at = d.text[d.at:], len(d.text)
		}
		d.seen.lines++
		d.line = bytes.TrimSpace(d.line)
		if len(d.line) == 0 {
			d.seen.blank++
		} else if style.comment(d.line) {
			d.seen.comments++
		} else {
			return nil
		}
	}
}

// fail is an error about the current line.
func (d *declaration) fail(format string, args ...any) error {
	return &LineError{File: d.file, Line: d.seen.lines, Reason: fmt.Sprintf(format, args...), Text: shown(d.line)}
}

// integers reads fields as numbers below 2⁶³.
func (d *declaration) integers(fields [][]byte) ([]int64, error) {
	var v []int64
	for _, f := range fields {
		u, err := parseID(f)
		if err == nil && u > math.MaxInt64 {
			err = errHuge
		}
		if err != nil {
			return nil, d.fail("size %q %v", f, err)
		}
		v = append(v, int64(u))
	}
	return v, nil
}

// vertices sets the number of vertices.
func (d *declaration) vertices(p *plan, n int64) error {
	if n > names.Limit {
		return d.fail("%d vertices, at most %d are possible", n, uint64(names.Limit))
	}
	p.limit = uint64(n)
	return nil
}

// matrixMarket reads the banner and the size line. Boisvert, Pozo, Remington,
// "The Matrix Market exchange formats" (1996).
func (d *declaration) matrixMarket(p *plan) error {
	// The banner begins like a comment.
	if err := d.next(letterComments, "its banner"); err != nil {
		return err
	}
	words := bytes.Fields(bytes.ToLower(d.line))
	if len(words) != 5 || string(words[0]) != "%%matrixmarket" || string(words[1]) != "matrix" {
		return d.fail("not a banner like %q", "%%MatrixMarket matrix coordinate real general")
	}
	if string(words[2]) != "coordinate" {
		return d.fail("matrix in %q format, want coordinate", words[2])
	}
	switch string(words[3]) {
	case "pattern":
	case "real", "integer", "double":
		p.weighted, p.columns = true, 3
	case "complex":
		return d.fail("complex entries cannot be weights")
	default:
		return d.fail("entries are %q, want pattern, real or integer", words[3])
	}
	switch string(words[4]) {
	case "general":
	case "symmetric", "hermitian":
		p.mirror = true
	case "skew-symmetric":
		p.mirror, p.negate = true, true
	default:
		return d.fail("symmetry is %q, want general, symmetric, skew-symmetric or hermitian", words[4])
	}
	if err := d.next(percentComments, "its size line"); err != nil {
		return err
	}
	fields := bytes.Fields(d.line)
	if len(fields) != 3 {
		return d.fail("%d sizes, want rows, columns and entries", len(fields))
	}
	size, err := d.integers(fields)
	if err != nil {
		return err
	}
	if size[0] != size[1] {
		return d.fail("a matrix of %d × %d is no graph: it must be square", size[0], size[1])
	}
	p.promised = size[2]
	return d.vertices(p, size[0])
}

// metis reads the header: vertices, edges, which weights there are, and how
// many a vertex has. METIS manual 5.1, section 4.1.1.
func (d *declaration) metis(p *plan) error {
	if err := d.next(percentComments, "its header"); err != nil {
		return err
	}
	fields := bytes.Fields(d.line)
	if len(fields) < 2 || len(fields) > 4 {
		return d.fail("%s, want a METIS header: vertices, edges, format, weights of a vertex", countFields(len(fields)))
	}
	numbers := slices.Clone(fields)
	if len(fields) > 2 {
		numbers = slices.Delete(numbers, 2, 3)
		code := fields[2]
		if len(code) > 3 || len(bytes.Trim(code, "01")) > 0 {
			return d.fail("format %q, want three digits 0 or 1", code)
		}
		has := func(fromRight int) bool { return len(code) > fromRight && code[len(code)-1-fromRight] == '1' }
		p.edgeWeights = has(0)
		if has(1) {
			p.vertexWeights = 1
		}
		if has(2) {
			p.vertexWeights++ // the size of a vertex stands before its weights
		}
	}
	size, err := d.integers(numbers)
	if err != nil {
		return err
	}
	if len(size) > 2 {
		if size[2] > maxColumn {
			return d.fail("%d weights of a vertex, at most %d are read", size[2], maxColumn)
		}
		// The header may count weights only where its format has them.
		if len(fields[2]) > 1 && fields[2][len(fields[2])-2] == '1' {
			p.vertexWeights += int(size[2]) - 1
		} else if size[2] > 0 {
			return d.fail("%d weights of a vertex, but format %q has none", size[2], fields[2])
		}
	}
	p.weighted = p.edgeWeights
	p.promised = size[1]
	return d.vertices(p, size[0])
}

// dimacs reads the problem line of the 9th DIMACS challenge (2006).
func (d *declaration) dimacs(p *plan) error {
	if err := d.next(letterComments, "its problem line"); err != nil {
		return err
	}
	fields := bytes.Fields(d.line)
	if len(fields) != 4 || string(fields[0]) != "p" || string(fields[1]) != "sp" {
		return d.fail("not a problem line like %q", "p sp 4 5")
	}
	size, err := d.integers(fields[2:])
	if err != nil {
		return err
	}
	p.prefix, p.weighted, p.columns, p.promised = 'a', true, 3, size[1]
	return d.vertices(p, size[0])
}
