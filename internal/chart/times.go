package chart

import (
	"math"
	"time"
)

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
