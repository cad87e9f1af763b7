package tree

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"weir/series/aggregate"
	"weir/series/node"
	"weir/series/volume"
)

// item is a piece of a lane: a subtree, a vector, or points. Its times are keys: times, or their complements if the
// walk is backward, so that a walk always goes up.
type item struct {
	kind        itemKind
	first, last int64 // bounds of the keys; exact for references and points
	ref         node.Ref
	vector      node.Vector
	texts       [][]byte // of the points, or of those of the vector
	at          uint64   // of the leaf that a vector is from; 0 if it is from memory
	times       []int64  // keys
	values      []float64
}

type itemKind byte

const (
	subtree itemKind = iota
	vector
	points
)

// walk goes through the points of a view in the order of their times, and skips what it may.
type walk struct {
	view     *View
	backward bool
	lo, hi   int64                // keys of the range
	keep     *aggregate.Bounds    // of the values that are wanted; nil if all are
	sums     bool                 // whether whole subtrees may be returned,
	whole    func(*node.Ref) bool // and which; all if it is nil
	opened   func(*node.Ref)      // is told of leaves that are read, unless it is nil
	lanes    []laneWalk
	vectors  []node.Vector
	refs     []node.Ref
	inner    []byte // memory for inner nodes
	out      item   // what next returned
	room     room
}

// room is where whoever reads points wants them to be. A vector that fits in is decoded there if there is one lane only,
// so that its points are the next, all of them.
type room struct {
	times  []int64
	values []float64
}

// laneWalk is what is left of a lane: a stack, the next item at the end.
type laneWalk struct {
	stack  []item
	leaf   []byte // memory of the leaf that vectors on the stack are from: the next is read once they are decoded
	times  []int64
	values []float64
}

func (v *View) walk(backward, sums bool, keep *aggregate.Bounds) *walk {
	w := walks.Get().(*walk)
	w.view, w.backward, w.sums, w.keep, w.lo, w.hi = v, backward, sums, keep, v.from, v.to
	if backward {
		w.lo, w.hi = ^v.to, ^v.from
	}
	for i := range v.lanes {
		w.begin(&v.lanes[i])
	}
	if backward {
		slices.Reverse(w.lanes) // of points of one time, the last comes first
	}
	return w
}

// walks is of walks that are over, for their memory.
var walks = sync.Pool{New: func() any { return new(walk) }}

// mostLanes is of how many lanes a walk keeps the memory.
const mostLanes = 4

// end gives the memory of a walk to others. Nothing that it has returned is used any more, nor is the walk.
func (w *walk) end() {
	if w.view.events || len(w.lanes) > mostLanes {
		return // texts are not kept in memory
	}
	for i := range w.lanes {
		w.lanes[i].stack = w.lanes[i].stack[:0]
	}
	*w = walk{lanes: w.lanes[:0], vectors: w.vectors[:0], refs: w.refs[:0], inner: w.inner}
	walks.Put(w)
}

// begin makes the items of a lane.
func (w *walk) begin(l *laneView) {
	var lane laneWalk
	if n := len(w.lanes); n < cap(w.lanes) {
		lane = w.lanes[:n+1][n] // for its memory
	}
	items := lane.stack[:0]
	for i := range l.refs {
		items = append(items, w.subtree(l.refs[i]))
	}
	for i, v := range l.vectors {
		last := l.last
		if i+1 < len(l.vectors) {
			last = l.vectors[i+1].FirstTime
		}
		items = append(items, w.between(item{kind: vector, vector: v}, v.FirstTime, last))
	}
	if len(l.times) > 0 {
		it := item{times: l.times, values: l.values, texts: l.texts}
		if w.backward {
			it.times, it.values, it.texts = slices.Clone(l.times), slices.Clone(l.values), slices.Clone(l.texts)
		}
		items = append(items, w.points(it))
	}
	if !w.backward {
		slices.Reverse(items)
	}
	lane.stack = items
	w.lanes = append(w.lanes, lane)
}

func (w *walk) subtree(r node.Ref) item {
	return w.between(item{kind: subtree, ref: r}, r.FirstTime, r.LastTime)
}

// between sets the keys of an item that is between two times.
func (w *walk) between(it item, first, last int64) item {
	it.first, it.last = first, last
	if w.backward {
		it.first, it.last = ^last, ^first
	}
	return it
}

