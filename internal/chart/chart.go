// Package chart draws time series in a terminal: for each series a line of dots,
// eight to a character, over the band from the least value to the greatest, with
// an axis of values at round numbers and one of times at full seconds, minutes,
// hours or days.
//
//	err := chart.Text(os.Stdout, []chart.Series{{Name: "cpu host=a", Bins: bins}}, chart.Options{Width: 80, Height: 16})
//
// Stretches without points are gaps and are drawn as such. [Figure] is the same as SVG.
package chart

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bin is what is known of the points of a stretch of time.
type Bin struct {
	Time           int64 // where it begins, in ns since 1970
	Min, Max, Mean float64
}

// Series is the bins of a series in ascending order of time. Bins whose values are not finite are gaps.
type Series struct {
	Name string // for the legend
	Bins []Bin
	Step int64 // ns from one bin to the next; 0 for the least distance between two. Bins further apart are not connected.
}

// Options say how to draw. Zero values mean 80 columns, 16 rows of data, dots in the patterns of braille, and no colors.
type Options struct {
	Width, Height int  // of the whole, in characters; of the data, in rows
	ASCII         bool // nothing but ASCII
	Color         bool // escape sequences of a terminal tell series apart, rather than signs
}

// Dots of a character, which are the resolution of lines.
const (
	dotsAcross = 2
	dotsUp     = 4
)

// signs tell series apart where there are no colors.
const signs = "*+xo#%@&"

// colors are those of a terminal, bright and dim, which go around.
var colors = [...][2]string{{"94", "34"}, {"93", "33"}, {"92", "32"}, {"95", "35"}, {"96", "36"}, {"91", "31"}}

// braille is which bit of a pattern is the dot at [row from above][column].
var braille = [dotsUp][dotsAcross]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// cell is what stands at a place.
type cell struct {
	dots rune // of line
	line int  // the series, counted from 1, which was drawn last; 0 for none
	band int
}

// canvas is a drawing in cells.
type canvas struct {
	frame
	o     Options
	signs bool // rather than dots
	cells [][]cell
}

// frame maps times and values to dots.
type frame struct {
	first, last int64
	lo, hi      float64
	across, up  int // dots
}

func (f *frame) x(t int64) int {
	if f.first == f.last {
		return 0
	}
	return int(float64(uint64(t)-uint64(f.first)) / float64(uint64(f.last)-uint64(f.first)) * float64(f.across-1))
}

// y is 0 at the bottom. Halves keep the span of huge values finite.
func (f *frame) y(v float64) int {
	return int(math.Round((v/2 - f.lo/2) / (f.hi/2 - f.lo/2) * float64(f.up-1)))
}

// drawable is the bins that can be drawn, and the least distance between two.
func (s *Series) drawable() (bins []Bin, step int64, err error) {
	step = math.MaxInt64
	for _, b := range s.Bins {
		if !finite(b.Min) || !finite(b.Max) || !finite(b.Mean) {
			continue
		}
		if n := len(bins); n > 0 {
			before := bins[n-1].Time
			if b.Time < before {
				return nil, 0, fmt.Errorf("draw chart: a bin at %d behind one at %d", b.Time, before)
			}
			if d := uint64(b.Time) - uint64(before); d > 0 && d < uint64(step) {
				step = int64(d)
			}
		}
		bins = append(bins, b)
	}
	if s.Step > 0 {
		step = s.Step
	}
	return bins, step, nil
}

// connected reports whether two bins are neighbours.
func connected(a, b Bin, step int64) bool {
	return float64(b.Time)-float64(a.Time) <= 1.5*float64(step)
}

