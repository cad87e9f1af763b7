package text

import (
	"fmt"
	"strings"
)

// Row is a point of a series. Name and Text belong to the reader until its
// next batch.
type Row struct {
	// Name is that of one series, in the form that package names knows, but not
	// in canonical form and not checked.
	Name []byte
	// Text is what an event says; nil for a point with a value. Events may be
	// empty, and are then not nil.
	Text  []byte
	Time  int64 // in ns since 1970
	Value float64
	// Ref is 0, or a number that stands for this Name in all rows of this
	// reader: 1, 2, 3 … in the order in which the text introduced them.
	Ref uint32

	at uint32 // where the point begins in the reader's buffer
}

// Format is a way to write points as text.
type Format int

// The formats.
const (
	// Auto asks [Detect].
	Auto Format = iota
	// RESP is the protocol of Akumuli: for each point a line with the name, one
	// with the time and one with the value, with dictionaries and rows.
	RESP
	// CSV is a table, with a header or without:
	//
	//	series,timestamp,value             what Writer writes: complete names, ns
	//	time,metric,value,host,dc          a point a line; other columns are tags
	//	time,host,cpu,mem                  columns of numbers are metrics, others tags
	//	1483228800,1.5                     no header: time, value
	//	1483228800,cpu host=a,1.5          no header: time, name, value, or name first
	//
	// Fields are separated by commas, semicolons or tabs, whichever the first line
	// has more of, and quoted as RFC 4180 says. Lines that begin with '#' are
	// comments. The column of the time is called time, timestamp, ts, date or
	// datetime (with or without a leading underscore), or is the first. Which
	// columns are tags in a table without a column called metric (or
	// measurement, name, series) is decided by the first line of data: those which hold
	// something other than a number there. Cells that are empty, NA or null are
	// gaps.
	//
	// Times are RFC 3339 dates, with a blank instead of the T or without
	// a zone (which is then UTC) or without a time of day too, ISO 8601 basic
	// dates (20170102T030405.5), or numbers since 1970. The first line
	// decides the unit of numbers unless Options.Unit does: below 10¹¹ they are
	// seconds, below 10¹⁴ milliseconds, below 10¹⁷ microseconds, else
	// nanoseconds.
	CSV
	// OpenTSDB is lines of "put metric time value tag=value …". Times below 2³²−1
	// are seconds, those of 13 digits milliseconds, other numbers nanoseconds.
	OpenTSDB
	// Influx is the line protocol of InfluxDB, a line for each point.
	Influx
)

var formatNames = [...]string{"auto", "resp", "csv", "opentsdb", "influx"}

// String is the format's name in lower case.
func (f Format) String() string {
	if f < 0 || int(f) >= len(formatNames) {
		return fmt.Sprintf("Format(%d)", int(f))
	}
	return formatNames[f]
}

// ParseFormat is the format of a name that String gives.
func ParseFormat(name string) (Format, error) {
	for i, known := range formatNames {
		if strings.EqualFold(name, known) {
			return Format(i), nil
		}
	}
	return 0, fmt.Errorf("unknown format %q, expected one of %s", name, strings.Join(formatNames[:], ", "))
}
