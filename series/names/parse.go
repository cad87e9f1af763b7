package names

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Limits of a name.
const (
	MaxTags    = 32   // tags of a series
	MaxLength  = 4096 // bytes of a canonical name
	MaxColumns = 256  // metrics of a compound name
)

// A SyntaxError says what is wrong with the text of a name, and where.
type SyntaxError struct {
	Text   string // as it was given
	Offset int    // in bytes from the begin of Text
	Reason string
}

// Error shows the text, cut to a length that fits into a line.
func (e *SyntaxError) Error() string {
	text := e.Text
	if len(text) > 120 {
		text = text[:117] + "..."
	}
	return fmt.Sprintf("series name %s, byte %d: %s", strconv.Quote(text), e.Offset, e.Reason)
}

// parts is where the parts of a name are in its text.
type parts struct {
	text      []byte
	metric    span
	count     int              // of tags
	room      [MaxTags]tagSpan // of them; here, so that parsing takes nothing from the heap
	canonical bool             // the text is in canonical form
}

// tags are the tags as they stand in the text, or sorted by key.
func (p *parts) tags() []tagSpan { return p.room[:p.count] }

type span struct{ from, to int }

type tagSpan struct{ from, equals, to int32 }

func (p *parts) key(i int) []byte   { return p.text[p.room[i].from:p.room[i].equals] }
func (p *parts) tag(i int) []byte   { return p.text[p.room[i].from:p.room[i].to] }
func (p *parts) metricText() []byte { return p.text[p.metric.from:p.metric.to] }

func (p *parts) fail(offset int, reason string) error {
	return &SyntaxError{Text: string(p.text), Offset: offset, Reason: reason}
}

// parse finds the parts of text and sorts the tags. It keeps text.
func (p *parts) parse(text []byte) error {
	p.text, p.count = text, 0
	if len(text) > math.MaxInt32 {
		return &SyntaxError{Text: string(text[:MaxLength]), Offset: MaxLength, Reason: fmt.Sprintf("longer than %d bytes", MaxLength)}
	}
	at := skipBlanks(text, 0)
	p.canonical = at == 0
	end, err := p.word(at)
	if err != nil {
		return err
	}
	if end == at {
		return p.fail(at, "no metric")
	}
	p.metric = span{at, end}
	length := end - at
	for {
		at = skipBlanks(text, end)
		if at == len(text) {
			p.canonical = p.canonical && at == end
			break
		}
		p.canonical = p.canonical && at == end+1
		if end, err = p.word(at); err != nil {
			return err
		}
		equals := indexUnescaped(text[at:end], '=')
		switch {
		case equals < 0:
			return p.fail(at, "a tag without '='")
		case equals == 0:
			return p.fail(at, "a tag without a key before '='")
		case p.count == MaxTags:
			return p.fail(at, fmt.Sprintf("more than %d tags", MaxTags))
		}
		p.room[p.count] = tagSpan{int32(at), int32(at + equals), int32(end)}
		p.count++
		length += 1 + end - at
	}
	if p.count == 0 {
		return p.fail(len(text), "no tags: at least one key=value must follow the metric")
	}
	if length > MaxLength {
		return p.fail(MaxLength, fmt.Sprintf("longer than %d bytes", MaxLength))
	}
	return p.sort()
}

// sort orders the tags by key and refuses a key that comes twice.
func (p *parts) sort() error {
	byKey := func(a, b tagSpan) int {
		return bytes.Compare(p.text[a.from:a.equals], p.text[b.from:b.equals])
	}
	if !slices.IsSortedFunc(p.tags(), byKey) {
		p.canonical = false
		slices.SortStableFunc(p.tags(), byKey)
	}
	for i := 1; i < p.count; i++ {
		if bytes.Equal(p.key(i-1), p.key(i)) {
			return p.fail(int(p.room[i].from), "a second tag of the same key")
		}
	}
	return nil
}

// word is the end of the metric or tag that begins at from. A name is a line,
// so it holds no line breaks; everything else may be in it.
func (p *parts) word(from int) (int, error) {
	for i := from; i < len(p.text); i++ {
		switch p.text[i] {
		case ' ':
			return i, nil
		case '\\':
			if i++; i == len(p.text) {
				return 0, p.fail(i-1, "a backslash with nothing behind it")
			}
			if p.text[i] == '\n' || p.text[i] == '\r' {
				return 0, p.fail(i, "a line break")
			}
		case '\n', '\r':
			return 0, p.fail(i, "a line break")
		}
	}
	return len(p.text), nil
}

// skipBlanks is the first place at or after from that is no blank.
func skipBlanks(text []byte, from int) int {
	for from < len(text) && (text[from] == ' ' || text[from] == '\t') {
		from++
	}
	return from
}

// indexUnescaped is where c first stands without a backslash before it, or -1.
func indexUnescaped(text []byte, c byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case c:
			return i
		case '\\':
			i++
		}
	}
	return -1
}

// append appends the canonical form to dst.
func (p *parts) append(dst []byte) []byte {
	if p.canonical {
		return append(dst, p.text...)
	}
	dst = append(dst, p.metricText()...)
	for i := range p.count {
		dst = append(dst, ' ')
		dst = append(dst, p.tag(i)...)
	}
	return dst
}

// Canonical appends to dst the canonical form of a name: the metric, then the
// tags in the order of their keys' bytes, with one space before each. An error
// is a *SyntaxError, and dst is then returned as it was.
//
// Blanks (spaces and tabs) before the metric and behind a space do not count;
// a tab that follows no blank is part of its word. A backslash takes from
// the byte behind it what it means (a space, '=', '|'), and stays in the name.
func Canonical(dst, name []byte) ([]byte, error) {
	var p parts
	if err := p.parse(name); err != nil {
		return dst, err
	}
	return p.append(dst), nil
}

// IsEvent reports whether a name, or a metric, is that of a series of events.
func IsEvent(name string) bool { return len(name) > 0 && name[0] == '!' }