// Text draws series; of each, several bins may fall into a column and a column may stay empty. Times are UTC. It is an
// error to have nothing to draw.
func Text(w io.Writer, series []Series, o Options) error {
	if o.Height <= 0 {
		o.Height = 16
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	c := canvas{o: o, frame: frame{first: math.MaxInt64, last: math.MinInt64, lo: math.Inf(1), hi: math.Inf(-1)}}
	c.signs = o.ASCII || !o.Color && len(series) > 1
	all := make([]drawn, len(series))
	for i := range series {
		var err error
		if all[i].bins, all[i].step, err = series[i].drawable(); err != nil {
			return err
		}
		for _, b := range all[i].bins {
			c.lo, c.hi = min(c.lo, b.Min), max(c.hi, b.Max)
			c.first, c.last = min(c.first, b.Time), max(c.last, b.Time)
		}
	}
	if c.first > c.last {
		return fmt.Errorf("draw chart: nothing to draw")
	}
	ticks, decimals := valueTicks(c.lo, c.hi, max(2, o.Height/4))
	c.lo, c.hi = min(c.lo, ticks[0]), max(c.hi, ticks[len(ticks)-1])
	if c.lo == c.hi {
		c.lo, c.hi = c.lo-1, c.hi+1
	}
	c.up = o.Height
	if !c.signs {
		c.up *= dotsUp
	}
	labels, margin := map[int]string{}, 0
	for _, v := range ticks {
		s := strconv.FormatFloat(v, 'f', decimals, 64)
		if len(s) > 10 {
			s = strconv.FormatFloat(v, 'g', 4, 64)
		}
		labels[c.row(c.y(v))] = s
		margin = max(margin, len(s))
	}
	width := max(8, o.Width-margin-2)
	c.across = width
	if !c.signs {
		c.across *= dotsAcross
	}
	c.cells = make([][]cell, o.Height)
	for i := range c.cells {
		c.cells[i] = make([]cell, width)
	}
	for i, d := range all {
		c.drawBand(i+1, d)
	}
	for i, d := range all {
		c.drawLine(i+1, d)
	}
	out := bufio.NewWriter(w)
	c.writeLegend(out, series, margin+2)
	c.writeRows(out, labels, margin)
	c.writeTimes(out, margin, width)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("draw chart: %w", err)
	}
	return nil
}

// drawn is the bins of a series.
type drawn struct {
	bins []Bin
	step int64
}

// row is the row of cells, 0 the lowest, with a dot.
func (c *canvas) row(y int) int {
	if c.signs {
		return y
	}
	return y / dotsUp
}

func (c *canvas) column(x int) int {
	if c.signs {
		return x
	}
	return x / dotsAcross
}

// drawBand fills what lies between the least and the greatest values, as far as the next bin.
func (c *canvas) drawBand(series int, d drawn) {
	for i, b := range d.bins {
		from, to := c.column(c.x(b.Time)), c.column(c.x(b.Time))
		if i+1 < len(d.bins) && connected(b, d.bins[i+1], d.step) {
			to = max(to, c.column(c.x(d.bins[i+1].Time))-1)
		}
		for y := c.row(c.y(b.Min)); y <= c.row(c.y(b.Max)); y++ {
			for x := from; x <= to; x++ {
				if c.cells[y][x].band == 0 && b.Min < b.Max {
					c.cells[y][x].band = series
				}
			}
		}
	}
}

// drawLine connects the means.
func (c *canvas) drawLine(series int, d drawn) {
	for i, b := range d.bins {
		x, y := c.x(b.Time), c.y(b.Mean)
		c.dot(series, x, y)
		if i+1 == len(d.bins) || !connected(b, d.bins[i+1], d.step) {
			continue
		}
		toX, toY := c.x(d.bins[i+1].Time), c.y(d.bins[i+1].Mean)
		steps := max(toX-x, toY-y, y-toY)
		for k := 1; k < steps; k++ {
			c.dot(series, x+(toX-x)*k/steps, y+int(math.Round(float64(toY-y)*float64(k)/float64(steps))))
		}
	}
}

func (c *canvas) dot(series, x, y int) {
	at := &c.cells[c.row(y)][c.column(x)]
	if at.line != series {
		at.line, at.dots = series, 0 // no character has two colors
	}
	if !c.signs {
		at.dots |= braille[dotsUp-1-y%dotsUp][x%dotsAcross]
	}
}

