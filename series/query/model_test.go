package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/series/aggregate"
	"weir/series/names"
	"weir/series/query/format"
	"weir/series/query/rows"
)

// answerRow is a row of the model.
type answerRow struct {
	name   string
	time   int64
	values []float64
	gaps   uint64
	text   string
}

func (r answerRow) String() string {
	s := fmt.Sprintf("%s @%d", r.name, r.time)
	for i, v := range r.values {
		if r.gaps>>i&1 == 1 {
			s += " -"
		} else {
			s += " " + string(format.AppendNumber(nil, v))
		}
	}
	return s + " " + r.text
}

// modelLane is the rows of a series, or of a group.
type modelLane struct {
	label int
	rows  []answerRow
}

// model answers a query in the most obvious way. Where conditions are "host is one of", as a list of values.
func model(m *memory, q *Query, hosts []string) []answerRow {
	wanted := func(name string) bool {
		_, tags := names.Split(name)
		return hosts == nil || slices.ContainsFunc(hosts, func(h string) bool { return slices.Contains(tags, "host="+h) })
	}
	var ids []names.ID // of the first metric, then of the others
	for n, metric := range q.Metrics {
		for id := range names.ID(m.ix.Len()) {
			name := m.ix.Name(id)
			if have, _ := names.Split(name); have != metric || !wanted(name) {
				continue
			}
			if first, ok, err := m.ix.Lookup([]byte(names.WithMetric(name, q.Metrics[0]))); n > 0 && q.Kind != Aggregate && (err != nil || !ok || !slices.Contains(ids, first)) {
				continue
			}
			ids = append(ids, id)
		}
	}
	if q.Kind != Aggregate {
		slices.Sort(ids)
	}
	if q.Kind == SelectEvents && q.Order == ByTime {
		slices.Reverse(ids)
	}
	// Groups in the order of their first series.
	var groups []string
	members := map[string][]names.ID{}
	for _, id := range ids {
		name, ok := m.ix.Name(id), true
		switch {
		case q.Kind == Join || q.Kind == GroupAggregateJoin:
			if metric, _ := names.Split(name); metric != q.Metrics[0] {
				continue
			}
		case len(q.Group.Keys) == 0:
		case q.Group.Keep:
			name, ok = names.Keep(name, q.Group.Keys)
		default:
			name, ok = names.Drop(name, q.Group.Keys)
		}
		if !ok {
			continue
		}
		if members[name] == nil {
			groups = append(groups, name)
		}
		members[name] = append(members[name], id)
	}
	var lanes []modelLane
	for label, name := range groups {
		lanes = append(lanes, modelLanes(m, q, label, name, members[name])...)
	}
	var all []answerRow
	if q.Kind == Aggregate || q.Order == BySeries {
		for i := 0; i < len(lanes); {
			j := i
			for j < len(lanes) && lanes[j].label == lanes[i].label {
				j++
			}
			all = append(all, mergeModel(lanes[i:j], q.Backward)...)
			i = j
		}
	} else {
		all = mergeModel(lanes, q.Backward)
	}
	all = all[min(len(all), int(q.Offset)):]
	if q.Limit > 0 {
		all = all[:min(len(all), int(q.Limit))]
	}
	return all
}

// mergeModel sorts rows by time, then by lane, both descending if backward.
func mergeModel(lanes []modelLane, backward bool) []answerRow {
	type keyed struct {
		answerRow
		lane int
	}
	var all []keyed
	for i, l := range lanes {
		for _, r := range l.rows {
			all = append(all, keyed{r, i})
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		c := cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.lane, b.lane))
		if backward {
			return -c
		}
		return c
	})
	var out []answerRow
	for _, r := range all {
		out = append(out, r.answerRow)
	}
	return out
}

