package text

import (
	"bytes"
	"fmt"

	"weir/series/names"
)

const (
	maxTime  = 28 // bytes of a timestamp with its end
	maxValue = 64 // of a value
	// maxNames bounds the bytes of names that a dictionary makes a reader hold.
	maxNames = 128 << 20
	// maxCompound bounds those of compound names that no dictionary holds: beyond, they
	// are forgotten, and found again.
	maxCompound = 8 << 20
)

// column is a series of an entry.
type column struct {
	name  []byte
	ref   uint32
	event bool
}

// resp reads RESP. What it refuses it refuses in the words of Akumuli.
type resp struct {
	dictionary map[uint64][]column
	compound   map[string][]column
	single     [1]column // of a name that is spelled out
	refs       uint32
	held       int  // bytes of names in the dictionary
	compounds  int  // and in compound
	pairs      int  // of a dictionary that are still to come
	points     bool // read since the begin of what was read at a time
	lost       bool // behind an error, looking for a message
}

func newResp() *resp {
	return &resp{dictionary: map[uint64][]column{}, compound: map[string][]column{}}
}

// incomplete, as an offset, is behind what there is.
const incomplete = -1

func (p *resp) parse(r *Reader, text []byte) (int, *fault) {
	if r.fresh {
		p.points = false
	}
	i := 0
	if p.lost {
		if i = p.find(r, text, 0); p.lost {
			return i, nil
		}
	}
	for i < len(text) && len(r.rows) < r.batch {
		rows := len(r.rows)
		var next int
		var f *fault
		if p.pairs > 0 {
			next, f = p.pair(r, text, i, i)
		} else {
			next, f = p.message(r, text, i)
		}
		if f != nil && f.next == toLineEnd && r.options.Skip && !r.final && len(text)-i < 2*r.options.MaxLine {
			next, f = incomplete, nil // where to go on is not known before the line is
		}
		if f != nil {
			r.rows = r.rows[:rows]
			return p.recover(r, text, i, f)
		}
		if next == incomplete {
			r.rows = r.rows[:rows]
			if r.final && r.broken == nil {
				return i, &fault{reason: ReasonIncomplete, at: i, next: len(text)}
			}
			break
		}
		i = next
	}
	return i, nil
}

// recover makes the fault of the message at i the reader's, with i consumed.
func (p *resp) recover(r *Reader, text []byte, i int, f *fault) (int, *fault) {
	if text[i] == '+' && p.pairs == 0 {
		// The name was not looked at yet, and it is the first thing to be wrong.
		line := text[i+1:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = bytes.TrimSuffix(line[:end], []byte{'\r'})
			if _, err := names.Canonical(nil, line); err != nil && f.reason != "out of quota" {
				f.reason, f.detail = ReasonName, ""
			}
		}
	}
	f.at = i
	p.lost, p.pairs = true, 0
	if f.next == toLineEnd {
		return 0, f
	}
	f.next = p.find(r, text, f.next)
	return 0, f
}

// find looks from i, where a line begins, for what begins a message: a line with a
// name, or with an id of the dictionary before one with a time.
func (p *resp) find(r *Reader, text []byte, i int) int {
	for i < len(text) {
		end := bytes.IndexByte(text[i:], '\n')
		if end < 0 {
			if r.final {
				i = len(text)
			}
			break
		}
		line := bytes.TrimSuffix(text[i:i+end], []byte{'\r'})
		next := i + end + 1
		if len(line) > 1 && line[0] == '+' && bytes.IndexByte(line, '=') > 0 {
			if _, err := names.Canonical(nil, line[1:]); err == nil {
				p.lost = false
				return i
			}
		}
		if len(line) > 1 && line[0] == ':' {
			id, ok := parseInt(line[1:])
			if _, known := p.dictionary[uint64(id)]; ok && known {
				if next == len(text) && !r.final {
					break // until its neighbour is there
				}
				if next < len(text) && (text[next] == ':' || text[next] == '+') {
					p.lost = false
					return i
				}
			}
		}
		i = next
	}
	return i
}

