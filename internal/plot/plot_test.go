package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func charts(t *testing.T) map[string]*Chart {
	t.Helper()
	source := "2 cores Intel Xeon, 24 GiB · go run ./bench/graphtables · 2026-11-30"
	all := map[string]*Chart{}
	add := func(name string, c *Chart, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all[name] = c
	}
	rungs := []Bar{
		{Label: "label propagation, vertex order", Value: 3.1}, {Label: "union-find, vertex order", Value: 0.87},
		{Label: "union-find, Hilbert order", Value: 0.56}, {Label: "no bounds checks", Value: 0.5}, {Label: "prefetch", Value: 0.41},
	}
	c, err := Bars(Figure{Title: "The ladder of one thread: connected components", Subtitle: "RMAT, scale 22, 67 million edges; shorter is better", Source: source},
		Axis{Title: "seconds"}, rungs)
	add("bars", c, err)
	c, err = Bars(Figure{Title: "Edges a second, twenty iterations of PageRank", Subtitle: "logarithmic: each line is a factor of ten", Source: source},
		Axis{Title: "million edges a second", Log: true}, []Bar{
			{"weir, compressed", 310, "310 M", "one thread"}, {"weir, Hilbert order", 372, "372 M", "one thread"}, {"weir, vertex order", 143, "143 M", "one thread"},
			{"GraphX, 128 cores", 70, "70 M", "published"}, {"Hadoop & co, 50 < 60 cores", 6.1, "", "published"},
		})
	add("barslog", c, err)
	var lines []Series
	for i, name := range []string{"Hilbert order", "vertex order", "COST", "GAP"} {
		s := Series{Name: name, Dashed: i >= 2}
		for scale := 16; scale <= 24; scale++ {
			s.Points = append(s.Points, Point{math.Pow(2, float64(scale+4)), 400 / (1 + float64(i)*0.5) * (1 - 0.03*float64(i)*float64(scale-16))})
		}
		lines = append(lines, s)
	}
	c, err = Lines(Figure{Title: "Larger graphs, slower edges", Source: source}, Axis{Title: "edges", Log: true}, Axis{Title: "million edges a second"}, lines)
	add("lines", c, err)
	r := rand.New(rand.NewPCG(1, 2))
	a, b := make([]float64, 5000), make([]float64, 5000)
	for i := range a {
		a[i], b[i] = 40*math.Exp(r.NormFloat64()), 90*math.Exp(0.6*r.NormFloat64())
	}
	c, err = Cumulative(Figure{Title: "Latency of an update", Source: source}, Axis{Title: "microseconds", Log: true}, []Sample{{"one worker", a}, {"two workers", b}})
	add("cumulative", c, err)
	var steps []Point
	for i := range 60 {
		steps = append(steps, Point{float64(i) * 0.5, math.Round(1e5 * math.Exp(-float64(i)/12) * (1 + 0.2*r.Float64()))})
	}
	c, err = Lines(Figure{Title: "Active vertices", Source: source}, Axis{Title: "seconds"}, Axis{Title: "vertices"}, []Series{{Points: steps, Steps: true}})
	add("steps", c, err)
	return all
}

