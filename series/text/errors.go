package text

import (
	"fmt"
	"strings"
)

// Reasons of the RESP reader, in the words of Akumuli, that a server's answers
// need to tell apart.
const (
	// ReasonName is for names that package names refuses.
	ReasonName = "invalid series name format"
	// ReasonBadEvent is an event without a text; Akumuli answers it as an error
	// of the database and not of the parser.
	ReasonBadEvent = "bad argument"
	// ReasonIncomplete is a message that the end of the text cuts off.
	ReasonIncomplete = "incomplete message at the end of the text"
)

// A SyntaxError says what is wrong with a text, and where.
type SyntaxError struct {
	Format Format
	Line   int64  // counted from 1, of the line on which the refused point begins
	Reason string // of a fixed set for each format, and those given to Refuse
	Detail string // what in the text is meant; may be empty
	// Context is the text around, of at most 4 KiB: the line, and of RESP the
	// message as Akumuli quotes it, with \r and \n spelled out.
	Context string
}

// Message is the reason with its detail.
func (e *SyntaxError) Message() string {
	if e.Detail == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Detail
}

// Error names the line and quotes the beginning of it.
func (e *SyntaxError) Error() string {
	context := e.Context
	if len(context) > 120 {
		context = strings.ToValidUTF8(context[:117], "") + "..."
	}
	return fmt.Sprintf("%s, line %d: %s: %q", e.Format, e.Line, e.Message(), context)
}

// Refusal counts what was skipped for one reason.
type Refusal struct {
	Reason string
	Count  int64
	First  []*SyntaxError // the first of them
}

// maxReasons is how many reasons are told apart; a caller's reasons may be many.
const maxReasons = 64

// refuse counts an error by its reason.
func (r *Reader) refuse(f fault) {
	r.skipped++
	for i := range r.refusals {
		if r.refusals[i].Reason == f.reason || i == maxReasons-1 {
			r.refusals[i].Count++
			if len(r.refusals[i].First) < r.offenders {
				r.refusals[i].First = append(r.refusals[i].First, r.explain(f))
			}
			return
		}
	}
	r.refusals = append(r.refusals, Refusal{Reason: f.reason, Count: 1, First: []*SyntaxError{r.explain(f)}})
	if len(r.refusals) == maxReasons {
		r.refusals[maxReasons-1].Reason = "other reasons"
	}
}

// fault is an error where a parser finds it: offsets are into the text that it
// was given, until the reader makes them its own.
type fault struct {
	reason, detail string
	at             int // where the point begins
	next           int // where reading can go on, or toLineEnd
}

// toLineEnd, as a fault's next, drops what was read and all up to the end of
// the line that is not there yet.
const toLineEnd = -1

// clip is a field cut to a length that fits into a message.
func clip(b []byte) string {
	if len(b) > 80 {
		return string(b[:77]) + "..."
	}
	return string(b)
}
