package text

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
	"pgregory.net/rapid"
)

func TestInflux(t *testing.T) {
	got := read(t, "# x\ncpu,host=a\\ b,d\\=c=x idle=1.5,n=-3i,u=18446744073709551615u,ok=t,say=\"a \\\"b\\\", c\" 5\n\nmem value=7\n!ev,a=b value=\"x\" 6\r\n", Options{Now: 9, Tags: "file=f"})
	tags := ` host=a\ b d\=c=x`
	want := []point{
		val("cpu_idle"+tags, 5, 1.5), val("cpu_n"+tags, 5, -3), val("cpu_u"+tags, 5, 18446744073709551615), val("cpu_ok"+tags, 5, 1),
		{name: "!cpu_say" + tags, time: 5, text: `a "b", c`, event: true}, val("mem file=f", 9, 7), {name: "!ev a=b", time: 6, text: "x", event: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
	for _, bad := range []string{"cpu", "cpu x", "cpu x= 1", ",a=b x=1 1", "cpu,a x=1 1", "cpu,a= x=1 1", "cpu, x=1 1", "cpu x=nan 1", "cpu x=1", "cpu x=1 z", "cpu x=\"a 1", "cpu x=\"a\"b 1", "!c x=1 1", "cpu x=1,,y=2 1", "cpu x=1e999 1"} {
		if points, err := all(NewReader(strings.NewReader(bad+"\n"), Options{Format: Influx})); err == io.EOF || len(points) > 0 {
			t.Errorf("%q: %v", bad, points)
		}
	}
}

// What the encoder of the format's authors writes must be read as it was meant.
func TestInfluxReadsItsEncoder(t *testing.T) {
	word := rapid.StringMatching(`[a-z][a-zA-Z, =é"]{0,5}[a-z]`)
	rapid.Check(t, func(t *rapid.T) {
		var e lineprotocol.Encoder
		var want []point
		for range rapid.IntRange(1, 5).Draw(t, "lines") {
			metric, value := word.Draw(t, "metric"), word.Draw(t, "tag")
			e.StartLine(metric)
			e.AddTag("host", value)
			at := rapid.Int64Range(1, math.MaxInt64).Draw(t, "time")
			name := func(field string) string {
				return fmt.Sprintf("%s host=%s", appendWord(nil, metric+"_"+field, false), appendWord(nil, value, false))
			}
			field := word.Draw(t, "field")
			v := rapid.Float64().Draw(t, "v")
			e.AddField(field, lineprotocol.MustNewValue(v))
			want = append(want, val(name(field), at, v))
			s := rapid.StringMatching(`[ -~\n]{0,10}`).Draw(t, "s")
			e.AddField("zz", lineprotocol.MustNewValue(s))
			want = append(want, point{name: "!" + name("zz"), time: at, text: s, event: true})
			e.EndLine(time.Unix(0, at))
		}
		if e.Err() != nil {
			t.Fatal(e.Err())
		}
		got, err := all(NewReader(bytes.NewReader(e.Bytes()), Options{Format: Influx}))
		if err != io.EOF || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s%v\n got %v\nwant %v", e.Bytes(), err, got, want)
		}
	})
}

func FuzzInflux(f *testing.F) {
	fuzz(f, Influx, "cpu,host=a x=1,y=\"a b\" 5\n", "m v=1i 1\n#\nm v=t 2\n", `m,a\,b=c\ d v=1u 1`)
}
