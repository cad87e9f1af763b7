// Package chart draws time series in a terminal: for each column of the
// screen the band from the least value to the greatest and the mean in it,
// with an axis of values at round numbers and one of times at full seconds,
// minutes, hours or days.
//
//	err := chart.Text(os.Stdout, bins, chart.Options{Width: 80, Height: 16})
//
// Bins without points are gaps and are drawn as such.
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

// Options say how to draw. Zero values mean 80 columns, 16 rows of data and
// block characters.
type Options struct {
	Width, Height int  // of the whole, in characters; of the data, in rows
	ASCII         bool // nothing but ASCII
}

// Text draws bins, in ascending order of time, of which several may fall into
// a column and a column may stay empty. Times are UTC. Bins whose values are not
// finite are gaps. It is an error to have nothing to draw.
func Text(w io.Writer, bins []Bin, o Options) error {
	if o.Height <= 0 {
		o.Height = 16
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	var drawn []Bin
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, b := range bins {
		if finite(b.Min) && finite(b.Max) && finite(b.Mean) {
			if len(drawn) > 0 && b.Time < drawn[len(drawn)-1].Time {
				return fmt.Errorf("draw chart: a bin at %d behind one at %d", b.Time, drawn[len(drawn)-1].Time)
			}
			drawn = append(drawn, b)
			lo, hi = min(lo, b.Min), max(hi, b.Max)
		}
	}
	if len(drawn) == 0 {
		return fmt.Errorf("draw chart: nothing to draw")
	}
	ticks, decimals := valueTicks(lo, hi, max(2, o.Height/4))
	lo, hi = min(lo, ticks[0]), max(hi, ticks[len(ticks)-1])
	if lo == hi {
		lo, hi = lo-1, hi+1
	}
	row := func(v float64) int { // 0 is the lowest; halves keep the span of huge values finite
		return int(math.Round((v/2 - lo/2) / (hi/2 - lo/2) * float64(o.Height-1)))
	}
	labels := map[int]string{}
	margin := 0
	for _, v := range ticks {
		s := strconv.FormatFloat(v, 'f', decimals, 64)
		if len(s) > 10 {
			s = strconv.FormatFloat(v, 'g', 4, 64)
		}
		labels[row(v)] = s
		margin = max(margin, len(s))
	}
	width := max(8, o.Width-margin-2)
	first, last := drawn[0].Time, drawn[len(drawn)-1].Time
	span := float64(last) - float64(first)
	column := func(t int64) int {
		if span == 0 {
			return 0
		}
		return int((float64(t) - float64(first)) / span * float64(width-1))
	}
	band, line, axis, corner, tick := '░', '█', '│', '└', '┬'
	rule := "─"
	if o.ASCII {
		band, line, axis, corner, tick, rule = ':', '#', '|', '+', '+', "-"
	}
	grid := make([][]rune, o.Height)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", width))
	}
	// A bin reaches to where the next would begin: what the closest two are apart.
	step := math.Inf(1)
	for i := 1; i < len(drawn); i++ {
		if d := float64(drawn[i].Time) - float64(drawn[i-1].Time); d > 0 {
			step = min(step, d)
		}
	}
	columns := func(b Bin) (from, to int) {
		from = column(b.Time)
		if ends := float64(b.Time) - float64(first) + step; span > 0 && ends <= span {
			return from, max(from, int(ends/span*float64(width-1))-1)
		}
		return from, from
	}
	for _, b := range drawn {
		from, to := columns(b)
		for y := row(b.Min); y <= row(b.Max); y++ {
			for x := from; x <= to; x++ {
				if grid[y][x] == ' ' {
					grid[y][x] = band
				}
			}
		}
	}
	for _, b := range drawn {
		from, to := columns(b)
		for x := from; x <= to; x++ {
			grid[row(b.Mean)][x] = line
		}
	}
	out := bufio.NewWriter(w)
	for y := o.Height - 1; y >= 0; y-- {
		fmt.Fprintf(out, "%*s %c%s\n", margin, labels[y], axis, strings.TrimRight(string(grid[y]), " "))
	}
	bottom := []rune(strings.Repeat(rule, width))
	texts := []rune(strings.Repeat(" ", width+margin+2))
	free := 0
	times, layout := timeTicks(first, last, max(2, width/16))
	for _, t := range times {
		x := column(t)
		bottom[x] = tick
		label := time.Unix(0, t).UTC().Format(layout)
		if at := margin + 2 + x; at >= free && at+len(label) <= len(texts) {
			copy(texts[at:], []rune(label))
			free = at + len(label) + 2
		}
	}
	fmt.Fprintf(out, "%*s %c%s\n%s\n", margin, "", corner, string(bottom), strings.TrimRight(string(texts), " "))
	if err := out.Flush(); err != nil {
		return fmt.Errorf("draw chart: %w", err)
	}
	return nil
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

// timeSteps are the distances of ticks.
var timeSteps = []time.Duration{
	time.Nanosecond, 10, 100, time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond,
	time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 7 * day,
}

const day = 24 * time.Hour

// timeTicks is at most n times from first to last at round moments, and the
// layout that shows them.
func timeTicks(first, last int64, n int) (ticks []int64, layout string) {
	for _, step := range timeSteps {
		if float64(last)-float64(first) > float64(step)*float64(n-1) {
			continue
		}
		switch {
		case step < time.Second:
			layout = "15:04:05.999999999"
		case step < time.Minute:
			layout = "15:04:05"
		case step < day:
			layout = "Jan 2 15:04"
		default:
			layout = "2006-01-02"
		}
		at := first / int64(step) * int64(step)
		for ; at <= last; at += int64(step) {
			if at >= first {
				ticks = append(ticks, at)
			}
			if at > math.MaxInt64-int64(step) {
				break
			}
		}
		return ticks, layout
	}
	begin := time.Unix(0, first).UTC()
	months := 1
	for float64(last)-float64(first) > float64(months)*30*float64(day)*float64(n-1) {
		months *= 2
	}
	for at := time.Date(begin.Year(), 1, 1, 0, 0, 0, 0, time.UTC); !at.After(time.Unix(0, last)); at = at.AddDate(0, months, 0) {
		if !at.Before(begin) {
			ticks = append(ticks, at.UnixNano())
		}
	}
	return ticks, "2006-01"
}
