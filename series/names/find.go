package names

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"weir/series/names/posting"
)

// Find returns the series that meet all matches; with none, all series. Series
// created or deleted meanwhile may be in or out. It stops with ctx's error when ctx ends.
func (ix *Index) Find(ctx context.Context, where []Match) (*Set, error) {
	q := query{ix: ix, ctx: ctx, n: ix.at.len()}
	set, err := q.find(where)
	if err != nil {
		return nil, fmt.Errorf("find series: %w", err)
	}
	return set, nil
}

// query is one search among the first n series.
type query struct {
	ix    *Index
	ctx   context.Context // of this one call
	n     uint32
	views []posting.View
}

func (q *query) find(where []Match) (*Set, error) {
	terms := make([]term, 0, len(where))
	for _, m := range where {
		t, err := q.ix.resolve(q.ctx, m)
		if err != nil {
			return nil, err
		}
		if len(t.words) == 0 {
			if !t.negate {
				return new(Set), q.ctx.Err()
			}
			continue // nothing to leave out
		}
		terms = append(terms, t)
	}
	// The smallest first, as all that follows is a part of it.
	slices.SortStableFunc(terms, func(a, b term) int {
		if a.negate != b.negate {
			if a.negate {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.size, b.size)
	})
	set := new(Set)
	if len(terms) > 0 && !terms[0].negate {
		if err := q.load(set, terms[0]); err != nil {
			return nil, err
		}
		terms = terms[1:]
	} else {
		set.bits = full(q.n)
	}
	set.keep(*q.ix.dead.Load(), false)
	for _, t := range terms {
		if err := q.narrow(set, t); err != nil {
			return nil, err
		}
	}
	set.count()
	return set, q.ctx.Err()
}

// full is a bitmap of the numbers below n.
func full(n uint32) []uint64 {
	bits := make([]uint64, (n+63)/64)
	for i := range bits {
		bits[i] = ^uint64(0)
	}
	if n%64 != 0 {
		bits[len(bits)-1] = 1<<(n%64) - 1
	}
	return bits
}

// load makes set the series of a term: one by one as long as that is smaller.
func (q *query) load(set *Set, t term) error {
	if t.size > int(q.n)/32 {
		bits, err := q.bitmap(t)
		set.bits = bits
		return err
	}
	set.ids = make([]uint32, 0, t.size)
	err := q.each(t.words, func(v *posting.View) { set.ids = v.AppendTo(set.ids) })
	if len(t.words) > 1 {
		slices.Sort(set.ids)
		set.ids = slices.Compact(set.ids)
	}
	end, _ := slices.BinarySearch(set.ids, q.n)
	set.ids = set.ids[:end]
	return err
}

// bitmap is the series of a term below n.
func (q *query) bitmap(t term) ([]uint64, error) {
	bits := make([]uint64, (q.n+63)/64)
	err := q.each(t.words, func(v *posting.View) { v.Or(bits) })
	if q.n%64 != 0 {
		bits[len(bits)-1] &= 1<<(q.n%64) - 1
	}
	return bits, err
}

// each calls f with the lists of words, until the query is to stop.
func (q *query) each(words []uint32, f func(*posting.View)) error {
	for some := range slices.Chunk(words, 1024) {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		q.views = q.ix.lists.Views(q.views[:0], some)
		for i := range q.views {
			f(&q.views[i])
		}
	}
	return nil
}

// lookCost is how many entries of a list are read in the time that one series
// takes to be looked at.
const lookCost = 16

// narrow leaves in set what is in a term, or what is not in a negated one. Few
// candidates are looked at one by one, so that long lists stay unread.
func (q *query) narrow(set *Set, t term) error {
	if set.bits != nil || len(set.ids)*lookCost > t.size {
		bits, err := q.bitmap(t)
		if err != nil {
			return err
		}
		set.keep(bits, !t.negate)
		return nil
	}
	kept := set.ids[:0]
	for i, id := range set.ids {
		if i%pace == 0 && q.ctx.Err() != nil {
			return q.ctx.Err()
		}
		if q.ix.meets(id, t.words) != t.negate {
			kept = append(kept, id)
		}
	}
	set.ids = kept
	return nil
}

// meets reports whether one of the words, which are metrics, values or keys in
// ascending order, is in the name of a series.
func (ix *Index) meets(id uint32, words []uint32) bool {
	class, _ := ix.symbols.get(words[0])
	for rest := ix.codes.get(ix.at.get(id)); len(rest) > 0; {
		var symbol uint32
		symbol, rest = nextSymbol(rest)
		if class == keyClass { // a single word: see Has
			if of, _ := ix.symbols.get(symbol); of >= valueClass && ix.symbols.key(of) == words[0] {
				return true
			}
			continue
		}
		if len(words) == 1 {
			if symbol == words[0] {
				return true
			}
		} else if _, ok := slices.BinarySearch(words, symbol); ok {
			return true
		}
	}
	return false
}
