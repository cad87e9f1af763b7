package proptree

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestScalarsAreText(t *testing.T) {
	n, err := Parse([]byte(` {"a": "x\u00e9\ud83d\ude00\n", "b": [1, -2.5e3, true, null], "a": "second", "c": {}} `))
	if err != nil {
		t.Fatal(err)
	}
	if n.Text("a") != "xé😀\n" || n.Text("none") != "" || n.Child("none") != nil || n.Child("b").Child("x") != nil {
		t.Fatalf("got %+v", n)
	}
	var list []string
	for _, c := range n.Child("b").Children {
		list = append(list, c.Key+c.Value)
	}
	if strings.Join(list, " ") != "1 -2.5e3 true null" || len(n.Children) != 4 {
		t.Fatalf("got %q", list)
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "1, expected value",
		"{\n\"a\":1\n":                           "3, expected '}' or ','",
		"{1":                                     "1, expected key string",
		`{"a" 1}`:                                "1, expected ':'",
		`[1 2]`:                                  "1, expected ']' or ','",
		`tru`:                                    "1, expected 'true'",
		`nul`:                                    "1, expected 'null'",
		`fals `:                                  "1, expected 'false'",
		`-`:                                      "1, expected digits after -",
		`1.`:                                     "1, need at least one digit after '.'",
		`1e+`:                                    "1, need at least one digit in exponent",
		`01`:                                     "1, garbage after data",
		`"a`:                                     "1, unterminated string",
		`"\x"`:                                   "1, invalid escape sequence",
		`"\ud800"`:                               "1, invalid codepoint, stray high surrogate",
		`"\udc00"`:                               "1, invalid codepoint, stray low surrogate",
		`"\ud800\u0041"`:                         "1, expected low surrogate after high surrogate",
		strings.Repeat("[", 100):                 "1, deeper than 64 levels",
		strings.Repeat(" ", 5<<20):               "1, a query has at most 4194304 bytes, this one has 5242880",
		"[" + strings.Repeat("1,", 1<<19) + "1]": "1, more than 262144 values",
	} {
		_, err := Parse([]byte(text))
		if err == nil || err.Error() != "JSON parsing error at line "+want {
			t.Errorf("%.20q: got %v, want line %s", text, err, want)
		}
	}
}

// FuzzParse compares with the standard library: what it reads, we read.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x",null]}`, `{"a":{"b":-1e5}}`, `"\ud83d\ude00"`, `[`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := Parse(text)
		if json.Valid(text) && err != nil && !strings.Contains(err.Error(), "surrogate") && !strings.Contains(err.Error(), "deeper") {
			t.Fatalf("valid JSON refused: %v", err)
		}
	})
}
