package apply

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"weir/series/query/rows"
)

// modelRow is a row of the model; gaps are values that are not there.
type modelRow struct {
	series int
	time   int64
	values []float64
	gaps   []bool
}

// past is what a series had in a column before a row, the latest last.
func past(all []modelRow, row, column int) (times []int64, values []float64) {
	for _, r := range all[:row] {
		if r.series == all[row].series && !r.gaps[column] {
			times, values = append(times, r.time), append(values, r.values[column])
		}
	}
	return times, values
}

func total(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// modelStep looks at everything that was before, anew for each value.
func modelStep(s Step, all []modelRow) (out []modelRow) {
	for i, r := range all {
		n := modelRow{r.series, r.time, nil, nil}
		switch s.Name {
		case "sum", "diff", "multiply", "divide":
			var folded float64
			for c, v := range r.values {
				if r.gaps[c] {
					switch {
					case !s.IgnoreMissing:
						v = math.NaN()
					case s.Name == "sum" || s.Name == "diff":
						v = 0
					default:
						v = 1
					}
				}
				switch {
				case c == 0:
					folded = v
				case s.Name == "sum":
					folded += v
				case s.Name == "diff":
					folded -= v
				case s.Name == "multiply":
					folded *= v
				case s.Name == "divide":
					folded /= v
				}
			}
			n.values, n.gaps = []float64{folded}, []bool{false}
			out = append(out, n)
			continue
		}
		there := false
		for c, v := range r.values {
			gap := r.gaps[c]
			times, before := past(all, i, c)
			k := len(before)
			forecast := v
			switch s.Name {
			case "ewma", "ewma-error":
				if k >= 11 {
					mean := total(before[:11]) / 11
					forecast = s.Decay*before[10] + (1-s.Decay)*mean
					for _, x := range before[11:] {
						forecast = s.Decay*x + (1-s.Decay)*forecast
					}
				}
			case "sma", "sma-error":
				if k > 0 {
					window := before[max(0, k-s.Window):]
					forecast = total(window) / float64(len(window))
				}
			}
			switch s.Name {
			case "rate":
				if k == 0 {
					gap = true
				} else {
					v = (v - before[k-1]) / (float64(r.time-times[k-1]) / 1e9)
				}
			case "accumulate", "cusum":
				v = total(append(before, v))
			case "cma":
				v = total(append(before, v)) / float64(k+1)
			case "abs":
				v = math.Abs(v)
			case "scale":
				if c < len(s.Weights) {
					v *= s.Weights[c]
				}
			case "ewma", "sma":
				v = forecast
			case "ewma-error", "sma-error":
				v -= forecast
			}
			n.values, n.gaps = append(n.values, v), append(n.gaps, gap)
			there = there || !gap
		}
		if s.Name != "rate" || there {
			out = append(out, n)
		}
	}
	return out
}

// TestAgainstModel sends rows of several series, forward and backward, in batches, through chains of functions.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 3).Draw(t, "width")
		backward := rapid.Bool().Draw(t, "backward")
		series := rapid.IntRange(1, 3).Draw(t, "series")
		var all []modelRow
		time := rapid.Int64Range(-100, 100).Draw(t, "begin")
		for range rapid.IntRange(0, 60).Draw(t, "rows") {
			r := modelRow{series: rapid.IntRange(0, series-1).Draw(t, "of"), time: time}
			for range width {
				// Of whole numbers sums are exact in any order.
				r.values = append(r.values, float64(rapid.IntRange(-8, 8).Draw(t, "value")))
				r.gaps = append(r.gaps, width > 1 && rapid.IntRange(0, 4).Draw(t, "gap") == 0)
			}
			all = append(all, r)
			d := rapid.Int64Range(0, 3e9).Draw(t, "later")
			if backward {
				d = -d
			}
			time += d
		}
		var steps []Step
		for range rapid.IntRange(1, 3).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{
				"rate", "accumulate", "cusum", "cma", "abs", "scale", "sum", "diff", "multiply", "divide", "ewma", "ewma-error", "sma", "sma-error",
			}).Draw(t, "name")
			steps = append(steps, Step{
				Name: name, Weights: []float64{2, .5}[:rapid.IntRange(0, 2).Draw(t, "weights")], IgnoreMissing: rapid.Bool().Draw(t, "ignore"),
				Decay: .5, Window: rapid.IntRange(1, 5).Draw(t, "window"),
			})
		}
		p, err := New(steps, Env{Shape: rows.Tuple, Width: width, Regular: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for at := 0; at < len(all); {
			b := &rows.Batch{Names: []string{"a", "b", "c"}, Base: 1, Width: width}
			end := min(len(all), at+rapid.IntRange(1, 20).Draw(t, "batch"))
			for _, r := range all[at:end] {
				b.Series, b.Times, b.Values = append(b.Series, uint32(r.series)), append(b.Times, r.time), append(b.Values, r.values...)
			}
			for i, r := range all[at:end] {
				var gaps uint64
				for c, gap := range r.gaps {
					if gap {
						gaps |= 1 << c
					}
				}
				b.SetGaps(i, gaps)
			}
			at = end
			p.Process(b)
			for i := range b.Len() {
				text := fmt.Sprint(b.Number(i)-1, b.Times[i])
				for c, v := range b.Row(i) {
					if b.Gaps(i)>>c&1 == 1 {
						text += " -"
					} else {
						text += fmt.Sprintf(" %.9g", v)
					}
				}
				got = append(got, text)
			}
		}
		for _, s := range steps {
			all = modelStep(s, all)
		}
		for i := range max(len(got), len(all)) {
			w := "nothing"
			if i < len(all) {
				w = fmt.Sprint(all[i].series, all[i].time)
				for c, v := range all[i].values {
					if all[i].gaps[c] {
						w += " -"
					} else {
						w += fmt.Sprintf(" %.9g", v)
					}
				}
			}
			g := "nothing"
			if i < len(got) {
				g = got[i]
			}
			if g != w {
				t.Fatalf("%+v: row %d is %s, want %s", steps, i, g, w)
			}
		}
	})
}