// Each chart must be well-formed SVG that shows its title, and a PNG of its size.
// Set WEIR_PLOTS to a folder to look at them.
func TestCharts(t *testing.T) {
	for name, c := range charts(t) {
		var svg bytes.Buffer
		if err := c.WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		var texts strings.Builder
		for d := xml.NewDecoder(bytes.NewReader(svg.Bytes())); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if text, ok := token.(xml.CharData); ok {
				texts.Write(text)
			}
		}
		for _, want := range []string{c.figure.Title, c.plot.X.Label.Text, "go run ./bench/graphtables"} {
			if !strings.Contains(texts.String(), want) {
				t.Errorf("%s: the text %q is not shown", name, want)
			}
		}
		if strings.Contains(svg.String(), "NaN") || !strings.Contains(svg.String(), "Arial") || strings.Count(svg.String(), "<text") != strings.Count(svg.String(), "textLength") {
			t.Errorf("%s: a coordinate is not a number, no font to fall back on, or a text without its width", name)
		}
		var picture bytes.Buffer
		if err := c.WritePNG(&picture); err != nil {
			t.Fatal(err)
		}
		image, err := png.Decode(&picture)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := image.Bounds().Dx(), int(2*c.figure.Width); got != want {
			t.Errorf("%s: %d pixels wide, want %d", name, got, want)
		}
		if dir := os.Getenv("WEIR_PLOTS"); dir != "" {
			for _, ext := range []string{".svg", ".png"} {
				if err := c.Save(filepath.Join(dir, name+ext)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestSave(t *testing.T) {
	c := charts(t)["bars"]
	path := filepath.Join(t.TempDir(), "a.svg")
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	saved, err := os.ReadFile(path)
	var direct bytes.Buffer
	if err := errors.Join(err, c.WriteSVG(&direct)); err != nil || !bytes.Equal(saved, direct.Bytes()) {
		t.Errorf("%v; or the file differs from what WriteSVG writes", err)
	}
	if err := c.Save("a.pdf"); err == nil || !strings.Contains(err.Error(), "expected .svg or .png") {
		t.Errorf("a PDF: %v", err)
	}
	if err := c.Save(filepath.Join(t.TempDir(), "no", "a.png")); err == nil {
		t.Error("saved to a folder that is not there")
	}
}

func TestBadCharts(t *testing.T) {
	axis, log := Axis{Title: "t"}, Axis{Title: "t", Log: true}
	for name, err := range map[string]error{
		"no bars":    second(Bars(Figure{Title: "x"}, axis, nil)),
		"a":          second(Bars(Figure{}, axis, []Bar{{Label: "a", Value: -1}})),
		"b":          second(Bars(Figure{}, axis, []Bar{{Label: "b", Value: math.NaN()}})),
		"finite":     second(Bars(Figure{}, axis, []Bar{{Label: "c", Value: math.Inf(1)}})),
		"above 0":    second(Bars(Figure{}, log, []Bar{{Label: "d", Value: 0}})),
		"no points":  second(Lines(Figure{}, axis, axis, []Series{{Name: "e"}})),
		"axis \"t\"": second(Lines(Figure{}, log, axis, []Series{{Points: []Point{{0, 1}}}})),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one that says %q", err, name)
		}
	}
}

func second(_ *Chart, err error) error { return err }

func TestDegenerateData(t *testing.T) {
	for _, series := range [][]Series{
		{{Points: []Point{{1, 1}}}}, {{Points: []Point{{0, 0}, {1, 0}}}}, {{Points: []Point{{5, -3}, {5, 7}}}}, {{Points: []Point{{1e-9, 1e12}, {2e-9, 1e12}}}},
	} {
		for _, x := range []Axis{{}, {Log: series[0].Points[0].X > 0}} {
			c, err := Lines(Figure{Title: "t"}, x, Axis{}, series)
			if err != nil {
				t.Errorf("%v: %v", series, err)
				continue
			}
			if err := c.WriteSVG(io.Discard); err != nil {
				t.Errorf("%v: %v", series, err)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	labels := func(s span) string {
		var out []string
		for _, tick := range s.ticks {
			if tick.Label != "" {
				out = append(out, tick.Label)
			}
		}
		return strings.Join(out, " | ")
	}
	for _, c := range []struct {
		axis   Axis
		lo, hi float64
		want   string
	}{
		{Axis{}, 0, 3.1, "0 | 1 | 2 | 3 | 4"},
		{Axis{}, 0, 0.42, "0.0 | 0.1 | 0.2 | 0.3 | 0.4 | 0.5"},
		{Axis{}, 0, 9e4, "0 | 20 k | 40 k | 60 k | 80 k | 100 k"},
		{Axis{}, -7, 12, "-10 | -5 | 0 | 5 | 10 | 15"},
		{Axis{Log: true}, 3, 700, "10 | 100 | 1 k"},
		{Axis{Log: true}, 3, 70, "2 | 5 | 10 | 20 | 50 | 100"},
		{Axis{Log: true}, 1e-5, 1e3, "1e-5 | 1e-4 | 0.001 | 0.01 | 0.1 | 1 | 10 | 100 | 1 k"},
		{Axis{Log: true}, 1, 1e12, "1 | 100 | 10 k | 1 M | 100 M | 10 G | 1 T"},
		{Axis{Min: 0, Max: 100}, 30, 31, "0 | 20 | 40 | 60 | 80 | 100"},
	} {
		s, err := c.axis.fit(c.lo, c.hi)
		if err != nil {
			t.Error(err)
		} else if got := labels(s); got != c.want {
			t.Errorf("%+v from %v to %v: ticks %s, want %s", c.axis, c.lo, c.hi, got, c.want)
		}
	}
}

// Lines up to ten of a chart, dashed or not, each look like no other.
func TestLooks(t *testing.T) {
	var series []Series
	for i := range 20 {
		series = append(series, Series{Name: string(rune('a' + i)), Dashed: i%2 > 0, Points: []Point{{0, float64(i)}, {1, 30 - float64(i)}}})
	}
	c, err := Lines(Figure{Title: "looks"}, Axis{Title: "x"}, Axis{Title: "y"}, series)
	if err != nil {
		t.Fatal(err)
	}
	looks := map[string]string{}
	for _, e := range c.legend {
		look := fmt.Sprint(e.color, e.dash)
		if other, taken := looks[look]; taken {
			t.Errorf("%s looks as %s does", e.name, other)
		}
		looks[look] = e.name
	}
}
