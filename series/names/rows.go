package names

import (
	"fmt"
	"slices"
	"strings"
)

// Columns is the canonical names of the series that a compound name
// "m1|m2|m3 tags" stands for, in the order of its metrics. The name of a
// single series is a compound of one. Metrics of values and of events may be
// mixed. An error is a *SyntaxError.
func Columns(name []byte) ([]string, error) {
	var p parts
	if err := p.parse(name); err != nil {
		return nil, err
	}
	var tail []byte
	for i := range p.count {
		tail = append(append(tail, ' '), p.tag(i)...)
	}
	var all []string
	at, rest := p.metric.from, p.metricText()
	for more := true; more; {
		metric := rest
		cut := indexUnescaped(rest, '|')
		if more = cut >= 0; more {
			metric, rest = rest[:cut], rest[cut+1:]
		}
		switch {
		case len(metric) == 0:
			return nil, p.fail(at, "an empty metric in a compound name")
		case len(all) == MaxColumns:
			return nil, p.fail(at, fmt.Sprintf("more than %d metrics in a compound name", MaxColumns))
		}
		all = append(all, string(metric)+string(tail))
		at += cut + 1
	}
	return all, nil
}

// Split cuts a canonical name into its metric and its tags, each "key=value".
func Split(name string) (metric string, tags []string) {
	cut := func(s string) (word, rest string) {
		for i := 0; i < len(s); i++ {
			switch s[i] {
			case ' ':
				return s[:i], s[i+1:]
			case '\\':
				i++
			}
		}
		return s, ""
	}
	metric, rest := cut(name)
	for rest != "" {
		var tag string
		tag, rest = cut(rest)
		tags = append(tags, tag)
	}
	return metric, tags
}

// Key is the key of a tag of a canonical name.
func Key(tag string) string {
	for i := 0; i < len(tag); i++ {
		switch tag[i] {
		case '=':
			return tag[:i]
		case '\\':
			i++
		}
	}
	return tag
}

// WithMetric is a canonical name with another metric: the partner in a join.
func WithMetric(name, metric string) string {
	old, _ := Split(name)
	return metric + name[len(old):]
}

// Keep is a canonical name with those of its tags whose keys are listed, which
// is what pivot-by-tag puts together. It reports false where the series lacks
// one of them, or where no tag would be left.
func Keep(name string, keys []string) (string, bool) { return reduce(name, keys, true) }

// Drop is a canonical name without the tags whose keys are listed, which is what
// group-by-tag puts together. It reports false where the series lacks one of
// them, or where no tag would be left.
func Drop(name string, keys []string) (string, bool) { return reduce(name, keys, false) }

func reduce(name string, keys []string, keep bool) (string, bool) {
	metric, tags := Split(name)
	var b strings.Builder
	b.WriteString(metric)
	found, left := 0, 0
	for _, tag := range tags {
		listed := slices.Contains(keys, Key(tag))
		if listed {
			found++
		}
		if listed == keep {
			left++
			b.WriteByte(' ')
			b.WriteString(tag)
		}
	}
	distinct := slices.Clone(keys)
	slices.Sort(distinct)
	return b.String(), left > 0 && found == len(slices.Compact(distinct))
}
