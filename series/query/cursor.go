package query

import (
	"context"
	"regexp"

	"weir/series/aggregate"
	"weir/series/names"
)

// columns is rows of one lane after the other, on their way to be merged.
type columns struct {
	times   []int64
	values  []float64
	missing []uint64 // of joins
	texts   []string // of events
	width   int
}

func (c *columns) len() int { return len(c.times) }

// cut keeps the first n rows.
func (c *columns) cut(n int) {
	c.times, c.values = c.times[:n], c.values[:n*c.width]
	if len(c.missing) > 0 {
		c.missing = c.missing[:n]
	}
	if len(c.texts) > 0 {
		clear(c.texts[n:])
		c.texts = c.texts[:n]
	}
}

// move copies n rows to where others are.
func (c *columns) move(to, from, n int) {
	if to == from || n == 0 {
		return
	}
	copy(c.times[to:], c.times[from:from+n])
	copy(c.values[to*c.width:], c.values[from*c.width:(from+n)*c.width])
	if len(c.missing) > 0 {
		copy(c.missing[to:], c.missing[from:from+n])
	}
	if len(c.texts) > 0 {
		copy(c.texts[to:], c.texts[from:from+n])
	}
}

// cursor reads the rows of a lane.
type cursor interface {
	// next appends up to max rows, max at least 1, and reports whether there may be more.
	next(c *columns, max int) (bool, error)
	close()
}

// open reads the rows of a lane with from <= time <= to. A from (or to, backward) within the range begins a span.
func (p *plan) open(ctx context.Context, lane int, from, to int64) (cursor, error) {
	ids := p.members(lane)
	q := p.q
	switch q.Kind {
	case SelectEvents:
		ev, err := p.src.Events(ctx, ids[0], from, to, q.Backward)
		if err != nil {
			return nil, err
		}
		c := &eventCursor{in: ev}
		if q.Filter.Text != "" {
			if c.keep, err = compileText(q.Filter.Text); err != nil {
				ev.Close()
				return nil, err
			}
		}
		return c, nil
	case GroupAggregate:
		return &groupCursor{ctx: ctx, p: p, ids: ids, from: from, to: to}, nil
	case Join, GroupAggregateJoin:
		j := &joinCursor{backward: q.Backward}
		for i, id := range ids {
			in, err := p.column(ctx, id, i, from, to)
			if err != nil {
				j.close()
				return nil, err
			}
			j.in = append(j.in, joinInput{in: in})
		}
		return j, nil
	}
	in, err := p.column(ctx, ids[0], 0, from, to)
	return &pointCursor{in}, err
}

// column reads what stands in a column of select or of a join: the values of a series within the bounds of its filter.
func (p *plan) column(ctx context.Context, id names.ID, metric int, from, to int64) (Points, error) {
	if id == none {
		return nil, nil
	}
	var keep *aggregate.Bounds
	if b, ok := p.q.Filter.Columns[p.q.Metrics[metric]]; ok {
		keep = &b
	}
	var in Points
	var err error
	if p.q.Kind == GroupAggregateJoin {
		var g Groups
		g, err = p.src.Groups(ctx, id, from, to, p.q.Step, p.q.Backward)
		in = &groupPoints{in: g, f: p.q.Functions[0]}
	} else {
		in, err = p.src.Points(ctx, id, from, to, p.q.Backward, keep)
	}
	if err != nil || keep == nil {
		return in, err
	}
	return &filtered{in, *keep}, nil
}

type pointCursor struct{ in Points }

func (p *pointCursor) next(c *columns, max int) (bool, error) {
	n := len(c.times)
	c.times = grow(c.times, max)
	c.values = grow(c.values, max)
	got, err := p.in.Next(c.times[n:], c.values[n:])
	c.times, c.values = c.times[:n+got], c.values[:n+got]
	return got == max, err
}

func (p *pointCursor) close() { p.in.Close() }

// grow makes a slice longer by n.
func grow[T any](s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s[:len(s)+n]
	}
	grown := append(s, make([]T, n)...)
	return grown
}

// filtered leaves out what is beyond bounds.
type filtered struct {
	Points
	keep aggregate.Bounds
}

