package main

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"weir/series/names"
)

// influxLines writes points as lines of the Influx line protocol, which are read back as they were: the metric is the
// measurement, and the one field is called value.
type influxLines struct {
	name string
	head []byte // what the lines of the series of that name begin with
}

// append appends a point. What there are no words for is an error.
func (w *influxLines) append(dst, name []byte, t int64, v float64, event []byte) ([]byte, error) {
	if string(name) != w.name {
		w.name = string(name)
		if err := w.begin(); err != nil {
			return dst, err
		}
	}
	dst = append(append(dst, w.head...), " value="...)
	switch {
	case event != nil:
		dst = append(appendQuoted(append(dst, '"'), event), '"')
	case math.IsNaN(v) || math.IsInf(v, 0):
		return dst, fmt.Errorf("write points of %q at %d as influx: the value %v; expected a finite number", name, t, v)
	default:
		dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
	}
	return append(strconv.AppendInt(append(dst, ' '), t, 10), '\n'), nil
}

func (w *influxLines) begin() error {
	metric, tags := names.Split(w.name)
	words := []string{metric}
	for _, tag := range tags {
		key := names.Key(tag)
		words = append(words, strings.ReplaceAll(key, `\=`, "="), tag[len(key)+1:])
	}
	for i, word := range words {
		// A backslash is one only where nothing special follows, and what begins with # is a comment.
		if word == "" || i == 0 && word[0] == '#' || strings.Contains(strings.ReplaceAll(word, `\ `, " "), `\`) {
			return fmt.Errorf("write points of %q as influx: expected a name without backslashes and empty values, that does not begin with #", w.name)
		}
	}
	w.head = append(w.head[:0], strings.ReplaceAll(metric, ",", `\,`)...)
	for _, tag := range tags {
		w.head = append(append(w.head, ','), strings.ReplaceAll(tag, ",", `\,`)...)
	}
	return nil
}

// appendQuoted appends a text as it stands between quotes.
func appendQuoted(dst, text []byte) []byte {
	for _, c := range text {
		if at := bytes.IndexByte([]byte("\"\\\n\r\t"), c); at >= 0 {
			dst = append(dst, '\\')
			c = "\"\\nrt"[at]
		}
		dst = append(dst, c)
	}
	return dst
}
