package text

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"weir/graph/names"
)

// plan is how the lines of a text are to be read: what the beginning of the
// text and the options say.
type plan struct {
	format   Format
	sep      byte // as in Options
	integers bool // ids are integers
	weighted bool
	guessed  bool // the content decided that there are weights
	columns  int  // how many of them must be cut off a line
	src, dst int  // 0-based columns
	wgt      int  // where weighted
	prefix   byte // what an edge line begins with, before a blank; 0 is nothing
	style    commentStyle

	base  uint64 // the first id: 0, or 1 in formats that count so
	limit uint64 // ids are base … base+limit-1
	fixed bool   // all vertices below limit exist

	mirror bool // emit the other direction too
	negate bool // with the opposite weight

	promised int64 // how many lines of edges (METIS: edges) are promised; -1 is any number

	vertexWeights int  // METIS: integers before the neighbours
	edgeWeights   bool // METIS: a weight after each neighbour

	body   int64 // where the lines begin that this plan is for
	before tally // what was before
	header string
}

// commentStyle is how comments begin.
type commentStyle int

const (
	hashComments commentStyle = iota // # % //
	percentComments
	letterComments // c
)

// comment says whether a line, which is not blank and has no blanks in front,
// is a comment.
func (s commentStyle) comment(line []byte) bool {
	switch line[0] {
	case '#':
		return s == hashComments
	case '%':
		return s != letterComments
	case '/':
		return s == hashComments && len(line) > 1 && line[1] == '/'
	case 'c':
		return s == letterComments && (len(line) == 1 || blank(line[1]))
	}
	return false
}

// errMore asks for a longer sample.
var errMore = errors.New("the sample is too short")

// plan looks at the beginning of the text until it knows how to read the rest.
func (in *Input) plan(opt Options) (*plan, error) {
	for {
		p, err := in.tryPlan(opt)
		if err == nil || !errors.Is(err, errMore) {
			return p, err
		}
		if in.broken != nil {
			return nil, in.broken
		}
		if err := in.look(2 * max(len(in.sample), sampleSize)); err != nil {
			return nil, err
		}
	}
}

func (in *Input) tryPlan(opt Options) (*plan, error) {
	if why := notText(in.sample); why != "" {
		return nil, fmt.Errorf("read graph %s: %s", in.name, why)
	}
	text, start := in.sample, int64(0)
	if bytes.HasPrefix(text, bom) {
		text, start = text[len(bom):], int64(len(bom))
	}
	if !in.whole && bytes.IndexByte(text, '\n') < 0 {
		if len(text) > opt.MaxLine {
			return nil, tooLong(in.name, 1, text, opt.MaxLine)
		}
		return nil, errMore
	}
	format := opt.Format
	if format == Auto {
		format = recognise(in.name, text, in.whole)
	}
	var p *plan
	var err error
	switch format {
	case EdgeList:
		p, err = planEdges(text, in.whole, opt)
	case MatrixMarket, METIS, DIMACS:
		if opt.Vertices > 0 || opt.KeepIDs || opt.IDs == StringIDs || len(opt.Columns) > 0 {
			return nil, fmt.Errorf("read graph %s: %v files say themselves which vertices there are: the options for vertices, ids and columns are for edge lists", in.name, format)
		}
		p, err = planDeclared(in.name, format, text, in.whole)
	default:
		return nil, fmt.Errorf("read graph %s: unknown %v", in.name, format)
	}
	if err != nil {
		return nil, err
	}
	if format != EdgeList {
		if opt.Weights == Yes && !p.weighted {
			return nil, fmt.Errorf("read graph %s: weights wanted, but this %v file has none", in.name, format)
		}
		if opt.Weights == No {
			p.weighted, p.columns = false, 2
		}
	}
	p.format = format
	p.body += start
	return p, nil
}

// sampleRow is a line of data of the sample.
type sampleRow struct {
	fields []string
	edge   bool // both endpoints are there
	ints   bool // and are integers, though perhaps out of range
	weight bool // the third column, or what is to be the weight, is a number
	end    int  // where the next line begins in the sample
}

// planEdges finds out the separator, the kind of ids, the weights and the
// header of an edge list from its first lines.
func planEdges(text []byte, whole bool, opt Options) (*plan, error) {
	p := &plan{dst: 1, wgt: 2, limit: 1 << 32, promised: -1, sep: opt.Separator}
	if len(opt.Columns) > 0 {
		p.src, p.dst = opt.Columns[0]-1, opt.Columns[1]-1
	}
	if len(opt.Columns) > 2 {
		p.wgt = opt.Columns[2] - 1
	}
	var before tally
	var data [][]byte
	var ends []int
	var lead tally // lines before the first row
	rest := text
	for line := range lines(text, whole) {
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			rest = rest[end+1:]
		} else {
			rest = nil
		}
		before.lines++
		if nothingIn(line) {
			before.blank++
			continue
		}
		if row := trimLead(line, opt.Separator); len(row) > 0 && p.style.comment(row) {
			before.comments++
			continue
		}
		if len(data) == 0 {
			lead = before
		}
		data = append(data, line)
		ends = append(ends, len(text)-len(rest))
		if len(data) == maxSampled {
			break
		}
	}
	if len(data) == 0 && !whole {
		return nil, errMore
	}
	if p.sep == 0 {
		p.sep = findSeparator(data)
	}
	rows := p.sampleRows(data, ends, opt)
	if p.decide(rows, opt) {
		p.header, p.body, p.before = string(data[0]), int64(rows[0].end), lead
	}
	if p.integers && opt.Columns == nil && p.sep == '\t' && opt.Separator == 0 {
		p.sep = ' ' // integers hold no blanks: be generous about mixtures
	}
	if opt.KeepIDs {
		p.limit = names.Limit // the largest id is one below the number of vertices
	}
	if opt.Vertices > 0 {
		p.limit, p.fixed = uint64(opt.Vertices), true
	}
	p.columns = max(p.src, p.dst) + 1
	if p.weighted {
		p.columns = max(p.columns, p.wgt+1)
	}
	return p, nil
}

