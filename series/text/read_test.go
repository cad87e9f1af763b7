package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"

	"weir/internal/sharedata"
	"weir/series/names"
)

// point is a row that outlives its batch.
type point struct {
	name  string
	time  int64
	bits  uint64
	text  string
	event bool
}

func all(r *Reader) (points []point, err error) {
	byRef := map[uint32]string{}
	for {
		rows, err := r.Next()
		if err != nil {
			return points, err
		}
		if len(rows) == 0 {
			return points, errors.New("an empty batch")
		}
		for _, row := range rows {
			if row.Ref > 0 {
				if was, known := byRef[row.Ref]; known && was != string(row.Name) {
					return points, fmt.Errorf("ref %d is %q and %q", row.Ref, was, row.Name)
				}
				byRef[row.Ref] = string(row.Name)
			}
			points = append(points, point{string(row.Name), row.Time, math.Float64bits(row.Value), string(row.Text), row.Text != nil})
		}
	}
}

func read(t *testing.T, text string, o Options) []point {
	t.Helper()
	points, err := all(NewReader(strings.NewReader(text), o))
	if err != io.EOF {
		t.Fatalf("%q: %v", text, err)
	}
	return points
}

func val(name string, at int64, v float64) point {
	return point{name: name, time: at, bits: math.Float64bits(v)}
}

