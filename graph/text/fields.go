package text

import (
	"bytes"
	"errors"
)

// fieldCutter cuts lines into fields. It may be reused, not shared.
type fieldCutter struct {
	sep     byte // '\t', ',', ';', '|', or ' ' for any run of blanks
	fields  [][]byte
	scratch []byte // quoted fields without their doubled quotes
}

var (
	errUnclosed   = errors.New("a quote is not closed")
	errAfterQuote = errors.New("something follows a closing quote")
)

func blank(c byte) bool { return c == ' ' || c == '\t' }

// nothingIn says whether a line is blank. White space beyond ASCII may be a name.
func nothingIn(line []byte) bool { return len(bytes.Trim(line, " \t\r\v\f")) == 0 }

// cut is the first most fields of a line, without blanks around them and
// quotes. They are valid until the next call.
func (f *fieldCutter) cut(line []byte, most int) ([][]byte, error) {
	f.fields, f.scratch = f.fields[:0], f.scratch[:0]
	for i := 0; len(f.fields) < most; {
		for i < len(line) && blank(line[i]) && (f.sep == ' ' || line[i] != f.sep) {
			i++
		}
		if i == len(line) && f.sep == ' ' {
			break
		}
		var field []byte
		if i < len(line) && line[i] == '"' {
			quoted, end, err := f.quoted(line, i)
			if err == nil {
				f.fields = append(f.fields, quoted)
				if end == len(line) {
					break
				}
				i = end + 1
				continue
			}
			if f.sep == ',' || f.sep == ';' {
				return f.fields, err
			}
		}
		end := i
		if f.sep == ' ' {
			for end < len(line) && !blank(line[end]) {
				end++
			}
			field = line[i:end]
		} else {
			for end < len(line) && line[end] != f.sep {
				end++
			}
			field = line[i:end]
			for len(field) > 0 && blank(field[len(field)-1]) {
				field = field[:len(field)-1]
			}
		}
		f.fields = append(f.fields, field)
		if end == len(line) {
			break
		}
		i = end + 1
	}
	return f.fields, nil
}

// quoted reads the field whose opening quote is at line[i]. It returns the end:
// where the separator behind the field is, or the length of the line.
func (f *fieldCutter) quoted(line []byte, i int) (field []byte, end int, err error) {
	start := len(f.scratch)
	from := i + 1
	for at := from; ; {
		q := bytes.IndexByte(line[at:], '"')
		if q < 0 {
			return nil, 0, errUnclosed
		}
		q += at
		escaped := q > from && line[q-1] == '\\'
		switch {
		case escaped && q+1 < len(line) && line[q+1] == '"' && f.ends(line, q+2): // \" and the end
			f.scratch = append(f.scratch, line[from:q-1]...)
			from, at = q, q+1
			continue
		case q+1 < len(line) && line[q+1] == '"': // doubled: keep one
			f.scratch = append(f.scratch, line[from:q+1]...)
			from, at = q+2, q+2
			continue
		case escaped && !f.ends(line, q+1): // \" is a quote
			f.scratch = append(f.scratch, line[from:q-1]...)
			from, at = q, q+1
			continue
		}
		if !f.ends(line, q+1) {
			return nil, 0, errAfterQuote
		}
		for end = q + 1; end < len(line) && blank(line[end]) && (f.sep == ' ' || line[end] != f.sep); {
			end++
		}
		if f.sep == ' ' && end > q+1 {
			end-- // the blank is the separator
		}
		if len(f.scratch) == start {
			return line[from:q], end, nil
		}
		f.scratch = append(f.scratch, line[from:q]...)
		return f.scratch[start:len(f.scratch):len(f.scratch)], end, nil
	}
}

// ends says whether a quoted field may end before line[i:].
func (f *fieldCutter) ends(line []byte, i int) bool {
	if f.sep == ' ' {
		return i == len(line) || blank(line[i])
	}
	for i < len(line) && line[i] != f.sep && blank(line[i]) {
		i++
	}
	return i == len(line) || line[i] == f.sep
}