// message reads the message at i and returns where the next one begins.
func (p *resp) message(r *Reader, text []byte, i int) (int, *fault) {
	var columns []column
	next := i
	switch text[i] {
	case '+':
		name, after, f := p.text(r, text, i, r.options.MaxLine)
		if f != nil || after == incomplete {
			return after, f
		}
		if bytes.IndexByte(name, '|') >= 0 {
			if columns, f = p.columns(name, i, after); f != nil {
				return 0, f
			}
		} else {
			p.single[0] = column{name: name, event: isEvent(name)}
			columns = p.single[:]
		}
		next = after
	case ':':
		id, after, f := integer(text, i)
		if f != nil || after == incomplete {
			return after, f
		}
		if columns = p.dictionary[id]; columns == nil {
			return 0, &fault{reason: ReasonName, next: after}
		}
		next = after
	case '*':
		if r.options.Strict && p.points {
			return 0, &fault{reason: "unexpected parameter id format", next: lineAfter(text, i)}
		}
		return p.begin(r, text, i)
	default:
		return 0, &fault{reason: "unexpected parameter id format", next: lineAfter(text, i)}
	}
	t, next, f := p.time(r, text, next)
	if f != nil {
		// The line behind is the value, which for an event may look like a name.
		if after := f.next; len(columns) == 1 && after == len(text) {
			f.next = toLineEnd
		} else if len(columns) == 1 && after > 0 && (text[after] == '+' || text[after] == ':') {
			f.next = lineAfter(text, after)
		}
		return 0, f
	}
	if next == incomplete || next == len(text) {
		return incomplete, nil
	}
	if next, f = p.values(r, text, i, next, t, columns); f == nil && next != incomplete {
		p.points = true
	}
	return next, f
}

func isEvent(name []byte) bool {
	for _, c := range name {
		if c != ' ' && c != '\t' {
			return c == '!'
		}
	}
	return false
}

// columns is the series of a compound name.
func (p *resp) columns(name []byte, i, after int) ([]column, *fault) {
	if known, ok := p.compound[string(name)]; ok {
		return known, nil
	}
	all, f := p.entry(name, after)
	if f != nil {
		return nil, f
	}
	if p.compounds += size(all); p.compounds > maxCompound {
		clear(p.compound)
		p.compounds = size(all)
	}
	p.compound[string(name)] = all
	return all, nil
}

// entry makes columns of a name. Only those of a dictionary get numbers: the
// others are forgotten at times.
func (p *resp) entry(name []byte, after int) ([]column, *fault) {
	parts, err := names.Columns(name)
	if err != nil {
		return nil, &fault{reason: ReasonName, next: after}
	}
	all := make([]column, len(parts))
	for k, part := range parts {
		all[k] = column{name: []byte(part), event: part[0] == '!'}
	}
	return all, nil
}

// size is about how many bytes an entry takes.
func size(columns []column) int {
	n := 128
	for _, c := range columns {
		n += len(c.name) + 48
	}
	return n
}

// begin reads the head of a dictionary and its first pair.
func (p *resp) begin(r *Reader, text []byte, i int) (int, *fault) {
	n, next, f := integer(text, i)
	if f != nil || next == incomplete {
		return next, f
	}
	switch {
	case n%2 != 0:
		return 0, &fault{reason: "number of elements in the dictionary should be even", next: next}
	case n == 0:
		return next, nil
	case n > 1<<31-2:
		return 0, &fault{reason: "out of quota", next: next}
	case next == len(text):
		return incomplete, nil
	}
	next, f = p.pair(r, text, i, next)
	if f == nil && next != incomplete {
		p.pairs = int(n)/2 - 1
	}
	return next, f
}

