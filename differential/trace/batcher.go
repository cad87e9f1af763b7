package trace

import (
	"slices"

	"weir/timely"
)

// Batcher stages changes until their times are over. It keeps those of each time apart, so that
// sealing some times does not touch the others, in sorted blocks and an unsorted rest.
type Batcher struct {
	lower    timely.Antichain
	frontier timely.Antichain
	n        int
	stages   []*stage
	last     *stage                 // that was added to
	index    map[timely.Time]*stage // of stages, once they are many
	spare    []*stage
	sorter   sorter
}

const (
	// fewStages is how many stages are searched one by one.
	fewStages = 8
	// spareStages is how many stages are kept for later.
	spareStages = 4
)

// NewBatcher returns a batcher of nothing yet, whose first batch begins at the minimal time.
func NewBatcher() *Batcher { return &Batcher{lower: timely.Antichain{{}}} }

// Add adds a change, at a time at or after the upper frontier of the last Seal.
func (b *Batcher) Add(key, val uint64, t timely.Time, diff int64) {
	if diff == 0 {
		return
	}
	s := b.last
	if s == nil || s.time != t {
		s = b.stage(t)
	}
	if s.diffs == nil && diff != s.diff {
		s.mix(diff)
	}
	if s.diffs != nil {
		s.diffs = append(s.diffs, diff)
	}
	s.vals = append(s.vals, val)
	s.keys = append(s.keys, key)
	b.n++
	if len(s.keys) >= s.room {
		b.spill(s)
	}
}

// stage is the one of time t, perhaps new.
func (b *Batcher) stage(t timely.Time) *stage {
	if len(b.stages) <= fewStages {
		for _, s := range b.stages {
			if s.time == t {
				b.last = s
				return s
			}
		}
	} else if s := b.index[t]; s != nil {
		b.last = s
		return s
	}
	s := b.fresh(t)
	b.last = s
	b.stages = append(b.stages, s)
	switch {
	case b.index != nil:
		b.index[t] = s
	case len(b.stages) > fewStages:
		b.index = make(map[timely.Time]*stage)
		for _, s := range b.stages {
			b.index[s.time] = s
		}
	}
	b.frontier.Insert(t)
	return s
}

// Frontier is the minimal times of what is staged. It belongs to the batcher and
// changes with it.
func (b *Batcher) Frontier() timely.Antichain { return b.frontier }

// Len is the number of changes staged, those that add up counted once or more often.
func (b *Batcher) Len() int { return b.n }

// Seal returns the changes that are not at or after upper, as the batch from the last Seal's upper
// to this one, and keeps the others. The batch has no blocks if there is nothing left when they are
// added up. An error is an *OverflowError, after which the batcher is of no use.
func (b *Batcher) Seal(upper timely.Antichain) (*Batch, error) {
	lower := b.lower
	if !upper.Equal(lower) {
		b.lower = slices.Clone(upper)
	}
	ready := b.ready(upper)
	batch, err := b.sorter.batch(ready, lower, b.lower)
	for _, s := range ready {
		b.release(s)
	}
	clear(ready)
	return batch, err
}

// ready takes out the stages of times that are not at or after upper.
func (b *Batcher) ready(upper timely.Antichain) []*stage {
	over := func(t timely.Time) bool { return !upper.LessEqual(t) }
	if !slices.ContainsFunc(b.frontier, over) {
		return nil
	}
	b.last = nil
	// The ready stages go to the end.
	n := len(b.stages)
	for i := 0; i < n; {
		if s := b.stages[i]; over(s.time) {
			n--
			b.stages[i], b.stages[n] = b.stages[n], s
			b.n -= s.len()
			delete(b.index, s.time)
		} else {
			i++
		}
	}
	ready := b.stages[n:]
	b.stages = b.stages[:n]
	b.frontier = b.frontier[:0]
	for _, s := range b.stages {
		b.frontier.Insert(s.time)
	}
	if len(b.index) == 0 {
		b.index = nil
	}
	return ready
}

// fresh is an empty stage.
func (b *Batcher) fresh(t timely.Time) *stage {
	s := new(stage)
	if n := len(b.spare); n > 0 {
		s, b.spare = b.spare[n-1], b.spare[:n-1]
	}
	s.time, s.diff, s.room = t, 1, spillMin
	return s
}

// release forgets what a stage has held.
func (b *Batcher) release(s *stage) {
	if len(b.spare) >= spareStages {
		return
	}
	if cap(s.keys) > spareRoom {
		*s = stage{}
	} else {
		spare := s.spare
		if s.diffs != nil {
			spare = s.diffs[:0]
		}
		*s = stage{keys: s.keys[:0], vals: s.vals[:0], spare: spare}
	}
	b.spare = append(b.spare, s)
}
