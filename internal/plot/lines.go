package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point is a point of a line.
type Point struct{ X, Y float64 }

// Series is a named line.
type Series struct {
	Name   string
	Points []Point // ascending in X
	// Steps holds each value until the next point, as fits what changes at moments.
	Steps bool
	// Dashed sets a series apart, such as figures that others published.
	Dashed bool
	// Dots draws the points alone.
	Dots bool
}

// fewPoints is the most points of a series that each get a marker.
const fewPoints = 32

var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
}

// dashes are those of the series with the first colours, then with the same colours once more, and so on; the
// others are those of dashed series.
var (
	dashes          = [][]vg.Length{nil, {14, 3, 2, 3}, {14, 3, 2, 3, 2, 3}}
	publishedDashes = [][]vg.Length{{4, 3}, {1.5, 2.5}, {9, 2, 1.5, 2}}
)

// Lines draws named lines. Linear axes include 0 where the data comes near it.
func Lines(f Figure, x, y Axis, series []Series) (*Chart, error) {
	fail := func(err error) (*Chart, error) { return nil, fmt.Errorf("line chart %q: %w", f.Title, err) }
	xLo, xHi, yLo, yHi := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, p := range s.Points {
			xLo, xHi, yLo, yHi = min(xLo, p.X), max(xHi, p.X), min(yLo, p.Y), max(yHi, p.Y)
		}
	}
	if xLo > xHi {
		return fail(fmt.Errorf("no points"))
	}
	if !y.Log && yLo > 0 && yLo < yHi/2 {
		yLo = 0
	}
	xs, err := x.fit(xLo, xHi)
	if err != nil {
		return fail(err)
	}
	if x.Min == 0 && x.Max == 0 && !x.Log {
		xs.min, xs.max = xLo, max(xHi, math.Nextafter(xLo, math.Inf(1)))
	}
	ys, err := y.fit(yLo, yHi)
	if err != nil {
		return fail(err)
	}
	p := newPlot(x)
	setSpan(&p.X, xs, x.Log)
	setSpan(&p.Y, ys, y.Log)
	p.Y.LineStyle.Width = 0
	p.Add(gridLines{x: xs.ticks, y: ys.ticks})
	c := &Chart{figure: f, plot: p, title: y.Title}
	for i, s := range series {
		e := entry{name: s.Name, color: palette[i%len(palette)], line: !s.Dots}
		if s.Dots || len(s.Points) <= fewPoints && !s.Steps {
			e.glyph = glyphs[i%len(glyphs)]
		}
		if turn := min(i/len(palette), len(dashes)-1); s.Dashed {
			e.dash = publishedDashes[turn]
		} else {
			e.dash = dashes[turn]
		}
		p.Add(linePlotter{series: s, entry: e})
		if s.Name != "" {
			c.legend = append(c.legend, e)
		}
	}
	c.setSize(600, 340)
	return c, nil
}

// linePlotter draws a series.
type linePlotter struct {
	series Series
	entry  entry
}

func (l linePlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var line []vg.Point
	for i, point := range l.series.Points {
		at := vg.Point{X: x(point.X), Y: y(point.Y)}
		if l.series.Steps && i > 0 {
			line = append(line, vg.Point{X: at.X, Y: line[len(line)-1].Y})
		}
		line = append(line, at)
	}
	if l.entry.line {
		st := draw.LineStyle{Color: l.entry.color, Width: 1.8, Dashes: l.entry.dash}
		c.StrokeLines(st, c.ClipLinesXY(line)...)
	}
	if l.entry.glyph != nil {
		st := draw.GlyphStyle{Color: l.entry.color, Radius: 3, Shape: l.entry.glyph}
		for _, at := range line {
			if c.Contains(at) {
				c.DrawGlyph(st, at)
			}
		}
	}
}

// Sample is a named set of measurements.
type Sample struct {
	Name   string
	Values []float64 // in any order; they are not changed
}

// Cumulative draws, for each sample, the share of its values that are at most
// as large as the value on the x axis.
func Cumulative(f Figure, x Axis, samples []Sample) (*Chart, error) {
	series := make([]Series, len(samples))
	for i, s := range samples {
		values := slices.Sorted(slices.Values(s.Values))
		n := float64(len(values))
		series[i] = Series{Name: s.Name, Steps: true}
		for j, v := range values {
			if j == 0 {
				series[i].Points = append(series[i].Points, Point{v, 0})
			}
			// Of many values, as many as a reader can see.
			if stride := 1 + len(values)/500; j%stride == 0 || j == len(values)-1 {
				series[i].Points = append(series[i].Points, Point{v, 100 * float64(j+1) / n})
			}
		}
	}
	return Lines(f, x, Axis{Title: "share of values, %", Min: 0, Max: 100}, series)
}
