package series

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"weir/series/aggregate"
	"weir/series/disk/faulty"
	"weir/series/names"
	"weir/series/query"
)

// fate is what must have become of a point of the model.
type fate int

const (
	may  fate = iota // it was written, but not confirmed
	must             // it was confirmed
	gone             // it was deleted, and that was confirmed
)

type modelPoint struct {
	series string
	time   int64
	value  float64 // of each point another one
	fate   fate
	synced bool // its fate outlives the machine
}

// place is what points have in common of which only the last one counts, perhaps.
func (p modelPoint) place() modelPoint { return modelPoint{series: p.series, time: p.time} }

// storeMachine compares a store with a list of points.
type storeMachine struct {
	t      *rapid.T
	d      *faulty.Disk
	o      Options
	s      *Store
	w      *Writer
	points []modelPoint
	now    int64
	next   float64
}

var modelSeries = []string{"cpu host=a", "cpu host=b", "mem host=a", "!log host=a"}

func newStoreMachine(t *rapid.T) *storeMachine {
	m := &storeMachine{t: t, d: faulty.New()}
	m.o = Options{
		Sync:       rapid.SampledFrom([]SyncMode{SyncInterval, SyncAlways, SyncNever}).Draw(t, "sync"),
		VolumeSize: 1 << 20,
		Reserve:    -1,
		KeepLast:   rapid.Bool().Draw(t, "last"),
		LogSize:    rapid.SampledFrom([]int64{20 << 10, 1 << 20}).Draw(t, "log"),
		segment:    8 << 10,
		OnProblem:  func(err error) { panic(err) },
	}
	m.open()
	return m
}

func (m *storeMachine) open() {
	m.o.FS = m.d
	s, err := Open(context.Background(), "db", m.o)
	m.no(err)
	if len(s.Recovery().Damage) > 0 {
		m.t.Fatalf("damage: %v", s.Recovery().Damage[0])
	}
	m.s, m.w = s, s.Writer()
}

func (m *storeMachine) no(err error) {
	if err != nil {
		m.t.Helper()
		m.t.Fatal(err)
	}
}

func (m *storeMachine) add(series string, time int64) {
	id, err := m.w.Series(series)
	m.no(err)
	m.next++
	p := modelPoint{series: series, time: time, value: m.next}
	if names.IsEvent(series) {
		m.no(m.w.AddEvent(id, time, fmt.Append(nil, m.next)))
	} else {
		m.no(m.w.Add(id, time, m.next))
	}
	m.points = append(m.points, p)
}

// Write adds points, most of them in order.
func (m *storeMachine) Write(t *rapid.T) {
	late := rapid.SampledFrom([]int64{0, 0, 5, 2000}).Draw(t, "late")
	for range rapid.IntRange(1, 1500).Draw(t, "points") {
		m.now++
		at := m.now
		if late > 0 && m.now%3 == 0 {
			at -= rapid.Int64Range(0, late).Draw(t, "back")
		}
		m.add(modelSeries[int(m.now)%len(modelSeries)], at)
	}
	if rapid.Bool().Draw(t, "commit") {
		m.Commit(t)
	}
}

func (m *storeMachine) Commit(*rapid.T) {
	m.no(m.w.Commit(context.Background()))
	m.confirm(m.o.Sync == SyncAlways)
}

// confirm says that what was written is kept.
func (m *storeMachine) confirm(synced bool) {
	for i := range m.points {
		p := &m.points[i]
		if p.fate == may {
			p.fate = must
		}
		p.synced = p.synced || synced
	}
}

func (m *storeMachine) Sync(t *rapid.T) {
	m.Commit(t)
	m.no(m.s.Sync(context.Background()))
	m.confirm(true)
}

func (m *storeMachine) Delete(t *rapid.T) {
	m.Commit(t)
	from := m.now - rapid.Int64Range(0, 3000).Draw(t, "from")
	to := from + rapid.Int64Range(0, 300).Draw(t, "span")
	n, err := m.s.Delete(context.Background(), []names.Match{names.Tag("host", "a")}, from, to)
	m.no(err)
	if n > 3 {
		t.Fatalf("points of %d series deleted", n)
	}
	for i := range m.points {
		p := &m.points[i]
		if p.series != "cpu host=b" && from <= p.time && p.time <= to {
			p.fate, p.synced = gone, m.o.Sync == SyncAlways
		}
	}
}