func (f *filtered) Next(times []int64, values []float64) (int, error) {
	n := 0
	for n < len(times) {
		got, err := f.Points.Next(times[n:], values[n:])
		if err != nil || got == 0 {
			return n, err
		}
		for i := n; i < len(times) && got > 0; i, got = i+1, got-1 {
			if f.keep.Contains(values[i]) {
				times[n], values[n] = times[i], values[i]
				n++
			}
		}
	}
	return n, nil
}

// value is what a function says of points.
func (f Function) value(a *aggregate.Aggregate) float64 {
	switch f {
	case Count:
		return float64(a.Count)
	case Sum:
		return a.Sum
	case Mean:
		return a.Mean()
	case Min:
		return a.Min
	case Max:
		return a.Max
	case First:
		return a.First
	case Last:
		return a.Last
	}
	return float64(f.time(a))
}

// time is that of the point that a function is about.
func (f Function) time(a *aggregate.Aggregate) int64 {
	switch {
	case f == First || f == FirstTimestamp:
		return a.FirstTime
	case (f == Min || f == MinTimestamp) && a.Numbers() > 0:
		return a.MinTime
	case (f == Max || f == MaxTimestamp) && a.Numbers() > 0:
		return a.MaxTime
	}
	return a.LastTime
}

// groupPoints has one function of spans as points.
type groupPoints struct {
	in  Groups
	f   Function
	buf []Group
}

func (g *groupPoints) Next(times []int64, values []float64) (int, error) {
	if len(g.buf) < len(times) {
		g.buf = make([]Group, len(times))
	}
	n, err := g.in.Next(g.buf[:len(times)])
	for i := range n {
		times[i], values[i] = g.buf[i].Time, g.f.value(&g.buf[i].Aggregate)
	}
	return n, err
}

func (g *groupPoints) Close() { g.in.Close() }

type eventCursor struct {
	in   Events
	keep *regexp.Regexp
}

func (e *eventCursor) next(c *columns, max int) (bool, error) {
	for max > 0 {
		n := len(c.times)
		c.times, c.texts = grow(c.times, max), grow(c.texts, max)
		got, err := e.in.Next(c.times[n:], c.texts[n:])
		c.times, c.texts = c.times[:n+got], c.texts[:n+got]
		if err != nil || got == 0 {
			return false, err
		}
		if e.keep == nil {
			return got == max, nil
		}
		kept := n
		for i := n; i < len(c.times); i++ {
			if e.keep.MatchString(c.texts[i]) {
				c.times[kept], c.texts[kept] = c.times[i], c.texts[i]
				kept++
			}
		}
		c.times, c.texts = c.times[:kept], c.texts[:kept]
		max -= kept - n
	}
	return true, nil
}

func (e *eventCursor) close() { e.in.Close() }

// joinBatch is how many points a join reads of a series at once.
const joinBatch = 256

type joinInput struct {
	in     Points // nil where there is no series
	times  []int64
	values []float64
	at, n  int
	begun  bool
}

// joinCursor puts points with one time side by side. Of points of one series that have one time, the first meets the
// first of the others, and so on, in the order of reading.
type joinCursor struct {
	in       []joinInput
	backward bool
}

func (j *joinCursor) next(c *columns, max int) (bool, error) {
	c.width = len(j.in)
	for ; max > 0; max-- {
		var at int64
		found := false
		for i := range j.in {
			in := &j.in[i]
			if in.at == in.n {
				if err := in.fill(); err != nil {
					return false, err
				}
				if in.n == 0 {
					continue
				}
			}
			if t := in.times[in.at]; !found || (t < at) != j.backward && t != at {
				at, found = t, true
			}
		}
		if !found {
			return false, nil
		}
		var gaps uint64
		for i := range j.in {
			in := &j.in[i]
			v := 0.0
			if in.at < in.n && in.times[in.at] == at {
				v = in.values[in.at]
				in.at++
			} else {
				gaps |= 1 << i
			}
			c.values = append(c.values, v)
		}
		c.times, c.missing = append(c.times, at), append(c.missing, gaps)
	}
	return true, nil
}

