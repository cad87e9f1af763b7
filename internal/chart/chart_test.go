package chart

import (
	"bytes"
	"flag"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

func wave(n int, step time.Duration) (bins []Bin) {
	start := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		if i > n/2 && i < n*3/5 {
			continue // a gap
		}
		v := 20 + 5*math.Sin(float64(i)/12)
		bins = append(bins, Bin{Time: start.Add(time.Duration(i) * step).UnixNano(), Min: v - 2, Max: v + 3, Mean: v})
	}
	return bins
}

func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		bins []Bin
		o    Options
	}{
		"hours": {wave(70, 10*time.Minute), Options{}}, "ascii": {wave(60, time.Second), Options{Width: 60, Height: 10, ASCII: true}},
		"months": {wave(200, day*2), Options{Width: 100}}, "one": {wave(1, day), Options{Width: 40, Height: 5}},
	} {
		var b bytes.Buffer
		if err := Text(&b, c.bins, c.o); err != nil {
			t.Fatal(err)
		}
		path := "testdata/" + name + ".txt"
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || b.String() != string(want) {
			t.Errorf("%s: %v, got\n%s", name, err, b.String())
		}
	}
}

// No data may break it, and no line may be wider than asked.
func TestAnyData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		at := rapid.Int64().Draw(t, "begin")
		var bins []Bin
		for range n {
			a, b := rapid.Float64().Draw(t, "a"), rapid.Float64().Draw(t, "b")
			bins = append(bins, Bin{Time: at, Min: min(a, b), Max: max(a, b), Mean: a})
			if d := rapid.Int64Range(0, math.MaxInt64).Draw(t, "d"); at <= math.MaxInt64-max(d, 0) {
				at += d
			}
		}
		var out bytes.Buffer
		o := Options{Width: rapid.IntRange(40, 120).Draw(t, "width"), Height: rapid.IntRange(2, 30).Draw(t, "height"), ASCII: true}
		if err := Text(&out, bins, o); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != o.Height+2 {
			t.Fatalf("%d lines", len(lines))
		}
		for _, l := range lines {
			if len(l) > o.Width {
				t.Fatalf("%q is %d wide", l, len(l))
			}
		}
	})
}

func TestNothingToDraw(t *testing.T) {
	for _, bins := range [][]Bin{nil, {{Mean: math.NaN()}}, {{Time: 5}, {Time: 4}}} {
		if err := Text(&bytes.Buffer{}, bins, Options{}); err == nil {
			t.Errorf("%v is drawn", bins)
		}
	}
}
