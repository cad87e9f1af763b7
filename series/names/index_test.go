package names

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is an index of the plainest kind: the name of each ID, "" when deleted.
type model struct{ names []string }

func (m *model) lookup(name string) (ID, bool) {
	i := slices.Index(m.names, name)
	return ID(max(i, 0)), i >= 0 && name != ""
}

// tags is the metric under "" and the values under their keys.
func tags(name string) map[string]string {
	metric, all := Split(name)
	got := map[string]string{"": metric}
	for _, tag := range all {
		key := Key(tag)
		got[key] = tag[len(key)+1:]
	}
	return got
}

// condition is a match in two forms.
type condition struct {
	match Match
	meets func(tags map[string]string) bool
	say   string
}

var modelKeys = []string{"a", "b", "host", "none"}

func drawText(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{"", "x", "xy", "xyz", "y", "zz", `x\ y`, "é", "0", "1", "2"}).Draw(t, label)
}

func drawName(t *rapid.T) string {
	metric := rapid.SampledFrom([]string{"cpu", "cpu.user", "mem", "!ev", "!log"}).Draw(t, "metric")
	name := metric
	for _, key := range modelKeys[:3] {
		if rapid.Bool().Draw(t, "has "+key) {
			name += " " + key + "=" + drawText(t, key)
		}
	}
	if name == metric {
		name += " a=" + drawText(t, "a")
	}
	return name
}

func drawCondition(t *rapid.T) condition {
	key := rapid.SampledFrom(append([]string{""}, modelKeys...)).Draw(t, "key")
	pick := func() string {
		if key == "" {
			return rapid.SampledFrom([]string{"", "c", "cpu", "mem", "!", "!ev", "nope"}).Draw(t, "text")
		}
		return drawText(t, "text")
	}
	var c condition
	var test func(string) bool
	switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
	case kind == 0 && key != "":
		c.match, test = Has(key), func(string) bool { return true }
	case kind == 1:
		p := pick()
		test = func(v string) bool { return strings.HasPrefix(v, p) }
		if c.match = TagPrefix(key, p); key == "" {
			c.match = MetricPrefix(p)
		}
	case kind == 2:
		expr := rapid.SampledFrom([]string{"", "x.*", "x|y", ".*y", "c(pu|at).*", "[a-m!]+", "(?i)CPU", "x"}).Draw(t, "regexp")
		re := regexp.MustCompile("^(?:" + expr + ")$")
		test = re.MatchString
		var err error
		if c.match, err = TagRegexp(key, expr); key == "" {
			c.match, err = MetricRegexp(expr)
		}
		if err != nil {
			t.Fatal(err)
		}
	default:
		values := rapid.SliceOfN(rapid.Custom(func(*rapid.T) string { return pick() }), 0, 3).Draw(t, "values")
		test = func(v string) bool { return slices.Contains(values, v) }
		if c.match = Tag(key, values...); key == "" {
			c.match = Metric(values...)
		}
	}
	c.say = fmt.Sprintf("%+v", c.match)
	c.meets = func(tags map[string]string) bool {
		v, ok := tags[key]
		return ok && test(v)
	}
	if rapid.Bool().Draw(t, "not") {
		inner := c.meets
		c.match, c.meets = c.match.Not(), func(tags map[string]string) bool { return !inner(tags) }
		c.say = "not " + c.say
	}
	return c
}

