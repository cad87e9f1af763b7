package series

import (
	"context"
	"errors"

	"weir/series/aggregate"
	"weir/series/names"
	"weir/series/query"
	"weir/series/tree"
	"weir/series/volume"
)

// Query answers a question, which may come from query.Parse. The answer is to be closed.
func (s *Store) Query(ctx context.Context, q *query.Query, o query.Options) (*query.Rows, error) {
	return query.Run(ctx, s, q, o)
}

var _ query.Source = (*Store)(nil)

// Names is the names of all series. They may be read, not changed.
func (s *Store) Names() *names.Index { return s.names.Index }

// closedError is ErrClosed where a store was closed while it was read.
func closedError(err error) error {
	if errors.Is(err, volume.ErrClosed) {
		return ErrClosed
	}
	return err
}

// Points is for package query: see query.Source.
func (s *Store) Points(ctx context.Context, id names.ID, from, to int64, backward bool, keep *aggregate.Bounds) (query.Points, error) {
	view, r, err := s.view(id, from, to)
	if err != nil {
		return nil, err
	}
	return &points{r, ctx, view.Points(backward, keep)}, nil
}

type points struct {
	reading
	ctx    context.Context
	cursor *tree.Cursor
}

func (p *points) Next(times []int64, values []float64) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.cursor.Next(times, values)
	return n, closedError(err)
}

func (p *points) Close() { p.end() }

// Events is for package query: see query.Source.
func (s *Store) Events(ctx context.Context, id names.ID, from, to int64, backward bool) (query.Events, error) {
	view, r, err := s.view(id, from, to)
	if err != nil {
		return nil, err
	}
	return &eventsReader{reading: r, ctx: ctx, cursor: view.Points(backward, nil)}, nil
}

type eventsReader struct {
	reading
	ctx    context.Context
	cursor *tree.Cursor
	texts  [][]byte
}

func (e *eventsReader) Next(times []int64, texts []string) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	if len(e.texts) < len(texts) {
		e.texts = make([][]byte, len(texts))
	}
	n, err := e.cursor.NextText(times, e.texts[:len(texts)])
	for i, text := range e.texts[:n] {
		texts[i] = string(text)
	}
	clear(e.texts)
	return n, closedError(err)
}

func (e *eventsReader) Close() { e.end() }

// Aggregate is for package query: see query.Source.
func (s *Store) Aggregate(_ context.Context, id names.ID, from, to int64) (aggregate.Aggregate, error) {
	r := s.readers.begin()
	defer r.end()
	sh := s.shardOf(id)
	sh.mu.Lock()
	if sh.forest == nil {
		sh.mu.Unlock()
		return aggregate.Aggregate{}, ErrClosed
	}
	if total, ok := sh.forest.Total(id); ok && (total.Count == 0 || from <= total.FirstTime && total.LastTime <= to) {
		sh.mu.Unlock()
		return total, nil
	}
	view := sh.forest.View(id, from, to)
	sh.mu.Unlock()
	a, err := view.Aggregate()
	return a, closedError(err)
}

// Groups is for package query: see query.Source.
func (s *Store) Groups(ctx context.Context, id names.ID, from, to, step int64, backward bool) (query.Groups, error) {
	if backward {
		return &backwardGroups{ctx: ctx, s: s, id: id, from: from, to: to, step: step}, nil
	}
	view, r, err := s.view(id, from, to)
	if err != nil {
		return nil, err
	}
	return &forwardGroups{r, ctx, view.Groups(step)}, nil
}

type forwardGroups struct {
	reading
	ctx    context.Context
	groups *tree.Groups
}

func (g *forwardGroups) Next(dst []query.Group) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	for i := range dst {
		group, ok, err := g.groups.Next()
		if err != nil || !ok {
			return i, closedError(err)
		}
		dst[i] = query.Group{Time: group.First, Aggregate: group.Aggregate}
	}
	return len(dst), nil
}

func (g *forwardGroups) Close() { g.end() }

// backwardGroups reads spans that go down from to. It asks for some spans at a time, forward, and turns them around.
type backwardGroups struct {
	ctx      context.Context
	s        *Store
	id       names.ID
	from, to int64
	step     int64
	ended    bool // all spans down to from were asked for
	ready    []query.Group
}

// spansAtOnce is how many spans are asked for at once.
const spansAtOnce = 1024

func (g *backwardGroups) Next(dst []query.Group) (int, error) {
	n := 0
	for n < len(dst) {
		if len(g.ready) == 0 {
			if g.ended || g.from > g.to {
				break
			}
			if err := g.ctx.Err(); err != nil {
				return n, err
			}
			if err := g.fill(); err != nil {
				return n, err
			}
			continue
		}
		k := len(g.ready) - 1
		dst[n] = g.ready[k]
		g.ready = g.ready[:k]
		n++
	}
	return n, nil
}

// fill asks for the spans before those that were asked for.
func (g *backwardGroups) fill() error {
	spans := g.left()
	if spans == 0 {
		g.ended = true
		a, err := g.s.Aggregate(g.ctx, g.id, g.from, g.to)
		if err == nil && a.Count > 0 {
			g.ready = append(g.ready, query.Group{Time: g.to, Aggregate: a})
		}
		return err
	}
	spans = min(spans, spansAtOnce)
	begin := g.to - int64(spans*uint64(g.step)-1)
	view, r, err := g.s.view(g.id, begin, g.to)
	if err != nil {
		return err
	}
	defer r.end()
	groups := view.Groups(g.step)
	for {
		group, ok, err := groups.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		g.ready = append(g.ready, query.Group{Time: group.First + (g.step - 1), Aggregate: group.Aggregate})
	}
	if begin == g.from {
		g.ended = true
		return nil
	}
	g.to = begin - 1
	if len(g.ready) == 0 {
		return g.skip()
	}
	return nil
}

// left is how many whole spans there are from g.to down to g.from.
func (g *backwardGroups) left() uint64 {
	room := uint64(g.to) - uint64(g.from) // one less than how many times there are
	spans := room / uint64(g.step)
	if room%uint64(g.step) == uint64(g.step)-1 && spans+1 > 0 {
		spans++
	}
	return spans
}

// skip moves on to the span of the latest point that is left, since there may be nothing for long.
func (g *backwardGroups) skip() error {
	view, r, err := g.s.view(g.id, g.from, g.to)
	if err != nil {
		return err
	}
	defer r.end()
	var at [1]int64
	var value [1]float64
	n, err := view.Points(true, nil).Next(at[:], value[:])
	if err != nil {
		return err
	}
	if n == 0 {
		g.ended = true
		return nil
	}
	spans := (uint64(g.to) - uint64(at[0])) / uint64(g.step)
	g.to -= int64(spans * uint64(g.step))
	return nil
}

func (g *backwardGroups) Close() {}
