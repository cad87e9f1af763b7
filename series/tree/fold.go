package tree

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"weir/series/arena"
	"weir/series/codec"
	"weir/series/names"
	"weir/series/node"
)

// FoldOptions say what a Fold leaves out besides what was deleted.
type FoldOptions struct {
	Before int64 // points of times before this one, unless it is 0

	// Keep makes inner nodes stay as they are, unless something below them is late, deleted, too old, or at an address
	// before From. What is written then is about what has changed, and the nodes between; small leaves below nodes that
	// stay remain small.
	Keep bool
	From uint64
}

// A Fold writes a series again: the points of all lanes in the order in which they are read, without those that were
// deleted, in leaves that are full. Nothing is changed in place. What it writes counts for nothing until EndFold, which
// writes a single node, puts it in the place of what there was before BeginFold; whenever the program is killed, there is
// the one or the other.
//
//	x, err := forest.BeginFold(id, tree.FoldOptions{}) // with the lock that guards the Forest
//	err = x.Run(ctx)                                   // without it, while the series is added to
//	ok, err := forest.EndFold(x)                       // with the lock, whether Run failed or not
type Fold struct {
	writer
	id            names.ID
	options       FoldOptions
	view          *View
	below         uint64 // the address from which on nodes remain
	late          bool   // there were lanes,
	lastLate      int64  // and this was their latest time
	leaves, small uint32 // that the series had when it began
	disturbed     atomic.Bool

	// What Run has made.
	done    bool
	refs    []node.Ref
	written uint32 // leaves
	read    uint32 // leaves that do not stay,
	tiny    uint32 // and how many of them were small
	scraps  uint32 // small leaves that were written before nodes that stay
}

// BeginFold writes what is in memory of a series, and begins to fold what is in nodes then. A series is folded once at
// a time. Until EndFold is called, the references to its nodes stay in memory.
func (f *Forest) BeginFold(id names.ID, o FoldOptions) (*Fold, error) {
	x := &Fold{writer: writer{volumes: f.volumes}, id: id, options: o}
	if f.folds[id] != nil {
		return nil, fmt.Errorf("series %d is being folded already", id)
	}
	if err := f.Flush(id); err != nil {
		return nil, err
	}
	s := f.find(id)
	if s == nil || s.persisted == 0 && s.flags&hasRare == 0 {
		x.view = &View{volumes: f.volumes, from: 1} // there never was a point
		return x, nil
	}
	from := int64(-1 << 63)
	if o.Before != 0 {
		from = o.Before
	}
	x.view = f.View(id, from, 1<<63-1)
	x.below = f.volumes.End()
	x.leaves, x.small = s.leaves, s.small
	if r := f.rareOf(id, s); r != nil {
		for i := range r.lanes {
			if last := r.lanes[i].total.LastTime; !x.late || last > x.lastLate {
				x.late, x.lastLate = true, last
			}
		}
	}
	f.folds[id] = x
	return x, nil
}

// Run reads the points and writes them. It needs no lock, and memory for the points of a few leaves, however long the
// series is. After an error, that of ctx included, it may be tried again.
func (x *Fold) Run(ctx context.Context) error {
	if x.done {
		return nil
	}
	x.refs, x.written, x.read, x.tiny, x.scraps = nil, 0, 0, 0, 0
	w := x.view.walk(false, x.options.Keep, nil)
	w.whole = func(ref *node.Ref) bool { return ref.Level > 0 && ref.Oldest >= x.options.From }
	w.opened = func(ref *node.Ref) {
		x.read++
		if isSmall(ref) {
			x.tiny++
		}
	}
	q := queue{w: w, events: x.view.events}
	var l leaf
	var hint codec.Hint
	for !x.disturbed.Load() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := q.fill(); err != nil {
			return fmt.Errorf("folding series %d: %w", x.id, err)
		}
		times, values, texts := q.front()
		if len(times) == 0 && q.kept == nil {
			x.done = true
			return nil
		}
		if len(times) == 0 {
			if n := len(x.refs); n > 0 && x.refs[n-1].Level == 0 && isSmall(&x.refs[n-1]) {
				x.scraps++ // for want of those that stay
			}
			if err := x.push(*q.kept); err != nil {
				return err
			}
			q.kept = nil
			continue
		}
		q.drop(l.fill(times, values, texts, &hint))
		if err := x.add(&l); err != nil {
			return err
		}
	}
	return nil
}

// add writes a leaf, and what becomes full above it.
func (x *Fold) add(l *leaf) (err error) {
	x.bytes = node.AppendLeaf(x.bytes[:0], node.Header{Kind: node.DetachedLeaf, Series: x.id}, l.vectors, l.texts)
	at, length, err := x.volumes.Append(x.bytes)
	if err != nil {
		return fmt.Errorf("writing a leaf of series %d: %w", x.id, err)
	}
	x.written++
	return x.push(node.Ref{Aggregate: l.total, At: at, Oldest: at, Length: uint32(length)})
}

// mostOpen is how many references without a parent a Fold has at most: more than there are in a tree of any size.
const mostOpen = maxRefs / 2

// push adds a reference behind the others, and writes the nodes above that are full.
func (x *Fold) push(ref node.Ref) (err error) {
	h := node.Header{Kind: node.DetachedInner, Series: x.id}
	x.refs, err = x.up(h, append(x.refs, ref), 0)
	if err != nil || len(x.refs) < mostOpen {
		return err
	}
	// Nodes that stay are of all levels, with others between them.
	begin := lowest(x.refs)
	up, err := x.inner(h, x.refs[begin:begin+node.MaxFanout])
	if err == nil {
		x.refs = slices.Replace(x.refs, begin, begin+node.MaxFanout, up)
	}
	return err
}

