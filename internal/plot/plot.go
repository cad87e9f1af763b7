// Package plot draws the charts of weir's reports: bars, lines, steps and
// cumulative distributions, all with one look.
//
// A chart says what it shows in its title, has units on its axes, and names at
// its foot the machine, the command and the date it comes from. Its background is
// white and its colours are those of Okabe and Ito (2008), which colour-blind
// readers tell apart; series differ in their markers too, and in their dashes where there are more than colours.
//
//	chart, err := plot.Bars(plot.Figure{Title: "Twenty iterations of PageRank", Source: "go run ./bench/graphtables"},
//		plot.Axis{Title: "seconds"}, []plot.Bar{{Label: "Hilbert order", Value: 1.9}, {Label: "vertex order", Value: 4.2}})
//	err = chart.Save("pagerank.svg")
package plot

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is what stands around a chart.
type Figure struct {
	Title    string  // what the chart shows, in a line
	Subtitle string  // what a reader needs to know to read it; may be empty
	Source   string  // machine, command, date; may be empty
	Width    float64 // in points; 0 means 600
	Height   float64 // in points; 0 means what suits the chart
}

// Axis describes an axis.
type Axis struct {
	Title string // with the unit
	Log   bool
	// Min and Max are where the axis ends; where both are 0 the data decides.
	Min, Max float64
	// Ticks are where the axis has labels, and these; the data decides if there are none.
	Ticks []Tick
}

// Tick is a place on an axis.
type Tick struct {
	Value float64
	Label string
}

// Chart is a finished drawing.
type Chart struct {
	figure Figure
	plot   *plot.Plot
	title  string // of the vertical axis
	legend []entry
}

// entry is a name in the legend and how its data looks.
type entry struct {
	name  string
	color color.Color
	line  bool             // or a filled square
	glyph draw.GlyphDrawer // on the line, unless nil
	dash  []vg.Length
}

// palette is that of Okabe and Ito, without its yellow, which is pale on white.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, // blue
	color.RGBA{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, // green
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, // purple
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, // orange
	color.RGBA{0x56, 0xb4, 0xe9, 0xff}, // sky
	color.RGBA{0x00, 0x00, 0x00, 0xff}, // black
}

var (
	ink   = color.RGBA{0x22, 0x22, 0x22, 0xff}
	quiet = color.RGBA{0x66, 0x66, 0x66, 0xff}
	faint = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
)

// style is text of the common look: Liberation Sans, which has the measures of Arial.
func style(size vg.Length, c color.Color, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = 3 // bold, as golang.org/x/image/font numbers it
	}
	return text.Style{Color: c, Font: f, Handler: plot.DefaultTextHandler}
}

const margin = 14 // points around a chart

// newPlot is an empty plot of the common look, without the title of its vertical axis.
func newPlot(x Axis) *plot.Plot {
	p := plot.New()
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font = style(10, ink, false).Font
		axis.Tick.Label.Color = ink
		// Ticks are white: they only keep the labels away from the axis.
		axis.Tick.LineStyle = draw.LineStyle{Color: color.White, Width: 0.5}
		axis.Tick.Length = 4
		axis.LineStyle = draw.LineStyle{Color: quiet, Width: 0.75}
		axis.Padding = 0
	}
	p.X.Label.Text = x.Title
	p.X.Label.TextStyle.Font = style(10.5, ink, false).Font
	p.X.Label.TextStyle.Color = quiet
	p.X.Label.Padding = 5
	return p
}

// draw paints the chart and what stands around it.
func (c *Chart) draw(canvas vg.CanvasSizer) {
	dc := draw.New(canvas)
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	left, right := dc.Min.X+margin, dc.Max.X-margin
	y := dc.Max.Y - margin
	line := func(s string, st text.Style, gap vg.Length) {
		for _, row := range wrap(s, st, right-left) {
			y -= st.Height("Hg")
			dc.FillText(st, vg.Point{X: left, Y: y}, row)
			y -= gap
		}
	}
	line(c.figure.Title, style(14, ink, true), 4)
	line(c.figure.Subtitle, style(10.5, quiet, false), 3)
	y = c.drawLegend(dc, left, right, y)

	bottom := dc.Min.Y + margin
	if c.figure.Source != "" {
		st := style(8.5, quiet, false)
		rows := wrap(c.figure.Source, st, right-left)
		for i := len(rows) - 1; i >= 0; i-- {
			dc.FillText(st, vg.Point{X: left, Y: bottom - 4}, rows[i])
			bottom += 11
		}
		bottom += 3
	}
	area := draw.Crop(dc, margin, -margin, bottom-dc.Min.Y, y-10-dc.Max.Y)
	if c.title != "" {
		// Not by the plot, which looks for the middle of a logarithmic axis in the wrong place, and
		// makes room for the title there.
		st := style(10.5, quiet, false)
		st.Rotation, st.XAlign = math.Pi/2, text.XCenter
		area = draw.Crop(area, st.Font.Size+5, 0, 0, 0)
		data := c.plot.DataCanvas(area)
		dc.FillText(st, vg.Point{X: left + st.Font.Size - 2, Y: data.Center().Y}, c.title)
	}
	c.plot.Draw(area)
}

