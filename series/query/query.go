package query

import (
	"errors"

	"weir/series/aggregate"
	"weir/series/names"
	"weir/series/query/apply"
	"weir/series/query/format"
)

// Kind is what a query asks for.
type Kind uint8

const (
	Select             Kind = iota // points of one metric
	Aggregate                      // one value a series
	GroupAggregate                 // values of each span of Step
	Join                           // points of several metrics side by side
	GroupAggregateJoin             // one value of each span, of several metrics side by side
	SelectEvents                   // events
	Names                          // names of series; no match is an error
	Search                         // names of series; no match is an empty answer
)

// Function sums up points.
type Function uint8

const (
	Count Function = iota
	Sum
	Mean
	Min
	Max
	First
	Last
	MinTimestamp
	MaxTimestamp
	FirstTimestamp
	LastTimestamp
)

var functions = [...]string{
	"count", "sum", "mean", "min", "max", "first", "last", "min_timestamp", "max_timestamp", "first_timestamp", "last_timestamp",
}

func (f Function) String() string { return functions[f] }

// ParseFunction finds a function by its name.
func ParseFunction(name string) (Function, bool) {
	for i, known := range functions {
		if name == known {
			return Function(i), true
		}
	}
	return 0, false
}

// Grouping merges series whose names are the same without some tags.
type Grouping struct {
	Keys []string // none: each series for itself
	Keep bool     // Keys are the tags to keep (pivot-by-tag), rather than those to leave out (group-by-tag)
}

// Order is what rows are sorted by.
type Order uint8

const (
	ByTime   Order = iota // by time, then by series
	BySeries              // by series in the order of their creation, then by time
)

// Filter keeps rows by their values.
type Filter struct {
	Columns   map[string]aggregate.Bounds   // of select and the joins, by metric
	Functions map[Function]aggregate.Bounds // of group-aggregate: Min, Max and Mean
	Any       bool                          // of group-aggregate: one of the functions within its bounds is enough
	Text      string                        // of select-events: an expression, in the syntax of package regexp, that the text has a match of
}

// Query is a question. The zero value of each field that a kind of query does not need is right.
type Query struct {
	Kind      Kind
	Metrics   []string   // one; several for Aggregate, GroupAggregate and the joins; none, for Names and Search, are all
	Functions []Function // of Aggregate, one a metric; of GroupAggregate, the columns; of GroupAggregateJoin, one
	Step      int64      // width of the spans of the group-aggregates, in nanoseconds

	// Points with From <= time <= To, latest first if Backward. Spans begin at From, or go down from To.
	From, To int64
	Backward bool

	Where  []names.Match // all of them are met, by the series of the first metric
	Exact  []string      // if not nil, only series with these tags, "dc=x host=a"; unknown ones are skipped
	Group  Grouping
	Order  Order
	Filter Filter
	Apply  []apply.Step // one after the other; then Offset and Limit count

	Offset, Limit uint64 // rows; no Limit is 0
	Output        format.Output

	// Unused is what Parse found in the filter that names no column of the query. Clients of the original rely on its
	// being ignored; a strict one may refuse it.
	Unused []string
}

// Errors whose texts are those of the original protocol.
var (
	ErrNotFound    = errors.New("not found")
	ErrBadArgument = errors.New("bad argument")
	ErrStep        = errors.New("query parsing error")
	ErrGroup       = protocolError("Group-by statement doesn't match any series")
	ErrGroupJoin   = protocolError("Group-by-tag/pivot-by-tag is not supported")
)

// A protocolError has a text that clients know, which need not look like other errors.
type protocolError string

func (e protocolError) Error() string { return string(e) }

// Suggest asks for names to complete what somebody types.
type Suggest struct {
	Target              Target
	Metric, Tag, Prefix string
	Limit               int // of names; no limit is 0
	Output              format.Output
}

// Target is what a Suggest asks for.
type Target uint8

const (
	MetricNames Target = iota
	TagNames           // of Metric
	TagValues          // of Tag of Metric
)