// pair reads a name and its id at i, of a dictionary's part that begins at start.
func (p *resp) pair(r *Reader, text []byte, start, i int) (int, *fault) {
	const wrong = "unexpected series name format"
	if text[i] != '+' {
		return 0, &fault{reason: wrong, next: lineAfter(text, i)}
	}
	name, next, f := p.text(r, text, i, r.options.MaxLine)
	if f != nil || next == incomplete || next == len(text) {
		return min(next, incomplete), f
	}
	if text[next] != ':' {
		return 0, &fault{reason: wrong, next: lineAfter(text, next)}
	}
	id, after, f := integer(text, next)
	if f != nil || after == incomplete {
		return after, f
	}
	if _, known := p.dictionary[id]; !known { // the first meaning of an id stays
		columns, f := p.entry(name, after)
		if f != nil {
			return 0, f
		}
		if p.held+size(columns) > maxNames {
			return 0, &fault{reason: "out of quota", detail: fmt.Sprintf("names of more than %d bytes in dictionaries", maxNames), next: after}
		}
		for k := range columns {
			p.refs++
			columns[k].ref = p.refs
		}
		p.held += size(columns)
		p.dictionary[id] = columns
	}
	if p.pairs > 0 && start == i {
		p.pairs--
	}
	return after, nil
}

// time reads the time at i.
func (p *resp) time(r *Reader, text []byte, i int) (t int64, next int, f *fault) {
	const wrong = "unexpected parameter timestamp format"
	if i == len(text) {
		return 0, incomplete, nil
	}
	switch text[i] {
	case ':':
		v, next, f := integer(text, i)
		if f != nil || next == incomplete {
			return 0, next, f
		}
		if v >= 1<<63 {
			return 0, 0, &fault{reason: "integer overflow", detail: "times end at 2^63-1 ns", next: next}
		}
		return int64(v), next, nil
	case '+':
		line, next, f := p.text(r, text, i, maxTime)
		if f != nil || next == incomplete {
			return 0, next, f
		}
		ok := false
		if len(line) > 8 && line[8] == 'T' {
			if c := line[len(line)-1]; c-'0' <= 9 && bytes.IndexByte(line, '+') < 0 && bytes.IndexByte(line, '-') < 0 {
				t, ok = parseDate(line)
			}
		} else {
			t, ok = parseInt(line)
			ok = ok && line[0] != '+'
		}
		if !ok || t < 0 {
			return 0, 0, &fault{reason: wrong, next: next}
		}
		return t, next, nil
	}
	return 0, 0, &fault{reason: wrong, next: lineAfter(text, i)}
}

// values reads what follows the time of the message at start.
func (p *resp) values(r *Reader, text []byte, start, i int, t int64, columns []column) (int, *fault) {
	kind := text[i]
	if kind != '*' {
		if len(columns) > 1 {
			reason := "unexpected parameter value format"
			switch kind {
			case '+':
				reason = "array expected (bulk format), string found"
			case ':':
				reason = "array expected (bulk format), integer found"
			}
			return 0, &fault{reason: reason, next: lineAfter(text, i)}
		}
		return p.value(r, text, start, i, t, &columns[0], ReasonBadEvent)
	}
	n, next, f := integer(text, i)
	switch {
	case f != nil || next == incomplete:
		return next, f
	case n < uint64(len(columns)):
		return 0, &fault{reason: "wrong array size, more values expected", next: next}
	case n > uint64(len(columns)):
		return 0, &fault{reason: "wrong array size, less values expected", next: next}
	}
	for k := range columns {
		if next == len(text) {
			return incomplete, nil
		}
		if next, f = p.value(r, text, start, next, t, &columns[k], "unexpected event format"); f != nil || next == incomplete {
			return next, f
		}
	}
	return next, nil
}