// What Akumuli answered to each conversation is what a server would answer with
// this reader, but for the faults that are not to be repeated.
func TestRESPAnswersAsAkumuli(t *testing.T) {
	raw, err := os.ReadFile(sharedata.Path(t, "akumuli-golden/ingest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Conversations []struct{ Name, Port, Send, Recv string }
	}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	differs := map[string]string{ // what we answer instead
		"empty value": "-PARSER can't parse double value", "dup tags": "-PARSER " + ReasonName, "row empty metric": "-PARSER " + ReasonName,
		"33 tags": "-PARSER " + ReasonName, "ts max": "-PARSER integer overflow", "ts missing -> string": "-PARSER unexpected parameter timestamp format",
	}
	database := map[string]bool{"late write": true, "event late same us": true}
	seen := 0
	for _, c := range recorded.Conversations {
		if c.Port != "RESP" || database[c.Name] {
			continue
		}
		seen++
		var latin []byte
		for _, ch := range c.Send {
			latin = append(latin, byte(ch))
		}
		r := NewReader(bytes.NewReader(latin), Options{Format: RESP, MaxLine: 1024, Strict: true})
		var failed error
		for failed == nil {
			var rows []Row
			rows, failed = r.Next()
			for i := range rows {
				if _, err := names.Canonical(nil, rows[i].Name); err != nil {
					failed = r.Refuse(i, ReasonName, "")
					break
				}
			}
		}
		answer := ""
		var syntax *SyntaxError
		if errors.As(failed, &syntax) && syntax.Reason != ReasonIncomplete {
			answer = "-PARSER " + syntax.Message() + " - " + syntax.Context + "\r\n"
			if syntax.Reason == ReasonBadEvent {
				answer = "-DB bad argument\r\n"
			}
		}
		if want, ours := differs[c.Name]; ours {
			if !strings.HasPrefix(answer, want) {
				t.Errorf("%s: %q, want %q", c.Name, answer, want)
			}
			continue
		}
		var want []byte
		for _, ch := range c.Recv {
			want = append(want, byte(ch))
		}
		if answer != string(want) {
			t.Errorf("%s:\n got %q\nwant %q", c.Name, answer, want)
		}
	}
	if seen < 50 {
		t.Errorf("%d conversations", seen)
	}
}

func TestRESP(t *testing.T) {
	got := read(t, "*4\r\n+a x=1\r\n:7\r\n+b|!c x=1\r\n:8\r\n:7\r\n:5\r\n+1.5\r\n:8\n+20170101T000000.5\n*2\n:3\n+hello\n+d|e y=2\r\n+6\r\n*2\r\n+1\r\n+2\r\n", Options{Format: RESP})
	want := []point{
		val("a x=1", 5, 1.5), val("b x=1", 1483228800500000000, 3), {name: "!c x=1", time: 1483228800500000000, text: "hello", event: true},
		val("d y=2", 6, 1), val("e y=2", 6, 2),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

// Behind a bad message the good ones are read, and the report says what was bad.
func TestSkipping(t *testing.T) {
	good := "+a x=1\n:5\n+1\n"
	for name, bad := range map[string]string{
		"value": "+b x=1\n:5\n+abc\n", "time": "+!b x=1\n:5x\n+c d=e\n", "name": "+b\n:x\n+1\n", "bulk": "$5\nhello\n", "long": "+b x=" + strings.Repeat("y", 3000) + "\n:1\n+1\n",
		"id": ":77\n:5\n+1\n", "row": "+b|c x=1\n:5\n*3\n+1\n+2\n+3\n", "dictionary": "*3\n+b x=1\n:3\n+c y=2\n"[:4],
	} {
		for _, in := range []io.Reader{strings.NewReader(good + bad + good), iotest.OneByteReader(strings.NewReader(good + bad + good))} {
			r := NewReader(in, Options{Format: RESP, MaxLine: 1024, Skip: true})
			points, err := all(r)
			rep := r.Report()
			if err != io.EOF || len(points) != 2 || rep.Skipped != 1 || rep.Points != 2 || len(rep.Refused) != 1 || rep.Refused[0].First[0].Line != 4 {
				t.Errorf("%s: %v, %v, %+v", name, points, err, rep)
			}
		}
	}
	table := "series,timestamp,value\na x=1,1,1\na x=1,zz,1\na x=1,2\na x=1,3,x\n\"a,b\" x=1,4,1\na x=1,4,1\n"
	r := NewReader(strings.NewReader(table), Options{Skip: true})
	points, err := all(r)
	if rep := r.Report(); err != io.EOF || len(points) != 2 || rep.Skipped != 4 || rep.Refused[0].First[0].Line != 3 {
		t.Errorf("%v, %v, %+v", points, err, rep)
	}
}

func TestTables(t *testing.T) {
	const day = int64(1483228800e9)
	for _, c := range []struct {
		text string
		o    Options
		want []point
	}{
		{"timestamp,value\n2017-01-01 00:00:00,104\n2017-01-01 00:00:01,100\n", Options{Metric: "taxi", Tags: "city=ny"}, []point{val("taxi city=ny", day, 104), val("taxi city=ny", day+1e9, 100)}},
		{"time,metric,value,host\n1483228800,cpu,1,a\n1483228800.5,cpu,2,b c\n", Options{}, []point{val("cpu host=a", day, 1), val(`cpu host=b\ c`, day+5e8, 2)}},
		{"time;host;cpu;mem\r\n1483228800000;a;1;\r\n1483228801000;b;NA;2\r\n", Options{}, []point{val("cpu host=a", day, 1), val("mem host=b", day+1e9, 2)}},
		{"time\tcpu x=1\tmem x=1\n1483228800000000\t1\t2", Options{}, []point{val("cpu x=1", day, 1), val("mem x=1", day, 2)}},
		{"1483228800,1\n1483228801,2\n", Options{Tags: "f=a"}, []point{val("value f=a", day, 1), val("value f=a", day+1e9, 2)}},
		{"cpu host=a,1483228800,1\n", Options{}, []point{val("cpu host=a", day, 1)}},
		{"20170101T000000,cpu host=a,1\n", Options{}, []point{val("cpu host=a", day, 1)}},
		{"series,timestamp,value\n\"cpu host=a,b\",5,nan(0x7ff8000000000000)\n!ev host=a,6,\"say \"\"hi\"\"\"\n", Options{}, []point{{name: "cpu host=a,b", time: 5, bits: 0x7ff8000000000000}, {name: "!ev host=a", time: 6, text: `say "hi"`, event: true}}},
		{"\xef\xbb\xbf# made by hand\ndate,v\n2017-01-01,3\n", Options{Tags: "a=b"}, []point{val("v a=b", day, 3)}},
		{"put cpu 1483228800 1.5 host=a dc=x\nput  cpu 1483228800123  2  host=b \r\nversion\nput cpu 1483228800.25 3 h=c\n", Options{}, []point{val("cpu host=a dc=x", day, 1.5), val("cpu host=b", day+123e6, 2), val("cpu h=c", day, 3)}},
		{"", Options{}, nil},
	} {
		if got := read(t, c.text, c.o); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q:\n got %v\nwant %v", c.text, got, c.want)
		}
	}
	for text, reason := range map[string]string{
		"time,metric\n1,a\n": "no column called value", "a,b,c,d\n": "", "1,2,3\n": "no header", "time,value\n1,2\n3\n": "more or fewer", "time,value\n1,2\n3,\"x\"y\n": "quote",
		"hello\n": "no known format", "\x00\n": "no text", "put !e 1 1 a=b\n": ReasonName, "put a 1 1\n": "got 2)",
	} {
		if _, err := all(NewReader(strings.NewReader(text), Options{})); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, want %q", text, err, reason)
		}
	}
}

func TestDecompress(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "1,2\n")
	z.Close()
	in, kind, err := Decompress(&packed)
	if err != nil || kind != "gzip" {
		t.Fatal(kind, err)
	}
	if points, err := all(NewReader(in, Options{Tags: "a=b"})); err != io.EOF || len(points) != 1 {
		t.Errorf("%v, %v", points, err)
	}
}

