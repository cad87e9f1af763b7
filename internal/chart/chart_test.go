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

	"weir/internal/plot"
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

func one(bins []Bin) []Series { return []Series{{Bins: bins}} }

// two is two series that cross.
func two() []Series {
	a, b := wave(120, time.Minute), wave(120, time.Minute)
	for i := range b {
		b[i].Min, b[i].Mean, b[i].Max = 32-float64(i)/6, 33-float64(i)/6, 34-float64(i)/6
	}
	return []Series{{Name: "load host=a", Bins: a}, {Name: "load host=b", Bins: b}}
}

func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		series []Series
		o      Options
	}{
		"hours":  {one(wave(70, 10*time.Minute)), Options{}},
		"ascii":  {one(wave(60, time.Second)), Options{Width: 60, Height: 10, ASCII: true}},
		"months": {one(wave(200, day*2)), Options{Width: 100}},
		"one":    {one(wave(1, day)), Options{Width: 40, Height: 5}},
		"two":    {two(), Options{Width: 72, Height: 12}},
		"color":  {two(), Options{Width: 72, Height: 12, Color: true}},
	} {
		var b bytes.Buffer
		if err := Text(&b, c.series, c.o); err != nil {
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
		series := []Series{{Name: rapid.StringMatching(`[a-z =]{0,200}`).Draw(t, "name"), Bins: bins}}
		if len(bins) > 2 && rapid.Bool().Draw(t, "two") {
			series = append(series, Series{Name: "other", Bins: bins[1:]})
		}
		o := Options{Width: rapid.IntRange(40, 120).Draw(t, "width"), Height: rapid.IntRange(2, 30).Draw(t, "height"), ASCII: true}
		if err := Text(&out, series, o); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		named := 0
		for _, s := range series {
			if s.Name != "" {
				named++
			}
		}
		if len(lines) != o.Height+2+named {
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
		if err := Text(&bytes.Buffer{}, one(bins), Options{}); err == nil {
			t.Errorf("%v is drawn", bins)
		}
	}
}

// A figure of any data can be written, with gaps where there are no points.
func TestFigure(t *testing.T) {
	for name, series := range map[string][]Series{"one": one(wave(300, time.Hour)), "two": two(), "point": one(wave(1, day))} {
		c, err := Figure(plot.Figure{Title: name}, "value", series)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := c.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "2024-03-01 00:00:00") {
			t.Errorf("%s: the axis does not say from when it is", name)
		}
	}
	if _, err := Figure(plot.Figure{}, "", nil); err == nil {
		t.Error("nothing is drawn")
	}
}

// Times that are next to each other, or as far apart as times can be, are in the chart.
func TestNearAndFar(t *testing.T) {
	for _, times := range [][]int64{{1_700_000_000e9, 1_700_000_000e9 + 1}, {math.MinInt64, 0, math.MaxInt64}} {
		var bins []Bin
		for i, at := range times {
			bins = append(bins, Bin{Time: at, Min: float64(i), Mean: float64(i), Max: float64(i)})
		}
		var b bytes.Buffer
		if err := Text(&b, one(bins), Options{Width: 60, Height: 10}); err != nil || b.Len() == 0 {
			t.Errorf("%v: %q, %v", times, b.String(), err)
		}
	}
}
