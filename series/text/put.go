package text

import (
	"bytes"
	"fmt"
	"math"
)

// openTSDB reads put lines. What it refuses it refuses in the words of Akumuli.
type openTSDB struct{}

func (openTSDB) parse(r *Reader, text []byte) (int, *fault) {
	i := 0
	for i < len(text) && len(r.rows) < r.batch {
		line, next, f := r.line(text, i)
		if f != nil {
			return i, f
		}
		if next == 0 {
			break
		}
		if reason := put(r, line, i); reason != "" {
			return i, &fault{reason: reason, at: i, next: next}
		}
		i = next
	}
	return i, nil
}

// word cuts the first word off a line.
func word(line []byte) (word, rest []byte) {
	line = bytes.TrimLeft(line, " ")
	if end := bytes.IndexByte(line, ' '); end >= 0 {
		return line[:end], line[end:]
	}
	return line, nil
}

// put takes a line, or says what is wrong with it.
func put(r *Reader, line []byte, at int) string {
	command, rest := word(line)
	switch string(command) {
	case "put":
	case "stats", "version", "rollup", "hist", "histogram", "help", "dropcaches":
		if r.options.Command != nil {
			r.options.Command(command)
		}
		return ""
	default:
		return "unknown command: nosuchcommand.  Try `help'."
	}
	metric, rest := word(rest)
	when, rest := word(rest)
	number, tags := word(rest)
	tags = bytes.Trim(tags, " ")
	for i, missing := range []bool{len(when) == 0, len(number) == 0, len(tags) == 0} {
		if missing {
			return fmt.Sprintf("put: illegal argument: not enough arguments (need least 4, got %d)", i)
		}
	}
	if isEvent(metric) {
		return "put: " + ReasonName
	}
	t, ok := putTime(when)
	if !ok {
		return "put: invalid timestamp format"
	}
	v, ok := parseFloat(number)
	if !ok {
		return "put: bad floating point value"
	}
	begin := len(r.arena)
	r.arena = append(append(append(r.arena, metric...), ' '), tags...)
	row := r.row(at)
	row.Name, row.Time, row.Value = r.arena[begin:len(r.arena):len(r.arena)], t, v
	return ""
}

// putTime is a time of a put line in ns.
func putTime(b []byte) (int64, bool) {
	if looksLikeDate(b) {
		return parseDate(b)
	}
	v, n, ok := leadingDigits(b)
	if n == 0 || !ok || v > math.MaxInt64 {
		return 0, false
	}
	if n < len(b) {
		if _, ok := parseFraction(b[n:], secondNS); !ok { // which does not count
			return 0, false
		}
	}
	switch {
	case v < math.MaxUint32:
		return int64(v) * secondNS, true
	case n == 13:
		return inUnits(int64(v), 1e6)
	}
	return int64(v), true
}
