package trace

import (
	"cmp"
	"slices"

	"weir/timely"
)

// Batcher stages changes until their times are over.
type Batcher struct {
	lower   timely.Antichain
	changes []change
	out     Builder
}

type change struct {
	key, val uint64
	time     timely.Time
	diff     int64
}

// NewBatcher returns a batcher of nothing yet, whose first batch begins at the minimal time.
func NewBatcher() *Batcher { return &Batcher{lower: timely.Antichain{{}}} }

// Add adds a change, at a time at or after the upper frontier of the last Seal.
func (b *Batcher) Add(key, val uint64, t timely.Time, diff int64) {
	if diff != 0 {
		b.changes = append(b.changes, change{key, val, t, diff})
	}
}

// Frontier is the minimal times of what is staged.
func (b *Batcher) Frontier() timely.Antichain {
	var f timely.Antichain
	for _, c := range b.changes {
		f.Insert(c.time)
	}
	return f
}

// Len is the number of changes staged.
func (b *Batcher) Len() int { return len(b.changes) }

// Seal returns the changes that are not at or after upper, as the batch from the last Seal's upper to this one, and keeps the
// others. An error is an *OverflowError, after which the batcher is of no use.
func (b *Batcher) Seal(upper timely.Antichain) (*Batch, error) {
	lower := b.lower
	b.lower = slices.Clone(upper)
	var ready, rest []change
	for _, c := range b.changes {
		if upper.LessEqual(c.time) {
			rest = append(rest, c)
		} else {
			ready = append(ready, c)
		}
	}
	b.changes = rest
	slices.SortFunc(ready, func(x, y change) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.val, y.val)) })
	for _, c := range ready {
		b.out.Add(c.key, c.val, c.time, c.diff)
	}
	if err := b.out.Err(); err != nil {
		return nil, err
	}
	return b.out.Done(lower, b.lower), nil
}