// drawLegend paints the legend below y and returns where it ends.
func (c *Chart) drawLegend(dc draw.Canvas, left, right, y vg.Length) vg.Length {
	if len(c.legend) == 0 {
		return y
	}
	const gap = 16
	st := style(10.5, ink, false)
	y -= 15
	x := left
	for _, e := range c.legend {
		swatch := vg.Length(22)
		if !e.line {
			swatch = 10
		}
		width := swatch + 6 + st.Width(e.name)
		if x > left && x+width > right {
			x, y = left, y-15
		}
		middle := y + 3.6
		if e.line {
			dc.StrokeLine2(draw.LineStyle{Color: e.color, Width: 2, Dashes: e.dash}, x, middle, x+swatch, middle)
		} else {
			dc.FillPolygon(e.color, []vg.Point{{X: x, Y: middle - 5}, {X: x + 10, Y: middle - 5}, {X: x + 10, Y: middle + 5}, {X: x, Y: middle + 5}})
		}
		if e.glyph != nil {
			dc.DrawGlyph(draw.GlyphStyle{Color: e.color, Radius: 3.2, Shape: e.glyph}, vg.Point{X: x + swatch/2, Y: middle})
		}
		dc.FillText(st, vg.Point{X: x + swatch + 6, Y: y}, e.name)
		x += width + gap
	}
	return y
}

// wrap breaks s at spaces into rows no wider than width.
func wrap(s string, st text.Style, width vg.Length) []string {
	var rows []string
	for _, word := range strings.Fields(s) {
		if last := len(rows) - 1; last >= 0 && st.Width(rows[last]+" "+word) <= width {
			rows[last] += " " + word
		} else {
			rows = append(rows, word)
		}
	}
	return rows
}

// svgText is the beginning of a text element, its font's weight and size, and what
// it says.
var svgText = regexp.MustCompile(`(<text x="[^"]*" y="[^"]*")[^>]*font-weight:(\w+);[^>]*font-size:([0-9.]+)px[^>]*>([^<]*)</text>`)

func (c *Chart) size() (width, height vg.Length) {
	return vg.Length(c.figure.Width), vg.Length(c.figure.Height)
}

// WriteSVG writes the chart as SVG. Its text stays text: where Liberation Sans
// is not installed, fonts of the same measures take its place, and any other is
// squeezed to the width that the layout counts on.
func (c *Chart) WriteSVG(w io.Writer) error {
	canvas := vgsvg.New(c.size())
	c.draw(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return fmt.Errorf("write SVG: %w", err)
	}
	svg := svgText.ReplaceAllStringFunc(b.String(), func(element string) string {
		part := svgText.FindStringSubmatch(element)
		size, _ := strconv.ParseFloat(part[3], 64) // the expression admits numbers only
		width := style(vg.Length(size), ink, part[2] == "bold").Width(html.UnescapeString(part[4]))
		return fmt.Sprintf(`%s textLength="%.2f" lengthAdjust="spacingAndGlyphs"%s`, part[1], width.Points(), element[len(part[1]):])
	})
	svg = strings.ReplaceAll(svg, "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	svg = strings.Replace(svg, "xlink\">\n", "xlink\" role=\"img\">\n<title>"+html.EscapeString(c.figure.Title)+"</title>\n", 1)
	_, err := io.WriteString(w, svg)
	return err
}

// WritePNG writes the chart as PNG, with two pixels a point.
func (c *Chart) WritePNG(w io.Writer) error {
	width, height := c.size()
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))
	c.draw(canvas)
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// Save writes the chart to a file whose name ends in .svg or .png.
func (c *Chart) Save(path string) (err error) {
	write := c.WriteSVG
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".svg":
	case ".png":
		write = c.WritePNG
	default:
		return fmt.Errorf("save chart %s: the name ends in %q, expected .svg or .png", path, ext)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("save chart %s: %w", path, err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("save chart: %w", err)
	}
	return nil
}
