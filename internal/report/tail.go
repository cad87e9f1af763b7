package report

import (
	"weir/internal/latency"
	"weir/internal/plot"
)

// LeastShare is where plots of tails end.
const LeastShare = 1e-5

// Tail is a line of the share of durations that were longer, by seconds, for two logarithmic axes.
func Tail(name string, h latency.Histogram) plot.Series {
	s := plot.Series{Name: name, Steps: true}
	for d, longer := range h.Tail() {
		x := max(d.Seconds(), 1e-9)
		if len(s.Points) == 0 {
			s.Points = append(s.Points, plot.Point{X: x, Y: 1})
		}
		s.Points = append(s.Points, plot.Point{X: x, Y: max(longer, LeastShare)})
	}
	return s
}
