package expr

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestValues(t *testing.T) {
	names := []string{"cpu", "cpux", "mem.free", "cpu:max", "a-b", "min"}
	v := []float64{2, 3, 5, 7, 11, 13}
	for text, want := range map[string]float64{
		"cpu*10+1": 21, "cpux+cpu": 5, "mem.free/2": 2.5, "cpu:max - cpu": 5, "a-b": 11, "-cpu^2": -4, "2^3^2": 512, "2^-1": .5,
		"1+2*3-4/2": 5, "cpu<3&&cpux>=3": 1, "cpu==3||0": 0, "cpu != 2 ? 1 : cpu > 1 ? 2 : 3": 2, "sqrt(4)+sin(0)": 2,
		"max(1,cpu,3)": 3, "min(4,cpu)": 2, "sum(1,2,3)": 6, "avg(1,2,3)": 2, "rint(2.5)": 2, "sign(-3)": -1, "abs(-3)": 3,
		"_pi": math.Pi, "_e": math.E, "1e3+.5": 1000.5, "1.5E-1": .15, "--1": 1, "ln(_e)": 1, "log(_e)": 1, "log10(100)": 2, "(1)": 1,
		"min + 1": 14, "min(min, cpu)": 2, "min (min*2, 50)": 26,
	} {
		e, err := Parse(text, names)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := e.Eval(v); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"cpu+": "expected a value, found the end, at position 4 of the expression", "foo+1": "Unknown variable [foo]",
		"nope(1)": "Unknown variable [nope]", "1 2": "expected an operator at position 2 of the expression",
		"(1": "expected ), found the end, at position 2 of the expression", "sin(1,2)": "expected one argument of sin at position 0 of the expression",
		"max()": "expected arguments of max at position 0 of the expression", "": "expected a value, found the end, at position 0 of the expression",
		"1?2": "expected :, found the end, at position 3 of the expression", "1..2": "expected a number at position 0 of the expression",
		strings.Repeat("(", 500):  "deeper than 200 levels at position 100 of the expression",
		strings.Repeat("1", 5000): "more than 4096 bytes at position 4096 of the expression",
	} {
		if _, err := Parse(text, []string{"cpu"}); err == nil || err.Error() != want {
			t.Errorf("%.20q: got %v, want %s", text, err, want)
		}
	}
}

// TestAgainstGo draws formulas with their values, each operation in parentheses.
func TestAgainstGo(t *testing.T) {
	v := []float64{1.5, -2}
	var draw func(t *rapid.T, depth int) (string, float64)
	draw = func(t *rapid.T, depth int) (string, float64) {
		if depth == 0 {
			i := rapid.IntRange(0, 2).Draw(t, "leaf")
			if i < 2 {
				return "xy"[i : i+1], v[i]
			}
			n := rapid.IntRange(0, 9).Draw(t, "number")
			return fmt.Sprint(n), float64(n)
		}
		a, x := draw(t, depth-1)
		b, y := draw(t, depth-1)
		switch op := rapid.SampledFrom([]string{"+", "-", "*", "/", "<", "=="}).Draw(t, "op"); op {
		case "+":
			return "(" + a + "+" + b + ")", x + y
		case "-":
			return "(" + a + " - " + b + ")", x - y
		case "*":
			return "(" + a + "*" + b + ")", x * y
		case "/":
			return "(" + a + "/" + b + ")", x / y
		case "<":
			return "(" + a + "<" + b + ")", truth(x < y)
		default:
			return "(" + a + "==" + b + ")", truth(x == y)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text, want := draw(t, rapid.IntRange(0, 4).Draw(t, "depth"))
		e, err := Parse(text, []string{"x", "y"})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Eval(v); got != want && (got == got || want == want) {
			t.Fatalf("%s: got %v, want %v", text, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"cpu*10+1", "max(1,cpu)?-1:2^3", "((", "1e+", "cpu:max"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text, []string{"cpu", "cpu:max"})
		var unknown *UnknownError
		var syntax *SyntaxError
		switch {
		case err == nil:
			e.Eval([]float64{1, 2})
		case !errors.As(err, &unknown) && !errors.As(err, &syntax):
			t.Fatalf("an error of another kind: %v", err)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	e, err := Parse("sqrt(cpu)*2 + max(mem, 1)/3", []string{"cpu", "mem"})
	if err != nil {
		b.Fatal(err)
	}
	v := []float64{1, 2}
	for b.Loop() {
		e.Eval(v)
	}
}