// What is written reads back bit for bit, in pieces of any size.
func TestReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]Format{RESP, CSV}).Draw(t, "format")
		text := []byte(Header(f))
		var want []point
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			name := rapid.SampledFrom([]string{"cpu host=a", "cpu host=a,b", `m a="x" b=\ y`, "ü a=é"}).Draw(t, "name")
			p := point{name: name, time: rapid.Int64Range(0, math.MaxInt64).Draw(t, "time"), bits: rapid.Uint64().Draw(t, "bits")}
			var say []byte
			if rapid.Bool().Draw(t, "event") {
				p = point{name: "!" + name, time: p.time, text: rapid.StringMatching(`[ -~]{1,40}`).Draw(t, "text"), event: true}
				say = []byte(p.text)
			}
			var err error
			if text, err = Append(text, f, []byte(p.name), p.time, math.Float64frombits(p.bits), say); err != nil {
				t.Fatal(err)
			}
			want = append(want, p)
		}
		in := io.Reader(bytes.NewReader(text))
		if rapid.Bool().Draw(t, "bytewise") {
			in = iotest.OneByteReader(in)
		}
		got, err := all(NewReader(in, Options{Format: f, Batch: rapid.IntRange(1, 9).Draw(t, "batch")}))
		if err != io.EOF || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\n got %v\nwant %v", err, got, want)
		}
	})
	for _, c := range []struct {
		name string
		time int64
		text []byte
	}{{"a\nb x=1", 1, nil}, {"a x=1", -1, nil}, {"!a x=1", 1, []byte{}}, {"a|b x=1", 1, nil}, {"!a x=1", 1, nil}} {
		if _, err := Append(nil, RESP, []byte(c.name), c.time, 1, c.text); err == nil {
			t.Errorf("%q is written", c.name)
		}
	}
}

func TestBrokenInput(t *testing.T) {
	broken := errors.New("broken")
	for _, text := range []string{"+a x=1\n:5\n+1\n+a x", "1,2\n3", "put a 1 1 b=c\nput"} {
		points, err := all(NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), Options{}))
		if !errors.Is(err, broken) || len(points) != 1 {
			t.Errorf("%q: %v, %v", text, points, err)
		}
	}
}

func fuzz(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, skip := range []bool{false, true} {
			o := Options{Format: format, MaxLine: 200, Skip: skip}
			whole, err := all(NewReader(bytes.NewReader(text), o))
			pieces, err2 := all(NewReader(iotest.OneByteReader(bytes.NewReader(text)), o))
			if !reflect.DeepEqual(whole, pieces) {
				t.Fatalf("skip %v: whole %v (%v), in pieces %v (%v)", skip, whole, err, pieces, err2)
			}
			var syntax *SyntaxError
			if err != io.EOF && (skip || !errors.As(err, &syntax)) {
				t.Fatalf("skip %v: %v", skip, err)
			}
		}
	})
}

func FuzzRESP(f *testing.F) {
	fuzz(f, RESP, "*2\r\n+a x=1\r\n:7\r\n:7\r\n:5\r\n+1.5\r\n", "+a|!b x=1\n+20170101T000000\n*2\n:1\n+z\n", "$1\n+a x=1\n:5\n+1\n")
}

func FuzzCSV(f *testing.F) {
	fuzz(f, CSV, "series,timestamp,value\n\"a,b\" x=1,1,1\n", "time,host,cpu\n2017-01-01,a,1\n", "1,2\n#x\n3,4\n")
}

func FuzzOpenTSDB(f *testing.F) {
	fuzz(f, OpenTSDB, "put a 1 2 b=c\n", "version\nput a 20170101T000000 2 b=c\n")
}

func BenchmarkRead(b *testing.B) {
	const points = 1000
	for _, kind := range []string{"RESP", "RESP-dictionary", "CSV", "CSV-sine", "OpenTSDB", "Influx"} {
		var text []byte
		f := CSV
		switch kind {
		case "RESP", "RESP-dictionary":
			f = RESP
		case "OpenTSDB":
			f = OpenTSDB
		case "Influx":
			f = Influx
		}
		if kind == "RESP-dictionary" {
			text = append(text, "*2\r\n+cpu host=host_1 dc=x\r\n:1\r\n"...)
		}
		text = append(text, Header(f)...)
		for i := range points {
			at, v := 1483228800000000000+int64(i)*1e10, float64(i%9000)/100
			name := fmt.Sprintf("cpu dc=x host=host_%d", i)
			switch kind {
			case "OpenTSDB":
				text = fmt.Appendf(text, "put cpu %d %v dc=x host=host_%d\n", at, v, i)
			case "Influx":
				text = fmt.Appendf(text, "cpu,dc=x,host=host_%d usage=%v %d\n", i, v, at)
			case "RESP-dictionary":
				text = fmt.Appendf(text, ":1\r\n:%d\r\n+%v\r\n", at, v)
			case "CSV-sine":
				v = math.Sin(float64(i))
				fallthrough
			default:
				text, _ = Append(text, f, []byte(name), at, v, nil)
			}
		}
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			r := NewReader(&endless{text: text}, Options{Format: f})
			n := 0
			for b.Loop() {
				for want := n + points; n < want; {
					rows, err := r.Next()
					if err != nil {
						b.Fatal(err)
					}
					n += len(rows)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
		})
	}
}

// endless is a text over and over, but for its header.
type endless struct {
	text []byte
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.at == len(e.text) {
		e.at = 0
		if head := Header(CSV); bytes.HasPrefix(e.text, []byte(head)) {
			e.at = len(head)
		}
	}
	n := copy(b, e.text[e.at:])
	e.at += n
	return n, nil
}
