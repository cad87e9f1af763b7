package text

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestPutTimesFit has milliseconds that are more nanoseconds than there are.
func TestPutTimesFit(t *testing.T) {
	got := read(t, "put cpu 9223372036854 1 host=a\n", Options{Format: OpenTSDB})
	if len(got) != 1 || got[0].time != 9223372036854e6 {
		t.Fatalf("got %v", got)
	}
	_, err := all(NewReader(strings.NewReader("put cpu 9223372036855 1 host=a\n"), Options{Format: OpenTSDB}))
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Reason != "put: invalid timestamp format" {
		t.Fatalf("got %v", err)
	}
}

// TestBrokenFromTheBegin has an input that breaks in its first read: whole lines are handed out before the error, whether
// the format is known or found out.
func TestBrokenFromTheBegin(t *testing.T) {
	broken := errors.New("broken")
	for _, o := range []Options{{}, {Format: Influx}} {
		in := iotest.DataErrReader(io.MultiReader(strings.NewReader("cpu,host=a value=1 5\ncpu,host=a val"), iotest.ErrReader(broken)))
		points, err := all(NewReader(in, o))
		if !errors.Is(err, broken) || len(points) != 1 || points[0] != val("cpu host=a", 5, 1) {
			t.Errorf("%v: got %v, %v", o.Format, points, err)
		}
	}
	if _, err := all(NewReader(idle{}, Options{})); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

// idle reads nothing, and does not end.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// TestLongNamesOfManyColumns has lines whose names would take hundreds of megabytes if each column had its own.
func TestLongNamesOfManyColumns(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct {
		text string
		o    Options
	}{
		{"cpu,host=" + long + " " + strings.Repeat("a=1,", 5000) + "b=1 5\ncpu,host=a value=1 5\n", Options{Format: Influx, Skip: true}},
		{"time,host" + strings.Repeat(",value", 4000) + "\n5," + long + strings.Repeat(",1", 4000) + "\n5,a" + strings.Repeat(",1", 4000) + "\n",
			Options{Format: CSV, Skip: true, Unit: 1}},
	} {
		r := NewReader(strings.NewReader(c.text), c.o)
		points, err := all(r)
		if err != io.EOF || len(points) == 0 {
			t.Fatalf("%v: %d points, %v", c.o.Format, len(points), err)
		}
		for _, p := range points {
			if p != val("cpu host=a", 5, 1) && p != val("value host=a", 5, 1) {
				t.Fatalf("%v: got %v", c.o.Format, p)
			}
		}
		rep := r.Report()
		if rep.Skipped != 1 || rep.Refused[0].Reason != ReasonName || rep.Refused[0].First[0].Line != 1+int64(strings.Count(c.text, "\n")-2) {
			t.Errorf("%v: %+v", c.o.Format, rep)
		}
		if cap(r.arena) > 1<<20 {
			t.Errorf("%v: %d bytes of names were held", c.o.Format, cap(r.arena))
		}
	}
}