func (in *joinInput) fill() error {
	if in.in == nil {
		return nil
	}
	if !in.begun {
		in.begun, in.times, in.values = true, make([]int64, joinBatch), make([]float64, joinBatch)
	}
	n, err := in.in.Next(in.times, in.values)
	in.at, in.n = 0, n
	if n == 0 && err == nil {
		in.in.Close()
		in.in = nil
	}
	return err
}

func (j *joinCursor) close() {
	for i := range j.in {
		if j.in[i].in != nil {
			j.in[i].in.Close()
		}
	}
}

// groupCursor sums up spans over the series of a group.
type groupCursor struct {
	ctx      context.Context
	p        *plan
	ids      []names.ID
	from, to int64
	sums     []Group // of a piece, in the order of reading
	at       int
	open     Groups // of a single series
	more     bool   // behind the piece
	begun    bool
}

func (g *groupCursor) next(c *columns, max int) (bool, error) {
	q := g.p.q
	c.width = len(q.Functions)
	for max > 0 {
		if g.at == len(g.sums) {
			if g.begun && !g.more {
				return false, nil
			}
			if err := g.fill(); err != nil {
				return false, err
			}
			if len(g.sums) == 0 {
				return false, nil
			}
		}
		for ; g.at < len(g.sums) && max > 0; g.at++ {
			s := &g.sums[g.at]
			if !q.Filter.keeps(&s.Aggregate) {
				continue
			}
			c.times = append(c.times, s.Time)
			for _, f := range q.Functions {
				c.values = append(c.values, f.value(&s.Aggregate))
			}
			max--
		}
	}
	return true, nil
}

func (f *Filter) keeps(a *aggregate.Aggregate) bool {
	if len(f.Functions) == 0 {
		return true
	}
	for fn, b := range f.Functions {
		if b.Contains(fn.value(a)) == f.Any {
			return f.Any
		}
	}
	return !f.Any
}

func (g *groupCursor) fill() error {
	g.begun, g.at = true, 0
	if len(g.ids) == 1 {
		return g.fillOne()
	}
	// All series in turn up to where the sums of the ones before were cut off: the rest is for the next piece.
	q := g.p.q
	g.sums, g.more = g.sums[:0], false
	from, to := g.from, g.to
	var merged []Group
	buf := make([]Group, 256)
	for _, id := range g.ids {
		in, err := g.p.src.Groups(g.ctx, id, from, to, q.Step, q.Backward)
		if err != nil {
			return err
		}
		merged = merged[:0]
		at := 0
		for {
			n, err := in.Next(buf)
			if err != nil {
				in.Close()
				return err
			}
			for i := range n {
				for at < len(g.sums) && g.sums[at].Time != buf[i].Time && (g.sums[at].Time < buf[i].Time) != q.Backward {
					merged = append(merged, g.sums[at])
					at++
				}
				s := buf[i]
				if at < len(g.sums) && g.sums[at].Time == s.Time {
					s = g.sums[at]
					s.Join(&buf[i].Aggregate)
					at++
				}
				merged = append(merged, s)
			}
			if n == 0 || len(merged) > g.p.piece {
				break
			}
		}
		in.Close()
		merged = append(merged, g.sums[at:]...)
		g.sums, merged = merged, g.sums
		if len(g.sums) > g.p.piece {
			g.sums, g.more = g.sums[:g.p.piece], true
			if last := g.sums[g.p.piece-1].Time; q.Backward {
				from = last - q.Step + 1
			} else {
				to = last + (q.Step - 1)
			}
		}
	}
	if g.more {
		if q.Backward {
			g.to = from - 1
		} else {
			g.from = to + 1
		}
	}
	return nil
}

func (g *groupCursor) fillOne() error {
	if g.open == nil {
		in, err := g.p.src.Groups(g.ctx, g.ids[0], g.from, g.to, g.p.q.Step, g.p.q.Backward)
		if err != nil {
			return err
		}
		g.open, g.sums = in, make([]Group, 64)
	}
	g.sums = g.sums[:cap(g.sums)]
	n, err := g.open.Next(g.sums)
	g.sums, g.more = g.sums[:n], n > 0
	return err
}

func (g *groupCursor) close() {
	if g.open != nil {
		g.open.Close()
	}
}
