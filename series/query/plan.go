package query

import (
	"context"
	"slices"

	"weir/series/names"
	"weir/series/query/rows"
)

// none stands for a series that does not exist: the partner that a join misses.
const none = ^names.ID(0)

// plan is which series a query reads. A lane is a stream of rows with ascending (or descending) times; lanes that have
// one label go by one name.
type plan struct {
	q      *Query
	src    Source
	ix     *names.Index
	ids    []names.ID // of all lanes: lane l has ids[first[l]:first[l+1]]
	first  []int
	label  []uint32 // of each lane, ascending
	metric []uint32 // of each label in Aggregate: which of the metrics
	named  []string // of each label, where series are grouped
	piece  int      // see sizes
}

func (p *plan) lanes() int { return len(p.label) }

func (p *plan) labels() int {
	if len(p.label) == 0 {
		return 0
	}
	return int(p.label[len(p.label)-1]) + 1
}

// members is the series of a lane.
func (p *plan) members(lane int) []names.ID { return p.ids[p.first[lane]:p.first[lane+1]] }

// of is the first lane of a label, and the first behind it.
func (p *plan) of(label int) (int, int) {
	a, _ := slices.BinarySearch(p.label, uint32(label))
	b, _ := slices.BinarySearch(p.label, uint32(label)+1)
	return a, b
}

func (p *plan) add(label int, ids ...names.ID) {
	p.ids = append(p.ids, ids...)
	p.first = append(p.first, len(p.ids))
	p.label = append(p.label, uint32(label))
}

func (p *plan) bytes() int {
	n := 4*cap(p.ids) + 8*cap(p.first) + 4*cap(p.label) + 4*cap(p.metric)
	for _, s := range p.named {
		n += len(s) + 16
	}
	return n
}

// eventsBackward reports whether series come the latest first: those of events do, where they are listed or have events
// at one time, but not in the order of series.
func (q *Query) eventsBackward(metric string) bool {
	return names.IsEvent(metric) && (q.Kind != SelectEvents || q.Order == ByTime)
}

