package apply

import (
	"fmt"
	"testing"

	"weir/series/query/rows"
)

// through sends values of one series, a second apart, through steps.
func through(t *testing.T, values []float64, steps ...Step) string {
	t.Helper()
	p, err := New(steps, Env{Shape: rows.Scalar, Width: 1, Regular: true, Variables: []Variable{{Name: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	b := &rows.Batch{Names: []string{"x a=b"}, Width: 1}
	for i, v := range values {
		b.Series, b.Times, b.Values = append(b.Series, 0), append(b.Times, int64(i)*1e9), append(b.Values, v)
	}
	p.Process(b)
	if last := p.Finish(); last != nil {
		b = last
	}
	return fmt.Sprint(b.Values)
}

func TestFunctions(t *testing.T) {
	v := []float64{1, -2, 4}
	long := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	for _, c := range []struct {
		values []float64
		step   Step
		want   string
	}{
		{v, Step{Name: "rate"}, "[-3 6]"},
		{v, Step{Name: "cusum"}, "[1 -1 3]"},
		{v, Step{Name: "cma"}, "[1 -0.5 1]"},
		{v, Step{Name: "abs"}, "[1 2 4]"},
		{v, Step{Name: "scale", Weights: []float64{2}}, "[2 -4 8]"},
		{v, Step{Name: "diff"}, "[1 -2 4]"},
		{v, Step{Name: "eval", Expr: "x*x"}, "[1 4 16]"},
		{v, Step{Name: "sma", Window: 2}, "[1 1 -0.5]"},
		{v, Step{Name: "sma-error", Window: 2}, "[0 -3 4.5]"},
		{v, Step{Name: "heavy-hitters", Error: .1, Portion: .5}, "[5]"},
		{v, Step{Name: "frequent-items", Error: .1, Portion: .5}, "[3]"},
		{long, Step{Name: "top", N: 1}, "[77]"},
		{long, Step{Name: "ewma", Decay: .5}, "[1 2 3 4 5 6 7 8 9 10 11 8.5 10.25]"},
		{long, Step{Name: "ewma-error", Decay: .5}, "[0 0 0 0 0 0 0 0 0 0 0 3.5 2.75]"},
	} {
		if got := through(t, c.values, c.step); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.step, got, c.want)
		}
	}
	// A window counts as far as it is filled.
	p, err := New([]Step{{Name: "sma", Window: 1 << 20}}, Env{Shape: rows.Scalar, Width: 1})
	if err != nil {
		t.Fatal(err)
	}
	p.Process(&rows.Batch{Names: []string{"x a=b"}, Width: 1, Series: []uint32{0}, Times: []int64{1}, Values: []float64{1}})
	if got := p.Bytes(); got < 8 || got > 1000 {
		t.Errorf("one value in a window takes %d bytes", got)
	}
	if got := through(t, v, Step{Name: "scale", Weights: []float64{2}}, Step{Name: "rate"}); got != "[-6 12]" {
		t.Errorf("a chain: %s", got)
	}
}
