package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/series/names"
	"weir/series/text"
)

// Every point that there are words for is read back bit for bit.
func TestInfluxLinesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune(`ab,=#"!é|`+"\t")), 1, 5, -1)
		escape := strings.NewReplacer(" ", `\ `, "=", `\=`)
		name := rapid.SampledFrom([]string{"m", "!", "#"}).Draw(t, "begin") + word.Draw(t, "metric")
		for i := range rapid.IntRange(1, 3).Draw(t, "tags") {
			name += fmt.Sprint(" k", i) + escape.Replace(word.Draw(t, "key")) + "=" + strings.ReplaceAll(word.Draw(t, "value"), "b", `\ `)
		}
		canonical, err := names.Canonical(nil, []byte(name))
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.Int64().Draw(t, "time")
		value := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "value")
		var event []byte
		if canonical[0] == '!' {
			event = append([]byte{}, rapid.SliceOf(rapid.ByteRange(0, 127)).Draw(t, "event")...)
		}
		var w influxLines
		line, err := w.append(nil, canonical, at, value, event)
		if err != nil {
			if canonical[0] != '#' {
				t.Fatal(err)
			}
			return
		}
		rows, err := text.NewReader(strings.NewReader(string(line)), text.Options{Format: text.Influx}).Next()
		if err != nil || len(rows) != 1 {
			t.Fatalf("%q is read as %v, %v", line, rows, err)
		}
		r := rows[0]
		got, err := names.Canonical(nil, r.Name)
		if err != nil || string(got) != string(canonical) || r.Time != at {
			t.Fatalf("%q is read as %q at %d, %v; want %q at %d", line, got, r.Time, err, canonical, at)
		}
		if event == nil && math.Float64bits(r.Value) != math.Float64bits(value) || string(r.Text) != string(event) {
			t.Fatalf("%q is read as %v %q; want %v %q", line, r.Value, r.Text, value, event)
		}
	})
}

// What there are no words for is refused.
func TestInfluxLinesRefuse(t *testing.T) {
	for _, name := range []string{`a\\b x=y`, `a x=`, `#a x=y`, `a x=\=`, `a\= x=y`, `a x=y\\`} {
		var w influxLines
		if line, err := w.append(nil, []byte(name), 1, 1, nil); err == nil {
			t.Errorf("%q is written as %q", name, line)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var w influxLines
		if line, err := w.append(nil, []byte("a x=y"), 1, v, nil); err == nil {
			t.Errorf("%v is written as %q", v, line)
		}
	}
}
