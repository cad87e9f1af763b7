package tree

import (
	"math"

	"weir/series/aggregate"
)

// A Cursor reads the points of a View in the order of their times, or backward.
type Cursor struct {
	w    *walk
	left *item // points that were read and not yet returned
}

// Points returns a cursor at the first point. Subtrees in which no value is in keep, if that is not nil, are not read;
// the points of others are returned whether they are in it or not.
func (v *View) Points(backward bool, keep *aggregate.Bounds) *Cursor {
	return &Cursor{w: v.walk(backward, false, keep)}
}

// Next fills times and values, which have one length, with the points that come next, and returns how many: fewer than
// there is room for only at the end. After an error the cursor is at its end.
func (c *Cursor) Next(times []int64, values []float64) (n int, err error) {
	return c.next(times, values, func(at int, from *item) {
		if &values[at] != &from.values[0] {
			copy(values[at:], from.values)
		}
	})
}

// NextText is Next for events. The texts are those of the View.
func (c *Cursor) NextText(times []int64, texts [][]byte) (n int, err error) {
	return c.next(times, nil, func(at int, from *item) { copy(texts[at:], from.texts) })
}

// next fills times; put copies what belongs to as many of them as there is room for, if it is not there already. Values
// are nil unless they are what is read.
func (c *Cursor) next(times []int64, values []float64, put func(at int, from *item)) (n int, err error) {
	for n < len(times) {
		if c.w != nil && values != nil {
			c.w.room = room{times[n:], values[n:len(times)]}
		}
		if err := c.fill(); err != nil || c.left == nil {
			return n, err
		}
		k := len(c.left.times)
		if &times[n] != &c.left.times[0] {
			k = copy(times[n:], c.left.times)
		}
		put(n, c.left)
		c.w.times(times[n : n+k])
		c.take(k)
		n += k
	}
	return n, nil
}

func (c *Cursor) fill() (err error) {
	if c.left == nil && c.w != nil {
		c.left, err = c.w.next(math.MaxInt64)
		if c.left == nil {
			c.w.end()
			c.w = nil
		}
	}
	return err
}

func (c *Cursor) take(k int) {
	if k == len(c.left.times) {
		c.left = nil
		return
	}
	c.left.times, c.left.values = c.left.times[k:], c.left.values[k:]
	if c.left.texts != nil {
		c.left.texts = c.left.texts[k:]
	}
}

// times turns keys into times in place.
func (w *walk) times(keys []int64) {
	if w.backward {
		for i := range keys {
			keys[i] = ^keys[i]
		}
	}
}

// Aggregate is that of all points of a View. Whole subtrees are not read.
func (v *View) Aggregate() (aggregate.Aggregate, error) {
	w := v.walk(false, true, nil)
	defer w.end()
	return w.sum(math.MaxInt64)
}

// sum is the aggregate of all that comes next and has times up to limit. The walk is forward.
func (w *walk) sum(limit int64) (total aggregate.Aggregate, err error) {
	for {
		it, err := w.next(limit)
		if err != nil || it == nil {
			return total, err
		}
		if it.kind == subtree {
			total.Merge(&it.ref.Aggregate)
		} else {
			total.Add(it.times, it.values)
		}
	}
}

// A Group is the aggregate of one bin of a range of times.
type Group struct {
	First int64 // the first time that belongs to the bin
	aggregate.Aggregate
}

// Groups reads a View in bins of one length: the first begins where the View does, and the last may be cut off by its
// end.
type Groups struct {
	w    *walk // nil at the end
	from int64
	step uint64
}

// Groups returns the groups of bins of step nanoseconds, 1 or more.
func (v *View) Groups(step int64) *Groups {
	return &Groups{w: v.walk(false, true, nil), from: v.from, step: uint64(step)}
}

// Next returns the group of the next bin in which there are points; false at the end.
func (g *Groups) Next() (group Group, ok bool, err error) {
	if g.w == nil {
		return group, false, nil
	}
	first, ok, err := g.w.peek()
	if err != nil || !ok {
		g.w.end()
		g.w = nil
		return group, false, err
	}
	// The distance of two times may take 64 bits.
	bin := uint64(first-g.from) / g.step
	group.First = g.from + int64(bin*g.step)
	last := int64(math.MaxInt64)
	if room := uint64(math.MaxInt64 - group.First); g.step-1 <= room {
		last = group.First + int64(g.step-1)
	}
	group.Aggregate, err = g.w.sum(last)
	return group, err == nil, err
}

// peek is the key of the next point.
func (w *walk) peek() (key int64, ok bool, err error) {
	l, _, err := w.settle(w.hi)
	if l == nil || err != nil {
		return 0, false, err
	}
	return l.stack[len(l.stack)-1].first, true, nil
}
