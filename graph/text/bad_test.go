package text

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"weir/graph/names"
)

func TestReadRefusesLines(t *testing.T) {
	lead := strings.Repeat("0 1\n# c\n\n", 600) // 1800 lines, past what is sampled
	cases := []struct {
		name, text string
		opt        Options
		want       string
	}{
		{"a weight of NaN among the first", "0 1 1.5\n1 2 NaN\n", Options{}, `g.el:2: weight "NaN" is not finite`},
		{"a weight too large among the first", "0 1 1e400\n1 2 1\n", Options{}, `g.el:1: weight "1e400" is too large`},
		{"a word among weights", strings.Repeat("0 1 2\n", 20) + "1 2 x\n", Options{}, `g.el:21: weight "x" is not a decimal number`},
		{"no weight among weights", strings.Repeat("0 1 2\n", 20) + "1 2\n", Options{}, `g.el:21: no weight in column 3`},
		{"one field", "0 1\n17\n", Options{}, `g.el:2: 1 field, an edge needs 2 separated by blanks: "17"`},
		{"after many lines", lead + "1 x\n", Options{}, `g.el:1801: id "x" is not an integer as those of the first lines are (if ids are strings, say so): "1 x"`},
		{"negative", "0 1\n-4 5\n", Options{}, `g.el:2: id "-4" is negative: "-4 5"`},
		{"negative first", "-4 5\n", Options{}, `g.el:1: id "-4" is negative: "-4 5"`},
		{"above 64 bits", "0 18446744073709551616\n", Options{}, `g.el:1: id "18446744073709551616" does not fit 64 bits: "0 18446744073709551616"`},
		{"asked for integers", "0 1\na b\n", Options{IDs: IntegerIDs}, `g.el:2: id "a" is not an integer: "a b"`},
		{"fraction", "0 1\n1.5 2\n", Options{IDs: IntegerIDs}, `g.el:2: id "1.5" is not an integer`},
		{"plus sign", "0 1\n+1 2\n", Options{IDs: IntegerIDs}, `g.el:2: id "+1" is not an integer`},
		{"out of range", "0 1\n3 2\n", Options{Vertices: 3}, `g.el:2: id 3 is not in 0 to 2, which are all vertices: "3 2"`},
		{"far out of range", "0 1\n1 18446744073709551615\n", Options{Vertices: 3}, `g.el:2: id 18446744073709551615 is not in 0 to 2`},
		{"too large to keep", "0 1\n0 4294967296\n", Options{KeepIDs: true}, `g.el:2: id 4294967296 is too large to be kept`},
		{"empty endpoint", "a,b\nb,\n", Options{}, `g.el:2: an endpoint is empty: "b,"`},
		{"empty source", "a\tb\n\tb\n", Options{}, `g.el:2: an endpoint is empty: "\tb"`},
		{"unclosed quote", "a,b\n\"a,b\n", Options{}, `g.el:2: a quote is not closed: "\"a,b"`},
		{"after a quote", "a,b\n\"a\"c,b\n", Options{}, `g.el:2: something follows a closing quote`},
		{"byte 0", lead[:4] + strings.Repeat("a b\n", 70_000) + "a\x00 b\n", Options{}, `g.el:70002: an id holds a byte 0: "a\x00 b"`},
		{"NaN", "0 1 2\n1 0 NaN\n", Options{Weights: Yes}, `g.el:2: weight "NaN" is not finite: "1 0 NaN"`},
		{"infinite", "0 1 2\n1 0 -Inf\n", Options{Weights: Yes}, `g.el:2: weight "-Inf" is not finite`},
		{"infinity", "0 1 2\n1 0 infinity\n", Options{Weights: Yes}, `g.el:2: weight "infinity" is not finite`},
		{"hexadecimal", "0 1 2\n1 0 0x1p2\n", Options{Weights: Yes}, `g.el:2: weight "0x1p2" is not a decimal number`},
		{"underscores", "0 1 2\n1 0 1_0\n", Options{Weights: Yes}, `g.el:2: weight "1_0" is not a decimal number`},
		{"too large a weight", "0 1 2\n1 0 4e38\n", Options{Weights: Yes}, `g.el:2: weight "4e38" is too large for 32-bit floating point`},
		{"very large a weight", "0 1 2\n1 0 1e999\n", Options{Weights: Yes}, `g.el:2: weight "1e999" is too large`},
		{"no weight", strings.Repeat("0 1 2\n", 600) + "1 0\n", Options{}, `g.el:601: no weight in column 3: "1 0"`},
		{"word for a weight", strings.Repeat("0 1 2\n", 600) + "1 0 x\n", Options{}, `g.el:601: weight "x" is not a decimal number`},
		{"stray carriage return", "0 1\n1 2\r3 4\n", Options{IDs: IntegerIDs}, `g.el:2: id "2\r3" is not an integer`},
		{"long line shortened", "0 1\n" + strings.Repeat("é", 500) + "\n", Options{IDs: IntegerIDs}, strings.Repeat("é", 40) + `"… (1,000 bytes)`},
		{"above the longest line", "0 1\n" + strings.Repeat("a", 500) + " b\n", Options{IDs: StringIDs, MaxLine: 200}, `g.el:2: the line is longer than 200 bytes`},
		{"above the longest line, skipping", "0 1\n1 1 " + strings.Repeat("a", 500) + "\n", Options{SkipBad: -1, MaxLine: 200}, `g.el:2: the line is longer than 200 bytes`},
		{"more than tolerated", "0 1\nx\n1 0\ny\nz\n", Options{IDs: IntegerIDs, SkipBad: 2}, `more than 2 bad lines; the first is g.el:2: 1 field`},
		{"columns beyond", "a,b,c\na,b\n", Options{Columns: []int{1, 3}}, `g.el:2: 2 fields, an edge needs 3 separated by`},
	}
	for _, c := range cases {
		for _, way := range ways {
			for _, opt := range []Options{{}, {ChunkSize: 11, Threads: 3}} {
				o := c.opt
				if o.ChunkSize, o.Threads = opt.ChunkSize, opt.Threads; o.ChunkSize > 0 && len(c.text) > 10_000 {
					o.ChunkSize = 1000
				}
				in := input(t, "g.el", c.text, way)
				_, err := load(in, o)
				in.Close()
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s (%s, chunks of %d):\n got %.400v\nwant %s", c.name, way, o.ChunkSize, err, c.want)
				}
			}
		}
	}
}

