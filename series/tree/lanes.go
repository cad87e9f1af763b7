package tree

import (
	"fmt"
	"slices"

	"weir/series/aggregate"
	"weir/series/names"
	"weir/series/node"
)

// push adds a reference behind the others of lane 0.
func (f *Forest) push(s *state, ref node.Ref) error {
	refs := append(f.lane0(s), ref) // copies them: their block is full, or has its own capacity
	s.refsTotal.Merge(&ref.Aggregate)
	return f.setLane0(s, refs)
}

// run is how many references at the end are of one level.
func run(refs []node.Ref) int {
	n := 0
	for n < len(refs) && refs[len(refs)-1-n].Level == refs[len(refs)-1].Level {
		n++
	}
	return n
}

// writer writes nodes above others.
type writer struct {
	volumes Volumes
	bytes   []byte // scratch
}

// inner writes a node above refs and returns the reference to it.
func (w *writer) inner(h node.Header, refs []node.Ref) (node.Ref, error) {
	w.bytes = node.AppendInner(w.bytes[:0], h, refs)
	at, length, err := w.volumes.Append(w.bytes)
	if err != nil {
		return node.Ref{}, fmt.Errorf("writing an %v of series %d: %w", h.Kind, h.Series, err)
	}
	up := node.Ref{At: at, Length: uint32(length), Oldest: at}
	for i := range refs {
		up.Merge(&refs[i].Aggregate)
		up.Oldest = min(up.Oldest, refs[i].Oldest)
		up.Level = max(up.Level, refs[i].Level+1)
	}
	return up, nil
}

// up writes nodes above the references at the end as long as there are as many of one level as a node holds. The first
// of all, as many as frozen, get none.
func (w *writer) up(h node.Header, refs []node.Ref, frozen int) ([]node.Ref, error) {
	return w.upBy(h, refs, frozen, node.MaxFanout)
}

// upBy is up with nodes of so many references.
func (w *writer) upBy(h node.Header, refs []node.Ref, frozen, fanout int) ([]node.Ref, error) {
	for n := run(refs[frozen:]); n >= fanout; n = run(refs[frozen:]) {
		// If some could not be written before, there may be more than a node holds.
		begin := len(refs) - n
		ref, err := w.inner(h, refs[begin:begin+fanout])
		if err != nil {
			return refs, err
		}
		refs[begin] = ref
		refs = append(refs[:begin+1], refs[begin+fanout:]...)
	}
	return refs, nil
}

// fanout is how many references of lane 0 get a node above them.
func (f *Forest) fanout() int {
	if f.limits.Fanout == 0 {
		return node.MaxFanout
	}
	return max(2, min(f.limits.Fanout, node.MaxFanout))
}

// raise writes inner nodes of lane 0 that are full.
func (f *Forest) raise(id names.ID, s *state) error {
	refs := f.lane0(s)
	frozen := f.frozen(id, refs)
	if run(refs[frozen:]) < f.fanout() {
		return nil
	}
	refs, err := f.upBy(node.Header{Kind: node.Inner, Series: id}, slices.Clone(refs), frozen, f.fanout())
	if e := f.setLane0(s, refs); err == nil {
		err = e
	}
	return err
}

// reopen reads the references of a closed series back.
func (f *Forest) reopen(s *state) error {
	if s.flags&closed == 0 {
		return nil
	}
	root := f.lane0(s)
	if len(root) != 1 {
		return fmt.Errorf("a closed series has %d references, want 1", len(root))
	}
	if root[0].At < f.volumes.Oldest() {
		s.flags &^= closed
		return f.setLane0(s, nil)
	}
	s.flags &^= closed
	refs, err := readInner(f.volumes, nil, root[0])
	if err != nil {
		return nil // what is read from below it is an error; what is written goes behind it
	}
	return f.setLane0(s, refs)
}

// readInner appends the references of the node that ref refers to.
func readInner(v Volumes, dst []node.Ref, ref node.Ref) ([]node.Ref, error) {
	payload, err := v.Read(nil, ref.At, int(ref.Length))
	if err != nil {
		return dst, err
	}
	_, body, err := node.DecodeHeader(payload)
	if err == nil {
		dst, err = node.DecodeInner(dst, body)
	}
	if err != nil {
		return dst, fmt.Errorf("the node at %#x: %w", ref.At, err)
	}
	return dst, nil
}

// lane is a tree of late points.
type lane struct {
	number uint32
	refs   []node.Ref
	total  aggregate.Aggregate
}

func (l *lane) push(ref node.Ref) {
	l.refs = append(l.refs, ref)
	l.total.Merge(&ref.Aggregate)
}

func (f *Forest) raiseLane(id names.ID, l *lane) {
	frozen := f.frozen(id, l.refs)
	if run(l.refs[frozen:]) < node.MaxFanout {
		return
	}
	// What cannot be written now is when the next leaf is.
	l.refs, _ = f.up(node.Header{Kind: node.Inner, Series: id, Lane: l.number}, l.refs, frozen)
}

// Close writes what is in memory of a series but for the reference to one node, from which everything can be reached.
// It opens again by itself. While it is folded, the references stay in memory.
func (f *Forest) Close(id names.ID) error { return f.closeTo(id, 1) }

// closeTo is Close, but leaves up to so many references in memory.
func (f *Forest) closeTo(id names.ID, most uint16) error {
	s := f.find(id)
	if s == nil {
		return nil
	}
	if err := f.Flush(id); err != nil {
		return err
	}
	f.freeTail(s)
	if s.refsLen <= most || f.folds[id] != nil {
		return nil
	}
	refs := slices.Clone(f.lane0(s))
	for len(refs) > node.MaxFanout {
		begin, end := longestRun(refs)
		end = min(end, begin+node.MaxFanout)
		ref, err := f.inner(node.Header{Kind: node.Inner, Series: id}, refs[begin:end])
		if err != nil {
			return err
		}
		refs = append(append(refs[:begin], ref), refs[end:]...)
	}
	root, err := f.inner(node.Header{Kind: node.Inner, Series: id}, refs)
	if err != nil {
		return err
	}
	if err := f.setLane0(s, []node.Ref{root}); err != nil {
		return err
	}
	s.flags |= closed
	return nil
}

// longestRun is where most references in a row are of one level.
func longestRun(refs []node.Ref) (begin, end int) {
	for i := 0; i < len(refs); {
		j := i + 1
		for j < len(refs) && refs[j].Level == refs[i].Level {
			j++
		}
		if j-i > end-begin {
			begin, end = i, j
		}
		i = j
	}
	return begin, end
}
