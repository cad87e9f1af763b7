package format

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// want is what %.17g of C prints.
func want(v float64) string {
	switch {
	case v != v:
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return fmt.Sprintf("%.17g", v)
}

func checkNumber(t *testing.T, buf []byte, v float64) []byte {
	t.Helper()
	buf = AppendNumber(buf[:0], v)
	if string(buf) != want(v) {
		t.Fatalf("%x: got %s, want %s", math.Float64bits(v), buf, want(v))
	}
	return buf
}

func TestNumbersOfTheOriginal(t *testing.T) {
	for v, text := range map[float64]string{
		0.1: "0.10000000000000001", 1e308: "1e+308", math.Copysign(0, -1): "-0", 0: "0", 42.5: "42.5", -0.0015: "-0.0015",
		1.48322885e18: "1.48322885e+18", 4.9406564584124654e-324: "4.9406564584124654e-324", 2.2360679774997898: "2.2360679774997898",
		6.7420481587196795e-10: "6.7420481587196795e-10", math.Inf(1): "inf", math.Inf(-1): "-inf", math.NaN(): "nan",
		1e16: "10000000000000000", 1e17: "1e+17", 9.999999999999999e-5: "9.9999999999999991e-05",
	} {
		if got := string(AppendNumber(nil, v)); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
	if got := string(AppendNumber(nil, -math.NaN())); got != "nan" {
		t.Errorf("a NaN with a sign is %s", got)
	}
}

// TestNumbersAsPrintf compares many numbers of every kind with fmt.
func TestNumbersAsPrintf(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var buf []byte
	for range n {
		buf = checkNumber(t, buf, math.Float64frombits(r.Uint64()))                                           // any bits
		buf = checkNumber(t, buf, math.Float64frombits(r.Uint64()&(1<<52-1)|uint64(1023-40+r.IntN(100))<<52)) // near 1
		buf = checkNumber(t, buf, float64(r.Int64N(1e9))/math.Pow10(r.IntN(12)))                              // decimals
		buf = checkNumber(t, buf, float64(r.Int64()>>r.IntN(63)))                                             // whole
		buf = checkNumber(t, buf, -float64(r.Int64N(1<<40))/float64(int64(1)<<r.IntN(60)))                    // dyadic
	}
	// Around each power of ten and each power of two.
	for e := -330; e < 310; e++ {
		for _, v := range []float64{math.Pow(10, float64(e)), math.Ldexp(1, e*3)} {
			for range 8 {
				buf = checkNumber(t, buf, v)
				v = math.Nextafter(v, 0)
			}
			for range 16 {
				buf = checkNumber(t, buf, v)
				v = math.Nextafter(v, math.Inf(1))
			}
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, bits := range []uint64{0, 1, 1 << 63, math.Float64bits(0.1), math.Float64bits(1e17), math.Float64bits(1e-11), 0x7ff8000000000001} {
		f.Add(bits)
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		checkNumber(t, nil, math.Float64frombits(bits))
	})
}

func BenchmarkNumber(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	kinds := map[string]func() float64{
		"integers":  func() float64 { return float64(r.IntN(100_000)) },
		"halves":    func() float64 { return float64(r.IntN(100_000)) / 2 },
		"decimals":  func() float64 { return float64(r.IntN(100_000)) / 100 },
		"gaussians": r.NormFloat64,
		"any":       func() float64 { return math.Float64frombits(r.Uint64()) },
	}
	for name, next := range kinds {
		values := make([]float64, 4096)
		for i := range values {
			values[i] = next()
		}
		for _, way := range []string{"ours", "strconv"} {
			b.Run(name+"/"+way, func(b *testing.B) {
				var buf []byte
				i := 0
				for b.Loop() {
					v := values[i&4095]
					i++
					if way == "ours" {
						buf = AppendNumber(buf[:0], v)
					} else {
						buf = fmt.Appendf(buf[:0], "%.17g", v)
					}
				}
			})
		}
	}
}

func ExampleAppendNumber() {
	fmt.Println(strings.Join([]string{
		string(AppendNumber(nil, 0.1)), string(AppendNumber(nil, 3)), string(AppendNumber(nil, 1e100)),
	}, " "))
	// Output: 0.10000000000000001 3 1e+100
}
