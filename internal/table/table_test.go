package table

import (
	"math"
	"strings"
	"testing"
	"time"
)

func example() *Table {
	t := New(Left("graph"), Right("edges"), Right("time, s").Decimals(2), Right("bits/edge"), Right("first id").Plain())
	t.Row("rmat 22", int64(67108864), 3.7, 18.333, uint32(123456))
	t.Row("a | b", 88, float32(0.25), 0.0, 7)
	t.Row("größe", nil, time.Second)
	return t
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := example().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `graph         edges  time, s  bits/edge  first id
───────────────────────────────────────────────────
rmat 22  67,108,864     3.70       18.3    123456
a | b            88     0.25          0         7
größe                     1s
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	if err := example().WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	want := `| graph | edges | time, s | bits/edge | first id |
|:--- | ---:| ---:| ---:| ---:|
| rmat 22 | 67,108,864 | 3.70 | 18.3 | 123456 |
| a \| b | 88 | 0.25 | 0 | 7 |
| größe |  | 1s |  |  |
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// Names come from files; they must not break lines or drive the terminal.
func TestControlCharacters(t *testing.T) {
	table := New(Left("name"))
	table.Row("a\nb\x1b[31mc\t")
	var b strings.Builder
	if err := table.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if want := "name\n────────────\na\ufffdb\ufffd[31mc\ufffd\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestThousands(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "123": "123", "1234": "1,234", "-1234567": "-1,234,567", "-123": "-123",
		"1234.5678": "1,234.5678", "NaN": "NaN", "-Inf": "-Inf", "1.5e-07": "1.5e-07", "": "",
	} {
		if got := Thousands(in); got != want {
			t.Errorf("Thousands(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestThreeDigits(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"}, {1, "1.00"}, {9.999, "10.0"}, {12.345, "12.3"}, {99.94, "99.9"}, {99.96, "100"}, {123456.7, "123457"},
		{0.012345, "0.0123"}, {0.00012345, "0.000123"}, {0.000012345, "1.23e-05"}, {-2.5, "-2.50"},
		{math.Inf(1), "+Inf"}, {math.NaN(), "NaN"},
	} {
		if got := ThreeDigits(c.x); got != c.want {
			t.Errorf("ThreeDigits(%v) = %s, want %s", c.x, got, c.want)
		}
	}
}
