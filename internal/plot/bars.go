package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bar is a horizontal bar.
type Bar struct {
	Label string  // to the left of the bar
	Value float64 // its length
	Text  string  // at its end; the value in three digits if empty
	Group string  // bars of a group have a colour; the legend names groups
}

const (
	barPitch  = 22  // points from one bar to the next
	capHeight = 7.2 // of the texts at the ends of bars, in points
)

// Bars draws bars from top to bottom. On a linear axis they begin at 0; values
// must not be negative.
func Bars(f Figure, values Axis, bars []Bar) (*Chart, error) {
	if len(bars) == 0 {
		return nil, fmt.Errorf("bar chart %q: no bars", f.Title)
	}
	lo, hi := math.Inf(1), 0.0
	for _, b := range bars {
		if !(b.Value >= 0) {
			return nil, fmt.Errorf("bar chart %q: bar %q is %v long, expected 0 or more", f.Title, b.Label, b.Value)
		}
		lo, hi = min(lo, b.Value), max(hi, b.Value)
	}
	if !values.Log {
		lo = 0
	} else if values.Min == 0 {
		lo /= 2 // or the shortest bar would have no length
	}
	reach, err := values.fit(lo, hi)
	if err != nil {
		return nil, fmt.Errorf("bar chart %q: %w", f.Title, err)
	}
	if values.Max == 0 {
		reach.max = hi * (1 + 1e-9) // the texts need the room beyond
		if hi == 0 {
			reach.max = 1
		}
	}
	p := newPlot(values)
	setSpan(&p.X, reach, values.Log)
	p.Y.Min, p.Y.Max = -0.6, float64(len(bars))-0.4
	p.Y.Tick.Length = 2
	var labels []plot.Tick
	for i, b := range bars {
		labels = append(labels, plot.Tick{Value: float64(len(bars) - 1 - i), Label: b.Label})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(labels)
	c := &Chart{figure: f, plot: p}
	group := map[string]int{}
	for _, b := range bars {
		if _, known := group[b.Group]; !known {
			group[b.Group] = len(group)
			if b.Group != "" {
				c.legend = append(c.legend, entry{name: b.Group, color: palette[(len(group)-1)%len(palette)]})
			}
		}
	}
	p.Add(gridLines{x: reach.ticks}, barPlotter{bars: bars, group: group})
	c.setSize(600, 110+float64(len(bars))*barPitch)
	return c, nil
}

// setSize fills in the size that was not given, and makes room for the legend.
func (c *Chart) setSize(width, height float64) {
	if c.figure.Width == 0 {
		c.figure.Width = width
	}
	if c.figure.Height == 0 {
		if len(c.legend) > 0 {
			height += 16
		}
		c.figure.Height = height
	}
}

func setSpan(axis *plot.Axis, s span, log bool) {
	axis.Min, axis.Max = s.min, s.max
	axis.Tick.Marker = plot.ConstantTicks(s.ticks)
	if log {
		axis.Scale = plot.LogScale{}
	}
}

// barPlotter draws bars and the texts at their ends.
type barPlotter struct {
	bars  []Bar
	group map[string]int
}

func (b barPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	st := style(10, ink, false)
	for i, bar := range b.bars {
		middle := y(float64(len(b.bars) - 1 - i))
		end := max(x(max(bar.Value, p.X.Min)), c.Min.X)
		half := (y(1) - y(0)) * 0.36
		c.FillPolygon(palette[b.group[bar.Group]%len(palette)], []vg.Point{
			{X: c.Min.X, Y: middle - half}, {X: end, Y: middle - half}, {X: end, Y: middle + half}, {X: c.Min.X, Y: middle + half},
		})
		c.FillText(st, vg.Point{X: end + 4, Y: middle - capHeight/2}, bar.text())
	}
}

func (b Bar) text() string {
	if b.Text != "" {
		return b.Text
	}
	return short(b.Value)
}

// GlyphBoxes asks for room for the texts.
func (b barPlotter) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	st := style(10, ink, false)
	boxes := make([]plot.GlyphBox, len(b.bars))
	for i, bar := range b.bars {
		boxes[i] = plot.GlyphBox{
			X: p.X.Norm(max(bar.Value, p.X.Min)), Y: 0.5,
			Rectangle: vg.Rectangle{Max: vg.Point{X: 4 + st.Width(bar.text())}},
		}
	}
	return boxes
}

// gridLines draws thin lines at ticks, fainter at those without a label.
type gridLines struct{ x, y []plot.Tick }

func (g gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	width := func(t plot.Tick) draw.LineStyle {
		if t.Label == "" {
			return draw.LineStyle{Color: faint, Width: 0.3}
		}
		return draw.LineStyle{Color: faint, Width: 0.9}
	}
	for _, t := range g.x {
		if t.Value < p.X.Min || t.Value > p.X.Max {
			continue
		}
		c.StrokeLine2(width(t), x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
	}
	for _, t := range g.y {
		c.StrokeLine2(width(t), c.Min.X, y(t.Value), c.Max.X, y(t.Value))
	}
}
