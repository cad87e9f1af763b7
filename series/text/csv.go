package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"weir/series/names"
)

// role is what a column of a table holds.
type role uint8

const (
	unknown    role = iota // a value or a tag, as the first line of data shows
	timeColumn             // the time
	nameColumn             // the metric, or a complete name
	valueColumn
	tagColumn
)

const maxFields = 4096 // of a line

var (
	timeNames  = []string{"time", "timestamp", "ts", "date", "datetime"}
	nameNames  = []string{"metric", "measurement", "name", "series"}
	valueNames = []string{"value", "val", "v"}
	gaps       = []string{"", "NA", "null"}
)

// table reads CSV.
type table struct {
	delimiter byte
	fields    [][]byte
	headers   []string
	roles     []role
	names     [][]byte // of value columns of a table without tags and names, else nil
	fixed     bool     // names are those of the series
	ready     bool     // the roles are known
	dates     bool
	unit      int64
	timed     bool // dates and unit are known
	time      int  // the column of the time
	name      int  // that of the name, or -1
}

func (p *table) parse(r *Reader, text []byte) (int, *fault) {
	i := 0
	for i < len(text) && len(r.rows) < r.batch {
		next, f := p.split(r, text, i)
		if f != nil {
			return i, f
		}
		if next == 0 {
			break
		}
		if len(p.fields) > 0 {
			if reason, detail := p.take(r, i); reason != "" {
				return i, &fault{reason: reason, detail: detail, at: i, next: next}
			}
		}
		i = next
	}
	return i, nil
}

// split finds the fields of the line at i, and where the next line begins: 0
// where the text does not hold all of it. Comments and blank lines have no fields.
func (p *table) split(r *Reader, text []byte, i int) (int, *fault) {
	p.fields = p.fields[:0]
	line, next, f := r.line(text, i)
	if f != nil || next == 0 {
		return next, f
	}
	if p.headers == nil {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 || line[0] == '#' {
		return next, nil
	}
	if p.delimiter == 0 {
		p.delimiter = ','
		for _, d := range []byte{';', '\t'} {
			if bytes.Count(line, []byte{d}) > bytes.Count(line, []byte{p.delimiter}) {
				p.delimiter = d
			}
		}
	}
	quoted := bytes.IndexByte(line, '"') >= 0
	for {
		if len(p.fields) == maxFields {
			return 0, &fault{reason: "too many fields in a line", at: i, next: next}
		}
		if quoted && len(line) > 0 && line[0] == '"' {
			field, n := r.unquote(line)
			if n < 0 || n < len(line) && line[n] != p.delimiter {
				return 0, &fault{reason: "a quote that does not end, or not at the end of its field", at: i, next: next}
			}
			p.fields = append(p.fields, field)
			if n == len(line) {
				return next, nil
			}
			line = line[n+1:]
			continue
		}
		end := bytes.IndexByte(line, p.delimiter)
		if end < 0 {
			p.fields = append(p.fields, line)
			return next, nil
		}
		p.fields = append(p.fields, line[:end])
		line = line[end+1:]
	}
}

// unquote takes the quoted field that a line begins with, and its length in
// the line, or -1 where the quote does not end.
func (r *Reader) unquote(line []byte) ([]byte, int) {
	begin := len(r.arena)
	for i := 1; i < len(line); i++ {
		if line[i] == '"' {
			if i+1 == len(line) || line[i+1] != '"' {
				return r.arena[begin:len(r.arena):len(r.arena)], i + 1
			}
			i++
		}
		r.arena = append(r.arena, line[i])
	}
	return nil, -1
}

// take takes the fields as a header or as points, or says what is wrong.
func (p *table) take(r *Reader, at int) (reason, detail string) {
	if p.headers == nil {
		header := false
		for _, f := range p.fields {
			_, number := parseFloat(f)
			if isOneOf(f, timeNames) {
				header = true
				break
			}
			header = header || !number && !looksLikeDate(f)
		}
		if header && (len(p.fields) != 3 || !p.headless()) {
			return p.header()
		}
		return p.noHeader(r, at)
	}
	return p.points(r, at)
}

func isOneOf(f []byte, words []string) bool {
	word := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(string(f))), "_")
	return slices.Contains(words, word)
}

// headless reports whether three fields are a point: its value last, and a time
// beside a name.
func (p *table) headless() bool {
	_, number := parseFloat(p.fields[2])
	return number && (isTime(p.fields[0]) != isTime(p.fields[1]))
}

func isTime(f []byte) bool {
	_, number := parseNumberTime(f, 1)
	return number || looksLikeDate(f)
}

func (p *table) header() (reason, detail string) {
	p.time, p.name = -1, -1
	value := -1
	for i, f := range p.fields {
		p.headers = append(p.headers, strings.TrimSpace(string(f)))
		switch {
		case p.time < 0 && isOneOf(f, timeNames):
			p.time = i
		case p.name < 0 && isOneOf(f, nameNames):
			p.name = i
		case value < 0 && isOneOf(f, valueNames):
			value = i
		}
	}
	if p.time < 0 {
		p.time = 0
	}
	p.roles = make([]role, len(p.fields))
	if p.name >= 0 {
		if value < 0 {
			p.headers, p.roles = nil, nil
			return "a table with names has no column called value", ""
		}
		for i := range p.roles {
			p.roles[i] = tagColumn
		}
		p.roles[p.name], p.roles[value] = nameColumn, valueColumn
	}
	p.roles[p.time] = timeColumn
	if len(p.headers) == 3 && p.headers[0] == "series" && p.headers[1] == "timestamp" && p.headers[2] == "value" {
		p.unit, p.timed = 1, true
	}
	return "", ""
}