func modelLanes(m *memory, q *Query, label int, name string, ids []names.ID) []modelLane {
	metric, _ := names.Split(name)
	tags := name[len(metric):]
	keep := func(metric string, v float64) bool {
		b, ok := q.Filter.Columns[metric]
		return !ok || b.Contains(v)
	}
	var lanes []modelLane
	switch q.Kind {
	case Select, SelectEvents:
		for _, id := range ids {
			l := modelLane{label: label}
			for _, p := range m.read(id, q.From, q.To, q.Backward) {
				if q.Kind == SelectEvents {
					if strings.Contains(p.text, q.Filter.Text) {
						l.rows = append(l.rows, answerRow{name: name, time: p.time, text: p.text})
					}
				} else if keep(metric, p.value) {
					l.rows = append(l.rows, answerRow{name: name, time: p.time, values: []float64{p.value}})
				}
			}
			lanes = append(lanes, l)
		}
	case Aggregate:
		f := q.Functions[slices.Index(q.Metrics, metric)]
		var sum aggregate.Aggregate
		for _, id := range ids {
			one, _ := m.Aggregate(context.Background(), id, q.From, q.To)
			sum.Join(&one)
		}
		if sum.Count > 0 {
			r := answerRow{name: metric + ":" + f.String() + tags, time: f.time(&sum), values: []float64{f.value(&sum)}}
			if f == FirstTimestamp || f == LastTimestamp {
				r.gaps = 1
			}
			lanes = append(lanes, modelLane{label, []answerRow{r}})
		}
	case GroupAggregate:
		sums := map[int64]*aggregate.Aggregate{}
		for _, id := range ids {
			for _, g := range m.bins(m.read(id, q.From, q.To, false), q.From, q.To, q.Step, q.Backward) {
				if sums[g.Time] == nil {
					sums[g.Time] = &aggregate.Aggregate{}
				}
				sums[g.Time].Join(&g.Aggregate)
			}
		}
		var columns []string
		for _, f := range q.Functions {
			columns = append(columns, metric+":"+f.String())
		}
		l := modelLane{label: label}
		for at, sum := range sums {
			r := answerRow{name: strings.Join(columns, "|") + tags, time: at}
			for _, f := range q.Functions {
				r.values = append(r.values, f.value(sum))
			}
			met, unmet := 0, 0
			for f, b := range q.Filter.Functions {
				if b.Contains(f.value(sum)) {
					met++
				} else {
					unmet++
				}
			}
			if unmet == 0 || q.Filter.Any && met > 0 {
				l.rows = append(l.rows, r)
			}
		}
		lanes = append(lanes, l)
	case Join, GroupAggregateJoin:
		l := modelLane{label: label}
		// A row for the n-th point of each time.
		type key struct {
			time int64
			n    int
		}
		rows := map[key]*answerRow{}
		for c, metric := range q.Metrics {
			id, ok, _ := m.ix.Lookup([]byte(metric + tags))
			if !ok {
				continue
			}
			points := m.read(id, q.From, q.To, q.Backward)
			if q.Kind == GroupAggregateJoin {
				points = nil
				for _, g := range m.bins(m.read(id, q.From, q.To, false), q.From, q.To, q.Step, q.Backward) {
					points = append(points, point{time: g.Time, value: q.Functions[0].value(&g.Aggregate)})
				}
			}
			seen := map[int64]int{}
			for _, p := range points {
				if !keep(metric, p.value) {
					continue
				}
				k := key{p.time, seen[p.time]}
				seen[p.time]++
				if rows[k] == nil {
					rows[k] = &answerRow{name: strings.Join(q.Metrics, "|") + tags, time: p.time, values: make([]float64, len(q.Metrics)), gaps: 1<<len(q.Metrics) - 1}
				}
				rows[k].values[c] = p.value
				rows[k].gaps &^= 1 << c
			}
		}
		var keys []key
		for k := range rows {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.n, b.n)) })
		for _, k := range keys {
			l.rows = append(l.rows, *rows[k])
		}
		if q.Backward { // rows of one time stay in their order
			slices.SortStableFunc(l.rows, func(a, b answerRow) int { return cmp.Compare(b.time, a.time) })
		}
		lanes = append(lanes, l)
	}
	return lanes
}

func drawMemory(t *rapid.T) *memory {
	m := newMemory()
	for range rapid.IntRange(1, 12).Draw(t, "series") {
		metric := rapid.SampledFrom([]string{"cpu", "mem", "io", "!ev"}).Draw(t, "metric")
		name := metric
		for _, tag := range []string{"dc", "host"} {
			if v := rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, tag); v != "" {
				name += " " + tag + "=" + v
			}
		}
		if name == metric {
			name += " z=1"
		}
		var points []point
		for range rapid.IntRange(0, 30).Draw(t, "points") {
			v := rapid.SampledFrom([]float64{0, 1, 2, 3, 4, 5, -1, .5, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}).Draw(t, "value")
			points = append(points, point{rapid.Int64Range(-20, 40).Draw(t, "time"), v, rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "text")})
		}
		m.add(name, points...)
	}
	return m
}

