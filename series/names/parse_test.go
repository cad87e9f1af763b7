package names

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"cpu host=a dc=x", "cpu dc=x host=a"},
		{"  sp   b=2    a=1  ", "sp a=1 b=2"},
		{" \t cpu \t a=1 \t", "cpu a=1"},
		{`esc\ m a=x\ y`, `esc\ m a=x\ y`},
		{"\xfctf a=\xe9", "\xfctf a=\xe9"},
		{"eqv a=b=c", "eqv a=b=c"},
		{"metric tag=", "metric tag="},
		{"m ab=1 a=2", "m a=2 ab=1"},
		{`m a\=b=c`, `m a\=b=c`},
		{"m a=1\tb=2", "m a=1\tb=2"}, // a tab behind a word is part of it
		{"it's a=o'clock", "it's a=o'clock"},
		{"!ev host=a", "!ev host=a"},
		{"r1|r2 b=1 a=2", "r1|r2 a=2 b=1"},
		{`m a=\\ b=1`, `m a=\\ b=1`},
	} {
		got, err := Canonical([]byte("x"), []byte(c.name))
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%q became %q (%v), want %q", c.name, got, err, c.want)
		}
	}
}

func TestCanonicalErrors(t *testing.T) {
	tags := func(n int) (s string) {
		for i := range n {
			s += fmt.Sprintf(" k%d=v", i)
		}
		return s
	}
	if _, err := Canonical(nil, []byte("m"+tags(MaxTags))); err != nil {
		t.Errorf("%d tags: %v", MaxTags, err)
	}
	if _, err := Canonical(nil, []byte("m a="+strings.Repeat("v", MaxLength-4))); err != nil {
		t.Errorf("%d bytes: %v", MaxLength, err)
	}
	for _, c := range []struct {
		name, reason string
		offset       int
	}{
		{"", "no metric", 0},
		{" \t ", "no metric", 3},
		{"metric", "no tags", 6},
		{"metric  ", "no tags", 8},
		{"tabm\tb=2\ta=1", "no tags", 12},
		{"metric tag", "without '='", 7},
		{"metric a=1 =v", "without a key", 11},
		{"dup a=1 b=2 a=3", "second tag of the same key", 12},
		{"m" + tags(MaxTags+1), "more than 32 tags", 1 + len(tags(MaxTags)) + 1},
		{"m a=" + strings.Repeat("v", MaxLength-3), "longer than 4096", MaxLength},
		{`m a=b\`, "backslash", 5},
		{"m a=b\nc", "line break", 5},
		{"m a=b\\\rc", "line break", 6},
	} {
		got, err := Canonical([]byte("x"), []byte(c.name))
		var e *SyntaxError
		if !errors.As(err, &e) || !strings.Contains(e.Reason, c.reason) || e.Offset != c.offset || e.Text != c.name {
			t.Errorf("%q: error %v, want %q at byte %d", c.name, err, c.reason, c.offset)
		}
		if string(got) != "x" {
			t.Errorf("%q: a failure left %q", c.name, got)
		}
	}
}

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string
	}{
		{"cpu b=1 a=2", []string{"cpu a=2 b=1"}},
		{"r1|!re|r3  b=1 a=2", []string{"r1 a=2 b=1", "!re a=2 b=1", "r3 a=2 b=1"}},
		{`a\|b|c t=1`, []string{`a\|b t=1`, "c t=1"}},
		{"m a=x|y", []string{"m a=x|y"}},
	} {
		if got, err := Columns([]byte(c.name)); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q became %q (%v), want %q", c.name, got, err, c.want)
		}
	}
	for name, offset := range map[string]int{"|b a=x": 0, " a||b a=x": 3, "a| a=x": 2, "a|b": 3, "m" + strings.Repeat("|m", MaxColumns) + " a=x": 2 * MaxColumns} {
		_, err := Columns([]byte(name))
		var e *SyntaxError
		if !errors.As(err, &e) || e.Offset != offset {
			t.Errorf("%q: error %v, want one at byte %d", name, err, offset)
		}
	}
}

func TestReduce(t *testing.T) {
	const name = `cpu dc=x host=a\ b os\==l`
	for _, c := range []struct {
		got  func(string, []string) (string, bool)
		keys []string
		want string
		ok   bool
	}{
		{Keep, []string{"host"}, `cpu host=a\ b`, true},
		{Keep, []string{"host", "dc", "host"}, `cpu dc=x host=a\ b`, true},
		{Keep, []string{"host", "rack"}, "", false},
		{Keep, nil, "", false},
		{Drop, []string{"host"}, `cpu dc=x os\==l`, true},
		{Drop, []string{"host", "dc", `os\=`}, "", false},
		{Drop, []string{"rack"}, "", false},
	} {
		got, ok := c.got(name, c.keys)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("keys %q gave %q %v, want %q %v", c.keys, got, ok, c.want, c.ok)
		}
	}
	if got := WithMetric(name, "mem"); got != `mem dc=x host=a\ b os\==l` {
		t.Errorf("partner is %q", got)
	}
}

// FuzzCanonical: no input may panic; a canonical name is its own canonical form, and
// its parts put together again are the name.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"cpu host=a dc=x", "  sp   b=2    a=1  ", `esc\ m a=x\ y`, "a|b|!c t=1", `m a\=b=c\\ b=`, "m\ta=1 \tb=2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, name []byte) {
		got, err := Canonical(nil, name)
		columns, rowErr := Columns(name)
		if err != nil {
			if e := new(SyntaxError); !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(name) {
				t.Fatalf("%q: error %#v", name, err)
			}
			if rowErr == nil {
				t.Fatalf("%q is a row but no name", name)
			}
			return
		}
		if again, err := Canonical(nil, got); err != nil || string(again) != string(got) {
			t.Fatalf("%q became %q and then %q (%v)", name, got, again, err)
		}
		metric, tags := Split(string(got))
		if joined := metric + " " + strings.Join(tags, " "); joined != string(got) {
			t.Fatalf("parts of %q are %q", got, joined)
		}
		if !slices.IsSortedFunc(tags, func(a, b string) int { return strings.Compare(Key(a), Key(b)) }) {
			t.Fatalf("tags of %q are not sorted", got)
		}
		if rowErr == nil && len(columns) == 1 && columns[0] != string(got) {
			t.Fatalf("a row of one is %q, want %q", columns[0], got)
		}
	})
}