// noHeader takes the first line of a table without a header.
func (p *table) noHeader(r *Reader, at int) (reason, detail string) {
	p.name = -1
	switch {
	case len(p.fields) == 2:
		p.roles = []role{timeColumn, valueColumn}
	case len(p.fields) == 3 && isTime(p.fields[0]) && !isTime(p.fields[1]):
		p.roles, p.name = []role{timeColumn, nameColumn, valueColumn}, 1
	case len(p.fields) == 3 && isTime(p.fields[1]) && !isTime(p.fields[0]):
		p.roles, p.time, p.name = []role{nameColumn, timeColumn, valueColumn}, 1, 0
	default:
		return "no header, and no way to guess one", ""
	}
	p.headers = []string{"", "", ""}[:len(p.fields)]
	if p.name < 0 {
		p.headers[1] = "value"
	}
	return p.points(r, at)
}

// settle decides about the columns that the header left open.
func (p *table) settle(r *Reader) {
	values, tags := 0, p.name >= 0
	for i, f := range p.fields {
		if p.roles[i] == unknown {
			_, number := parseFloat(f)
			if p.roles[i] = tagColumn; number || slices.Contains(gaps, string(f)) {
				p.roles[i] = valueColumn
			}
		}
		if p.roles[i] == valueColumn {
			values++
		}
		tags = tags || p.roles[i] == tagColumn
	}
	p.fixed = !tags
	p.names = make([][]byte, len(p.roles))
	for i, role := range p.roles {
		if role != valueColumn {
			continue
		}
		metric := p.headers[i]
		if values == 1 && isOneOf([]byte(metric), valueNames) && r.options.Metric != "" {
			metric = r.options.Metric
		}
		if p.fixed && r.options.Tags != "" && !strings.Contains(metric, "=") {
			metric += " " + r.options.Tags
		}
		p.names[i] = []byte(metric)
	}
	p.ready = true
}

// points takes the points of a line.
func (p *table) points(r *Reader, at int) (reason, detail string) {
	if len(p.fields) != len(p.headers) {
		return "a line has more or fewer fields than the first", ""
	}
	t, ok := p.when(r, p.fields[p.time])
	if !ok {
		return "the time is none", clip(p.fields[p.time])
	}
	if !p.ready {
		p.settle(r)
	}
	rows := len(r.rows)
	for i, role := range p.roles {
		if role != valueColumn || p.name < 0 && slices.Contains(gaps, str(p.fields[i])) {
			continue
		}
		var name []byte
		var ref uint32
		if p.fixed {
			name, ref = p.names[i], uint32(i)+1
		} else if name = p.compose(r, i); len(name) == 0 {
			r.rows = r.rows[:rows]
			return "no name", ""
		} else if len(name) > names.MaxLength {
			r.rows = r.rows[:rows]
			return ReasonName, fmt.Sprintf("%d bytes, expected at most %d", len(name), names.MaxLength)
		}
		event := isEvent(name)
		v, ok := 0.0, event
		if !event {
			v, ok = parseFloat(p.fields[i])
		}
		if !ok {
			r.rows = r.rows[:rows]
			return "the value is no number", clip(p.fields[i])
		}
		row := r.row(at)
		row.Name, row.Ref, row.Time, row.Value = name, ref, t, v
		if event {
			row.Text = p.fields[i][:len(p.fields[i]):len(p.fields[i])]
		}
	}
	return "", ""
}

// when reads a time; the first decides what times look like.
func (p *table) when(r *Reader, f []byte) (int64, bool) {
	if !p.timed {
		switch {
		case looksLikeDate(f):
			p.dates = true
		case r.options.Unit > 0:
			p.unit = int64(r.options.Unit)
		default:
			whole, ok := parseNumberTime(f, 1)
			if !ok {
				return 0, false
			}
			p.unit = unitOf(whole)
		}
		p.timed = true
	}
	if p.dates {
		return parseDate(f)
	}
	return parseNumberTime(f, p.unit)
}

// compose makes the name of the series of column i of this line.
func (p *table) compose(r *Reader, i int) []byte {
	begin := len(r.arena)
	if p.name < 0 {
		r.arena = append(r.arena, p.names[i]...)
	} else if len(p.headers) == 3 && len(r.options.Tags) == 0 {
		return p.fields[p.name]
	} else {
		r.arena = append(r.arena, p.fields[p.name]...)
	}
	if len(r.arena) == begin {
		return nil
	}
	tagged := bytes.IndexByte(r.arena[begin:], '=') >= 0
	for k, role := range p.roles {
		if role == tagColumn && len(p.fields[k]) > 0 {
			r.arena = append(r.arena, ' ')
			r.arena = append(appendWord(r.arena, p.headers[k], true), '=')
			r.arena = appendWord(r.arena, str(p.fields[k]), false)
			tagged = true
		}
	}
	if !tagged && r.options.Tags != "" {
		r.arena = append(append(r.arena, ' '), r.options.Tags...)
	}
	return r.arena[begin:len(r.arena):len(r.arena)]
}

// appendWord appends a word of a name with backslashes before what would end it.
func appendWord(dst []byte, s string, key bool) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == ' ' || c == '\\' || key && c == '=' {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return dst
}
