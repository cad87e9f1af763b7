package tree

import (
	"encoding/binary"
	"errors"
	"fmt"

	"weir/series/codec"
	"weir/series/node"
)

// A checkpoint is what a Forest knows of the nodes that there are, so that it need not read them again. It is made of
// pages of the states of 256 series each, which may be written at different times: nodes that come later are restored
// on top of it.

// Pages is how many pages a checkpoint has now.
func (f *Forest) Pages() int { return len(f.pages) }

// AppendPage appends a page of a checkpoint to dst: all that is in nodes of its series, and nothing of what is not.
func (f *Forest) AppendPage(dst []byte, page int) []byte {
	dst = binary.AppendUvarint(dst, uint64(page))
	dst = binary.AppendUvarint(dst, f.volumes.End())
	var refs []node.Ref
	last := -1
	for i := range f.pages[page] {
		s := &f.pages[page][i]
		r := f.rareOf(f.idOf(page, i), s)
		if s.persisted == 0 && s.refsLen == 0 && r == nil {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(i-last)) // not 0
		last = i
		dst = append(dst, s.flags)
		dst = binary.AppendUvarint(dst, s.persisted)
		dst = binary.AppendUvarint(dst, uint64(s.leaves))
		dst = binary.AppendUvarint(dst, uint64(s.small))
		dst = binary.AppendUvarint(dst, uint64(s.refsLen))
		refs = append(refs, f.lane0(s)...)
		if r != nil {
			dst, refs = r.appendTo(dst, refs)
		}
	}
	dst = binary.AppendUvarint(dst, 0)
	dst = binary.AppendUvarint(dst, uint64(len(refs)))
	for len(refs) > 0 {
		n := min(len(refs), codec.Max)
		dst = node.AppendRefs(dst, refs[:n])
		refs = refs[n:]
	}
	return dst
}

// appendTo appends what is rare of a series, and its references.
func (r *rare) appendTo(dst []byte, refs []node.Ref) ([]byte, []node.Ref) {
	events := byte(0)
	if r.texts != nil {
		events = 1
	}
	dst = append(dst, events)
	dst = binary.AppendUvarint(dst, r.latePersisted)
	dst = binary.AppendUvarint(dst, uint64(r.numbers))
	dst = binary.AppendUvarint(dst, uint64(len(r.lanes)))
	for _, l := range r.lanes {
		dst = binary.AppendUvarint(dst, uint64(l.number))
		dst = binary.AppendUvarint(dst, uint64(len(l.refs)))
		refs = append(refs, l.refs...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.deletions)))
	for _, d := range r.deletions {
		dst = binary.AppendVarint(dst, d.From)
		dst = binary.AppendVarint(dst, d.To)
		dst = binary.AppendUvarint(dst, d.Ordinal)
		dst = binary.AppendUvarint(dst, d.Late)
		dst = binary.AppendUvarint(dst, d.below)
	}
	return dst, refs
}

// LoadPage takes over a page of a checkpoint, and returns what follows it. The Forest must be new, and the pages be given
// from the first on. Its error wraps node.ErrCorrupt. Nodes
// that are part of the page may be given to Restore again; position is from where on they are not.
func (f *Forest) LoadPage(src []byte) (position uint64, rest []byte, err error) {
	r := node.Reader{Rest: src}
	page := int(r.Uvarint(1 << 24))
	position = r.Uvarint(1<<64 - 1)
	if r.Err == nil && page != len(f.positions) {
		r.Err = fmt.Errorf("%w: page %d where page %d is expected", node.ErrCorrupt, page, len(f.positions))
	}
	if r.Err != nil {
		return 0, nil, r.Err
	}
	if page >= len(f.pages) {
		f.addPage()
	}
	f.positions = append(f.positions, position)
	var targets []target
	for i := -1; ; {
		gap := int(r.Uvarint(pageSize))
		if gap == 0 || r.Err != nil {
			break
		}
		if i += gap; i >= pageSize {
			return 0, nil, fmt.Errorf("%w: series %d of %d in a page", node.ErrCorrupt, i, pageSize)
		}
		targets = f.loadSeries(&r, page, i, targets)
	}
	refs, err := readRefs(&r, targets)
	if err != nil {
		return 0, nil, err
	}
	for _, t := range targets {
		if t.lane > 0 {
			l := f.rare[f.idOf(page, t.at)].lane(t.lane)
			for _, ref := range refs[:t.refs] {
				l.push(ref)
			}
		} else {
			s := &f.pages[page][t.at]
			for i := range refs[:t.refs] {
				s.refsTotal.Merge(&refs[i].Aggregate)
			}
			if err := f.setLane0(s, refs[:t.refs]); err != nil {
				return 0, nil, err
			}
		}
		refs = refs[t.refs:]
	}
	return position, r.Rest, nil
}

// target is where references go: to a lane of a series of the page.
type target struct {
	at   int
	lane uint32
	refs int
}

// loadSeries reads a series but for its references.
func (f *Forest) loadSeries(r *node.Reader, page, i int, targets []target) []target {
	id := f.idOf(page, i)
	s := &f.pages[page][i]
	flags := r.Byte()
	s.flags = flags & closed
	s.persisted = r.Uvarint(1<<64 - 1)
	s.ordinal = s.persisted
	s.leaves, s.small = uint32(r.Uvarint(1<<32-1)), uint32(r.Uvarint(1<<32-1))
	targets = append(targets, target{i, 0, int(r.Uvarint(uint64(mostRefs)))})
	if flags&hasRare == 0 || r.Err != nil {
		return targets
	}
	x := f.makeRare(id, s)
	if r.Byte() == 1 {
		f.makeEvents(id, s)
	}
	x.latePersisted = r.Uvarint(1<<64 - 1)
	x.late = x.latePersisted
	x.numbers = uint32(r.Uvarint(1<<32 - 1))
	for range r.Uvarint(1 << 24) {
		number := uint32(r.Uvarint(1<<32 - 1))
		if r.Err != nil {
			return targets
		}
		x.lanes = append(x.lanes, lane{number: number})
		targets = append(targets, target{i, max(number, 1), int(r.Uvarint(1 << 24))})
	}
	for range r.Uvarint(1 << 24) {
		if r.Err != nil {
			return targets
		}
		f.addDeletion(id, s, Deletion{From: r.Varint(), To: r.Varint(), Ordinal: r.Uvarint(1<<64 - 1), Late: r.Uvarint(1<<64 - 1), below: r.Uvarint(1<<64 - 1)})
	}
	return targets
}

// readRefs reads the references of a page, of which there must be as many as targets want.
func readRefs(r *node.Reader, targets []target) (refs []node.Ref, err error) {
	want := uint64(0)
	for _, t := range targets {
		want += uint64(t.refs)
	}
	if n := r.Uvarint(1<<64 - 1); r.Err == nil && n != want {
		r.Err = fmt.Errorf("%w: %d references, want %d", node.ErrCorrupt, n, want)
	}
	for r.Err == nil && uint64(len(refs)) < want {
		before := len(refs)
		refs, r.Rest, err = node.DecodeRefs(refs, r.Rest)
		if err == nil && len(refs) == before {
			err = errors.New("no references where some are expected")
		}
		if err != nil {
			r.Err = fmt.Errorf("%w: %w", node.ErrCorrupt, err)
		}
	}
	if r.Err == nil && uint64(len(refs)) != want {
		r.Err = fmt.Errorf("%w: %d references, want %d", node.ErrCorrupt, len(refs), want)
	}
	return refs, r.Err
}
