package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// maxSamples is how many bad lines a report shows.
const maxSamples = 8

// LineError is a line that is not an edge.
type LineError struct {
	File   string
	Line   int64  // 1-based
	Reason string // what is wrong
	Text   string // the line, shortened and quoted
}

// Error names file and line, says what is wrong and shows the line.
func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Reason, e.Text)
}

// shown is how a line is shown in errors: quoted, at most about 80 characters.
func shown(line []byte) string {
	const most = 80
	if len(line) <= most {
		return fmt.Sprintf("%q", line)
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(line[cut]) {
		cut--
	}
	return fmt.Sprintf("%q… (%s bytes)", line[:cut], humanize.Comma(int64(len(line))))
}

// Report is what was found in a file.
type Report struct {
	File        string
	Format      Format
	Compression string // "gzip", "zstd" or ""
	Separator   byte   // of an edge list, as in Options
	IDs         string // what the ids are
	Header      string // the header line, or ""
	// WeightColumn is the 1-based column of weights in an edge list; 0 where
	// there is none. WeightGuessed says that the content decided it.
	WeightColumn  int
	WeightGuessed bool

	Lines     int64 // all of them
	Comments  int64
	Blank     int64
	Missing   int64 // rows with an endpoint that stands for nothing
	Bad       int64 // lines that are no edges and were skipped
	Edges     int64 // handed out
	SelfLoops int64 // of the edges
	Rounded   int64 // integer weights that a float32 cannot hold exactly
	// BadLines are the first of the bad lines.
	BadLines []*LineError
}

// String is the report for people, a few lines.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", r.File, r.Format)
	if r.Compression != "" {
		fmt.Fprintf(&b, " (%s)", r.Compression)
	}
	if r.Format == EdgeList && r.Edges > 0 {
		fmt.Fprintf(&b, " separated by %s", separatorName(r.Separator))
	}
	fmt.Fprintf(&b, ", %s lines, %s edges, ids are %s\n", humanize.Comma(r.Lines), humanize.Comma(r.Edges), r.IDs)
	if r.Header != "" {
		fmt.Fprintf(&b, "  header: %s\n", shown([]byte(r.Header)))
	}
	if r.WeightColumn > 0 {
		fmt.Fprintf(&b, "  weights: column %d", r.WeightColumn)
		if r.WeightGuessed {
			b.WriteString(" (it holds numbers; if they are timestamps or labels, ask for no weights)")
		}
		b.WriteByte('\n')
	}
	for _, c := range []struct {
		n    int64
		what string
	}{
		{r.Comments, "comment lines"},
		{r.Blank, "blank lines"},
		{r.Missing, "rows with a missing endpoint, which are not edges"},
		{r.SelfLoops, "self-loops"},
		{r.Rounded, "integer weights rounded to fit 32 bits"},
		{r.Bad, "bad lines skipped"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, "  %s %s\n", humanize.Comma(c.n), c.what)
		}
	}
	for _, e := range r.BadLines {
		fmt.Fprintf(&b, "    line %d: %s: %s\n", e.Line, e.Reason, e.Text)
	}
	return b.String()
}

// separatorName is what people call a separator.
func separatorName(sep byte) string {
	switch sep {
	case '\t':
		return "tabs"
	case ',':
		return "commas"
	case ';':
		return "semicolons"
	case '|':
		return "bars"
	}
	return "blanks"
}

// tally is the part of a report that is counted line by line.
type tally struct {
	lines, comments, blank, missing, bad, selfLoops, rounded int64
}

func (t *tally) add(u tally) {
	t.lines += u.lines
	t.comments += u.comments
	t.blank += u.blank
	t.missing += u.missing
	t.bad += u.bad
	t.selfLoops += u.selfLoops
	t.rounded += u.rounded
}
