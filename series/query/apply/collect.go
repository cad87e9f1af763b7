package apply

import (
	"cmp"
	"math"
	"slices"

	"weir/series/query/rows"
)

// top finds the series with the largest area under their steps: each value holds until the next. As in the original,
// the step from the first point to the second does not count.
type top struct {
	n    int
	all  []area
	name int // bytes
}

type area struct {
	name   string
	time   int64 // of the latest point
	at     int64 // of the point before, and its value
	value  float64
	sum    float64
	points int // up to 2
}

func (t *top) process(b *rows.Batch) {
	for i := range b.Len() {
		if b.Gaps(i) != 0 {
			continue
		}
		series := b.Number(i)
		for len(t.all) <= series {
			t.all = append(t.all, area{})
		}
		a, now, v := &t.all[series], b.Times[i], b.Values[i]
		switch {
		case a.points == 0:
			*a = area{name: b.Name(i), time: now, points: 1}
			t.name += len(a.name)
		case a.points == 1:
			a.points = 2
		case now >= a.at:
			a.sum += a.value * seconds(a.at, now)
		default: // backward: the earlier value is the one that holds
			a.sum += v * seconds(now, a.at)
		}
		a.at, a.value, a.time = now, v, max(a.time, now)
	}
}

func (t *top) finish() *rows.Batch {
	found := slices.DeleteFunc(t.all, func(a area) bool { return a.points == 0 })
	slices.SortStableFunc(found, func(a, b area) int { return cmp.Compare(b.sum, a.sum) })
	out := &rows.Batch{Width: 1}
	for i, a := range found[:min(t.n, len(found))] {
		out.Names, out.Series = append(out.Names, a.name), append(out.Series, uint32(i))
		out.Times, out.Values = append(out.Times, a.time), append(out.Values, a.sum)
	}
	return out
}

func (t *top) bytes() int { return cap(t.all)*64 + t.name }

// spaceSaver is the SpaceSaving algorithm (Metwally, Agrawal, El Abbadi 2005): counters for a few series; a series
// without one takes over the least.
type spaceSaver struct {
	weighted bool
	capacity int
	portion  float64
	total    float64
	counters []counter
	heap     []int       // of indices of counters, the least on top
	where    map[int]int // of a series: its counter
	names    int
}

type counter struct {
	series int
	name   string
	time   int64
	count  float64
	at     int // in the heap
}

func newSpaceSaver(s Step) *spaceSaver {
	capacity := math.MaxInt32
	if c := math.Ceil(1 / s.Error); c < math.MaxInt32 {
		capacity = int(c)
	}
	return &spaceSaver{weighted: s.Name == "heavy-hitters", capacity: capacity, portion: s.Portion, where: map[int]int{}}
}

func (s *spaceSaver) process(b *rows.Batch) {
	for i := range b.Len() {
		weight := 1.0
		if s.weighted {
			if weight = b.Values[i]; !(weight > 0) { // neither NaN nor what would take weight away
				continue
			}
		}
		if b.Gaps(i) != 0 {
			continue
		}
		s.total += weight
		series := b.Number(i)
		at, ok := s.where[series]
		switch {
		case ok:
		case len(s.counters) < s.capacity:
			at = len(s.counters)
			s.counters = append(s.counters, counter{at: at})
			s.heap = append(s.heap, at)
			s.take(at, series, b.Name(i), b.Times[i])
			s.up(at)
		default:
			at = s.heap[0]
			delete(s.where, s.counters[at].series)
			s.take(at, series, b.Name(i), b.Times[i])
		}
		s.counters[at].count += weight
		s.down(s.counters[at].at)
	}
}

func (s *spaceSaver) take(at, series int, name string, time int64) {
	c := &s.counters[at]
	s.names += len(name) - len(c.name)
	c.series, c.name, c.time = series, name, time
	s.where[series] = at
}

func (s *spaceSaver) less(i, j int) bool {
	return s.counters[s.heap[i]].count < s.counters[s.heap[j]].count
}

func (s *spaceSaver) swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.counters[s.heap[i]].at, s.counters[s.heap[j]].at = i, j
}

func (s *spaceSaver) up(i int) {
	for i > 0 && s.less(i, (i-1)/2) {
		s.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (s *spaceSaver) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(s.heap); c++ {
			if s.less(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		s.swap(i, least)
		i = least
	}
}

func (s *spaceSaver) finish() *rows.Batch {
	slices.SortFunc(s.counters, func(a, b counter) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.series, b.series))
	})
	out := &rows.Batch{Width: 1}
	for _, c := range s.counters {
		if c.count > s.portion*s.total {
			out.Series = append(out.Series, uint32(len(out.Names)))
			out.Names = append(out.Names, c.name)
			out.Times, out.Values = append(out.Times, c.time), append(out.Values, c.count)
		}
	}
	return out
}

func (s *spaceSaver) bytes() int { return cap(s.counters)*96 + s.names }
