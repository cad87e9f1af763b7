package names

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"

	"weir/internal/par"
)

// Match is a condition on the metric or on one tag of a series. A series whose
// tag is missing does not meet it. Make it with Metric, Tag, Has, Prefix or
// Regexp, and turn it around with Not.
type Match struct {
	key    string
	tag    bool // whether key is that of a tag, rather than the metric meant
	negate bool
	kind   matchKind
	values []string
	re     *regexp.Regexp // anchored
	prefix string         // every text that re matches begins so
}

type matchKind uint8

const (
	oneOf matchKind = iota
	present
	byPrefix
	byRegexp
)

// Metric is met by series of one of the metrics.
func Metric(metrics ...string) Match { return Match{values: metrics} }

// Tag is met by series that have one of the values under a key. Values are
// compared with what stands in the name, backslashes included.
func Tag(key string, values ...string) Match { return Match{key: key, tag: true, values: values} }

// Has is met by series that have a tag with the key, even an empty one.
func Has(key string) Match { return Match{key: key, tag: true, kind: present} }

// MetricPrefix is met by series whose metric begins with prefix. All series of
// events are MetricPrefix("!").
func MetricPrefix(prefix string) Match {
	return Match{kind: byPrefix, prefix: prefix}
}

// TagPrefix is met by series whose value under the key begins with prefix.
func TagPrefix(key, prefix string) Match {
	return Match{key: key, tag: true, kind: byPrefix, prefix: prefix}
}

// MetricRegexp is met by series whose whole metric matches an expression in
// the syntax of package regexp.
func MetricRegexp(expr string) (Match, error) { return expression(Match{kind: byRegexp}, expr) }

// TagRegexp is met by series whose whole value under the key matches an expression.
func TagRegexp(key, expr string) (Match, error) {
	return expression(Match{key: key, tag: true, kind: byRegexp}, expr)
}

func expression(m Match, expr string) (Match, error) {
	loose, err := regexp.Compile(expr)
	if err != nil {
		return m, fmt.Errorf("match names: %w", err)
	}
	m.re, err = regexp.Compile(`^(?:` + expr + `)$`)
	if err != nil {
		return m, fmt.Errorf("match names: %w", err)
	}
	m.prefix, _ = loose.LiteralPrefix()
	return m, nil
}

// Not is met by the series that do not meet m, those without the tag among them.
func (m Match) Not() Match {
	m.negate = !m.negate
	return m
}

// term is a match found in the symbols: the lists of words, together, are the
// series that meet it (or, negated, do not).
type term struct {
	words  []uint32 // ascending
	negate bool
	size   int // entries in these lists
}

// resolve finds the words of m.
func (ix *Index) resolve(ctx context.Context, m Match) (term, error) {
	t := term{negate: m.negate}
	class := uint32(metricClass)
	if m.tag {
		values, key, ok := ix.symbols.values([]byte(m.key))
		if !ok {
			return t, nil
		}
		if class = values; m.kind == present {
			t.words = []uint32{key}
		}
	}
	switch m.kind {
	case oneOf:
		for _, v := range m.values {
			if symbol, ok := ix.symbols.find(class, []byte(v)); ok {
				t.words = append(t.words, symbol)
			}
		}
		slices.Sort(t.words)
		t.words = slices.Compact(t.words)
	case byPrefix, byRegexp:
		words, err := ix.scan(ctx, class, []byte(m.prefix), m.re)
		if err != nil {
			return t, err
		}
		t.words = words
		if n := ix.symbols.members(class).len(); m.tag && len(words) == int(n) && n > 1 {
			_, key, _ := ix.symbols.values([]byte(m.key))
			t.words = []uint32{key} // one list for all of them
		}
	}
	t.size = ix.lists.Total(t.words)
	return t, nil
}

// pace is how many small steps lie between two looks at whether to stop.
const pace = 4096

// scanThreads is how many goroutines look at n texts.
func scanThreads(n int) int {
	if n <= 4*pace {
		return 1
	}
	return par.Threads(0)
}

// scan returns the symbols of a class whose text begins with prefix and matches
// re, unless that is nil; ascending.
func (ix *Index) scan(ctx context.Context, class uint32, prefix []byte, re *regexp.Regexp) ([]uint32, error) {
	members := ix.symbols.members(class)
	n := int(members.len())
	found := make([][]uint32, (n+pace-1)/pace)
	err := par.Range(ctx, scanThreads(n), n, pace, func(_, lo, hi int) {
		var words []uint32
		ix.symbols.each(class, members, uint32(lo), uint32(hi), func(symbol uint32, text []byte) bool {
			if bytes.HasPrefix(text, prefix) && (re == nil || re.Match(text)) {
				words = append(words, symbol)
			}
			return true
		})
		found[lo/pace] = words
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}
