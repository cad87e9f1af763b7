package text

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Floats must be those of strconv, whatever digits they are spelled with.
func TestFloatIsThatOfStrconv(t *testing.T) {
	check := func(s string) {
		t.Helper()
		got, ok := parseFloat([]byte(s))
		want, err := strconv.ParseFloat(s, 64)
		if !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q is %v (%v), want %v (%v)", s, got, ok, want, err)
		}
	}
	for _, s := range []string{"0", "-0", "5.", ".5", "+1", "9007199254740993", "9007199254740992", "1e400", "-1e400", "4.9e-324", "1e23", "8.5e22", "0.1234567890123456789", "00000000000000000000001", "inf", "-Inf", "Infinity"} {
		check(s)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		digits := strconv.FormatUint(r.Uint64()>>r.IntN(64), 10)
		dot := r.IntN(len(digits) + 1)
		check(digits[:dot] + "." + digits[dot:])
		check("-" + digits)
		check(strconv.FormatFloat(math.Float64frombits(r.Uint64()&^(1<<62)), 'g', 1+r.IntN(17), 64))
	}
	for _, bad := range []string{"", "-", ".", "+-1", "1_0", "0x_1p0", "1e", "5 ", " 5", "abc", "1,5", "nan(", "nan()", "nan(0x1)", "nan(0x7ff0000000000001", "--1"} {
		if v, ok := parseFloat([]byte(bad)); ok {
			t.Errorf("%q is %v", bad, v)
		}
	}
	if v, ok := parseFloat([]byte("0x10")); !ok || v != 16 {
		t.Errorf("0x10 is %v", v)
	}
}

// Every bit pattern must come back, those of NaNs too.
func TestFloatsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0x7ff0000000000000, 0x7fffffffffffffff), rapid.Uint64Range(0, 100),
			rapid.SampledFrom([]uint64{1 << 63, 0xfff8000000000000, 0x7ff0000000000002})).Draw(t, "bits")
		text := appendFloat(nil, math.Float64frombits(bits))
		v, ok := parseFloat(text)
		if !ok || math.Float64bits(v) != bits {
			t.Fatalf("%#x is written %q and read %v %#x", bits, text, ok, math.Float64bits(v))
		}
	})
}

// Dates must be those of package time, in every form.
func TestDatesAreThoseOfTime(t *testing.T) {
	layouts := []string{
		"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999-0700", "2006/01/02 15:04:05,999",
		"20060102T150405.999999999", "20060102T150405", "2006-01-02", "2006-01-02T15:04",
	}
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom(layouts).Draw(t, "layout")
		ns := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 1<<61)).Draw(t, "ns")
		zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "zone"))
		text := time.Unix(0, ns).In(zone).Format(layout)
		parsed, err := time.Parse(layout, text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := parseDate([]byte(text))
		fits := time.Unix(0, parsed.UnixNano()).Equal(parsed)
		if ok != fits || ok && got != parsed.UnixNano() {
			t.Fatalf("%s is %d (%v), want %d (%v)", text, got, ok, parsed.UnixNano(), fits)
		}
	})
	for _, bad := range []string{
		"", "2017", "2017-02-29", "20171301T000000", "20170101T240000", "20170101T000060.x", "2017-01-01T00", "2017-01-01T00:00:00+1", "20170101", "1600-01-01",
		"2017-01-01T00:00:00.", "2017-00-01", "2017-01-01x00:00:00", "2300-01-01", "20170101T0000", "2017-01/01",
	} {
		if v, ok := parseDate([]byte(bad)); ok {
			t.Errorf("%q is %d", bad, v)
		}
	}
}

func TestNumberTimes(t *testing.T) {
	for _, c := range []struct {
		text string
		unit int64
		want int64
	}{
		{"1483228800", secondNS, 1483228800e9}, {"1483228800.25", secondNS, 1483228800250000000}, {"-1.5", secondNS, -1500000000},
		{"1483228800123", 1e6, 1483228800123e6}, {"1.123456789123", secondNS, 1123456789}, {"0.5", 60 * secondNS, 30 * secondNS}, {"9223372036854775807", 1, math.MaxInt64},
	} {
		if got, ok := parseNumberTime([]byte(c.text), c.unit); !ok || got != c.want {
			t.Errorf("%s of %d ns is %d (%v), want %d", c.text, c.unit, got, ok, c.want)
		}
	}
	for _, bad := range []string{"", "-", "1.", "1.x", "9223372037", "99999999999999999999"} {
		if v, ok := parseNumberTime([]byte(bad), secondNS); ok {
			t.Errorf("%q is %d", bad, v)
		}
	}
}

func TestIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.StringMatching(`[-+]?[0-9]{0,21}`), rapid.Map(rapid.Int64(), func(v int64) string { return strconv.FormatInt(v, 10) })).Draw(t, "s")
		want, err := strconv.ParseInt(s, 10, 64)
		got, ok := parseInt([]byte(s))
		if ok != (err == nil) || ok && got != want {
			t.Fatalf("%q is %d (%v), want %d (%v)", s, got, ok, want, err)
		}
	})
}
