package text

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"weir/graph/names"
)

// mode is what the vertices of a part are.
type mode int

const (
	finalIDs     mode = iota // vertices
	rawIDs                   // integers below 2³² to be renumbered at the end
	localInts                // numbers in the part's own dictionary of integers
	localStrings             // numbers in the part's own dictionary of strings
)

// part is what one chunk of text holds.
type part struct {
	index    int
	mode     mode
	edges    []uint64
	weights  []float32
	fresh    []uint32 // rawIDs: ids that the parser had not seen in earlier parts
	ints     *names.Ints
	strings  *names.Strings
	largest  uint32 // with Options.KeepIDs
	entries  int64  // lines that are edges
	rows     int64  // METIS
	filled   int64  // METIS: rows up to the last one that is not empty
	size     int64  // bytes of text
	badLines []badLine
	fatal    error // ends the reading at this part; tallies are up to there
	tally
}

// badLine is a LineError whose line counts from the start of the part.
type badLine struct {
	line   int64
	reason string
	text   string
}

// parser turns chunks into parts. Each thread has its own.
type parser struct {
	*plan
	opt     *Options
	name    string
	pool    *pool
	seen    *names.Set // rawIDs that this parser has seen
	dict    bool       // integers go through dictionaries from now on
	cutter  fieldCutter
	perEdge float64 // bytes of text per edge, as it was lately
}

func newParser(in *Input, p *plan, opt *Options, pool *pool) *parser {
	ps := &parser{plan: p, opt: opt, name: in.name, pool: pool, cutter: fieldCutter{sep: p.sep}, perEdge: 12}
	if p.integers && !p.fixed && !opt.KeepIDs {
		ps.seen = names.NewSet()
	}
	return ps
}

// parse reads the n bytes of whole lines at the start of b, which has padding
// more. What it returns holds nothing of b.
func (p *parser) parse(b []byte, n int, index int) *part {
	out := &part{index: index, size: int64(n), mode: finalIDs}
	out.edges, out.weights = p.pool.get(int(float64(n)/p.perEdge)+64, p.weighted)
	switch {
	case p.format == METIS:
		p.rowsOf(b[:n], out)
	case !p.integers:
		out.mode = localStrings
		out.strings = p.pool.strings.Get().(*names.Strings)
		p.scan(b, n, out)
	case p.seen == nil:
		p.scan(b, n, out)
	default:
		out.mode = rawIDs
		if p.dict || !p.scan(b, n, out) {
			*out = part{index: index, size: int64(n), mode: localInts, edges: out.edges[:0], weights: out.weights[:0]}
			out.ints = p.pool.ints.Get().(*names.Ints)
			p.scan(b, n, out)
		}
	}
	if len(out.edges) > 0 {
		p.perEdge = max(2, float64(n)/float64(len(out.edges))*0.95)
	}
	return out
}