// lowest is where there are as many references as a node holds, none of which is of a high level.
func lowest(refs []node.Ref) (begin int) {
	least := ^uint32(0)
	for i := 0; i+node.MaxFanout <= len(refs); i++ {
		level := uint32(0)
		for j := range node.MaxFanout {
			level = max(level, refs[i+j].Level)
		}
		if level < least {
			begin, least = i, level
		}
	}
	return begin
}

// EndFold puts what Run has written in the place of the nodes that there were when the fold began. It is false, and
// nothing is changed, if Run has failed, or if something came in between that forbids it, such as a deletion. It may be
// tried again from BeginFold on.
func (f *Forest) EndFold(x *Fold) (ok bool, err error) {
	if f.folds[x.id] != x {
		return false, nil
	}
	delete(f.folds, x.id)
	s := f.find(x.id)
	if !x.done || x.disturbed.Load() || !f.fits(x, s) {
		return false, nil
	}
	refs := slices.Concat(x.refs, remaining(f.lane0(s), x.below))
	block, err := f.allocRefs(len(refs)) // once the node is written, nothing may fail
	if err != nil {
		return false, err
	}
	h := node.Header{Kind: node.Replacement, Series: x.id, Ordinal: s.persisted}
	if r := f.rareOf(x.id, s); r != nil {
		h.Late = r.latePersisted
	}
	read, small := x.leaves, x.small // that are replaced: all that there were, or those that were read
	if x.options.Keep {
		read, small = min(x.read, read), min(x.tiny, small)
	}
	replaced := node.Replaced{
		Below: x.below, Events: x.view.events, Leaves: x.written + s.leaves - read, Small: s.small - small + x.scraps, Refs: x.refs,
	}
	f.bytes = node.AppendReplacement(f.bytes[:0], h, &replaced)
	if _, _, err := f.volumes.Append(f.bytes); err != nil {
		f.arena.Free(block, arena.Class(len(refs)*refBytes))
		return false, fmt.Errorf("writing a replacement of series %d: %w", x.id, err)
	}
	f.replace(x.id, s, &replaced, block, refs)
	_ = f.raise(x.id, s) // what cannot be written now is when the next leaf is
	return true, nil
}

// fits reports whether what was written can come before what remains, in time and in memory.
func (f *Forest) fits(x *Fold, s *state) bool {
	rest := remaining(f.lane0(s), x.below)
	if len(x.refs)+len(rest) > maxRefs || len(x.refs) > 0 && oldest(x.refs) < f.volumes.Oldest() {
		return false
	}
	var next int64 // the time of the first point that remains
	switch {
	case len(rest) > 0:
		next = rest[0].FirstTime
	case s.vectors > 0:
		next = f.openTotal(s).FirstTime
	case s.tailLen > 0:
		times, _ := f.tailOf(s)
		next = times[0]
	default:
		return true
	}
	// What is late is before what came in order, but for points of lost nodes. If it were not, those that remain would
	// be read in another order than before.
	return !(x.late && next <= x.lastLate) && (len(x.refs) == 0 || x.refs[len(x.refs)-1].LastTime <= next)
}

// remaining is a copy of the references to nodes that a replacement leaves.
func remaining(refs []node.Ref, below uint64) (rest []node.Ref) {
	for i := range refs {
		if refs[i].At >= below {
			rest = append(rest, refs[i])
		}
	}
	return rest
}

// replace does what a replacement says. refs are all references of lane 0 then, for which there is a block.
func (f *Forest) replace(id names.ID, s *state, x *node.Replaced, block arena.Handle, refs []node.Ref) {
	f.moveLane0(s, block, refs)
	s.flags &^= closed
	s.refsTotal = totalOf(refs)
	s.leaves, s.small = x.Leaves, x.Small
	r := f.rareOf(id, s)
	if r == nil {
		return
	}
	lanes := r.lanes[:0]
	for _, l := range r.lanes {
		if l.refs = remaining(l.refs, x.Below); len(l.refs) > 0 {
			l.total = totalOf(l.refs)
			lanes = append(lanes, l)
		}
	}
	clear(r.lanes[len(lanes):])
	r.lanes = lanes
	n := len(r.deletions)
	r.deletions = slices.DeleteFunc(r.deletions, func(d Deletion) bool { return d.below < x.Below })
	f.rareBytes -= (n - len(r.deletions)) * int(unsafe.Sizeof(Deletion{}))
	if r.plain() && r.late == 0 && len(r.chain) == 0 {
		delete(f.rare, id)
		s.flags &^= hasRare
	}
}

// frozen is how many references, the first ones of a lane, are to nodes that a Fold under way will replace. No node is
// put above them and others.
func (f *Forest) frozen(id names.ID, refs []node.Ref) int {
	x := f.folds[id]
	if x == nil || x.disturbed.Load() {
		return 0
	}
	n := 0
	for n < len(refs) && refs[n].At < x.below {
		n++
	}
	return n
}

// disturb makes a Fold under way one that will not be.
func (f *Forest) disturb(id names.ID) {
	if x := f.folds[id]; x != nil {
		x.disturbed.Store(true)
	}
}
