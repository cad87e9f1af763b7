package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"weir/series/aggregate"
	"weir/series/names"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type point struct {
	time  int64
	value float64
	text  string
}

// memory is a source of sorted slices.
type memory struct {
	ix     *names.Index
	points map[names.ID][]point
	open   sync.WaitGroup // what was opened and not closed
}

func newMemory() *memory { return &memory{ix: names.New(), points: map[names.ID][]point{}} }

func (m *memory) add(name string, p ...point) {
	id, _, err := m.ix.Add([]byte(name))
	if err != nil {
		panic(err)
	}
	all := append(m.points[id], p...)
	slices.SortStableFunc(all, func(a, b point) int { return cmp.Compare(a.time, b.time) })
	m.points[id] = all
}

func (m *memory) Names() *names.Index { return m.ix }

// read copies the points of a range.
func (m *memory) read(id names.ID, from, to int64, backward bool) []point {
	var all []point
	for _, p := range m.points[id] {
		if from <= p.time && p.time <= to {
			all = append(all, p)
		}
	}
	if backward {
		slices.Reverse(all)
	}
	return all
}

type memoryReader struct {
	left   []point
	groups []Group
	m      *memory
}

func (r *memoryReader) Close() { r.m.open.Done() }

func (m *memory) reader(all []point) *memoryReader {
	m.open.Add(1)
	return &memoryReader{left: all, m: m}
}

func (m *memory) Points(_ context.Context, id names.ID, from, to int64, backward bool, _ *aggregate.Bounds) (Points, error) {
	return m.reader(m.read(id, from, to, backward)), nil
}

func (r *memoryReader) Next(times []int64, values []float64) (int, error) {
	n := min(len(times), len(r.left))
	for i, p := range r.left[:n] {
		times[i], values[i] = p.time, p.value
	}
	r.left = r.left[n:]
	return n, nil
}

type memoryEvents struct{ *memoryReader }

func (m *memory) Events(_ context.Context, id names.ID, from, to int64, backward bool) (Events, error) {
	return memoryEvents{m.reader(m.read(id, from, to, backward))}, nil
}

func (r memoryEvents) Next(times []int64, texts []string) (int, error) {
	n := min(len(times), len(r.left))
	for i, p := range r.left[:n] {
		times[i], texts[i] = p.time, p.text
	}
	r.left = r.left[n:]
	return n, nil
}

func sum(points []point) (a aggregate.Aggregate) {
	for _, p := range points {
		a.AddPoint(p.time, p.value)
	}
	return a
}

func (m *memory) Aggregate(_ context.Context, id names.ID, from, to int64) (aggregate.Aggregate, error) {
	return sum(m.read(id, from, to, false)), nil
}

type memoryGroups struct{ *memoryReader }

func (m *memory) Groups(_ context.Context, id names.ID, from, to, step int64, backward bool) (Groups, error) {
	r := m.reader(nil)
	r.groups = m.bins(m.read(id, from, to, false), from, to, step, backward)
	return memoryGroups{r}, nil
}

// bins sums up points, given in the order of time.
func (m *memory) bins(all []point, from, to, step int64, backward bool) []Group {
	var groups []Group
	for len(all) > 0 {
		bin := func(p point) int64 {
			if backward {
				return to - int64(uint64(to-p.time)/uint64(step)*uint64(step))
			}
			return from + int64(uint64(p.time-from)/uint64(step)*uint64(step))
		}
		n := 1
		for n < len(all) && bin(all[n]) == bin(all[0]) {
			n++
		}
		groups = append(groups, Group{bin(all[0]), sum(all[:n])})
		all = all[n:]
	}
	if backward {
		slices.Reverse(groups)
	}
	return groups
}

func (r memoryGroups) Next(groups []Group) (int, error) {
	n := copy(groups, r.groups)
	r.groups = r.groups[n:]
	return n, nil
}

// columnar is a memory that reads without copying first, for benchmarks.
type columnar struct{ *memory }

type columnarReader struct{ left []point }

func (c *columnar) Points(_ context.Context, id names.ID, from, to int64, backward bool, _ *aggregate.Bounds) (Points, error) {
	all := c.points[id]
	i, _ := slices.BinarySearchFunc(all, from, func(p point, t int64) int { return cmp.Compare(p.time, t) })
	j := len(all)
	for j > i && all[j-1].time > to {
		j--
	}
	if backward {
		return nil, errors.ErrUnsupported
	}
	return &columnarReader{all[i:j]}, nil
}

func (r *columnarReader) Next(times []int64, values []float64) (int, error) {
	n := min(len(times), len(r.left))
	for i := range n {
		times[i], values[i] = r.left[i].time, r.left[i].value
	}
	r.left = r.left[n:]
	return n, nil
}

func (r *columnarReader) Close() {}
