package text

import (
	"bytes"
	"fmt"
	"slices"

	"weir/series/names"
)

// influx reads the line protocol. Points stand on one line each: a line break
// within a string must be spelled \n.
type influx struct {
	metric, tags []byte // of the line, as they are in names
}

func (p *influx) parse(r *Reader, text []byte) (int, *fault) {
	i := 0
	for i < len(text) && len(r.rows) < r.batch {
		line, next, f := r.line(text, i)
		if f != nil {
			return i, f
		}
		if next == 0 {
			break
		}
		line = bytes.Trim(line, " \t")
		if len(line) > 0 && line[0] != '#' {
			rows := len(r.rows)
			if reason, detail := p.take(r, line, i); reason != "" {
				r.rows = r.rows[:rows]
				return i, &fault{reason: reason, detail: detail, at: i, next: next}
			}
		}
		i = next
	}
	return i, nil
}

// until is where one of two bytes first stands in b without a backslash before
// it, or the length.
func until(b []byte, x, y byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case x, y:
			return i
		case '\\':
			i++
		}
	}
	return len(b)
}

// translate appends a word of the line protocol as a word of a name.
func translate(dst, b []byte, key bool) []byte {
	if bytes.IndexByte(b, '\\') < 0 && (!key || bytes.IndexByte(b, '=') < 0) {
		return append(dst, b...)
	}
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '\\' && i+1 < len(b) && (b[i+1] == ',' || b[i+1] == ' ' || b[i+1] == '=') {
			i++
			c = b[i]
		}
		if c == ' ' || c == '\\' || key && c == '=' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}

// take takes the points of a line, or says what is wrong with it.
func (p *influx) take(r *Reader, line []byte, at int) (reason, detail string) {
	end := until(line, ',', ' ')
	if end == 0 {
		return "no measurement", ""
	}
	p.metric = translate(p.metric[:0], line[:end], false)
	p.tags = p.tags[:0]
	for end < len(line) && line[end] == ',' {
		line = line[end+1:]
		if end = until(line, ',', ' '); end == 0 {
			return "a tag without a key", ""
		}
		tag := line[:end]
		equals := until(tag, '=', '=')
		if equals == 0 || equals >= len(tag)-1 {
			return "a tag without a key, '=' and value", clip(tag)
		}
		p.tags = append(translate(append(p.tags, ' '), tag[:equals], true), '=')
		p.tags = translate(p.tags, tag[equals+1:], false)
	}
	if len(p.tags) == 0 && r.options.Tags != "" {
		p.tags = append(append(p.tags, ' '), r.options.Tags...)
	}
	if n := len(p.metric) + len(p.tags); n > names.MaxLength {
		// Each field would have so long a name, in vain.
		return ReasonName, fmt.Sprintf("%d bytes, expected at most %d", n, names.MaxLength)
	}
	line = bytes.TrimLeft(line[end:], " ")
	first := len(r.rows)
	for {
		key := line[:until(line, '=', ' ')]
		if len(key) == 0 || len(key) == len(line) || line[len(key)] != '=' || until(key, ',', ',') < len(key) {
			return "a field without a key and '='", clip(line)
		}
		line = line[len(key)+1:]
		n := 0
		if len(line) > 0 && line[0] == '"' {
			if n = p.event(r, line, key, at); n == 0 {
				return "a string that does not end", clip(line)
			}
			if n < len(line) && line[n] != ',' && line[n] != ' ' {
				return "text behind a string", clip(line[n:])
			}
		} else {
			for n < len(line) && line[n] != ',' && line[n] != ' ' {
				n++
			}
			v, ok := fieldValue(line[:n])
			if !ok {
				return "the value is no number, boolean or string", clip(line[:n])
			}
			if isEvent(p.metric) {
				return "a value for a series of events", clip(line[:n])
			}
			row := r.row(at)
			row.Name, row.Value = p.name(r, key), v
		}
		line = line[n:]
		if len(line) == 0 || line[0] == ' ' {
			break
		}
		line = line[1:]
	}
	t := r.options.Now
	if line = bytes.TrimLeft(line, " "); len(line) > 0 {
		v, ok := parseInt(line)
		if ok && line[0] != '+' {
			t, ok = inUnits(v, max(1, int64(r.options.Unit)))
		}
		if !ok || line[0] == '+' {
			return "the time is none", clip(line)
		}
	} else if t == 0 {
		return "no time", ""
	}
	for i := first; i < len(r.rows); i++ {
		r.rows[i].Time = t
	}
	return "", ""
}

// name makes the name of the series of a field.
func (p *influx) name(r *Reader, field []byte) []byte {
	begin := len(r.arena)
	r.arena = append(r.arena, p.metric...)
	if string(field) != "value" {
		r.arena = translate(append(r.arena, '_'), field, false)
	}
	r.arena = append(r.arena, p.tags...)
	return r.arena[begin:len(r.arena):len(r.arena)]
}

// event takes the string that a line begins with, and returns its length in
// the line, or 0 where it does not end.
func (p *influx) event(r *Reader, line, field []byte, at int) int {
	begin := len(r.arena)
	for i := 1; i < len(line); i++ {
		c := line[i]
		if c == '"' {
			words := r.arena[begin:len(r.arena):len(r.arena)]
			if words == nil {
				words = []byte{}
			}
			if !isEvent(p.metric) {
				p.metric = slices.Insert(p.metric, 0, '!')
				defer func() { p.metric = p.metric[1:] }()
			}
			row := r.row(at)
			row.Text = words
			row.Name = p.name(r, field)
			return i + 1
		}
		if c == '\\' && i+1 < len(line) {
			switch next := line[i+1]; next {
			case '"', '\\':
				c = next
				i++
			case 'n', 'r', 't':
				c = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t'}[next]
				i++
			}
		}
		r.arena = append(r.arena, c)
	}
	return 0
}

// fieldValue is the value of a field that is no string.
func fieldValue(b []byte) (float64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	switch string(b) {
	case "t", "T", "true", "True", "TRUE":
		return 1, true
	case "f", "F", "false", "False", "FALSE":
		return 0, true
	}
	switch last := len(b) - 1; b[last] {
	case 'i':
		v, ok := parseInt(b[:last])
		return float64(v), ok
	case 'u':
		v, n, ok := leadingDigits(b[:last])
		return float64(v), ok && n == last && n > 0
	}
	for _, c := range b {
		if c-'0' > 9 && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false // which leaves no infinities and NaNs
		}
	}
	v, ok := parseFloat(b)
	return v, ok && v-v == 0
}
