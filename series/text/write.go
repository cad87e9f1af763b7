package text

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Append appends a point in a format, RESP or CSV, so that Reader reads it
// back bit for bit. name is that of one series. A point that the format has no
// words for is an error, and dst is then returned as it was: of RESP times
// before 1970 and empty events; of both, names and events with line breaks.
// text is what an event says, and nil for a value. RESP with strings longer than 1022 bytes
// needs a reader with a larger Options.MaxLine than that of Akumuli.
//
// A file of CSV begins with [Header].
func Append(dst []byte, f Format, name []byte, t int64, v float64, text []byte) ([]byte, error) {
	if bytes.ContainsAny(name, "\r\n") || bytes.ContainsAny(text, "\r\n") {
		return dst, fmt.Errorf("write points of %q: a line break in a name or an event", clip(name))
	}
	if isEvent(name) != (text != nil) {
		return dst, fmt.Errorf("write points of %q: names that begin with '!' are of events, others of values", clip(name))
	}
	if len(name) == 0 {
		return dst, errors.New("write points: a point without a name")
	}
	switch f {
	case RESP:
		if t < 0 || text != nil && len(text) == 0 {
			return dst, fmt.Errorf("write points of %q at %d as RESP: expected a time since 1970, and a text where it is an event", clip(name), t)
		}
		if bytes.IndexByte(name, '|') >= 0 {
			metric, _, _ := bytes.Cut(name, []byte{' '})
			if bytes.IndexByte(metric, '|') >= 0 {
				return dst, fmt.Errorf("write points of %q as RESP: '|' divides compound names", clip(name))
			}
		}
		dst = append(append(dst, '+'), name...)
		dst = strconv.AppendInt(append(dst, "\r\n:"...), t, 10)
		dst = append(dst, "\r\n+"...)
		if text != nil {
			dst = append(dst, text...)
		} else {
			dst = appendFloat(dst, v)
		}
		return append(dst, '\r', '\n'), nil
	case CSV:
		dst = append(appendField(dst, name), ',')
		dst = append(strconv.AppendInt(dst, t, 10), ',')
		if text != nil {
			dst = appendField(dst, text)
		} else {
			dst = appendFloat(dst, v)
		}
		return append(dst, '\n'), nil
	}
	return dst, fmt.Errorf("write points: no writer for %v", f)
}

// Header is what a text in a format begins with, "" for most.
func Header(f Format) string {
	if f == CSV {
		return "series,timestamp,value\n"
	}
	return ""
}

// appendField appends a field of CSV, quoted where it must be.
func appendField(dst, field []byte) []byte {
	if !bytes.ContainsAny(field, ",\"\n\r") && !bytes.HasPrefix(field, []byte{'#'}) {
		return append(dst, field...)
	}
	dst = append(dst, '"')
	for _, c := range field {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}
