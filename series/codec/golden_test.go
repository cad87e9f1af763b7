package codec

import (
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"
)

// golden are vectors of every form as they were first written: the format does not change. Encoders may come to pick
// other forms. Some are the examples of docs/formats-series.md.
var golden = []struct {
	form   Form
	packed string
	values []float64
}{
	{Constant, "80 81 ae 03", slices.Repeat([]float64{21.5}, Max)},
	{Constant, "00 01 00 81 02", []float64{0.1, 0.1}},
	{Repeat, "01 08 00 03 00 89 00 02 01 00 04 03 14 05 01 41 01", []float64{1, 1, 1, 0.5, 0.5, 0.5, 0.5, 3, 3}},
	{Decimal, "02 04 00 01 00 00 03 ae 03 50 08", []float64{21.5, 21.7, 21.6, 21.9, 21.5}},
	{Decimal, "02 03 00 03 03 0e 00 c4 bc 05 02 00 00 c9 a7 02 01 1e 01 3c 33 ba 29 00 01 01 0e 01 01 03 01 00 00 00 00 00 f8 7f", []float64{44.833999999999996, math.NaN(), 7, 700000}},
	{Decimal, "02 3f 00 02 00 12 00 02 04 00 0b 01 00 00 00 00 01 18 ca 60 14 03 30 94 c1 28 06 60 28 83 51 0c c0 50 06 a3 00", squares()},
	{Ordered, "03 03 00 32 00 0e fb 3f fc 1f 00 a0 ff f6 3f", []float64{1.5, -1.25, math.Inf(1), math.Copysign(0, -1)}},
	{Dict, "04 04 00 02 08 69 57 14 8b 0a bf 05 40 18 2d 44 54 fb 21 09 40 00 01 00 09", []float64{math.Pi, math.E, math.E, math.Pi, math.E}},
	{Front, "05 02 00 34 01 00 04 01 02 e3 07 18 2d 44 54 fb 21 99 76 45 b1 a8 f0 5b 9c 75 00 88 3c e4 07", []float64{math.Pi, math.E, 1e300}},
	{XOR, "06 02 00 40 28 00 00 00 00 00 00 6b 02", []float64{12, 12, 24}},
	{DFCM, "07 02 00 09 f0 3f 00 09 e8 3f", []float64{1, 1, 3}},
	{Raw, "08 00 00 18 2d 44 54 fb 21 09 40", []float64{math.Pi}},
}

func squares() []float64 {
	vs := make([]float64, 64)
	for i := range vs {
		vs[i] = float64(i*i%17) / 100
	}
	return vs
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	packed, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func TestGolden(t *testing.T) {
	for _, c := range golden {
		packed := unhex(t, c.packed)
		got, rest, err := DecodeValues(nil, packed)
		if err != nil || len(rest) > 0 || !sameBits(got, c.values) {
			t.Errorf("%s is read as %v, %d bytes left, %v; expected %v", c.packed, got, len(rest), err, c.values)
		}
		if form, err := FormOf(packed); err != nil || form != c.form {
			t.Errorf("%s has form %v, %v; expected %v", c.packed, form, err, c.form)
		}
	}
}

func TestGoldenTimes(t *testing.T) {
	times := []int64{1_700_000_000e9, 1_700_000_010e9, 1_700_000_020_002e6, 1_700_000_060e9, 1_700_000_070_001e6, 1_700_000_080e9}
	for _, text := range []string{
		"05 05 00 80 a0 ab fe f9 62 90 4e 01 00 00 06 00 00 06 00 02 00 20 01", // a grid
		"04 05 00 09 03 80 a0 ab fe f9 62 9e 9c 01 01 0d 02 4a 1d d9 05",       // a column
	} {
		if got, rest, err := DecodeTimes(nil, unhex(t, text)); err != nil || len(rest) > 0 || !slices.Equal(got, times) {
			t.Errorf("%s is read as %d, %d bytes left, %v", text, got, len(rest), err)
		}
	}
}