func drawQuery(t *rapid.T) (*Query, []string) {
	q := &Query{
		Kind:     rapid.SampledFrom([]Kind{Select, Aggregate, GroupAggregate, Join, GroupAggregateJoin, SelectEvents}).Draw(t, "kind"),
		From:     rapid.Int64Range(-25, 30).Draw(t, "from"),
		Backward: rapid.Bool().Draw(t, "backward"),
		Order:    rapid.SampledFrom([]Order{ByTime, BySeries}).Draw(t, "order"),
		Limit:    rapid.SampledFrom([]uint64{0, 0, 1, 5, 50}).Draw(t, "limit"),
		Offset:   rapid.SampledFrom([]uint64{0, 0, 3}).Draw(t, "offset"),
		Step:     rapid.SampledFrom([]int64{1, 3, 7, 1000, math.MaxInt64}).Draw(t, "step"),
	}
	q.To = q.From + rapid.Int64Range(-2, 60).Draw(t, "long")
	if rapid.IntRange(0, 5).Draw(t, "all") == 0 {
		q.From, q.To = math.MinInt64, math.MaxInt64
	}
	metrics := rapid.Permutation([]string{"cpu", "mem", "io"}).Draw(t, "metrics")
	bounds := func() aggregate.Bounds {
		b := aggregate.Everything()
		b.Low, b.OpenLow = rapid.Float64Range(-1, 3).Draw(t, "low"), rapid.Bool().Draw(t, "open")
		return b
	}
	many := rapid.IntRange(2, 3).Draw(t, "many")
	switch q.Kind {
	case Select:
		q.Metrics = metrics[:1]
	case SelectEvents:
		q.Metrics = []string{"!ev"}
		q.Filter.Text = rapid.SampledFrom([]string{"", "o", "t"}).Draw(t, "text")
	case Aggregate:
		q.Order = ByTime
		q.Metrics = metrics[:many-1]
		for range q.Metrics {
			q.Functions = append(q.Functions, Function(rapid.IntRange(0, int(LastTimestamp)).Draw(t, "function")))
		}
	case GroupAggregate:
		q.Metrics = metrics[:many-1]
		q.Functions = rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(0, int(LastTimestamp)), func(i int) Function { return Function(i) }), 1, 4,
			func(f Function) Function { return f }).Draw(t, "functions")
		if rapid.Bool().Draw(t, "filter") {
			q.Filter.Functions = map[Function]aggregate.Bounds{Max: bounds(), Mean: bounds()}
			q.Filter.Any = rapid.Bool().Draw(t, "any")
		}
	default:
		q.Metrics = metrics[:many]
		q.Functions = []Function{Max}
	}
	if q.Kind == Select || q.Kind == Join || q.Kind == GroupAggregateJoin {
		if rapid.Bool().Draw(t, "filter") {
			q.Filter.Columns = map[string]aggregate.Bounds{q.Metrics[0]: bounds()}
		}
	}
	if q.Kind != Join && q.Kind != GroupAggregateJoin && rapid.Bool().Draw(t, "group") {
		q.Group = Grouping{rapid.SampledFrom([][]string{{"host"}, {"dc"}}).Draw(t, "keys"), rapid.Bool().Draw(t, "keep")}
	}
	var hosts []string
	if rapid.Bool().Draw(t, "where") {
		hosts = []string{"a", "b"}
		q.Where = []names.Match{names.Tag("host", hosts...)}
	}
	return q, hosts
}

func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMemory(t)
		q, hosts := drawQuery(t)
		want := model(m, q, hosts)
		answer, err := Run(context.Background(), m, q, Options{
			Workers: rapid.IntRange(1, 4).Draw(t, "workers"),
			sizes: &sizes{
				batch: rapid.IntRange(1, 8).Draw(t, "batch"), window: rapid.IntRange(1, 100).Draw(t, "window"), piece: rapid.IntRange(1, 5).Draw(t, "piece"),
			},
		})
		if err != nil {
			if len(want) > 0 || err != ErrNotFound && err != ErrGroup {
				t.Fatalf("%+v: %v, with %d rows to find", q, err, len(want))
			}
			return
		}
		var got []answerRow
		for r, err := range answer.All() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, answerRow{r.Name, r.Time, slices.Clone(r.Values), r.Missing, r.Text})
		}
		m.open.Wait()
		for i := range max(len(got), len(want)) {
			g, w := "nothing", "nothing"
			if i < len(got) {
				g = got[i].String()
			}
			if i < len(want) {
				w = want[i].String()
			}
			if g != w {
				t.Fatalf("%+v\nrow %d: got %s, want %s (%d rows, want %d)", q, i, g, w, len(got), len(want))
			}
		}
		if answer.Shape() == rows.Names {
			t.Fatal("rows of names only")
		}
	})
}
