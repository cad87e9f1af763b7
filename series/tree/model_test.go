package tree_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"weir/series/aggregate"
	"weir/series/disk/faulty"
	"weir/series/names"
	"weir/series/node"
	"weir/series/tree"
	"weir/series/volume"
)

// point is one of the model, and what the log would say of it.
type point struct {
	time  int64
	value float64
	text  string
	place tree.Place
	gone  bool
}

// entry of the log: a point, or a deletion behind those before it.
type entry struct {
	id       names.ID
	point    point
	deletion *tree.Deletion
}

// machine compares a Forest with lists of points.
type machine struct {
	t       *rapid.T
	volumes *dropping
	forest  *tree.Forest
	points  map[names.ID][]point
	log     []entry
	now     map[names.ID]int64
	limits  tree.Limits
	// distinct: points of one time have values of their own, and the machine does not start again unless only the last of
	// them counts, since the order of late points of one time may be another one afterwards.
	distinct bool
	// last: of points of one time, only the last one counts.
	last       bool
	checkpoint []byte
	folds      map[names.ID]*fold
	cut        bool // whether points were ever taken away
}

const (
	firstID = names.ID(3)
	stride  = names.ID(4)
	events  = firstID + 2*stride // the series whose points are texts
)

func newMachine(t *rapid.T) *machine {
	v, err := volume.Open(faulty.New(), "v", volume.Options{Size: volume.MinSize, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, volumes: &dropping{Volumes: v}, points: map[names.ID][]point{}, now: map[names.ID]int64{}, folds: map[names.ID]*fold{}}
	m.distinct = rapid.Bool().Draw(t, "distinct")
	m.last = rapid.Bool().Draw(t, "last")
	m.drawLimits()
	m.forest = m.newForest()
	return m
}

func (m *machine) newForest() *tree.Forest {
	f := tree.New(m.volumes, firstID, stride, m.limits)
	if m.last {
		f.KeepLast()
	}
	return f
}

func (m *machine) drawLimits() {
	m.limits = tree.Limits{
		Tail: rapid.IntRange(4, 64).Draw(m.t, "tail"),
		Leaf: rapid.IntRange(1, 300).Draw(m.t, "leaf"),
		Late: rapid.IntRange(1, 20).Draw(m.t, "late"),
		// 0 is as many as a node holds.
		Fanout: rapid.SampledFrom([]int{0, 0, 2, 3, 8}).Draw(m.t, "fanout"),
	}
}

func (m *machine) id() names.ID {
	return firstID + stride*names.ID(rapid.IntRange(0, 2).Draw(m.t, "series"))
}

func (m *machine) append(id names.ID, time int64) {
	p := point{time: time, value: float64(time * 7 % 5)}
	var err error
	if m.distinct && !(m.last && id == events) {
		p.value = float64(rapid.IntRange(-9, 9).Draw(m.t, "value"))
	}
	if id == events {
		p.text = fmt.Sprint("text ", p.value)
		p.value = 0
		p.place, err = m.forest.AppendEvent(id, time, []byte(p.text), 1)
	} else {
		p.place, err = m.forest.Append(id, time, p.value, 1)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.points[id] = append(m.points[id], p)
	m.log = append(m.log, entry{id: id, point: p})
}

// Grow adds many points in order, some of them at one time.
func (m *machine) Grow(*rapid.T) {
	id := m.id()
	for range rapid.IntRange(1, 200).Draw(m.t, "points") {
		m.now[id] += rapid.Int64Range(0, 2).Draw(m.t, "step")
		m.append(id, m.now[id])
	}
}

// Late adds points that are not in order.
func (m *machine) Late(*rapid.T) {
	id := m.id()
	for range rapid.IntRange(1, 30).Draw(m.t, "points") {
		back := rapid.Int64Range(0, rapid.SampledFrom([]int64{3, 30, 300}).Draw(m.t, "how late")).Draw(m.t, "back")
		m.append(id, m.now[id]-back)
	}
}

func (m *machine) Flush(*rapid.T) { m.no(m.forest.Flush(m.id())) }

func (m *machine) Close(*rapid.T) { m.no(m.forest.Close(m.id())) }

func (m *machine) Limits(*rapid.T) {
	m.drawLimits()
	m.forest.SetLimits(m.limits)
}

func (m *machine) Delete(*rapid.T) {
	id := m.id()
	from := rapid.Int64Range(-10, m.now[id]+1).Draw(m.t, "from")
	to := from + rapid.Int64Range(0, 50).Draw(m.t, "span")
	d, ok, err := m.forest.Delete(id, from, to)
	m.no(err)
	m.cut = true
	if x := m.folds[id]; x != nil && ok {
		x.disturbed = true
	}
	for i, p := range m.points[id] {
		if from <= p.time && p.time <= to {
			m.points[id][i].gone = true
		}
	}
	if ok {
		m.log = append(m.log, entry{id: id, deletion: &d})
	}
}

// Checkpoint writes down what the Forest knows of its nodes.
func (m *machine) Checkpoint(*rapid.T) {
	m.checkpoint = m.checkpoint[:0]
	for page := range m.forest.Pages() {
		m.checkpoint = m.forest.AppendPage(m.checkpoint, page)
	}
}

// Again builds another Forest out of the nodes, and of the log from a place on behind which all was in memory only, or
// from before that.
func (m *machine) Again(t *rapid.T) {
	m.no(m.forest.Release())
	m.drawLimits()
	f := m.newForest()
	from := uint64(0)
	if rest := m.checkpoint; len(rest) > 0 && rapid.Bool().Draw(t, "from the checkpoint") {
		position, rest, err := f.LoadPage(rest)
		m.no(err)
		if len(rest) > 0 {
			t.Fatalf("%d bytes behind the only page", len(rest))
		}
		if rapid.Bool().Draw(t, "reading on") {
			from = position
		}
	}
	_, err := m.volumes.Scan(max(from, m.volumes.oldest), func(at uint64, length int, payload []byte) error {
		return f.Restore(at, length, payload)
	}, func(err *volume.CorruptError) { m.t.Fatal(err) })
	m.no(err)
	for _, e := range m.log {
		if e.deletion != nil {
			m.no(f.DeleteAgain(e.id, *e.deletion))
			continue
		}
		var text []byte
		if e.id == events {
			text = []byte(e.point.text)
		}
		_, err := f.Again(e.id, e.point.time, e.point.value, text, e.point.place, 1)
		m.no(err)
	}
	m.forest = f
	clear(m.folds)
}

func (m *machine) no(err error) {
	if err != nil {
		m.t.Helper()
		m.t.Fatal(err)
	}
}

// Check reads a range in all ways.
func (m *machine) Check(*rapid.T) {
	for id := firstID; id <= events; id += stride {
		from := rapid.Int64Range(-400, m.now[id]+2).Draw(m.t, "from")
		to := rapid.Int64Range(from-1, m.now[id]+5).Draw(m.t, "to")
		if rapid.Bool().Draw(m.t, "all") {
			from, to = math.MinInt64, math.MaxInt64
		}
		var want []point
		for _, p := range m.points[id] {
			if !p.gone && from <= p.time && p.time <= to {
				want = append(want, p)
			}
		}
		slices.SortStableFunc(want, func(a, b point) int { return cmp.Compare(a.time, b.time) })
		if m.last && id != events {
			want = lastOnly(want)
		}
		view := m.forest.View(id, from, to)
		m.checkPoints(id, view, want)
		m.checkSums(id, view, want, from, to)
		m.forest.Verify(id, func(ref node.Ref, err error) { m.t.Fatalf("series %d: the node at %#x: %v", id, ref.At, err) })
	}
}

// lastOnly is the last of the points of each time.
func lastOnly(points []point) (last []point) {
	for i, p := range points {
		if i+1 == len(points) || points[i+1].time != p.time {
			last = append(last, p)
		}
	}
	return last
}

func (m *machine) checkPoints(id names.ID, view *tree.View, want []point) {
	for _, backward := range []bool{false, true} {
		room := rapid.IntRange(1, 200).Draw(m.t, "read at once")
		times, values, texts := make([]int64, room), make([]float64, room), make([][]byte, room)
		var got, expected []string
		cursor := view.Points(backward, nil)
		for n := room; n == room; {
			var err error
			if id == events {
				n, err = cursor.NextText(times, texts)
			} else {
				n, err = cursor.Next(times, values)
			}
			m.no(err)
			for i := range n {
				got = append(got, fmt.Sprint(times[i], values[i], string(texts[i])))
			}
			clear(times) // what is read later is not in it
			clear(values)
		}
		for _, p := range want {
			expected = append(expected, fmt.Sprint(p.time, p.value, p.text))
		}
		if backward {
			slices.Reverse(expected)
		}
		if !slices.Equal(got, expected) {
			m.t.Fatalf("series %d, backward %v:\n%q, want\n%q", id, backward, got, expected)
		}
	}
}

func sum(points []point) aggregate.Aggregate {
	var a aggregate.Aggregate
	for _, p := range points {
		a.AddPoint(p.time, p.value)
	}
	return a
}

func (m *machine) checkSums(id names.ID, view *tree.View, want []point, from, to int64) {
	got, err := view.Aggregate()
	m.no(err)
	if expected := sum(want); fmt.Sprint(got) != fmt.Sprint(expected) {
		m.t.Fatalf("series %d: %+v, want %+v", id, got, expected)
	}
	if from == math.MinInt64 && id != events {
		if total, ok := m.forest.Total(id); ok && fmt.Sprint(total) != fmt.Sprint(got) {
			m.t.Fatalf("series %d: in all %+v, want %+v", id, total, got)
		}
	}
	step := rapid.Int64Range(1, 100).Draw(m.t, "step")
	groups := view.Groups(step)
	for len(want) > 0 {
		first := from + int64(uint64(want[0].time-from)/uint64(step)*uint64(step))
		n := 0
		for n < len(want) && uint64(want[n].time-first) < uint64(step) {
			n++
		}
		g, ok, err := groups.Next()
		m.no(err)
		if expected := sum(want[:n]); !ok || g.First != first || fmt.Sprint(g.Aggregate) != fmt.Sprint(expected) {
			m.t.Fatalf("series %d, group %v at %d: %+v, want %+v at %d", id, ok, g.First, g.Aggregate, expected, first)
		}
		want = want[n:]
	}
	if g, ok, err := groups.Next(); ok || err != nil {
		m.t.Fatalf("series %d: one group more: %+v, %v", id, g, err)
	}
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		defer func() { m.no(m.forest.Release()) }()
		actions := map[string]func(*rapid.T){
			"": m.Check, "Grow": m.Grow, "Late": m.Late, "Flush": m.Flush, "Close": m.Close, "Limits": m.Limits,
			"Delete": m.Delete, "BeginFold": m.BeginFold, "RunFold": m.RunFold, "EndFold": m.EndFold, "Drop": m.Drop,
		}
		if !m.distinct || m.last {
			actions["Again"], actions["Checkpoint"] = m.Again, m.Checkpoint
		}
		t.Repeat(actions)
	})
}

func FuzzLoadPage(f *testing.F) {
	forest, v := fill(f, 3, 500, tree.Limits{Tail: 16, Leaf: 100, Late: 8})
	for i := range int64(100) {
		if _, err := forest.Append(1, i*i%37, float64(i), 1); err != nil {
			f.Fatal(err)
		}
	}
	if _, _, err := forest.Delete(1, 5, 9); err != nil {
		f.Fatal(err)
	}
	f.Add(forest.AppendPage(nil, 0))
	f.Fuzz(func(t *testing.T, page []byte) {
		loaded := tree.New(v, 0, 1, tree.DefaultLimits)
		defer loaded.Release()
		if _, _, err := loaded.LoadPage(page); err != nil {
			return
		}
		// What it says may be nonsense, of nodes that are not there; reading it is an error at worst.
		for id := range names.ID(3) {
			_, _ = loaded.View(id, -1<<40, 1<<40).Aggregate()
		}
	})
}
