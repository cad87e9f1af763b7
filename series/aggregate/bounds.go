package aggregate

import "math"

// Bounds is a range of numbers. NaN is in none.
type Bounds struct {
	Low, High         float64
	OpenLow, OpenHigh bool // without Low, High itself
}

// Everything is the bounds of all numbers.
func Everything() Bounds { return Bounds{Low: math.Inf(-1), High: math.Inf(1)} }

// Contains reports whether v is within the bounds.
func (b *Bounds) Contains(v float64) bool {
	return (v > b.Low || v == b.Low && !b.OpenLow) && (v < b.High || v == b.High && !b.OpenHigh)
}

// Meets reports whether a number from low to high may be within the bounds: if not, there is no need to read them.
func (b *Bounds) Meets(low, high float64) bool {
	return (high > b.Low || high == b.Low && !b.OpenLow) && (low < b.High || low == b.High && !b.OpenHigh)
}
