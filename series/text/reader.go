package text

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"time"

	"weir/series/names"
)

// Options say how to read. The zero value finds out the format and stops at
// the first error.
type Options struct {
	Format Format
	// MaxLine is the longest line, in bytes with its end; of RESP, the longest name or
	// event. 0 means 64 KiB; Akumuli allows 1024.
	MaxLine int
	// Batch is how many rows Next hands out at most (a line or message with
	// several points is not divided). 0 means 1024.
	Batch int
	// Skip goes on behind an error and counts it; see Report.
	Skip bool
	// Offenders is how many errors of each reason the report keeps. 0 means 3.
	Offenders int
	// Now is the time of points of Influx that come without one; 0 refuses them.
	Now int64
	// Unit is that of times given as numbers in CSV, where 0 is what the first says,
	// and in Influx, where it is nanoseconds, see [Format].
	Unit time.Duration
	// Tags, such as "file=a", is for names of CSV and Influx that have none.
	Tags string
	// Metric is what the points of a CSV without names are called; "" means "value".
	Metric string
	// Strict refuses RESP dictionaries behind points of the same read, as Akumuli does.
	Strict bool
	// Command is called for the commands of OpenTSDB that are no data (stats,
	// version, help …), with the word; they are passed over where it is nil.
	Command func(word []byte)
}

// parser reads points from the beginning of a text.
type parser interface {
	// parse appends to r.rows the points of text, which is r.buf[r.pos:r.end],
	// until the batch is full or what is left is incomplete, and returns how
	// much it consumed. A fault ends it early.
	parse(r *Reader, text []byte) (int, *fault)
}

const (
	defaultLine  = 64 << 10
	defaultBatch = 1024
	firstBuffer  = 64 << 10
	// rowRoom is what the values of the longest row of RESP take.
	rowRoom = names.MaxColumns * 72
)

// Reader reads points.
type Reader struct {
	in      io.Reader
	options Options
	parser  parser

	buf      []byte
	pos, end int // of what is not yet consumed
	begin    int // of the batch: what is before is counted in lines
	lines    int64
	limit    int  // of buf
	final    bool // in is at its end
	broken   error
	fresh    bool // what is at pos was just read, and nothing was left before it
	dropping bool // up to the end of a line

	rows  []Row
	arena []byte // for names that do not stand in the text as they are
	batch int

	offenders int
	refusals  []Refusal
	points    int64
	skipped   int64
	failed    error // what Next returns from now on
}

// NewReader reads from in, which it does before the first row only as far as
// is needed. It does not decompress: see [Decompress].
func NewReader(in io.Reader, o Options) *Reader {
	r := &Reader{in: in, options: o, batch: o.Batch, offenders: o.Offenders}
	if r.options.MaxLine <= 0 {
		r.options.MaxLine = defaultLine
	}
	r.options.MaxLine = min(r.options.MaxLine, 64<<20)
	if r.batch <= 0 {
		r.batch = defaultBatch
	}
	if r.offenders <= 0 {
		r.offenders = 3
	}
	r.limit = max(firstBuffer, 4*r.options.MaxLine+rowRoom)
	r.buf = make([]byte, firstBuffer)
	if o.Format != Auto {
		r.failed = r.choose(o.Format)
	}
	return r
}

func (r *Reader) choose(f Format) error {
	r.options.Format = f
	switch f {
	case RESP:
		r.parser = newResp()
	case Influx:
		r.parser = &influx{}
	case CSV:
		r.parser = &table{}
	case OpenTSDB:
		r.parser = openTSDB{}
	default:
		return fmt.Errorf("read points: %v is no format", f)
	}
	return nil
}

// Format is the format that is read; Auto before the first batch where the
// text decides.
func (r *Reader) Format() Format { return r.options.Format }

// Next is the next batch, of at least one row. It returns io.EOF at the end, a
// *SyntaxError for a bad text unless bad points are skipped, or what the
// underlying reader returned; after any of them, always the same. Rows read
// before an error are handed out before it. The rows are valid until the next
// call.
func (r *Reader) Next() ([]Row, error) {
	r.rows, r.arena = r.rows[:0], r.arena[:0]
	r.lines += int64(bytes.Count(r.buf[r.begin:r.pos], lineFeed))
	r.begin = r.pos
	if r.failed != nil {
		return nil, r.failed
	}
	if r.parser == nil {
		if err := r.sniff(); err != nil {
			r.failed = err
			return nil, err
		}
	}
	for {
		if r.pos < r.end && r.drop() {
			n, f := r.parser.parse(r, r.buf[r.pos:r.end])
			if f != nil {
				if !r.handle(*f) {
					break
				}
				continue
			}
			r.pos += n
			if n > 0 {
				r.fresh = false
			}
		}
		if len(r.rows) > 0 {
			break
		}
		if !r.fill() {
			break
		}
	}
	r.points += int64(len(r.rows))
	if len(r.rows) > 0 {
		return r.rows, nil
	}
	if r.failed == nil {
		r.failed = io.EOF
	}
	return nil, r.failed
}

var lineFeed = []byte{'\n'}

// handle takes notice of a fault and reports whether to read on.
func (r *Reader) handle(f fault) bool {
	base := r.pos
	f.at += base
	if !r.options.Skip {
		r.failed = r.explain(f)
		return false
	}
	r.refuse(f)
	if r.fresh = false; f.next == toLineEnd {
		r.pos, r.dropping = r.end, true
	} else {
		r.pos = base + f.next
	}
	return true
}

