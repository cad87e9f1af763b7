package chart

import (
	"fmt"
	"math"
	"time"

	"weir/internal/plot"
)

// Figure draws series as a chart with bands and lines, which can be saved as SVG or PNG. The axis of times is added to
// f; unit is the title of the axis of values, which may be empty.
func Figure(f plot.Figure, unit string, series []Series) (*plot.Chart, error) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	lines := make([]plot.Series, 0, len(series))
	for i := range series {
		bins, step, err := series[i].drawable()
		if err != nil {
			return nil, err
		}
		line := plot.Series{Name: series[i].Name, Plain: true}
		for k, b := range bins {
			first, last = min(first, b.Time), max(last, b.Time)
			if k > 0 && !connected(bins[k-1], b, step) {
				line.Points = append(line.Points, plot.Point{X: seconds(b.Time), Y: math.NaN()})
				line.Band = append(line.Band, plot.Range{Low: math.NaN(), High: math.NaN()})
			}
			line.Points = append(line.Points, plot.Point{X: seconds(b.Time), Y: b.Mean})
			line.Band = append(line.Band, plot.Range{Low: b.Min, High: b.Max})
		}
		lines = append(lines, line)
	}
	if first > last {
		return nil, fmt.Errorf("draw chart: nothing to draw")
	}
	x := plot.Axis{Title: span(first, last)}
	times, layout := timeTicks(first, last, 7)
	for _, t := range times {
		x.Ticks = append(x.Ticks, plot.Tick{Value: seconds(t), Label: time.Unix(0, t).UTC().Format(layout)})
	}
	return plot.Lines(f, x, plot.Axis{Title: unit}, lines)
}

func seconds(t int64) float64 { return float64(t) / 1e9 }

// span says from when to when a chart is.
func span(first, last int64) string {
	const layout = "2006-01-02 15:04:05"
	return fmt.Sprintf("%s to %s UTC", time.Unix(0, first).UTC().Format(layout), time.Unix(0, last).UTC().Format(layout))
}