// points makes it an item of points, of which there is one at least; their times are turned into keys in place.
func (w *walk) points(it item) item {
	it.kind = points
	if w.backward {
		slices.Reverse(it.times)
		slices.Reverse(it.values)
		slices.Reverse(it.texts)
		for i := range it.times {
			it.times[i] = ^it.times[i]
		}
	}
	it.first, it.last = it.times[0], it.times[len(it.times)-1]
	return it
}

// next returns what comes next and has keys up to limit: either points or, if sums were asked for, a subtree that ends
// before limit. It is valid until the next call, and so are the points. It is nil at the end, or if the next points are behind
// limit.
func (w *walk) next(limit int64) (*item, error) {
	limit = min(limit, w.hi)
	for {
		l, bound, err := w.settle(limit)
		if l == nil || err != nil {
			return nil, err
		}
		top := len(l.stack) - 1
		it := &w.out
		*it = l.stack[top]
		if it.kind == subtree {
			l.stack = l.stack[:top]
			if it.last <= bound {
				return it, nil
			}
			if err := w.open(l, it.ref); err != nil {
				return nil, err
			}
			continue
		}
		if it.last <= bound {
			l.stack = l.stack[:top]
			return it, nil
		}
		end, _ := slices.BinarySearch(it.times, bound+1)
		l.stack[top] = it.cut(end)
		return it, nil
	}
}

// cut leaves the first n points in it and returns the others.
func (it *item) cut(n int) item {
	rest := *it
	rest.times, rest.values = it.times[n:], it.values[n:]
	it.times, it.values = it.times[:n], it.values[:n]
	if it.texts != nil {
		rest.texts, it.texts = it.texts[n:], it.texts[:n]
	}
	if len(rest.times) > 0 {
		rest.first = rest.times[0]
	}
	return rest
}

