package format

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"weir/series/query/rows"
)

// Format is a way to write rows.
type Format uint8

const (
	RESP  Format = iota // the original protocol: lines that begin with what they are
	CSV                 // name, time, values; quoted is, as clients of the original expect, only a text with line breaks
	JSONL               // an object a line
)

// Output is how rows are written.
type Output struct {
	Format Format
	Raw    bool // times as nanoseconds since the epoch instead of dates
}

// Encoder writes the rows of one answer. It is not for several goroutines at once.
type Encoder struct {
	out   Output
	shape rows.Shape
	time  Time
}

// NewEncoder returns an encoder for rows of a shape.
func NewEncoder(out Output, shape rows.Shape) *Encoder { return &Encoder{out: out, shape: shape} }

// Append appends the text of all rows of b, which it does not keep.
func (e *Encoder) Append(dst []byte, b *rows.Batch) []byte {
	switch {
	case e.out.Format == JSONL:
		return e.appendJSON(dst, b)
	case e.out.Format == CSV && e.shape == rows.Scalar && len(b.Missing) == 0 && !e.out.Raw:
		// Most of the rows that are ever written: nothing to decide on the way.
		for i, series := range b.Series {
			dst = append(dst, b.Names[series]...)
			dst = append(dst, ',')
			dst = e.time.Append(dst, b.Times[i])
			dst = append(dst, ',')
			dst = append(AppendNumber(dst, b.Values[i]), '\n')
		}
		return dst
	case e.out.Format == CSV:
		return e.appendCSV(dst, b)
	}
	return e.appendRESP(dst, b)
}

func (e *Encoder) appendTime(dst []byte, ns int64) []byte {
	if e.out.Raw {
		return strconv.AppendInt(append(dst, "ts="...), ns, 10)
	}
	return e.time.Append(dst, ns)
}

// lineBreaks are in no text that the original can have. In RESP and CSV they would make rows of what follows them, so a
// text with one is written otherwise: as a bulk string, or in quotes.
const lineBreaks = "\r\n"

func (e *Encoder) appendCSV(dst []byte, b *rows.Batch) []byte {
	for i, series := range b.Series {
		dst = append(dst, b.Names[series]...)
		if e.shape != rows.Names {
			dst = append(dst, ',')
			dst = e.appendTime(dst, b.Times[i])
		}
		switch gaps := b.Gaps(i); e.shape {
		case rows.Scalar:
			if gaps == 0 {
				dst = append(dst, ',')
				dst = AppendNumber(dst, b.Values[i])
			}
		case rows.Tuple:
			for _, v := range b.Row(i) {
				dst = append(dst, ',')
				if gaps&1 == 0 {
					dst = AppendNumber(dst, v)
				}
				gaps >>= 1
			}
		case rows.Text:
			dst = append(dst, ',')
			if text := b.Texts[i]; strings.ContainsAny(text, lineBreaks) {
				dst = append(append(append(dst, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
			} else {
				dst = append(dst, text...)
			}
		}
		dst = append(dst, '\n')
	}
	return dst
}

func (e *Encoder) appendRESP(dst []byte, b *rows.Batch) []byte {
	const end = "\r\n"
	for i, series := range b.Series {
		dst = append(dst, '+')
		dst = append(dst, b.Names[series]...)
		dst = append(dst, end...)
		if e.shape == rows.Names {
			continue
		}
		dst = e.appendTime(append(dst, '+'), b.Times[i])
		dst = append(dst, end...)
		switch gaps := b.Gaps(i); e.shape {
		case rows.Scalar:
			if gaps == 0 {
				dst = append(AppendNumber(append(dst, '+'), b.Values[i]), end...)
			}
		case rows.Tuple:
			dst = append(strconv.AppendInt(append(dst, '*'), int64(b.Width), 10), end...)
			for _, v := range b.Row(i) {
				if gaps&1 == 0 {
					dst = append(AppendNumber(append(dst, '+'), v), end...)
				} else {
					dst = append(dst, "$-1\r\n"...)
				}
				gaps >>= 1
			}
		case rows.Text:
			if text := b.Texts[i]; strings.ContainsAny(text, lineBreaks) {
				dst = append(strconv.AppendInt(append(dst, '$'), int64(len(text)), 10), end...)
				dst = append(dst, text...)
			} else {
				dst = append(append(dst, '+'), text...)
			}
			dst = append(dst, end...)
		}
	}
	return dst
}

// appendJSON writes {"name":…,"time":…,"value":…}, with "values" for tuples and "text" for events. What JSON has no
// number for is "NaN", "+Inf" or "-Inf"; a missing value is null.
func (e *Encoder) appendJSON(dst []byte, b *rows.Batch) []byte {
	for i := range b.Len() {
		dst = appendString(append(dst, `{"name":`...), b.Name(i))
		if e.shape != rows.Names {
			dst = append(dst, `,"time":`...)
			if e.out.Raw {
				dst = strconv.AppendInt(dst, b.Times[i], 10)
			} else {
				dst = append(time.Unix(0, b.Times[i]).UTC().AppendFormat(append(dst, '"'), time.RFC3339Nano), '"')
			}
		}
		switch gaps := b.Gaps(i); e.shape {
		case rows.Scalar:
			if gaps == 0 {
				dst = appendJSONNumber(append(dst, `,"value":`...), b.Values[i])
			}
		case rows.Tuple:
			dst = append(dst, `,"values":[`...)
			for c, v := range b.Row(i) {
				if c > 0 {
					dst = append(dst, ',')
				}
				if gaps>>c&1 == 1 {
					dst = append(dst, "null"...)
				} else {
					dst = appendJSONNumber(dst, v)
				}
			}
			dst = append(dst, ']')
		case rows.Text:
			dst = appendString(append(dst, `,"text":`...), b.Texts[i])
		}
		dst = append(dst, '}', '\n')
	}
	return dst
}

func appendJSONNumber(dst []byte, v float64) []byte {
	switch {
	case v != v:
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"+Inf"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Inf"`...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

func appendString(dst []byte, s string) []byte {
	text, err := json.Marshal(s) // fails for no string
	if err != nil {
		return append(dst, `""`...)
	}
	return append(dst, text...)
}
