package query

import (
	"context"
	"slices"
	"sync"

	"weir/series/aggregate"
	"weir/series/names"
	"weir/series/query/apply"
	"weir/series/query/rows"
)

// aggregatePiece is how many series are summed up at a time.
const aggregatePiece = 256

func (r *run) produce(e *emitter) error {
	labels := r.p.labels()
	r.free = r.memory.limit - r.memory.used.Load()
	switch {
	case r.p.q.From > r.p.q.To:
		return nil
	case r.p.q.Kind == Aggregate:
		per := min(max(labels/(4*r.workers), 1), aggregatePiece)
		return ordered(e, (labels+per-1)/per, r.workers, func(task int, e *emitter) error {
			return r.aggregates(e, task*per, min((task+1)*per, labels))
		})
	case r.p.q.Order == ByTime && r.p.lanes() > 1:
		r.names = make([]string, labels)
		bytes := 16 * labels
		for i := range r.names {
			r.names[i] = r.p.name(i)
			bytes += len(r.names[i])
			if i&1023 == 0 && e.ctx.Err() != nil {
				return context.Cause(e.ctx)
			}
		}
		if err := r.memory.take(bytes); err != nil {
			return err
		}
		r.free -= int64(bytes)
		return r.merge(e, 0, r.p.lanes(), r.workers)
	}
	per := min(max(labels/(8*r.workers), 1), 64)
	return ordered(e, (labels+per-1)/per, r.workers, func(task int, e *emitter) error {
		for label := task * per; label < min((task+1)*per, labels); label++ {
			a, b := r.p.of(label)
			var err error
			if b-a == 1 {
				err = r.stream(e, a)
			} else {
				err = r.merge(e, a, b, 1)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// name is what the rows of a label are called.
func (r *run) name(label int) string {
	if r.names != nil {
		return r.names[label]
	}
	return r.p.name(label)
}

// base is the number of the first of the names of a batch whose first row may be of a lane.
func (r *run) base(lane int) uint32 {
	if r.names != nil {
		return 0
	}
	return r.p.label[lane]
}

// batch is an empty batch for rows of lanes from one on.
func (r *run) batch(lane int) *Batch {
	b, _ := r.pool.Get().(*Batch)
	if b == nil {
		b = &Batch{Series: make([]uint32, 0, r.sizes.batch)}
	}
	b.Clear()
	b.Width = r.width
	if b.Names = r.names; b.Names == nil {
		b.Names, b.Base = []string{r.p.name(int(r.p.label[lane]))}, r.p.label[lane]
	}
	return b
}

// stream emits the rows of one lane as they are read.
func (r *run) stream(e *emitter, lane int) error {
	q := r.p.q
	cur, err := r.p.open(e.ctx, lane, q.From, q.To)
	if err != nil {
		return err
	}
	defer cur.close()
	most := r.sizes.batch
	if q.Limit > 0 && len(q.Apply) == 0 {
		most = int(min(q.Limit+q.Offset, uint64(most)))
		most = max(most, 1)
	}
	for more := true; more; most = r.sizes.batch {
		b := r.batch(lane)
		c := columns{b.Times, b.Values, b.Missing, b.Texts, r.width}
		if more, err = cur.next(&c, most); err != nil {
			return err
		}
		b.Times, b.Values, b.Missing, b.Texts = c.times, c.values, c.missing, c.texts
		b.Series = grow(b.Series, c.len())
		clear(b.Series)
		if b.Names[0] == "" {
			return nil
		}
		if err := e.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// aggregates emits a row for each of some labels, one lane each.
func (r *run) aggregates(e *emitter, from, to int) error {
	q := r.p.q
	b := &Batch{Base: uint32(from), Width: 1}
	for label := from; label < to; label++ {
		sum, err := r.aggregate(e.ctx, r.p.members(label))
		if err != nil {
			return err
		}
		name := r.p.name(label)
		b.Names = append(b.Names, name)
		if sum.Count == 0 || name == "" {
			continue
		}
		f := q.Functions[r.p.metric[label]]
		b.Series = append(b.Series, uint32(label-from))
		b.Times = append(b.Times, f.time(&sum))
		b.Values = append(b.Values, f.value(&sum))
		if len(b.Missing) > 0 {
			b.Missing = append(b.Missing, 0)
		}
		if f == FirstTimestamp || f == LastTimestamp {
			b.SetGaps(b.Len()-1, 1)
		}
	}
	return e.emit(b)
}

// aggregate sums up some series: in pieces of one size, so that rounding does not depend on the number of workers.
func (r *run) aggregate(ctx context.Context, ids []names.ID) (aggregate.Aggregate, error) {
	piece := func(ids []names.ID) (sum aggregate.Aggregate, err error) {
		for _, id := range ids {
			one, err := r.p.src.Aggregate(ctx, id, r.p.q.From, r.p.q.To)
			if err != nil {
				return sum, err
			}
			sum.Join(&one)
		}
		return sum, ctx.Err()
	}
	if len(ids) <= aggregatePiece {
		return piece(ids)
	}
	n := (len(ids) + aggregatePiece - 1) / aggregatePiece
	sums, errs := make([]aggregate.Aggregate, n), make([]error, n)
	var group sync.WaitGroup
	turn := make(chan struct{}, r.workers)
	for i := range n {
		turn <- struct{}{}
		group.Go(func() {
			sums[i], errs[i] = piece(ids[i*aggregatePiece : min((i+1)*aggregatePiece, len(ids))])
			<-turn
		})
	}
	group.Wait()
	var sum aggregate.Aggregate
	for i := range sums {
		if errs[i] != nil {
			return sum, errs[i]
		}
		sum.Join(&sums[i])
	}
	return sum, nil
}

// findNames finds the series whose names are asked for: those of events first, the latest first.
func (r *run) findNames(ctx context.Context) (func(*emitter) error, error) {
	q, ix := r.p.q, r.p.ix
	var metric string
	if len(q.Metrics) > 0 {
		metric = q.Metrics[0]
	}
	var ids []names.ID
	var err error
	if metric != "" {
		ids, err = q.find(ctx, ix, metric)
	} else {
		var events, all *names.Set
		if events, err = ix.Find(ctx, append([]names.Match{names.MetricPrefix("!")}, q.Where...)); err != nil {
			return nil, err
		}
		if all, err = ix.Find(ctx, append([]names.Match{names.MetricPrefix("!").Not()}, q.Where...)); err == nil {
			ids = slices.AppendSeq(slices.AppendSeq(ids, events.Backward()), all.All())
		}
	}
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 && q.Kind == Names && (metric != "" || len(q.Where) > 0) {
		return nil, ErrNotFound
	}
	if err := r.memory.take(4 * len(ids)); err != nil {
		return nil, err
	}
	r.p.ids = ids
	return r.produceNames, nil
}

func (r *run) produceNames(e *emitter) error {
	for from := 0; from < len(r.p.ids); from += r.sizes.batch {
		b := &Batch{Base: uint32(from)}
		for _, id := range r.p.ids[from:min(from+r.sizes.batch, len(r.p.ids))] {
			if name := r.p.ix.Name(id); name != "" {
				b.Series = append(b.Series, uint32(len(b.Names)))
				b.Names = append(b.Names, name)
			}
		}
		if err := e.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// Run answers with names, sorted.
func (s *Suggest) Run(ctx context.Context, ix *names.Index) (*Rows, error) {
	var found []string
	var err error
	switch s.Target {
	case TagNames:
		found, err = ix.Keys(ctx, s.Metric, s.Prefix, s.Limit)
	case TagValues:
		found, err = ix.Values(ctx, s.Metric, s.Tag, s.Prefix, s.Limit)
	default:
		found, err = ix.Metrics(ctx, s.Prefix, s.Limit)
	}
	if err != nil {
		return nil, err
	}
	pipeline, err := apply.New(nil, apply.Env{Shape: rows.Names})
	if err != nil {
		return nil, err
	}
	b := &Batch{Names: found}
	for i := range found {
		b.Series = append(b.Series, uint32(i))
	}
	return (&run{sizes: &usual}).start(ctx, &Query{Kind: Search, Output: s.Output}, pipeline, func(e *emitter) error { return e.emit(b) }), nil
}