// check holds everything that can be asked of ix against the model.
func (m *model) check(t *rapid.T, ix *Index) {
	live := map[string]ID{}
	for i, name := range m.names {
		if got := ix.Name(ID(i)); got != name {
			t.Fatalf("series %d is called %q, want %q", i, got, name)
		}
		if name != "" {
			live[name] = ID(i)
		}
	}
	if ix.Len() != len(live) || int(ix.Next()) != len(m.names) {
		t.Fatalf("%d names and next %d, want %d and %d", ix.Len(), ix.Next(), len(live), len(m.names))
	}
	for range 4 {
		name := drawName(t)
		id, ok, err := ix.Lookup([]byte(name))
		if want, has := m.lookup(name); err != nil || ok != has || ok && id != want {
			t.Fatalf("%q has number %d %v (%v), want %d %v", name, id, ok, err, want, has)
		}
	}
	for range 4 {
		var where []Match
		var conditions []condition
		for range rapid.IntRange(0, 3).Draw(t, "conditions") {
			c := drawCondition(t)
			where, conditions = append(where, c.match), append(conditions, c)
		}
		var want []ID
		for i, name := range m.names {
			if name != "" && !slices.ContainsFunc(conditions, func(c condition) bool { return !c.meets(tags(name)) }) {
				want = append(want, ID(i))
			}
		}
		set, err := ix.Find(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		says := ""
		for _, c := range conditions {
			says += c.say + "; "
		}
		if got := slices.Collect(set.All()); !slices.Equal(got, want) || set.Len() != len(want) {
			t.Fatalf("%s found %v (%d), want %v in %q", says, got, set.Len(), want, m.names)
		}
		got := slices.Collect(set.Backward())
		if slices.Reverse(got); !slices.Equal(got, want) {
			t.Fatalf("%s found %v backward, want %v", says, got, want)
		}
		for i := range m.names {
			if set.Contains(ID(i)) != slices.Contains(want, ID(i)) {
				t.Fatalf("%s: series %d is in %v", says, i, want)
			}
		}
	}
	m.checkSuggestions(t, ix, live)
}

func (m *model) checkSuggestions(t *rapid.T, ix *Index, live map[string]ID) {
	metric := rapid.SampledFrom([]string{"", "cpu", "!ev", "nope"}).Draw(t, "suggest metric")
	key := rapid.SampledFrom(modelKeys).Draw(t, "suggest key")
	prefix := rapid.SampledFrom([]string{"", "c", "x", "h", "!"}).Draw(t, "suggest prefix")
	limit := rapid.IntRange(0, 3).Draw(t, "limit")
	metrics, keys, values := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for name := range live {
		of := tags(name)
		metrics[of[""]] = true
		if metric != "" && of[""] != metric {
			continue
		}
		for k, v := range of {
			if k != "" {
				keys[k] = true
			}
			if k == key {
				values[v] = true
			}
		}
	}
	first := func(of map[string]bool) []string {
		all := slices.DeleteFunc(slices.Sorted(maps.Keys(of)), func(s string) bool { return !strings.HasPrefix(s, prefix) })
		if limit > 0 && len(all) > limit {
			all = all[:limit]
		}
		return all
	}
	hold := func(what string, got []string, err error, want map[string]bool) {
		if err != nil || !slices.Equal(got, first(want)) {
			t.Fatalf("%s of %q beginning with %q, %d of them: %q (%v), want %q", what, metric, prefix, limit, got, err, first(want))
		}
	}
	got, err := ix.Metrics(t.Context(), prefix, limit)
	hold("metrics", got, err, metrics)
	got, err = ix.Keys(t.Context(), metric, prefix, limit)
	hold("keys", got, err, keys)
	got, err = ix.Values(t.Context(), metric, key, prefix, limit)
	hold("values under "+key, got, err, values)
}

// change adds a name or deletes some.
func (m *model) change(t *rapid.T, ix *Index) {
	if rapid.IntRange(0, 9).Draw(t, "change") == 0 && len(m.names) > 0 {
		id := ID(rapid.IntRange(0, len(m.names)).Draw(t, "delete"))
		want := 0
		if int(id) < len(m.names) && m.names[id] != "" {
			m.names[id], want = "", 1
		}
		if got, err := ix.Delete(id, id); err != nil || got != want {
			t.Fatalf("deleted %d names (%v), want %d", got, err, want)
		}
		return
	}
	name := drawName(t)
	want, had := m.lookup(name)
	if !had {
		want = ID(len(m.names))
		m.names = append(m.names, name)
	}
	if id, created, err := ix.Add([]byte(name)); err != nil || id != want || created == had {
		t.Fatalf("%q got number %d, new %v (%v), want %d %v", name, id, created, err, want, !had)
	}
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ix, m := New(), new(model)
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			for range rapid.IntRange(0, 100).Draw(t, "changes") {
				m.change(t, ix)
			}
			m.check(t, ix)
		}
	})
}

// TestLarge holds combined queries against counting, where sets are bitmaps and
// lists are in blocks.
func TestLarge(t *testing.T) {
	n := 100000
	if testing.Short() {
		n = 70000 // more than a block of a list
	}
	ix := New()
	name := func(i int) string {
		return fmt.Sprintf("m%d dc=d%d even=%d host=h%05d", i%10, i%7, i%2, i/10)
	}
	for i := range n {
		if id, created, err := ix.Add([]byte(name(i))); id != ID(i) || !created || err != nil {
			t.Fatalf("%q got number %d, new %v (%v)", name(i), id, created, err)
		}
	}
	re, err := TagRegexp("host", "h00.*7")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		where []Match
		meets func(i int) bool
	}{
		{nil, func(int) bool { return true }},
		{[]Match{Tag("even", "1")}, func(i int) bool { return i%2 == 1 }},
		{[]Match{Tag("even", "1").Not(), Tag("dc", "d1", "d2", "d3")}, func(i int) bool { return i%2 == 0 && i%7 >= 1 && i%7 <= 3 }},
		{[]Match{Metric("m3"), Tag("host", "h00042")}, func(i int) bool { return i == 423 }},
		{[]Match{re, Has("host"), Tag("dc", "d0").Not()}, func(i int) bool { return i/10 < 1000 && i/10%10 == 7 && i%7 != 0 }},
		{[]Match{TagPrefix("host", "h0"), Metric("m1", "m5").Not()}, func(i int) bool { return i%10 != 1 && i%10 != 5 }},
	} {
		want := 0
		for i := range n {
			if c.meets(i) {
				want++
			}
		}
		set, err := ix.Find(t.Context(), c.where)
		if err != nil || set.Len() != want {
			t.Fatalf("%+v found %d series (%v), want %d", c.where, set.Len(), err, want)
		}
		for id := range set.All() {
			if !c.meets(int(id)) {
				t.Fatalf("%+v found %q", c.where, ix.Name(id))
			}
		}
	}
	got, err := ix.Values(t.Context(), "m3", "host", "h0123", 4)
	if want := []string{"h01230", "h01231", "h01232", "h01233"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("values %q (%v), want %q", got, err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ix.Find(ctx, []Match{re}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled search ends with %v", err)
	}
	if _, err := ix.Values(ctx, "", "host", "", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled suggestion ends with %v", err)
	}
}

func TestNoAllocation(t *testing.T) {
	ix := New()
	name := []byte("cpu host=a dc=x")
	if _, _, err := ix.Add(name); err != nil {
		t.Fatal(err)
	}
	room := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		id, _, _ := ix.Add(name)
		room = ix.AppendName(room[:0], id)
	}); n != 0 {
		t.Errorf("finding and naming a series takes %v allocations", n)
	}
}

func TestBadRegexp(t *testing.T) {
	for _, expr := range []string{"(", "a)(b", "["} {
		if _, err := TagRegexp("host", expr); err == nil {
			t.Errorf("%q was accepted", expr)
		}
	}
}