// scan reads lines that are edges. It returns false where an integer does not
// fit the part's mode. The loop reads the plain line "12 34\n" of integers by
// itself; any other line goes to [parser.line].
func (p *parser) scan(b []byte, n int, out *part) bool {
	edges, weights := out.edges[:0], out.weights[:0]
	sepA, sepB := p.sep, p.sep
	if p.sep == ' ' {
		sepB = '\t'
	}
	base, limit, seen, skip := p.base, p.limit, p.seen, 0
	raw, ints := out.mode == rawIDs, out.ints
	if ints != nil {
		limit = 1<<64 - 1
	}
	if p.prefix != 0 {
		skip = 2
	}
	plain := p.integers && p.src == 0 && p.dst == 1 && (!p.weighted || p.wgt == 2)
	weighted, mirror, longest := p.weighted, p.mirror, p.opt.MaxLine
	var lines, entries, selfLoops int64
	var largest uint64
	for i := 0; i < n; {
		var s, t, u uint64
		var w float32
		var j, d, e int
		if !plain || skip != 0 && (b[i] != p.prefix || b[i+1] != ' ') {
			goto slow
		}
		j = i + skip
		if s, d = digits(b, j); d == 8 {
			s, d = number(b, j)
		}
		j += d
		if d == 0 || b[j] != sepA && b[j] != sepB {
			goto slow
		}
		if j++; b[j] == ' ' {
			j++
		}
		if t, e = digits(b, j); e == 8 {
			t, e = number(b, j)
		}
		j += e
		if e == 0 {
			goto slow
		}
		if weighted {
			if b[j] != sepA && b[j] != sepB {
				goto slow
			}
			if u, d = digits(b, j+1); d-1 < 7 && d > 0 && b[j+1+d] != '.' && u <= 1<<24 {
				w = float32(u)
			} else {
				var v float64
				var rounded bool
				if v, d = plainWeight(b, j+1); d == 0 {
					goto slow
				}
				if w, rounded = narrow(v); rounded {
					goto slow
				}
			}
			j += 1 + d
		}
		switch c := b[j]; {
		case c == '\n':
		case c == '\r' && b[j+1] == '\n':
			j++
		case c == sepA || c == sepB: // further columns
			if j += bytes.IndexByte(b[j:n], '\n'); j-i > longest {
				goto slow
			}
		default:
			goto slow
		}
		s -= base
		t -= base
		if s >= limit || t >= limit {
			goto slow
		}
		lines++
		i = j + 1
		goto edge
	slow:
		{
			out.lines += lines
			lines = 0
			var l line
			l, i = p.line(b, i, n, out)
			switch l.is {
			case notEdge:
				continue
			case tooWide:
				return false
			case theEnd:
				i = n
				continue
			}
			s, t, w = l.s, l.t, l.w
		}
	edge:
		if raw {
			if !seen.Has(uint32(s)) {
				seen.Add(uint32(s))
				out.fresh = append(out.fresh, uint32(s))
			}
			if !seen.Has(uint32(t)) {
				seen.Add(uint32(t))
				out.fresh = append(out.fresh, uint32(t))
			}
		} else if ints != nil {
			s = uint64(ints.Add(s))
			t = uint64(ints.Add(t))
		} else {
			largest = max(largest, s, t)
		}
		entries++
		edges = append(edges, s<<32|t)
		if weighted {
			weights = append(weights, w)
		}
		if s == t {
			selfLoops++
		} else if mirror {
			edges = append(edges, t<<32|s)
			if p.negate {
				w = -w
			}
			if weighted {
				weights = append(weights, w)
			}
		}
	}
	out.edges, out.weights = edges, weights
	out.lines += lines
	out.entries += entries
	out.selfLoops += selfLoops
	out.largest = uint32(largest)
	return true
}

// line is what became of a line.
type line struct {
	is   kindOfLine
	s, t uint64 // an edge: ids minus base, or numbers of strings
	w    float32
}

type kindOfLine int

const (
	isEdge  kindOfLine = iota
	notEdge            // counted, and noted where it is bad
	tooWide            // an integer does not fit the part's mode
	theEnd             // the part has got its fatal error
)

// line reads any line; next is where the following one begins.
func (p *parser) line(b []byte, i, n int, out *part) (l line, next int) {
	end := i + bytes.IndexByte(b[i:n], '\n')
	next = end + 1
	if l = p.lineOf(b[i:end], out); l.is != tooWide {
		out.lines++
	}
	return l, next
}

