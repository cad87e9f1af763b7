package format

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const layout = "20060102T150405.000000000"

func TestTimesAsTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w Time
		ns := rapid.Int64().Draw(t, "ns")
		for range 10 {
			want := time.Unix(0, ns).UTC().Format(layout)
			if got := string(w.Append(nil, ns)); got != want {
				t.Fatalf("%d: got %s, want %s", ns, got, want)
			}
			if back, err := ParseTime(want); err != nil || back != ns {
				t.Fatalf("%s: got %d, %v, want %d", want, back, err, ns)
			}
			ns += rapid.Int64Range(-3e9, 3e9).Draw(t, "later")
		}
	})
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "123": 123, "18446744073709551615": math.MaxInt64, "20170101T000000": 1483228800e9,
		"20170101T000000,5": 1483228800e9 + 5e8, "20170101T000000.123456789": 1483228800123456789,
		"99991231T235959": math.MaxInt64, "14000101T000000": math.MinInt64,
		"22620411T234716.854775806": math.MaxInt64 - 1, "22620411T234716.854775808": math.MaxInt64, "22620411T234717": math.MaxInt64,
		"16770921T001243.145224193": math.MinInt64 + 1, "16770921T001243.145224191": math.MinInt64, "16770921T001242.9": math.MinInt64,
		"19691231T235959.999999999": -1,
	} {
		if got, err := ParseTime(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"20172107T120300": "Month number is out of range 1..12", "20170132T000000": "Day of month value is out of range 1..31",
		"20170229T000000": "Day of month is not valid for year", "13991231T000000": "Year is out of valid range: 1400..9999",
		"": errTime.Error(), "x": errTime.Error(), "-5": errTime.Error(), "20170101T000000Z": errTime.Error(),
		"20170101T240000": errTime.Error(), "20170101T00": errTime.Error(), "20170101T000000.1234567890": errTime.Error(),
		"20170101T000000.": errTime.Error(), "99999999999999999999": errTime.Error(),
	} {
		if _, err := ParseTime(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]int64{
		"5": 5, "1n": 1, "2us": 2e3, "20000ms": 20e9, "1s": 1e9, "1m": 60e9, "1min": 60e9, "1h": 3600e9, "2d": 2 * 86400e9, "0": 0,
	} {
		if got, ok := ParseDuration(text); !ok || got != want {
			t.Errorf("%s: got %d, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "x", "s", "-1s", "1.5s", "1w", "1 s", "9999999999999999999s", "1000000000000d"} {
		if got, ok := ParseDuration(text); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	f.Add("20170101T000000.5")
	f.Add("123")
	f.Add("99999999T999999")
	f.Fuzz(func(t *testing.T, text string) {
		if ns, err := ParseTime(text); err == nil {
			if again, err := ParseTime(string(AppendTime(nil, ns))); err != nil || again != ns {
				t.Fatalf("%q is %d, which comes back as %d, %v", text, ns, again, err)
			}
		}
		ParseDuration(text)
	})
}

func BenchmarkTime(b *testing.B) {
	var w Time
	var buf []byte
	ns := int64(1483228800e9)
	for b.Loop() {
		buf = w.Append(buf[:0], ns)
		ns += second
	}
}