// drop drops what belongs to a line that was too long, and reports whether
// there is something behind it.
func (r *Reader) drop() bool {
	if !r.dropping {
		return true
	}
	end := bytes.IndexByte(r.buf[r.pos:r.end], '\n')
	if end < 0 {
		r.pos = r.end
		return false
	}
	r.pos += end + 1
	r.dropping = false
	return r.pos < r.end
}

// fill reads more text, when no row refers to the buffer. It reports false
// where there is nothing more to parse: then failed says why, or it is nil at
// the end.
func (r *Reader) fill() bool {
	if r.final {
		if r.pos < r.end && r.broken == nil {
			// The parsers consume all of a final text or find a fault in it.
			r.failed = fmt.Errorf("read points: %v: %d bytes at the end were not understood", r.options.Format, r.end-r.pos)
			return false
		}
		r.failed = r.broken
		return false
	}
	r.lines += int64(bytes.Count(r.buf[r.begin:r.pos], lineFeed))
	r.fresh = r.pos == r.end
	r.end = copy(r.buf, r.buf[r.pos:r.end])
	r.pos, r.begin = 0, 0
	if r.end == len(r.buf) {
		if len(r.buf) >= r.limit {
			// Lines are bounded; this is a message or a quoted field of many lines.
			f := fault{reason: "out of quota", detail: fmt.Sprintf("more than %d bytes for one point", r.limit), next: toLineEnd}
			return r.handle(f)
		}
		r.buf = append(r.buf, make([]byte, min(len(r.buf), r.limit-len(r.buf)))...)
	}
	for range 100 {
		n, err := r.in.Read(r.buf[r.end:])
		r.end += n
		if err != nil {
			r.final = true
			if err != io.EOF {
				r.broken = fmt.Errorf("read points: %w", err)
				r.failed = r.broken
				return n > 0 && r.lastLines()
			}
			return r.pos < r.end
		}
		if n > 0 {
			return true
		}
	}
	r.final, r.failed = true, fmt.Errorf("read points: %w", io.ErrNoProgress)
	return false
}

// lastLines cuts what was read before the input broke behind its last line end,
// so that half a line is not taken for a whole one, and reports whether
// something is left.
func (r *Reader) lastLines() bool {
	r.failed = nil
	r.end = r.pos + bytes.LastIndexByte(r.buf[r.pos:r.end], '\n') + 1
	if r.pos == r.end {
		r.failed = r.broken
		return false
	}
	return true
}

// explain makes an error of a fault; its at is where the point begins in the
// buffer.
func (r *Reader) explain(f fault) *SyntaxError {
	e := &SyntaxError{Format: r.options.Format, Reason: f.reason, Detail: f.detail}
	e.Line = 1 + r.lines
	if f.at > r.begin {
		e.Line += int64(bytes.Count(r.buf[r.begin:f.at], lineFeed))
	}
	context := r.buf[f.at:r.end]
	if r.options.Format == RESP {
		e.Context = quoteMessage(context)
		return e
	}
	if end := bytes.IndexByte(context, '\n'); end >= 0 {
		context = context[:end]
	}
	e.Context = string(bytes.TrimSuffix(context[:min(len(context), maxContext)], []byte{'\r'}))
	return e
}

const maxContext = 4096

// Refuse says that the caller does not accept row i of the last batch, for a
// reason such as that its name is none. Where bad points are skipped, this is
// counted in the report, and Refuse returns nil; otherwise it returns the error
// to stop with, a *SyntaxError.
func (r *Reader) Refuse(i int, reason, detail string) error {
	f := fault{reason: reason, detail: detail, at: int(r.rows[i].at)}
	if !r.options.Skip {
		return r.explain(f)
	}
	r.refuse(f)
	r.points--
	return nil
}

// Report is what was read so far.
type Report struct {
	Points  int64 // handed out and not refused
	Skipped int64 // errors that were passed over
	Refused []Refusal
}

// Report is what was read so far. It shares nothing with the reader.
func (r *Reader) Report() Report {
	rep := Report{Points: r.points, Skipped: r.skipped}
	for _, f := range r.refusals {
		f.First = append([]*SyntaxError(nil), f.First...)
		rep.Refused = append(rep.Refused, f)
	}
	return rep
}

// row appends a row for the point that begins at the offset at of the text.
func (r *Reader) row(at int) *Row {
	n := len(r.rows)
	if n < cap(r.rows) {
		r.rows = r.rows[:n+1]
	} else {
		r.rows = append(r.rows, Row{})
	}
	p := &r.rows[n]
	*p = Row{at: uint32(r.pos + at)}
	return p
}

// line is the line that begins at from without its end, and where the next
// one begins: 0 where the text does not hold it all yet. The last line needs no end.
func (r *Reader) line(text []byte, from int) (line []byte, next int, f *fault) {
	window := text[from:]
	if len(window) > r.options.MaxLine {
		window = window[:r.options.MaxLine]
	}
	end := bytes.IndexByte(window, '\n')
	switch {
	case end >= 0:
		next = from + end + 1
	case len(window) < len(text)-from || len(window) == r.options.MaxLine && !r.final:
		f = &fault{reason: "the line is too long", detail: fmt.Sprintf("more than %d bytes", r.options.MaxLine), at: from, next: toLineEnd}
		if end := bytes.IndexByte(text[from:], '\n'); end >= 0 {
			f.next = from + end + 1
		}
		return nil, 0, f
	case !r.final:
		return nil, 0, nil
	default:
		end, next = len(window), len(text)
	}
	line = window[:end]
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	return line, next, nil
}

// inUnits is v units in ns, and whether that fits.
func inUnits(v, unit int64) (int64, bool) {
	if unit == 1 {
		return v, true
	}
	if v > math.MaxInt64/unit || v < math.MinInt64/unit {
		return 0, false
	}
	return v * unit, true
}