// find lists the series of a query that have a metric, in the order of results.
func (q *Query) find(ctx context.Context, ix *names.Index, metric string) ([]names.ID, error) {
	var ids []names.ID
	if q.Exact != nil {
		for _, tags := range q.Exact {
			if id, ok, err := ix.Lookup([]byte(metric + " " + tags)); err == nil && ok {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		if q.eventsBackward(metric) {
			slices.Reverse(ids)
		}
		if len(q.Where) == 0 {
			return ids, nil
		}
	}
	set, err := ix.Find(ctx, append([]names.Match{names.Metric(metric)}, q.Where...))
	if err != nil {
		return nil, err
	}
	if q.Exact != nil {
		return slices.DeleteFunc(ids, func(id names.ID) bool { return !set.Contains(id) }), nil
	}
	all := set.All()
	if q.eventsBackward(metric) {
		all = set.Backward()
	}
	return slices.AppendSeq(make([]names.ID, 0, set.Len()), all), nil
}

// partner is the series with the tags of another one.
func partner(ix *names.Index, name, metric string) names.ID {
	if id, ok, err := ix.Lookup([]byte(names.WithMetric(name, metric))); err == nil && ok {
		return id
	}
	return none
}

func (q *Query) plan(ctx context.Context, src Source) (*plan, error) {
	p := &plan{q: q, src: src, ix: src.Names(), first: []int{0}}
	found := 0
	switch q.Kind {
	case Join, GroupAggregateJoin:
		ids, err := q.find(ctx, p.ix, q.Metrics[0])
		if err != nil {
			return nil, err
		}
		for label, id := range ids {
			if label&1023 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			name := p.ix.Name(id)
			row := []names.ID{id}
			for _, m := range q.Metrics[1:] {
				row = append(row, partner(p.ix, name, m))
			}
			p.add(label, row...)
		}
	case Aggregate:
		for m, metric := range q.Metrics {
			ids, err := q.find(ctx, p.ix, metric)
			if err != nil {
				return nil, err
			}
			found += len(ids)
			p.series(ids)
			for len(p.metric) < p.labels() {
				p.metric = append(p.metric, uint32(m))
			}
		}
	default:
		ids, err := q.find(ctx, p.ix, q.Metrics[0])
		if err != nil {
			return nil, err
		}
		found = len(ids)
		seen := map[string]bool{q.Metrics[0]: true}
		for _, m := range q.Metrics[1:] {
			if seen[m] {
				continue
			}
			seen[m] = true
			for n, id := range ids[:found] {
				if n&1023 == 0 && ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				if other := partner(p.ix, p.ix.Name(id), m); other != none {
					ids = append(ids, other)
				}
			}
		}
		if len(q.Metrics) > 1 {
			slices.Sort(ids)
			ids = slices.Compact(ids)
		}
		p.series(ids)
	}
	switch {
	case p.lanes() > 0:
		return p, nil
	case found > 0:
		return nil, ErrGroup
	}
	return nil, ErrNotFound
}

// series adds lanes for series: one a series, or, where they are to be summed up together, one a group.
func (p *plan) series(ids []names.ID) {
	next := p.labels()
	if len(p.q.Group.Keys) == 0 {
		for i, id := range ids {
			p.add(next+i, id)
		}
		return
	}
	reduce := names.Drop
	if p.q.Group.Keep {
		reduce = names.Keep
	}
	numbers := map[string]int{}
	var groups [][]names.ID
	for _, id := range ids {
		name, ok := reduce(p.ix.Name(id), p.q.Group.Keys)
		if !ok {
			continue
		}
		n, ok := numbers[name]
		if !ok {
			n = len(groups)
			numbers[name] = n
			groups = append(groups, nil)
			p.named = append(p.named, name)
		}
		groups[n] = append(groups[n], id)
	}
	for g, members := range groups {
		if p.q.Kind == Aggregate || p.q.Kind == GroupAggregate {
			p.add(next+g, members...)
			continue
		}
		for _, id := range members {
			p.add(next+g, id)
		}
	}
}

// name is what the rows of a label are called; "" if its series is gone.
func (p *plan) name(label int) string {
	var name string
	if p.named != nil {
		name = p.named[label]
	} else {
		lane, _ := p.of(label)
		name = p.ix.Name(p.members(lane)[0])
	}
	if name == "" {
		return ""
	}
	metric, _ := names.Split(name)
	tags := name[len(metric):]
	switch p.q.Kind {
	case Aggregate:
		return metric + ":" + p.q.Functions[p.metric[label]].String() + tags
	case GroupAggregate:
		var b []byte
		for i, f := range p.q.Functions {
			if i > 0 {
				b = append(b, '|')
			}
			b = append(append(append(b, metric...), ':'), f.String()...)
		}
		return string(append(b, tags...))
	case Join, GroupAggregateJoin:
		var b []byte
		for i, m := range p.q.Metrics {
			if i > 0 {
				b = append(b, '|')
			}
			b = append(b, m...)
		}
		return string(append(b, tags...))
	}
	return name
}

// width is how many values a row has, before the pipeline.
func (q *Query) width() int {
	switch q.Kind {
	case Join, GroupAggregateJoin:
		return len(q.Metrics)
	case GroupAggregate:
		return len(q.Functions)
	}
	return 1
}

// check finds what no answer can be had for, however the query was made.
func (q *Query) check() error {
	if q.Kind > Search || slices.ContainsFunc(q.Functions, func(f Function) bool { return f > LastTimestamp }) {
		return ErrBadArgument
	}
	switch q.Kind {
	case Names, Search:
		return nil
	case Aggregate:
		if len(q.Functions) != len(q.Metrics) {
			return ErrBadArgument
		}
	case GroupAggregate, GroupAggregateJoin:
		if q.Step <= 0 {
			return ErrStep
		}
		if len(q.Functions) == 0 || q.Kind == GroupAggregateJoin && len(q.Functions) != 1 {
			return ErrBadArgument
		}
	}
	if len(q.Metrics) == 0 || q.width() > rows.MaxWidth {
		return ErrBadArgument
	}
	if len(q.Group.Keys) > 0 && (q.Kind == Join || q.Kind == GroupAggregateJoin) {
		return ErrGroupJoin
	}
	return nil
}
