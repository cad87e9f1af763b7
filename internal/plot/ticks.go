package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// span is where an axis begins and ends, and its ticks.
type span struct {
	min, max float64
	ticks    []plot.Tick
}

// fit finds the span of an axis over values lo to hi, ending at ticks.
func (a Axis) fit(lo, hi float64) (span, error) {
	if a.Min != 0 || a.Max != 0 {
		lo, hi = a.Min, a.Max
	}
	switch {
	case math.IsNaN(lo) || math.IsInf(lo, 0) || math.IsNaN(hi) || math.IsInf(hi, 0):
		return span{}, fmt.Errorf("axis %q: values from %v to %v, expected finite ones", a.Title, lo, hi)
	case a.Log && lo <= 0:
		return span{}, fmt.Errorf("axis %q: value %v on a logarithmic axis, expected values above 0", a.Title, lo)
	case a.Log:
		return logSpan(lo, hi), nil
	}
	return linearSpan(lo, hi), nil
}

// linearSpan has four to seven ticks at round numbers.
func linearSpan(lo, hi float64) span {
	if hi <= lo {
		hi = lo + max(1, math.Abs(lo))
	}
	step := roundStep((hi - lo) / 5)
	s := span{min: math.Floor(lo/step+1e-9) * step, max: math.Ceil(hi/step-1e-9) * step}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for i := range int(math.Round((s.max-s.min)/step)) + 1 {
		value := s.min + float64(i)*step
		label := strconv.FormatFloat(value, 'f', decimals, 64)
		if max(math.Abs(s.min), math.Abs(s.max)) >= 10000 {
			label = short(value)
		}
		s.ticks = append(s.ticks, plot.Tick{Value: value, Label: label})
	}
	return s
}

// roundStep is the first of 1, 2, 5, 10, … times a power of ten not below x.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logSpan has ticks at powers of ten, and at 2 and 5 times them where the span is
// short; it ends at a multiple of a power of ten.
func logSpan(lo, hi float64) span {
	if hi <= lo {
		hi = lo * 2
	}
	decades := math.Log10(hi / lo)
	round := func(x float64, up bool) float64 {
		power := math.Pow(10, math.Floor(math.Log10(x)+1e-12))
		steps := []float64{1, 2, 5, 10}
		if decades > 3 {
			steps = []float64{1, 10}
		}
		if up {
			for _, m := range steps {
				if m*power >= x*(1-1e-9) {
					return m * power
				}
			}
		}
		for i := len(steps) - 1; i >= 0; i-- {
			if steps[i]*power <= x*(1+1e-9) {
				return steps[i] * power
			}
		}
		return power
	}
	s := span{min: round(lo, false), max: round(hi, true)}
	first, last := int(math.Floor(math.Log10(s.min)+1e-9)), int(math.Ceil(math.Log10(s.max)-1e-9))
	every := max(1, (last-first+7)/8)
	for exponent := first; exponent <= last; exponent++ {
		for m := 1.0; m < 10; m++ {
			value := m * math.Pow(10, float64(exponent))
			if value < s.min*(1-1e-9) || value > s.max*(1+1e-9) {
				continue
			}
			label := ""
			if m == 1 && (exponent-first)%every == 0 || decades <= 2 && (m == 2 || m == 5) {
				label = short(value)
			}
			s.ticks = append(s.ticks, plot.Tick{Value: value, Label: label})
		}
	}
	return s
}

// short prints a number with few characters: 0.05, 20, 5 k, 1.5 M.
func short(x float64) string {
	size := math.Abs(x)
	for _, p := range []struct {
		at   float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if size >= p.at*(1-1e-9) {
			return strconv.FormatFloat(roundTo(x/p.at), 'f', -1, 64) + p.name
		}
	}
	if size != 0 && size < 1e-3*(1-1e-9) {
		return strings.Replace(strconv.FormatFloat(roundTo(x), 'e', -1, 64), "e-0", "e-", 1)
	}
	return strconv.FormatFloat(roundTo(x), 'f', -1, 64)
}

// roundTo keeps three significant digits.
func roundTo(x float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64) // it was just formatted
	return r
}
