package xor

import (
	"math"
	"slices"
	"testing"
)

func series(n int) []float64 {
	vs := make([]float64, n)
	for i := range vs {
		vs[i] = math.Round(math.Sin(float64(i/3))*100) / 4
	}
	return vs
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestPublishedExample is the example of the paper: 12, 24, 15, 12 differ in one bit of the
// exponent, in it and three of the mantissa, and so on.
func TestPublishedExample(t *testing.T) {
	got := Append(nil, []float64{12, 12, 24})
	want := []byte{0x40, 0x28, 0, 0, 0, 0, 0, 0, 0b0_11_01011, 0b000000_1_0}
	if !slices.Equal(got, want) {
		t.Errorf("12, 12, 24 are % x, expected % x", got, want)
	}
}

func TestComesBack(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 100, 5000} {
		vs := series(n)
		packed := Append(nil, vs)
		if len(packed) != Size(vs) {
			t.Errorf("%d values take %d bytes, planned %d", n, len(packed), Size(vs))
		}
		got := make([]float64, n)
		rest, err := Decode(got, append(packed, "behind"...))
		if err != nil || string(rest) != "behind" || !same(got, vs) {
			t.Errorf("%d values came back as %v, with %q left: %v", n, got, rest, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Append(nil, series(50)), uint16(50))
	f.Add(Append(nil, []float64{math.NaN(), math.Inf(1), math.Copysign(0, -1), 5e-324, math.MaxFloat64}), uint16(5))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		vs := make([]float64, n%1000)
		if _, err := Decode(vs, src); err != nil {
			return
		}
		packed := Append(nil, vs)
		if len(packed) != Size(vs) {
			t.Fatalf("%d bytes, planned %d", len(packed), Size(vs))
		}
		again := make([]float64, len(vs))
		if rest, err := Decode(again, packed); err != nil || len(rest) > 0 || !same(again, vs) {
			t.Fatalf("%v came back as %v, with %d bytes left: %v", vs, again, len(rest), err)
		}
	})
}

func BenchmarkXOR(b *testing.B) {
	vs := series(512)
	packed := Append(nil, vs)
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(8 * len(vs)))
		for b.Loop() {
			packed = Append(packed[:0], vs)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(8 * len(vs)))
		for b.Loop() {
			if _, err := Decode(vs, packed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