// writeLegend names the series above the drawing, a line each.
func (c *canvas) writeLegend(out *bufio.Writer, series []Series, margin int) {
	for i, s := range series {
		if s.Name == "" {
			continue
		}
		name := []rune(s.Name)
		if room := max(8, c.o.Width-margin-3); len(name) > room {
			name = append(name[:room-1], []rune(map[bool]string{true: "~", false: "…"}[c.o.ASCII])...)
		}
		key := "⠤⠤"
		if c.signs {
			key = strings.Repeat(string(signs[i%len(signs)]), 2)
		}
		fmt.Fprintf(out, "%*s%s %s\n", margin, "", c.paint(key, i+1, false), string(name))
	}
}

// paint gives a text the color of a series.
func (c *canvas) paint(text string, series int, dim bool) string {
	if !c.o.Color || series == 0 {
		return text
	}
	color := colors[(series-1)%len(colors)][0]
	if dim {
		color = colors[(series-1)%len(colors)][1]
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// writeRows writes the drawing with the labels of its rows.
func (c *canvas) writeRows(out *bufio.Writer, labels map[int]string, margin int) {
	axis, band := '│', "░"
	if c.o.ASCII {
		axis, band = '|', ":"
	}
	for y := c.o.Height - 1; y >= 0; y-- {
		fmt.Fprintf(out, "%*s %c", margin, labels[y], axis)
		row := c.cells[y]
		end := len(row)
		for end > 0 && row[end-1] == (cell{}) {
			end--
		}
		for _, at := range row[:end] {
			switch {
			case at.line > 0 && c.signs:
				out.WriteString(c.paint(string(signs[(at.line-1)%len(signs)]), at.line, false))
			case at.line > 0:
				out.WriteString(c.paint(string(0x2800+at.dots), at.line, false))
			case at.band > 0:
				out.WriteString(c.paint(band, at.band, true))
			default:
				out.WriteByte(' ')
			}
		}
		out.WriteByte('\n')
	}
}

// writeTimes writes the axis of times.
func (c *canvas) writeTimes(out *bufio.Writer, margin, width int) {
	corner, tick, rule := '└', '┬', "─"
	if c.o.ASCII {
		corner, tick, rule = '+', '+', "-"
	}
	bottom := []rune(strings.Repeat(rule, width))
	texts := []rune(strings.Repeat(" ", width+margin+2))
	free := 0
	times, layout := timeTicks(c.first, c.last, max(2, width/16))
	for _, t := range times {
		x := c.column(c.x(t))
		bottom[x] = tick
		label := time.Unix(0, t).UTC().Format(layout)
		if at := margin + 2 + x; at >= free && at+len(label) <= len(texts) {
			copy(texts[at:], []rune(label))
			free = at + len(label) + 2
		}
	}
	fmt.Fprintf(out, "%*s %c%s\n%s\n", margin, "", corner, string(bottom), strings.TrimRight(string(texts), " "))
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// valueTicks is about n values at multiples of 1, 2 or 5 times a power of ten
// that span lo to hi, and how many decimals they have.
func valueTicks(lo, hi float64, n int) (ticks []float64, decimals int) {
	size := hi/float64(n) - lo/float64(n)
	if size < 1e-300 || size < 1e-12*max(math.Abs(lo), math.Abs(hi)) {
		return []float64{lo}, 3
	}
	power := math.Floor(math.Log10(size))
	step := math.Pow(10, power)
	for _, m := range []float64{1, 2, 5, 10} {
		if step = m * math.Pow(10, power); step >= size*(1-1e-9) {
			break
		}
	}
	decimals = min(20, max(0, -int(math.Floor(math.Log10(step)+1e-9))))
	begin := math.Floor(lo/step + 1e-9)
	for k := 0.0; k < 100; k++ {
		v := (begin + k) * step
		if !finite(v) {
			break
		}
		ticks = append(ticks, v)
		if v >= hi-step*1e-9 {
			break
		}
	}
	if len(ticks) == 0 {
		ticks = []float64{lo}
	}
	return ticks, decimals
}