// findSeparator is the separator that cuts most lines into fields.
func findSeparator(data [][]byte) byte {
	for _, sep := range []byte{'\t', ';', ','} {
		if cutsMost(data, sep) {
			return sep
		}
	}
	// Bars are in many names, so they are separators only where no blanks are.
	if cutsMost(data, '|') && !cutsMost(data, ' ') {
		return '|'
	}
	return ' '
}

// cutsMost says whether sep cuts most lines into fields.
func cutsMost(data [][]byte, sep byte) bool {
	cutter := fieldCutter{sep: sep}
	good, torn := 0, 0
	for _, line := range data {
		if fields, err := cutter.cut(line, 2); err != nil {
			torn++ // by a quote: it says nothing
		} else if len(fields) == 2 {
			good++
		}
	}
	return good > 0 && mostly(good, len(data)-torn)
}

// mostly is three in four, so that a few bad lines do not decide.
func mostly(good, all int) bool { return good*4 >= all*3 }

func (p *plan) sampleRows(data [][]byte, ends []int, opt Options) []sampleRow {
	cutter := fieldCutter{sep: p.sep}
	rows := make([]sampleRow, len(data))
	for i, line := range data {
		fields, err := cutter.cut(line, max(p.src, p.dst, p.wgt)+1)
		r := &rows[i]
		r.end = ends[i]
		for _, f := range fields {
			r.fields = append(r.fields, string(f))
		}
		if err != nil || len(fields) <= max(p.src, p.dst) {
			continue
		}
		src, dst := fields[p.src], fields[p.dst]
		r.edge = len(src) > 0 && len(dst) > 0 && !missing(src, opt.Missing) && !missing(dst, opt.Missing)
		r.ints = r.edge && looksInteger(src) && looksInteger(dst)
		if len(fields) > p.wgt {
			r.weight = looksNumber(fields[p.wgt])
		}
	}
	return rows
}

// looksInteger says whether a field is meant as an integer, if only a bad one.
func looksInteger(field []byte) bool {
	_, err := parseID(field)
	return !errors.Is(err, errNoInt)
}

// looksNumber says whether a field is meant as a weight, if only a bad one.
func looksNumber(field []byte) bool {
	_, err := parseWeight(field)
	return !errors.Is(err, errNoNumber)
}

func missing(field []byte, marks []string) bool {
	for _, m := range marks {
		if string(field) == m {
			return true
		}
	}
	return false
}

// decide settles the kind of ids, the weights and whether the first row is a header.
func (p *plan) decide(rows []sampleRow, opt Options) (isHeader bool) {
	// The first row is judged apart from the others: it may be a header.
	edges, ints, weights := 0, 0, 0
	for _, r := range rows[min(1, len(rows)):] {
		if !r.edge {
			continue
		}
		edges++
		if r.ints {
			ints++
		}
		if r.weight {
			weights++
		}
	}
	agree := func(good int) bool { return good == edges || opt.SkipBad != 0 && mostly(good, edges) }
	// One odd id among many integers is a mistake to be told of, not a graph of
	// strings, and one odd weight does not make the others words.
	nearly := func(good int) bool { return agree(good) || edges >= 16 && good*16 >= edges*15 }
	if len(rows) > 0 {
		first := rows[0]
		wordy := first.edge && !first.ints && !looksInteger([]byte(first.fields[p.src])) && !looksInteger([]byte(first.fields[p.dst]))
		switch {
		case opt.Header != Guess:
			isHeader = opt.Header == Yes
		case wordy && headerWord(first.fields[p.src]) && headerWord(first.fields[p.dst]):
			isHeader = true
		case wordy && edges > 0 && nearly(ints) && opt.IDs != StringIDs:
			isHeader = true
		case wordy && edges > 0 && nearly(weights) && opt.Weights != No && len(first.fields) > p.wgt && !first.weight:
			isHeader = true
		}
		if first.edge && !isHeader {
			edges++
			if first.ints {
				ints++
			}
			if first.weight {
				weights++
			}
		}
	}
	p.integers = opt.IDs == IntegerIDs || opt.IDs == AutoIDs && nearly(ints)
	switch opt.Weights {
	case Yes:
		p.weighted = true
	case Guess:
		p.weighted = edges > 0 && nearly(weights)
		p.guessed = p.weighted
	}
	return isHeader
}

// headerWord says whether a field is a usual heading of an endpoint's column.
func headerWord(field string) bool {
	switch strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == ':' {
			return -1
		}
		return r
	}, strings.ToLower(field)) {
	case "source", "sourceid", "src", "srcid", "from", "fromid", "fromnode", "fromnodeid", "start", "startid", "tail",
		"target", "targetid", "dst", "dstid", "dest", "destination", "destinationid", "to", "toid", "tonode", "tonodeid", "end", "endid", "head",
		"node1", "node2", "id1", "id2", "vertex1", "vertex2":
		return true
	}
	return false
}