func (m *storeMachine) Checkpoint(*rapid.T) { m.no(m.s.Checkpoint()) }

func (m *storeMachine) Compact(*rapid.T) { m.no(m.s.Compact(context.Background(), nil)) }

// Flush moves what is in memory to volumes.
func (m *storeMachine) Flush(*rapid.T) { m.no(m.s.toVolumes(context.Background())) }

// Close and open.
func (m *storeMachine) Close(*rapid.T) {
	m.no(m.w.Close())
	m.no(m.s.Close())
	m.confirm(true)
	m.open()
	if r := m.s.Recovery(); !r.Clean {
		m.t.Fatalf("not clean after Close: %+v", r)
	}
}

// Kill ends the program: what is confirmed stays.
func (m *storeMachine) Kill(t *rapid.T) {
	d := m.d.Kill()
	m.crash(d, func(p modelPoint) bool { return true })
}

// Power loss: what is synced stays.
func (m *storeMachine) Power(t *rapid.T) {
	d := m.d.Crash(rapid.Uint64().Draw(t, "seed"))
	m.crash(d, func(p modelPoint) bool { return p.synced })
}

// crash goes on with another disk, on which only those fates are certain that keep says.
func (m *storeMachine) crash(d *faulty.Disk, keep func(modelPoint) bool) {
	m.s.o.OnProblem = func(error) {}
	_ = m.s.Close() // of the old disk, which nobody looks at again
	m.d = d
	m.open()
	left := map[float64]bool{}
	for _, name := range modelSeries {
		for _, p := range m.read(name) {
			if left[p.value] {
				m.t.Fatalf("point %v of %q is there twice", p.value, name)
			}
			left[p.value] = true
		}
	}
	last := map[modelPoint]float64{}
	for _, p := range m.points {
		if left[p.value] {
			last[p.place()] = p.value
		}
	}
	rest := m.points[:0]
	for _, p := range m.points {
		there := left[p.value]
		delete(left, p.value)
		// What came later in its place is not lost, and so this is neither.
		hidden := m.o.KeepLast && !names.IsEvent(p.series) && p.value < last[p.place()]
		if keep(p) && (p.fate == must && !there && !hidden || p.fate == gone && there) {
			m.t.Fatalf("after a crash: %+v is there: %v", p, there)
		}
		if there || hidden && p.fate != gone {
			p.fate = must
			rest = append(rest, p)
		}
	}
	for v := range left {
		m.t.Fatalf("point %v was never written", v)
	}
	m.points = rest
}

// read is the points of a series as the store has them.
func (m *storeMachine) read(name string) (all []modelPoint) {
	ctx := context.Background()
	id, ok, err := m.s.Names().Lookup([]byte(name))
	m.no(err)
	if !ok {
		return nil
	}
	times := make([]int64, 100)
	if names.IsEvent(name) {
		events, err := m.s.Events(ctx, id, math.MinInt64, math.MaxInt64, false)
		m.no(err)
		texts := make([]string, len(times))
		for n := len(times); n == len(times); {
			n, err = events.Next(times, texts)
			m.no(err)
			for i := range n {
				p := modelPoint{series: name, time: times[i]}
				_, err := fmt.Sscan(texts[i], &p.value)
				m.no(err)
				all = append(all, p)
			}
		}
		return all
	}
	points, err := m.s.Points(ctx, id, math.MinInt64, math.MaxInt64, false, nil)
	m.no(err)
	values := make([]float64, len(times))
	for n := len(times); n == len(times); {
		n, err = points.Next(times, values)
		m.no(err)
		for i := range n {
			all = append(all, modelPoint{series: name, time: times[i], value: values[i]})
		}
	}
	return all
}

