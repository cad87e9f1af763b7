package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Point is a point of a line. Where Y is not a number, the line has a gap.
type Point struct{ X, Y float64 }

// Range is from Low to High, both included.
type Range struct{ Low, High float64 }

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
	// Plain is a thin line without markers, however few its points are, as fits many of them.
	Plain bool
	// Band is filled behind the line: at each of Points, from where to where. It may be empty, or of the length of Points.
	Band []Range
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
		if len(s.Band) > 0 && len(s.Band) != len(s.Points) {
			return fail(fmt.Errorf("series %q: a band of %d ranges, expected one for each of %d points", s.Name, len(s.Band), len(s.Points)))
		}
		for i, p := range s.Points {
			if math.IsNaN(p.Y) {
				continue
			}
			xLo, xHi, yLo, yHi = min(xLo, p.X), max(xHi, p.X), min(yLo, p.Y), max(yHi, p.Y)
			if len(s.Band) > 0 {
				yLo, yHi = min(yLo, s.Band[i].Low), max(yHi, s.Band[i].High)
			}
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
	if len(x.Ticks) > 0 {
		xs.ticks = nil
		for _, t := range x.Ticks {
			xs.ticks = append(xs.ticks, plot.Tick{Value: t.Value, Label: t.Label})
		}
	}
	p := newPlot(x)
	setSpan(&p.X, xs, x.Log)
	setSpan(&p.Y, ys, y.Log)
	p.Y.LineStyle.Width = 0
	p.Add(gridLines{x: xs.ticks, y: ys.ticks})
	c := &Chart{figure: f, plot: p, title: y.Title}
	var lines []linePlotter
	for i, s := range series {
		e := entry{name: s.Name, color: palette[i%len(palette)], line: !s.Dots}
		if s.Dots || len(s.Points) <= fewPoints && !s.Steps && !s.Plain {
			e.glyph = glyphs[i%len(glyphs)]
		}
		if turn := min(i/len(palette), len(dashes)-1); s.Dashed {
			e.dash = publishedDashes[turn]
		} else {
			e.dash = dashes[turn]
		}
		lines = append(lines, linePlotter{series: s, entry: e})
		if s.Name != "" {
			c.legend = append(c.legend, e)
		}
	}
	for _, l := range lines {
		if len(l.series.Band) > 0 {
			p.Add(bandPlotter(l)) // below all lines
		}
	}
	for _, l := range lines {
		p.Add(l)
	}
	c.setSize(600, 340)
	return c, nil
}

// bandPlotter fills the band of a series.
type bandPlotter linePlotter

func (l bandPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	r, g, b, _ := l.entry.color.RGBA()
	pale := func(v uint32) uint8 { return uint8(255 - (255-v>>8)/4) } // not transparent, which SVG readers draw in many ways
	fill := color.RGBA{pale(r), pale(g), pale(b), 0xff}
	points := l.series.Points
	for from := 0; from < len(points); from++ {
		to := from
		for to < len(points) && !math.IsNaN(points[to].Y) {
			to++
		}
		var outline []vg.Point
		for i := from; i < to; i++ {
			outline = append(outline, vg.Point{X: x(points[i].X), Y: y(l.series.Band[i].High)})
		}
		for i := to - 1; i >= from; i-- {
			outline = append(outline, vg.Point{X: x(points[i].X), Y: y(l.series.Band[i].Low)})
		}
		if to-from > 1 {
			c.FillPolygon(fill, c.ClipPolygonXY(outline))
		}
		from = to
	}
}

// linePlotter draws a series.
type linePlotter struct {
	series Series
	entry  entry
}

func (l linePlotter) Plot(c draw.Canvas, p *plot.Plot) {
	points := l.series.Points
	for len(points) > 0 {
		end := slices.IndexFunc(points, func(p Point) bool { return math.IsNaN(p.Y) })
		if end < 0 {
			l.run(c, p, points)
			return
		}
		l.run(c, p, points[:end])
		points = points[end+1:]
	}
}

// run draws points without a gap.
func (l linePlotter) run(c draw.Canvas, p *plot.Plot, points []Point) {
	x, y := p.Transforms(&c)
	var line []vg.Point
	for i, point := range points {
		at := vg.Point{X: x(point.X), Y: y(point.Y)}
		if l.series.Steps && i > 0 {
			line = append(line, vg.Point{X: at.X, Y: line[len(line)-1].Y})
		}
		line = append(line, at)
	}
	if l.entry.line {
		st := draw.LineStyle{Color: l.entry.color, Width: 1.8, Dashes: l.entry.dash}
		if l.series.Plain {
			st.Width = 1.2
		}
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
