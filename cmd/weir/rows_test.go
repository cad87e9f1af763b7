package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph"
	"weir/graph/names"
)

func graphOf(ids ...string) *opened {
	return &opened{Graph: &graph.Graph{Vertices: len(ids), Names: names.Of(ids...)}, app: &app{quiet: true}}
}

// The k first rows must be those of a full sort.
func TestPickIsSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Uint32Range(0, 50), 0, 5000).Draw(t, "values")
		k := rapid.IntRange(0, 60).Draw(t, "k")
		if rapid.Bool().Draw(t, "many") {
			k = math.MaxInt
		}
		even := rapid.Bool().Draw(t, "even")
		c := numbers("x", values)
		sign := -1
		if rapid.Bool().Draw(t, "ascending") {
			c, sign = c.ascending(), 1
		}
		r := &rows{g: &opened{Graph: &graph.Graph{Vertices: len(values)}}, columns: []column{c}}
		if even {
			r.has = func(v uint32) bool { return values[v]%2 == 0 }
		}
		var want []uint32
		for v := range uint32(len(values)) {
			if !even || values[v]%2 == 0 {
				want = append(want, v)
			}
		}
		slices.SortStableFunc(want, func(v, w uint32) int { return sign * cmp.Compare(values[v], values[w]) })
		want = want[:min(k, len(want))]
		if got := r.pick(k); !slices.Equal(got, want) {
			t.Fatalf("picked %v, want %v", got, want)
		}
	})
}

// Any id must come back from CSV, TSV and JSON as it was.
func TestIDsSurvive(t *testing.T) {
	ids := []string{"plain", "a,b", `say "hi"`, "tab\there", " blank ", "größe", "line\nend", `back\slash`, "0", "nul\x01", ""}
	g := graphOf(ids...)
	r := &rows{g: g, id: "id", columns: []column{numbers("x", make([]float64, len(ids))), g.vertices("to", []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0})}}
	for _, f := range []format{csvFormat, tsvFormat} {
		var b strings.Builder
		w := bufio.NewWriter(&b)
		if err := r.write(context.Background(), w, target{format: f, top: -1}, nil); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		read := csv.NewReader(strings.NewReader(b.String()))
		if f == tsvFormat {
			read.Comma = '\t'
		}
		records, err := read.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i, record := range records[1:] {
			if record[0] != ids[i] || record[2] != ids[(i+1)%len(ids)] {
				t.Errorf("%q came back as %q, and its neighbour as %q", ids[i], record[0], record[2])
			}
		}
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	if err := g.writeDocument(context.Background(), w, nil, r, target{format: jsonFormat, top: -1}, labels{"a,b": "B\x7f"}); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	var d struct {
		Rows []struct{ ID, Label, To string }
	}
	if err := json.Unmarshal([]byte(b.String()), &d); err != nil {
		t.Fatal(err)
	}
	for i, row := range d.Rows {
		if row.ID != ids[i] || row.To != ids[(i+1)%len(ids)] {
			t.Errorf("%q came back as %q", ids[i], row.ID)
		}
	}
	if d.Rows[1].Label != "B\x7f" || d.Rows[0].Label != "" {
		t.Errorf("labels %q and %q", d.Rows[0].Label, d.Rows[1].Label)
	}
}

func TestNumbersAsText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{string(appendNumber(nil, float32(0.1))), "0.1"}, {string(appendNumber(nil, float32(16777216))), "1.6777216e+07"},
		{string(appendNumber(nil, 1e14)), "100000000000000"}, {string(appendNumber(nil, 0.1)), "0.1"}, {string(appendNumber(nil, -2.0)), "-2"},
		{string(appendNumber(nil, uint32(math.MaxUint32))), "4294967295"}, {string(appendNumber(nil, int32(-1))), "-1"}, {string(appendNumber(nil, int64(math.MinInt64))), "-9223372036854775808"},
		{readable("1234567"), "1,234,567"}, {readable("1.2345678"), "1.23457"}, {readable("12345.6789"), "12,345.7"}, {readable("0.00012345678"), "0.000123457"},
		{readable("1.2345678e-09"), "1.23457e-09"}, {readable("0.5"), "0.5"}, {readable("1.6777216e+07"), "16,777,216"}, {readable("0.0000000"), "0.00000e+00"},
		{formatCount(0), "0"}, {formatCount(999), "999"}, {formatCount(12345), "12.3 k"}, {formatCount(6.7e7), "67 M"}, {formatCount(3e12), "3 T"},
		{formatSeconds(0.0000123), "12 µs"}, {formatSeconds(0.0123), "12.3 ms"}, {formatSeconds(65.2), "65.2 s"}, {plural(1, "step"), "1 step"}, {plural(1234, "step"), "1,234 steps"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestByteSize(t *testing.T) {
	for in, want := range map[string]int64{"512MB": 512e6, "2GiB": 2 << 30, "1.5 GiB": 3 << 29, "1000": 1000, "0": 0, "-1": 0, "lots": 0, "20EiB": 0} {
		var b byteSize
		if err := b.Set(in); (err == nil) != (want != 0) || int64(b) != want {
			t.Errorf("%s: %d bytes, %v; want %d", in, int64(b), err, want)
		}
	}
}

func TestLabels(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, flag, id, want string }{
		{"1,Ay\n2,\"B, b\"\n", "1,2", "2", "B, b"},
		{"x\t\\N\tCity\nAMS\tSchiphol\tAmsterdam\n", "1,2,3", "x", "City"},
		{"x\t\\N\tCity\nAMS\tSchiphol\tAmsterdam\n", "1,2,3", "AMS", "Schiphol, Amsterdam"},
		{"a;b\nc;d, e\n", "2,1", "d, e", "c"},
		{"\"a \"\"q\"\" b\",1\n", "2,1", "1", `a "q" b`},
	} {
		path := filepath.Join(dir, "labels:"+strconv.Itoa(len(c.text))+".txt")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		var f labelFlag
		if err := f.Set(path + ":" + c.flag); err != nil {
			t.Fatal(err)
		}
		if f.String() != path+":"+c.flag {
			t.Errorf("the flag reads back as %s", f.String())
		}
		l, err := f.read()
		if err != nil || l[c.id] != c.want {
			t.Errorf("%q: label %q of %s (%v), want %q", c.text, l[c.id], c.id, err, c.want)
		}
	}
	for _, bad := range []string{"", "x", "x:", "x:1", "x:0,1", "x:a,b", ":1,2"} {
		if err := new(labelFlag).Set(bad); err == nil {
			t.Errorf("--labels %q was accepted", bad)
		}
	}
}