func TestReadRefusesTexts(t *testing.T) {
	mm := "%%MatrixMarket matrix coordinate "
	cases := []struct {
		name, file, text string
		opt              Options
		want             string
	}{
		{"UTF-16", "g", "\xff\xfe0\x00 \x001\x00\n\x00", Options{}, "UTF-16"},
		{"big-endian UTF-16", "g", "\xfe\xff\x000\x00 \x001", Options{}, "UTF-16"},
		{"binary", "g", "0 1\n\x00\x01\x02", Options{}, "does not look like a text graph: byte 4 is 0"},
		{"binary without zeros", "g", strings.Repeat("\x01\x02abc", 10), Options{}, "does not look like a text graph: 20 of its first 50 bytes are control characters"},
		{"carriage returns", "g", "0 1\r1 2\r", Options{}, "carriage return alone"},
		{"xz", "g", "\xfd7zXZ\x00 and more", Options{}, "xz is not supported"},
		{"bzip2", "g", "BZh91AY&SY and more", Options{}, "bzip2 is not supported"},
		{"unknown format", "g", "0 1\n", Options{Format: 99}, "unknown format 99"},
		{"banner", "g", "%%MatrixMarket vector\n", Options{}, "g:1: not a banner"},
		{"dense matrix", "g", "%%MatrixMarket matrix array real general\n2 2\n", Options{}, `g:1: matrix in "array" format, want coordinate`},
		{"complex", "g", mm + "complex general\n1 1 0\n", Options{}, "g:1: complex entries cannot be weights"},
		{"unknown entries", "g", mm + "odd general\n1 1 0\n", Options{}, `g:1: entries are "odd"`},
		{"unknown symmetry", "g", mm + "real odd\n1 1 0\n", Options{}, `g:1: symmetry is "odd"`},
		{"rectangular", "g", mm + "real general\n% c\n3 4 0\n", Options{}, "g:3: a matrix of 3 × 4 is no graph"},
		{"no size", "g", mm + "real general\n% c\n", Options{}, "it ends before its size line"},
		{"sizes", "g", mm + "real general\n3 3\n", Options{}, "g:2: 2 sizes, want rows, columns and entries"},
		{"size no integer", "g", mm + "real general\n3 3 -1\n", Options{}, `g:2: size "-1" is negative`},
		{"too many vertices", "g", mm + "real general\n4294967296 4294967296 0\n", Options{}, "g:2: 4294967296 vertices, at most 4294967295"},
		{"too few entries", "g", mm + "pattern general\n3 3 2\n1 2\n", Options{}, "it has 1 entries, but promises 2"},
		{"too many entries", "g", mm + "pattern general\n3 3 1\n1 2\n2 1\n", Options{}, "it has 2 entries, but promises 1"},
		{"entry 0", "g", mm + "pattern general\n3 3 1\n0 2\n", Options{}, `g:3: id 0 is not in 1 to 3, which are all vertices: "0 2"`},
		{"entry beyond", "g", mm + "pattern general\n3 3 1\n1 4\n", Options{}, `g:3: id 4 is not in 1 to 3`},
		{"entry without value", "g", mm + "real general\n3 3 1\n1 3\n", Options{}, `g:3: no weight in column 3`},
		{"matrix with options", "g", mm + "real general\n3 3 0\n", Options{KeepIDs: true}, "are for edge lists"},
		{"pattern with weights", "g", mm + "pattern general\n3 3 0\n", Options{Weights: Yes}, "weights wanted, but this MatrixMarket file has none"},
		{"METIS header", "g.graph", "3\n", Options{Format: METIS}, "g.graph:1: 1 field, want a METIS header"},
		{"METIS format", "g.graph", "3 1 002\n", Options{Format: METIS}, `g.graph:1: format "002"`},
		{"METIS weights without format", "g.graph", "3 1 001 2\n", Options{Format: METIS}, `g.graph:1: 2 weights of a vertex, but format "001" has none`},
		{"METIS neighbour 0", "g.graph", "2 1\n2\n0\n", Options{Format: METIS}, `g.graph:3: neighbour 0 is not in 1 to 2, which are all vertices: "0"`},
		{"METIS neighbour beyond", "g.graph", "2 1\n2\n% c\n1 3\n", Options{Format: METIS}, `g.graph:4: neighbour 3 is not in 1 to 2`},
		{"METIS word", "g.graph", "2 1\n2\nx\n", Options{Format: METIS}, `g.graph:3: neighbour "x" is not an integer`},
		{"METIS edges", "g.graph", "2 2\n2\n1\n", Options{}, "its rows have 2 entries, but the header promises 2 edges"},
		{"METIS rows", "g.graph", "2 1\n2\n1\n1\n", Options{}, "row 3, but the header promises 2 vertices"},
		{"METIS edge weight", "g.graph", "2 1 1\n2\n1 4\n", Options{}, "g.graph:2: no weight after neighbour 2"},
		{"METIS bad edge weight", "g.graph", "2 1 1\n2 x\n1 4\n", Options{Format: METIS}, `g.graph:2: weight "x" is not a decimal number`},
		{"METIS vertex weights", "g.graph", "2 1 11 3\n1 2\n1 2 3 1 4\n", Options{}, "g.graph:2: 2 weights of the vertex, want 3"},
		{"DIMACS problem", "g", "c\np sp 3\n", Options{}, `g:2: not a problem line like "p sp 4 5"`},
		{"DIMACS arc", "g", "p sp 3 1\ne 1 2 3\n", Options{}, `g:2: want an arc like "a 1 2 3": "e 1 2 3"`},
		{"DIMACS arcs", "g", "p sp 3 2\na 1 2 3\n", Options{}, "it has 1 entries, but promises 2"},
		{"line before all", "g", strings.Repeat("x", 400_000), Options{MaxLine: 300_000}, "g:1: the line is longer than 300000 bytes"},
	}
	for _, c := range cases {
		for _, way := range []string{"file", "stream"} {
			for _, chunk := range []int{0, 3} {
				o := c.opt
				o.ChunkSize = chunk
				var in *Input
				var err error
				if way == "file" {
					in, err = NewInputAt(c.file, strings.NewReader(c.text), int64(len(c.text)))
				} else {
					in, err = NewInput(c.file, strings.NewReader(c.text))
				}
				if err == nil {
					_, err = load(in, o)
				}
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s (%s):\n got %.300v\nwant %s", c.name, way, err, c.want)
				}
			}
		}
	}
}