// value reads the value of a column at i.
func (p *resp) value(r *Reader, text []byte, start, i int, t int64, c *column, noText string) (int, *fault) {
	var v float64
	var words []byte
	var next int
	switch kind := text[i]; {
	case kind == ':' && c.event:
		return 0, &fault{reason: noText, next: lineAfter(text, i)}
	case kind == ':':
		n, after, f := integer(text, i)
		if f != nil || after == incomplete {
			return after, f
		}
		v, next = float64(n), after
	case kind == '+' && c.event:
		line, after, f := p.text(r, text, i, r.options.MaxLine)
		if f != nil || after == incomplete {
			return after, f
		}
		if len(line) == 0 {
			return 0, &fault{reason: ReasonBadEvent, next: after}
		}
		words, next = line, after
	case kind == '+':
		line, after, f := p.text(r, text, i, maxValue)
		if f != nil || after == incomplete {
			return after, f
		}
		number := line
		for len(number) > 0 && (number[0] == ' ' || number[0] == '\t') {
			number = number[1:]
		}
		var ok bool
		if v, ok = parseFloat(number); !ok {
			return 0, &fault{reason: "can't parse double value", detail: string(line), next: after}
		}
		next = after
	default:
		return 0, &fault{reason: "unexpected parameter value format", next: lineAfter(text, i)}
	}
	row := r.row(start)
	row.Name, row.Ref, row.Time, row.Value, row.Text = c.name, c.ref, t, v, words
	return next, nil
}

// text is the string behind the '+' at i, at most limit bytes with its end.
func (p *resp) text(r *Reader, text []byte, i, limit int) (line []byte, next int, f *fault) {
	rest := text[i+1:]
	window := rest[:min(len(rest), limit)]
	end := bytes.IndexByte(window, '\n')
	if end < 0 {
		if len(window) == limit {
			f := &fault{reason: "out of quota", next: toLineEnd}
			if end := bytes.IndexByte(rest, '\n'); end >= 0 {
				f.next = i + 1 + end + 1
			}
			return nil, 0, f
		}
		return nil, incomplete, nil
	}
	line = window[:end]
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	return line, i + 1 + end + 1, nil
}

// integer is the number behind the byte at i, and where the next line begins.
func integer(text []byte, i int) (v uint64, next int, f *fault) {
	const longest = 20
	rest := text[i+1:]
	v, n, fits := leadingDigits(rest[:min(len(rest), longest)])
	if n == len(rest) {
		return 0, incomplete, nil
	}
	reason := "can't parse integer (character value out of range)"
	switch c := rest[n]; {
	case n == longest && c-'0' <= 9:
		reason = "integer is too long"
	case c == '\n' && n > 0:
		if fits {
			return v, i + 1 + n + 1, nil
		}
		reason = "integer overflow"
	case c == '\r' && n > 0:
		switch {
		case n+1 == len(rest):
			return 0, incomplete, nil
		case rest[n+1] != '\n':
			reason = `invalid symbol inside stream - '\r'`
		case !fits:
			reason = "integer overflow"
		default:
			return v, i + 1 + n + 2, nil
		}
	}
	return 0, 0, &fault{reason: reason, next: lineAfter(text, i)}
}

// lineAfter is where the line behind that at i begins, or toLineEnd.
func lineAfter(text []byte, i int) int {
	end := bytes.IndexByte(text[i:], '\n')
	if end < 0 {
		return toLineEnd
	}
	return i + end + 1
}

// quoteMessage is the text up to its third line end, with line ends spelled
// out, as Akumuli quotes what it does not understand.
func quoteMessage(text []byte) string {
	end := 0
	for range 3 {
		k := bytes.IndexByte(text[end:], '\n')
		if k < 0 {
			end = len(text)
			break
		}
		end += k + 1
	}
	if end > 0 && bytes.Count(text[:end], lineFeed) == 3 {
		end--
	}
	text = text[:min(end, maxContext)]
	text = bytes.ReplaceAll(text, []byte{'\r'}, []byte(`\r`))
	return string(bytes.ReplaceAll(text, lineFeed, []byte(`\n`)))
}
