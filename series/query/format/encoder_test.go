package format

import (
	"math"
	"testing"

	"weir/series/query/rows"
)

func TestForms(t *testing.T) {
	names := []string{"cpu host=a"}
	scalar := &rows.Batch{Names: names, Series: []uint32{0, 0}, Times: []int64{0, 1}, Width: 1, Values: []float64{0.1, math.NaN()}}
	bare := &rows.Batch{Names: names, Series: []uint32{0}, Times: []int64{5}, Width: 1, Values: []float64{0}, Missing: []uint64{1}}
	tuple := &rows.Batch{Names: names, Series: []uint32{0}, Times: []int64{5}, Width: 3, Values: []float64{1, 2, math.Inf(-1)}, Missing: []uint64{2}}
	text := &rows.Batch{Names: names, Series: []uint32{0}, Times: []int64{5}, Texts: []string{`a "b"`}}
	lines := &rows.Batch{Names: names, Series: []uint32{0}, Times: []int64{5}, Texts: []string{"a \"b\"\r\n+c"}}
	for _, c := range []struct {
		out   Output
		shape rows.Shape
		batch *rows.Batch
		want  string
	}{
		{Output{CSV, false}, rows.Scalar, scalar, "cpu host=a,19700101T000000.000000000,0.10000000000000001\ncpu host=a,19700101T000000.000000001,nan\n"},
		{Output{CSV, true}, rows.Scalar, scalar, "cpu host=a,ts=0,0.10000000000000001\ncpu host=a,ts=1,nan\n"},
		{Output{CSV, true}, rows.Scalar, bare, "cpu host=a,ts=5\n"},
		{Output{CSV, true}, rows.Tuple, tuple, "cpu host=a,ts=5,1,,-inf\n"},
		{Output{CSV, true}, rows.Text, text, "cpu host=a,ts=5,a \"b\"\n"},
		{Output{CSV, true}, rows.Text, lines, "cpu host=a,ts=5,\"a \"\"b\"\"\r\n+c\"\n"},
		{Output{RESP, true}, rows.Text, lines, "+cpu host=a\r\n+ts=5\r\n$9\r\na \"b\"\r\n+c\r\n"},
		{Output{CSV, true}, rows.Names, scalar, "cpu host=a\ncpu host=a\n"},
		{Output{RESP, false}, rows.Scalar, scalar, "+cpu host=a\r\n+19700101T000000.000000000\r\n+0.10000000000000001\r\n+cpu host=a\r\n+19700101T000000.000000001\r\n+nan\r\n"},
		{Output{RESP, true}, rows.Scalar, bare, "+cpu host=a\r\n+ts=5\r\n"},
		{Output{RESP, true}, rows.Tuple, tuple, "+cpu host=a\r\n+ts=5\r\n*3\r\n+1\r\n$-1\r\n+-inf\r\n"},
		{Output{RESP, true}, rows.Text, text, "+cpu host=a\r\n+ts=5\r\n+a \"b\"\r\n"},
		{Output{RESP, true}, rows.Names, bare, "+cpu host=a\r\n"},
		{Output{JSONL, false}, rows.Scalar, scalar, "{\"name\":\"cpu host=a\",\"time\":\"1970-01-01T00:00:00Z\",\"value\":0.1}\n{\"name\":\"cpu host=a\",\"time\":\"1970-01-01T00:00:00.000000001Z\",\"value\":\"NaN\"}\n"},
		{Output{JSONL, true}, rows.Tuple, tuple, "{\"name\":\"cpu host=a\",\"time\":5,\"values\":[1,null,\"-Inf\"]}\n"},
		{Output{JSONL, true}, rows.Text, text, "{\"name\":\"cpu host=a\",\"time\":5,\"text\":\"a \\\"b\\\"\"}\n"},
		{Output{JSONL, true}, rows.Names, bare, "{\"name\":\"cpu host=a\"}\n"},
	} {
		if got := string(NewEncoder(c.out, c.shape).Append(nil, c.batch)); got != c.want {
			t.Errorf("%+v %d:\ngot  %q\nwant %q", c.out, c.shape, got, c.want)
		}
	}
}

// BenchmarkCSV writes the rows of a select, of decimals every ten seconds.
func BenchmarkCSV(b *testing.B) {
	batch := &rows.Batch{Names: []string{"cpu dc=east host=web-0017"}, Width: 1}
	for i := range 1024 {
		batch.Series = append(batch.Series, 0)
		batch.Times = append(batch.Times, int64(i)*10*second)
		batch.Values = append(batch.Values, float64(i*7919%10000)/100)
	}
	e := NewEncoder(Output{Format: CSV}, rows.Scalar)
	var buf []byte
	for b.Loop() {
		buf = e.Append(buf[:0], batch)
	}
	b.ReportMetric(float64(batch.Len())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
