package names

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"weir/internal/par"
	"weir/series/names/posting"
)

// Metrics returns the metrics that begin with prefix and have series, sorted by
// their bytes: the first limit of them, or all if limit is 0.
func (ix *Index) Metrics(ctx context.Context, prefix string, limit int) ([]string, error) {
	return ix.suggest(ctx, metricClass, "", prefix, limit)
}

// Keys returns the keys of tags that begin with prefix and occur in the series of a
// metric, or of any if metric is "", as Metrics does.
func (ix *Index) Keys(ctx context.Context, metric, prefix string, limit int) ([]string, error) {
	return ix.suggest(ctx, keyClass, metric, prefix, limit)
}

// Values returns the values that begin with prefix and occur under a key in the
// series of a metric, or of any if metric is "", as Metrics does.
func (ix *Index) Values(ctx context.Context, metric, key, prefix string, limit int) ([]string, error) {
	class, _, ok := ix.symbols.values([]byte(key))
	if !ok {
		return nil, ctx.Err()
	}
	return ix.suggest(ctx, class, metric, prefix, limit)
}

func (ix *Index) suggest(ctx context.Context, class uint32, metric, prefix string, limit int) ([]string, error) {
	among, all, err := ix.series(ctx, metric)
	if err != nil {
		return nil, fmt.Errorf("suggest names: %w", err)
	}
	if among.Len() == 0 {
		return nil, nil
	}
	var c collector
	c.limit = limit
	// Either the texts are looked at, or the series, whichever are fewer.
	if class >= valueClass && among.Len() < int(ix.symbols.members(class).len())/4 {
		err = ix.collectFrom(ctx, &c, among, class, []byte(prefix))
	} else {
		err = ix.collect(ctx, &c, class, []byte(prefix), func(symbol uint32) bool {
			return all || ix.occurs(symbol, among)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("suggest names: %w", err)
	}
	return c.finish(), nil
}

// series is the series of a metric; all says that every symbol occurs in one.
func (ix *Index) series(ctx context.Context, metric string) (among *Set, all bool, err error) {
	var where []Match
	if metric != "" {
		where = []Match{Metric(metric)}
	}
	all = metric == "" && ix.deleted.Load() == 0
	among, err = ix.Find(ctx, where)
	return among, all, err
}

// occurs reports whether a symbol is in the name of one of the series of a set.
func (ix *Index) occurs(symbol uint32, among *Set) bool {
	view := ix.lists.View(symbol)
	return occurs(&view, among)
}

func occurs(list *posting.View, among *Set) bool {
	return !list.Walk(func(id uint32) bool { return !among.Contains(ID(id)) })
}

// collect takes the texts of a class for whose symbols occurs holds.
func (ix *Index) collect(ctx context.Context, c *collector, class uint32, prefix []byte, occurs func(uint32) bool) error {
	members := ix.symbols.members(class)
	n := int(members.len())
	threads := scanThreads(n)
	all := make([]collector, threads)
	err := par.Range(ctx, threads, n, pace, func(worker, lo, hi int) {
		mine := &all[worker]
		mine.limit = c.limit
		ix.symbols.each(class, members, uint32(lo), uint32(hi), func(symbol uint32, text []byte) bool {
			if bytes.HasPrefix(text, prefix) && mine.wants(text) && occurs(symbol) {
				mine.add(text)
			}
			return true
		})
	})
	for i := range all {
		c.texts = append(c.texts, all[i].texts...)
	}
	return err
}

// collectFrom takes the values of a class out of the names of a set of series.
func (ix *Index) collectFrom(ctx context.Context, c *collector, among *Set, class uint32, prefix []byte) error {
	seen := map[uint32]bool{}
	n := 0
	for id := range among.All() {
		if n++; n%pace == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for rest := ix.codes.get(ix.at.get(uint32(id))); len(rest) > 0; {
			var symbol uint32
			symbol, rest = nextSymbol(rest)
			of, text := ix.symbols.get(symbol)
			if of == class && bytes.HasPrefix(text, prefix) && !seen[symbol] && c.wants(text) {
				seen[symbol] = true
				c.add(text)
			}
		}
	}
	return nil
}

// collector keeps the first few, or all, of the texts that it is given.
type collector struct {
	limit int
	texts [][]byte // in no order; they belong to the index
	worst []byte   // the last text that is still among the first few, if there are enough
}

// wants reports whether text may be among the first few.
func (c *collector) wants(text []byte) bool {
	return c.worst == nil || bytes.Compare(text, c.worst) < 0
}

func (c *collector) add(text []byte) {
	c.texts = append(c.texts, text)
	if c.limit > 0 && len(c.texts) >= 2*c.limit+64 {
		c.trim()
	}
}

func (c *collector) trim() {
	slices.SortFunc(c.texts, bytes.Compare)
	if c.limit > 0 && len(c.texts) >= c.limit {
		c.texts = c.texts[:c.limit]
		c.worst = c.texts[c.limit-1]
	}
}

func (c *collector) finish() []string {
	c.trim()
	texts := make([]string, len(c.texts))
	for i, t := range c.texts {
		texts[i] = string(t)
	}
	return texts
}