func TestReadRefusesOptions(t *testing.T) {
	options := map[string]Options{
		"1 columns given":           {Columns: []int{1}},
		"column 0":                  {Columns: []int{0, 1}},
		"column 2 given twice":      {Columns: []int{2, 2}},
		"weights wanted, but only":  {Columns: []int{1, 2}, Weights: Yes},
		"no weights wanted, but":    {Columns: []int{1, 2, 3}, Weights: No},
		`separator '!'`:             {Separator: '!'},
		"string ids cannot be kept": {IDs: StringIDs, KeepIDs: true},
		"exclude each other":        {KeepIDs: true, Vertices: 3},
		"-1 vertices":               {Vertices: -1},
	}
	if most := int64(1) << 32; int64(int(most)) == most {
		options["4294967296 vertices"] = Options{Vertices: int(most)}
	}
	for want, opt := range options {
		if _, err := loadText(t, "g", "0 1\n", opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestReadSkipsBadLines(t *testing.T) {
	text := "0 1\nx\n1 0\n-1 1\n0 99999999999999999999\n2 2\n"
	for _, chunk := range []int{1, 1 << 20} {
		for _, tolerated := range []int{3, 10, -1} {
			g, err := loadText(t, "g", text, Options{SkipBad: tolerated, ChunkSize: chunk})
			if err != nil {
				t.Fatal(err)
			}
			if g.String() != "0>1 1>0 2>2" || g.Report.Bad != 3 || g.Report.BadLines[2].Line != 5 {
				t.Errorf("%v with %+v", g, g.Report)
			}
		}
	}
	// A bad row of a METIS file remains a row.
	g, err := loadText(t, "g.graph", "3 2\n2 3\nx\n1\n", Options{Format: METIS, SkipBad: 1})
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != "1>2 1>3 3>1" {
		t.Errorf("METIS: %v", g)
	}
	// So do ids that are too wide in a line that is bad for another reason.
	g, err = loadText(t, "g", "5 6\n99999999999 x\n7 8\n", Options{SkipBad: 1, IDs: IntegerIDs})
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != "5>6 7>8" || g.Names.Kind() != names.Increasing {
		t.Errorf("wide and bad: %v, %v", g, g.Names.Kind())
	}
}

func TestReadFindsDamage(t *testing.T) {
	text := strings.Repeat("0 1\n1 2\n2 3 4 5 6\n", 50_000)
	for _, way := range []string{"gzip", "zstd"} {
		data := compressed(t, text, way)
		for _, c := range []struct {
			name string
			edit func() []byte
			want string
		}{
			{"truncated", func() []byte { return data[:len(data)-9] }, "is truncated"},
			{"cut in the middle", func() []byte { return data[:len(data)/3] }, "is truncated"},
			{"flipped", func() []byte {
				b := []byte(string(data))
				b[len(b)/4] ^= 0xff
				return b
			}, ""},
			{"followed by junk", func() []byte { return append([]byte(string(data)), "junk, junk, junk"...) }, "is damaged"},
		} {
			in, err := NewInput("g."+way, strings.NewReader(string(c.edit())))
			if err == nil {
				_, err = load(in, Options{ChunkSize: 1000})
				in.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "read graph g."+way+": the "+way+" stream is") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v", way, c.name, err)
			}
		}
	}
	if _, err := NewInput("g", strings.NewReader("\x1f\x8b")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a gzip file of two bytes: %v", err)
	}
}

// shrunk is a file that lost its end after its size was asked.
type shrunk struct{ *strings.Reader }

func TestReadFindsThatAFileShrank(t *testing.T) {
	in, err := NewInputAt("g", shrunk{strings.NewReader("0 1\n")}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load(in, Options{}); err == nil || !strings.Contains(err.Error(), "shrank to 4 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestReadLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("reads lines of ten million characters")
	}
	name := strings.Repeat("n", 10_000_000)
	text := "0 1\n# " + name + "\n" + name + " 1\n1 2 " + name + "\n"
	for _, way := range ways {
		g, err := load(input(t, "g", text, way), Options{IDs: StringIDs, Weights: No})
		if err != nil {
			t.Fatal(err)
		}
		if g.Edges != 3 || g.Names.Name(2) != name {
			t.Errorf("%s: %d edges, a name of %d bytes", way, g.Edges, len(g.Names.Name(2)))
		}
	}
}

func TestNotText(t *testing.T) {
	for text, want := range map[string]bool{"": true, "0 1\n": true, "weir\x00\x01": false, "\x1f\x8b\x08\x00": false, "Å Ö\r\n": true, "\xff\xfe0": false, "0 1\r": true, "0 1\r2 3": false} {
		if why := notText([]byte(text)); (why == "") != want {
			t.Errorf("%q: %q", text, why)
		}
	}
}

func TestDigits(t *testing.T) {
	for text, want := range map[string]struct {
		v uint64
		n int
	}{
		"x": {0, 0}, "": {0, 0}, "7": {7, 1}, "12\t3456789": {12, 2}, "1234567\n": {1234567, 7}, "12345678": {12345678, 8}, "123456789": {12345678, 8},
		"9:": {9, 1}, "9/": {9, 1}, "99\xff9": {99, 2}, "5\x80\xb5": {5, 1}, "/9": {0, 0}, ":9": {0, 0}, "0000009 ": {9, 7},
	} {
		b := append([]byte(text), "\n              "...)
		if v, n := digits(b, 0); v != want.v || n != want.n {
			t.Errorf("digits(%q) = %d, %d", text, v, n)
		}
	}
	for text, want := range map[string]struct {
		v uint64
		n int
	}{"12345678901234567890": {0, 0}, "1234567890123456789": {1234567890123456789, 19}, "8": {8, 1}, "x": {0, 0}} {
		if v, n := number([]byte(text+"\n"), 0); v != want.v || n != want.n {
			t.Errorf("number(%q) = %d, %d", text, v, n)
		}
	}
	for _, c := range []struct {
		text string
		w    float64
		n    int
	}{{"12.5", 12.5, 4}, {"3", 3, 1}, {"0.1", 0.1, 3}, {"123456789.123456", 123456789.123456, 16}, {"1234567890123456", 0, 0}, {".5", 0, 0}, {"5.", 0, 0}, {"-5", 0, 0}} {
		if w, n := plainWeight([]byte(c.text+"\n"), 0); w != c.w || n != c.n {
			t.Errorf("plainWeight(%q) = %v, %d", c.text, w, n)
		}
	}
	if _, rounded := narrow(math.MaxInt32); !rounded {
		t.Error("2^31-1 is not exact in 32 bits")
	}
}

// TestOneOddID checks that a single bad id among integers is an error that names
// its line, not a reason to take all ids for strings.
func TestOneOddID(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "%d %d\n", i, i+1)
	}
	lines := b.String() + "x7 8\n"
	in, err := NewInput("odd", strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Read(t.Context(), in, Options{}, func(Chunk) error { return nil })
	if line, ok := errors.AsType[*LineError](err); !ok || line.Line != 31 {
		t.Errorf("got %v, expected an error at line 31", err)
	}
}
