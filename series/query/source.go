package query

import (
	"context"

	"weir/series/aggregate"
	"weir/series/names"
)

// Source is where points are. Its methods are called by several goroutines at once. Times from and to are inclusive.
// A series without points, or one that was deleted, is one that answers with nothing.
type Source interface {
	// Names is the names of all series.
	Names() *names.Index
	// Points reads the points of a series in the order of their times, or, backward, in the reverse of that order. If
	// keep is not nil, points beyond it may be left out.
	Points(ctx context.Context, id names.ID, from, to int64, backward bool, keep *aggregate.Bounds) (Points, error)
	// Aggregate sums up the points of a series.
	Aggregate(ctx context.Context, id names.ID, from, to int64) (aggregate.Aggregate, error)
	// Groups sums up the points of each span of step nanoseconds: forward, span k is from+k*step <= t < from+(k+1)*step,
	// and its Time is from+k*step; backward, it is to-(k+1)*step < t <= to-k*step, its Time is to-k*step, and the latest
	// span comes first. The last span ends where the range does. Spans without points are left out.
	Groups(ctx context.Context, id names.ID, from, to, step int64, backward bool) (Groups, error)
	// Events reads the events of a series.
	Events(ctx context.Context, id names.ID, from, to int64, backward bool) (Events, error)
}

// Points reads points.
type Points interface {
	// Next fills times and values, which have one length of at least 1 and belong to the caller, with the points that
	// follow, and returns their number: less than the length only before the end, 0 at the end.
	Next(times []int64, values []float64) (int, error)
	Close()
}

// Groups reads spans.
type Groups interface {
	// Next fills groups as Points.Next does.
	Next(groups []Group) (int, error)
	Close()
}

// Group is the points of a span.
type Group struct {
	Time int64
	aggregate.Aggregate
}

// Events reads events.
type Events interface {
	// Next fills times and texts as Points.Next does.
	Next(times []int64, texts []string) (int, error)
	Close()
}