// settle returns the lane that comes next, with an item on top that begins exactly where it says, in the range: either
// points, or a subtree all of which counts. Up to bound it is this lane's turn. There is no lane if what comes next is
// behind limit.
func (w *walk) settle(limit int64) (l *laneWalk, bound int64, err error) {
	for {
		l, bound = w.least(limit)
		if l == nil {
			return nil, 0, nil
		}
		top := len(l.stack) - 1
		it := &l.stack[top]
		if it.first > limit {
			return nil, 0, nil
		}
		if w.view.last && it.first >= w.lo {
			if again, err := w.supersede(it.first); again || err != nil {
				if err != nil {
					return nil, 0, err
				}
				continue
			}
		}
		if it.kind == points && it.last >= w.lo {
			if it.first >= w.lo {
				return l, bound, nil
			}
			n, _ := slices.BinarySearch(it.times, w.lo)
			l.stack[top] = it.cut(n)
			continue
		}
		if it.kind == subtree && w.counts(it) {
			return l, bound, nil
		}
		l.stack = l.stack[:top]
		switch {
		case it.last < w.lo || it.kind == points:
		case it.kind == vector:
			err = w.decode(l, *it)
		case !w.skips(&it.ref, it.last <= bound):
			err = w.open(l, it.ref)
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

// counts reports whether all of a subtree that begins in the range is there and may be returned as it is.
func (w *walk) counts(it *item) bool {
	if !w.sums || it.first < w.lo || it.ref.Oldest < w.view.volumes.Oldest() {
		return false
	}
	some, _ := refDeleted(w.view.deletions, &it.ref)
	return !some && (w.whole == nil || w.whole(&it.ref))
}

// skips reports whether nothing of a subtree is wanted. If it is not alone, what is not wanted of it may supersede what
// is of others.
func (w *walk) skips(r *node.Ref, alone bool) bool {
	_, all := refDeleted(w.view.deletions, r)
	return all || w.keep != nil && !w.keep.Meets(r.Min, r.Max) && (alone || !w.view.last)
}

// least is the lane whose next item begins first, and up to which key it may go before it is another lane's turn.
func (w *walk) least(limit int64) (best *laneWalk, bound int64) {
	at := -1
	for i := range w.lanes {
		s := w.lanes[i].stack
		if len(s) > 0 && (at < 0 || s[len(s)-1].first < w.lanes[at].stack[len(w.lanes[at].stack)-1].first) {
			at = i
		}
	}
	if at < 0 {
		return nil, 0
	}
	bound = limit
	for i := range w.lanes {
		if s := w.lanes[i].stack; i != at && len(s) > 0 {
			first := s[len(s)-1].first
			if i < at || w.view.last {
				first-- // of points with one key, those of the lane before come first, or but one is left of them
			}
			bound = min(bound, first)
		}
	}
	return &w.lanes[at], bound
}

// nodeBytes is more than most nodes take.
const nodeBytes = 2 * leafBytes

// open puts what is below a subtree on the stack.
func (w *walk) open(l *laneWalk, ref node.Ref) error {
	if ref.At < w.view.volumes.Oldest() {
		return nil
	}
	into := &l.leaf
	if ref.Level > 0 {
		into = &w.inner
	}
	switch {
	case ref.Level == 0 && w.view.events:
		into = new([]byte) // texts share the memory of the leaf, and are of whoever asks for them
	case cap(*into) < int(ref.Length):
		*into = make([]byte, 0, max(int(ref.Length), nodeBytes))
	}
	payload, err := w.view.volumes.Read(*into, ref.At, int(ref.Length))
	if errors.Is(err, volume.ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	_, body, err := node.DecodeHeader(payload)
	if err == nil {
		if ref.Level > 0 {
			err = w.openInner(l, body)
		} else {
			if w.opened != nil {
				told := ref // so that ref is in memory of the collector only if it is told
				w.opened(&told)
			}
			err = w.openLeaf(l, ref, body)
		}
	}
	if err != nil {
		return fmt.Errorf("the node at %#x: %w", ref.At, err)
	}
	return nil
}

func (w *walk) openInner(l *laneWalk, body []byte) (err error) {
	w.refs, err = node.DecodeInner(w.refs[:0], body)
	if err != nil {
		return err
	}
	w.pushAll(l, len(w.refs), func(i int) item { return w.subtree(w.refs[i]) })
	return nil
}

func (w *walk) openLeaf(l *laneWalk, ref node.Ref, body []byte) (err error) {
	var packed []byte
	w.vectors, packed, err = node.DecodeLeaf(w.vectors[:0], body)
	if err != nil {
		return err
	}
	var texts [][]byte
	if w.view.events {
		if len(w.vectors) != 1 {
			return fmt.Errorf("%w: %d vectors of events, want 1", node.ErrCorrupt, len(w.vectors))
		}
		raw, err := unpack(packed)
		if err != nil {
			return err
		}
		for len(raw) > 0 {
			var text []byte
			if text, raw, err = node.NextText(raw); err != nil {
				return err
			}
			texts = append(texts, text)
		}
	}
	w.pushAll(l, len(w.vectors), func(i int) item {
		last := ref.LastTime
		if i+1 < len(w.vectors) {
			last = w.vectors[i+1].FirstTime
		}
		return w.between(item{kind: vector, vector: w.vectors[i], texts: texts, at: ref.At}, w.vectors[i].FirstTime, last)
	})
	return nil
}

// pushAll puts n items, which are in the order of their times, on a stack.
func (w *walk) pushAll(l *laneWalk, n int, at func(i int) item) {
	for k := range n {
		i := n - 1 - k
		if w.backward {
			i = k
		}
		l.stack = append(l.stack, at(i))
	}
}

// decode puts the points of a vector on the stack, but for those that were deleted.
func (w *walk) decode(l *laneWalk, v item) (err error) {
	times, values := l.times, l.values
	inRoom := len(w.lanes) == 1 && v.vector.Points() <= len(w.room.times)
	if inRoom {
		times, values = w.room.times, w.room.values
	}
	times, values, err = v.vector.Decode(times[:0], values[:0])
	if err != nil {
		return fmt.Errorf("the node at %#x: %w", v.at, err)
	}
	if !inRoom {
		l.times, l.values = times, values
	}
	if len(times) == 0 || v.texts != nil && len(v.texts) != len(times) {
		return fmt.Errorf("the node at %#x: %w: %d points with %d texts", v.at, node.ErrCorrupt, len(times), len(v.texts))
	}
	it := item{times: times, values: values, texts: slices.Clone(v.texts)}
	if v.at != 0 {
		w.delete(&it, v.at)
	}
	if len(it.times) > 0 {
		l.stack = append(l.stack, w.points(it))
	}
	return nil
}

// delete takes out the points of a leaf that were deleted.
func (w *walk) delete(it *item, at uint64) {
	for _, d := range w.view.deletions {
		if d.below <= at {
			continue
		}
		lo, hi := span(it.times, d.From, d.To)
		if lo == hi {
			continue
		}
		it.times, it.values = slices.Delete(it.times, lo, hi), slices.Delete(it.values, lo, hi)
		if it.texts != nil {
			it.texts = slices.Delete(it.texts, lo, hi)
		}
	}
}