// Check compares all points, and the sums of a range.
func (m *storeMachine) Check(t *rapid.T) {
	m.Commit(t)
	for _, name := range modelSeries {
		var want []modelPoint
		for _, p := range m.points {
			if p.series == name && p.fate == must {
				want = append(want, modelPoint{series: name, time: p.time, value: p.value})
			}
		}
		if m.o.KeepLast && !names.IsEvent(name) {
			want = lastOnly(want)
		}
		got := m.read(name)
		if !slices.IsSortedFunc(got, func(a, b modelPoint) int { return cmp.Compare(a.time, b.time) }) {
			t.Fatalf("%q is not in the order of times", name)
		}
		order := func(a, b modelPoint) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.value, b.value)) }
		sorted := slices.Clone(got)
		slices.SortFunc(sorted, order)
		slices.SortFunc(want, order)
		if !slices.Equal(sorted, want) {
			t.Fatalf("%q has %d points, want %d:\n%v\n%v", name, len(sorted), len(want), difference(sorted, want), difference(want, sorted))
		}
		if !names.IsEvent(name) && len(got) > 0 {
			m.checkSums(t, name, got)
		}
	}
}

// lastOnly is the last of the points of each time.
func lastOnly(points []modelPoint) (last []modelPoint) {
	at := map[int64]int{}
	for _, p := range points {
		if i, ok := at[p.time]; ok {
			last[i] = p
			continue
		}
		at[p.time] = len(last)
		last = append(last, p)
	}
	return last
}

func difference(a, b []modelPoint) (only []modelPoint) {
	for _, p := range a {
		if !slices.Contains(b, p) {
			only = append(only, p)
		}
	}
	return only[:min(len(only), 10)]
}

// checkSums compares aggregates and groups with those of the points.
func (m *storeMachine) checkSums(t *rapid.T, name string, points []modelPoint) {
	ctx := context.Background()
	id, _, err := m.s.Names().Lookup([]byte(name))
	m.no(err)
	from := rapid.Int64Range(-10, m.now).Draw(t, "from")
	to := rapid.Int64Range(from, m.now+10).Draw(t, "to")
	if rapid.Bool().Draw(t, "all") {
		from, to = math.MinInt64, math.MaxInt64
	}
	step := rapid.Int64Range(1, 400).Draw(t, "step")
	var total aggregate.Aggregate
	var groups []query.Group
	backward := rapid.Bool().Draw(t, "backward")
	span := func(time int64) int64 {
		if backward {
			return to - int64((uint64(to)-uint64(time))/uint64(step)*uint64(step))
		}
		return from + int64((uint64(time)-uint64(from))/uint64(step)*uint64(step))
	}
	for _, p := range points {
		if p.time < from || to < p.time {
			continue
		}
		total.AddPoint(p.time, p.value)
		if n := len(groups); n == 0 || groups[n-1].Time != span(p.time) {
			groups = append(groups, query.Group{Time: span(p.time)})
		}
		groups[len(groups)-1].AddPoint(p.time, p.value)
	}
	if backward {
		slices.Reverse(groups)
	}
	got, err := m.s.Aggregate(ctx, id, from, to)
	m.no(err)
	if fmt.Sprint(got) != fmt.Sprint(total) {
		t.Fatalf("%q from %d to %d: %+v, want %+v", name, from, to, got, total)
	}
	reader, err := m.s.Groups(ctx, id, from, to, step, backward)
	m.no(err)
	read := make([]query.Group, len(groups)+1)
	n, err := reader.Next(read)
	m.no(err)
	if fmt.Sprint(read[:n]) != fmt.Sprint(groups) {
		t.Fatalf("%q from %d to %d by %d, backward %v: %v, want %v", name, from, to, step, backward, read[:n], groups)
	}
}

func TestStoreModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newStoreMachine(t)
		defer func() {
			m.s.o.OnProblem = func(error) {}
			m.no(m.s.Close())
		}()
		t.Repeat(map[string]func(*rapid.T){
			"Write": m.Write, "Commit": m.Commit, "Sync": m.Sync, "Delete": m.Delete, "Checkpoint": m.Checkpoint, "Compact": m.Compact,
			"Flush": m.Flush, "Close": m.Close, "Kill": m.Kill, "Power": m.Power, "Check": m.Check,
		})
	})
}