// lineOf reads a line without its end.
func (p *parser) lineOf(text []byte, out *part) line {
	if len(text) > 0 && text[len(text)-1] == '\r' {
		text = text[:len(text)-1]
	}
	if len(text) > p.opt.MaxLine {
		out.fatal = tooLong(p.name, out.lines+1, text, p.opt.MaxLine)
		return line{is: theEnd}
	}
	row := trimLead(text, p.sep)
	if nothingIn(row) {
		out.blank++
		return line{is: notEdge}
	}
	if p.style.comment(row) {
		out.comments++
		return line{is: notEdge}
	}
	if p.prefix != 0 {
		if row[0] != p.prefix || len(row) < 2 || !blank(row[1]) {
			return p.refuse(out, text, "want an arc like %q", "a 1 2 3")
		}
		row = row[2:]
	}
	fields, err := p.cutter.cut(row, p.columns)
	if err != nil {
		return p.refuse(out, text, "%v", err)
	}
	if need := max(p.src, p.dst) + 1; len(fields) < need {
		return p.refuse(out, text, "%s, an edge needs %d separated by %s", countFields(len(fields)), need, separatorName(p.sep))
	}
	src, dst := fields[p.src], fields[p.dst]
	if missing(src, p.opt.Missing) || missing(dst, p.opt.Missing) {
		out.missing++
		return line{is: notEdge}
	}
	if len(src) == 0 || len(dst) == 0 {
		return p.refuse(out, text, "an endpoint is empty")
	}
	var l line
	if p.weighted {
		if len(fields) <= p.wgt {
			return p.refuse(out, text, "no weight in column %d", p.wgt+1)
		}
		w, err := parseWeight(fields[p.wgt])
		if err != nil {
			return p.refuse(out, text, "weight %s %v", shown(fields[p.wgt]), err)
		}
		var rounded bool
		if l.w, rounded = narrow(w); rounded {
			out.rounded++
		}
	}
	if p.integers {
		return p.integerEnds(l, src, dst, text, out)
	}
	if bytes.IndexByte(src, 0) >= 0 || bytes.IndexByte(dst, 0) >= 0 {
		return p.refuse(out, text, "an id holds a byte 0")
	}
	l.s = uint64(out.strings.Add(src))
	l.t = uint64(out.strings.Add(dst))
	return l
}

// trimLead drops the blanks in front of a line, but not an empty first field.
func trimLead(row []byte, sep byte) []byte {
	for len(row) > 0 && blank(row[0]) && row[0] != sep || len(row) > 0 && sep == ' ' && row[0] == ' ' {
		row = row[1:]
	}
	return row
}

// integerEnds reads the ends of an edge as integers.
func (p *parser) integerEnds(l line, src, dst, text []byte, out *part) line {
	for _, end := range []struct {
		field []byte
		to    *uint64
	}{{src, &l.s}, {dst, &l.t}} {
		id, err := parseID(end.field)
		if err != nil {
			hint := ""
			if errors.Is(err, errNoInt) && p.format == EdgeList && p.opt.IDs == AutoIDs && !p.fixed {
				hint = " as those of the first lines are (if ids are strings, say so)"
			}
			return p.refuse(out, text, "id %s %v%s", shown(end.field), err, hint)
		}
		*end.to = id - p.base // wraps round below base, and is out of range then
		switch {
		case *end.to < p.limit || out.mode == localInts:
		case p.fixed:
			return p.refuse(out, text, "id %d is not in %d to %d, which are all vertices", id, p.base, p.base+p.limit-1)
		case out.mode == rawIDs:
			// A bad target must not count as wide.
			if _, err := parseID(dst); err == nil {
				return line{is: tooWide}
			}
		default:
			return p.refuse(out, text, "id %d is too large to be kept: it must be below %d", id, p.limit)
		}
	}
	return l
}

// refuse notes a bad line.
func (p *parser) refuse(out *part, text []byte, format string, args ...any) line {
	out.bad++
	if len(out.badLines) < maxSamples {
		out.badLines = append(out.badLines, badLine{out.lines + 1, fmt.Sprintf(format, args...), shown(text)})
	}
	if p.opt.SkipBad == 0 {
		return line{is: theEnd}
	}
	return line{is: notEdge}
}

func tooLong(file string, line int64, text []byte, most int) error {
	return &LineError{File: file, Line: line, Reason: fmt.Sprintf("the line is longer than %d bytes", most), Text: shown(text)}
}

// countFields is a number with its noun.
func countFields(n int) string {
	if n == 1 {
		return "1 field"
	}
	return strconv.Itoa(n) + " fields"
}
