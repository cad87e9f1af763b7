// Package tree keeps series as trees of nodes in volumes: what is appended to, what is read, and what is left when the
// program ends or is killed.
//
// A Forest holds many series. Of each it has in memory the points that are in no node yet, and references to the nodes
// that have no parent yet, each with the aggregate of the points below it. Nodes are written once, when they are full,
// left to right; nothing is read in order to write.
//
//	in memory   references ............ open leaf ......... tail
//	                |    |    |         (vectors, encoded)  (points as they came)
//	in volumes    inner leaf leaf
//	             /  |  \
//
// Points that come too late for the tail go to a buffer, and from there to trees of their own, the lanes; reading
// merges the lanes. A Fold writes a series again as one tree, while it is added to.
package tree

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"weir/series/aggregate"
	"weir/series/arena"
	"weir/series/codec"
	"weir/series/names"
	"weir/series/node"
	"weir/series/volume"
)

// Volumes is where the nodes are. See package volume.
type Volumes interface {
	// Append adds a node, and returns where it is and how many bytes it takes there.
	Append(payload []byte) (at uint64, length int, err error)
	// Read returns the node at an address, in the memory of dst if there is room.
	Read(dst []byte, at uint64, length int) (payload []byte, err error)
	// End is the address that a node appended now would get, or one before it.
	End() uint64
	// Oldest is the lowest address that may still be read.
	Oldest() uint64
}

// Limits of what is in memory of one series. A Forest's owner lowers them where there are many series.
type Limits struct {
	Tail int // points that are kept as they came before they are encoded, from 4 to 512
	Leaf int // bytes of encoded points at which a leaf is written
	Late int // late points that are kept before they are written
	// Fanout is how many references to nodes are kept before a node is written above them; 0 is as many as one holds.
	// With fewer there are more levels, of small nodes.
	Fanout int
}

// DefaultLimits make the smallest files.
var DefaultLimits = Limits{Tail: codec.Max, Leaf: 4096, Late: 4096}

const (
	pageShift = 8
	pageSize  = 1 << pageShift
	pageBytes = int(unsafe.Sizeof(page{}))
	refBytes  = int(unsafe.Sizeof(node.Ref{}))
	// maxRefs is how many references without a parent a series may have: more than there are in a tree of any size, so
	// that there is room while inner nodes cannot be written.
	maxRefs = node.MaxReplaced
	// mostRefs is how many the memory for them can hold.
	mostRefs = arena.MaxBlock / refBytes
)

// state is a series in memory. It holds no pointers, so that a million of them are nothing to the garbage collector.
type state struct {
	refsTotal aggregate.Aggregate // of all references of lane 0
	ordinal   uint64              // points that came in order
	persisted uint64              // how many of these are in nodes
	tail      arena.Handle        // times in its first half, values in the second
	open      arena.Handle        // an aggregate, then vectors: see open.go
	refs      arena.Handle        // of lane 0
	leaves    uint32              // how many were written
	small     uint32              // how many of these are less than half full
	segment   uint32              // of the log, where the oldest point is that is in no node; 0 if there is none
	touched   uint32              // the turn of the Forest's clock in which the last point came
	tailLen   uint16
	openLen   uint16 // bytes of vectors
	refsLen   uint16
	tailClass uint8
	openClass uint8
	refsClass uint8
	vectors   uint8 // in the open leaf
	flags     uint8
	hint      codec.Hint
}

// page is the states of series that are side by side.
type page [pageSize]state

const (
	// closed: the only reference of lane 0 is to a node that holds the references that were in memory when the series
	// was closed. They are read back when a leaf is added.
	closed = 1 << iota
	// hasRare: there is an entry in Forest.rare.
	hasRare
	// hasTexts: the points of the series are texts.
	hasTexts
)

// Forest is the trees of the series whose IDs are first, first + stride, first + 2·stride and so on. It is not safe
// for concurrent use, but what it returns stays as it is while it changes.
type Forest struct {
	writer
	first, stride names.ID
	limits        Limits
	last          bool // of points of one time, the last one counts
	arena         arena.Arena
	pages         []*page
	pageRoom      []byte // for pages to come
	rare          map[names.ID]*rare
	rareBytes     int
	folds         map[names.ID]*Fold // under way
	clock         uint32
	positions     []uint64 // of each page that was loaded, from which address on nodes are not part of it

	// Scratch, of no meaning between calls.
	encoded []byte
	times   []int64
	values  []float64
	vecs    []node.Vector
	leaf    leaf
}

// New returns an empty Forest.
func New(volumes Volumes, first, stride names.ID, limits Limits) *Forest {
	return &Forest{
		writer: writer{volumes: volumes}, first: first, stride: stride, limits: limits,
		rare: map[names.ID]*rare{}, folds: map[names.ID]*Fold{},
	}
}

// SetLimits changes the limits for what comes.
func (f *Forest) SetLimits(limits Limits) { f.limits = limits }

// Memory is how many bytes the series in memory take: their states, what is open, and what is late.
func (f *Forest) Memory() int {
	return f.arena.Bytes() + len(f.pages)*pageBytes + f.rareBytes
}

// Release gives the memory back. The Forest is not to be used afterwards.
func (f *Forest) Release() error { return f.arena.Release() }

// at is the state of a series, made if need be.
func (f *Forest) at(id names.ID) *state {
	slot := int((id - f.first) / f.stride)
	for slot>>pageShift >= len(f.pages) {
		f.addPage()
	}
	return &f.pages[slot>>pageShift][slot&(pageSize-1)]
}

// addPage adds a page of states. They are where the collector of garbage does not count them, which would let there be
// as much garbage as they are.
func (f *Forest) addPage() {
	if len(f.pageRoom) < pageBytes {
		room, err := f.arena.Keep()
		if err != nil {
			f.pages = append(f.pages, new(page))
			return
		}
		f.pageRoom = room
	}
	f.pages = append(f.pages, (*page)(unsafe.Pointer(unsafe.SliceData(f.pageRoom))))
	f.pageRoom = f.pageRoom[pageBytes:]
}

// find is the state of a series, or nil if there never was a point of it.
func (f *Forest) find(id names.ID) *state {
	slot := int((id - f.first) / f.stride)
	if slot>>pageShift >= len(f.pages) {
		return nil
	}
	return &f.pages[slot>>pageShift][slot&(pageSize-1)]
}

// idOf is the ID of series i of a page.
func (f *Forest) idOf(page, i int) names.ID { return f.first + names.ID(page<<pageShift+i)*f.stride }

// each calls do with every series that there is a state of.
func (f *Forest) each(do func(id names.ID, s *state) error) error {
	var first error
	for p := range f.pages {
		if _, err := f.eachOf(p, do); err != nil {
			if errors.Is(err, volume.ErrFull) {
				return err
			}
			first = cmp.Or(first, err)
		}
	}
	return first
}

// lane0 is the references of the lane of the points that came in order.
func (f *Forest) lane0(s *state) []node.Ref {
	if s.refs == arena.None {
		return nil
	}
	return arena.View[node.Ref](&f.arena, s.refs, int(s.refsClass))[:s.refsLen]
}

// setLane0 puts references in the place of those that there are.
func (f *Forest) setLane0(s *state, refs []node.Ref) error {
	if s.refs != arena.None && len(refs) > 0 && arena.Class(len(refs)*refBytes) == int(s.refsClass) {
		copy(arena.View[node.Ref](&f.arena, s.refs, int(s.refsClass)), refs)
		s.refsLen = uint16(len(refs))
		return nil
	}
	h, err := f.allocRefs(len(refs))
	if err == nil {
		f.moveLane0(s, h, refs)
	}
	return err
}

// allocRefs allocates a block for n references.
func (f *Forest) allocRefs(n int) (arena.Handle, error) {
	switch {
	case n == 0:
		return arena.None, nil
	case n > mostRefs:
		return arena.None, fmt.Errorf("%d references without a node above them; expected at most %d", n, mostRefs)
	}
	return f.arena.Alloc(arena.Class(n * refBytes))
}

// moveLane0 is setLane0 with a block that allocRefs returned. refs may be in the block that it was in.
func (f *Forest) moveLane0(s *state, h arena.Handle, refs []node.Ref) {
	class := 0
	if len(refs) > 0 {
		class = arena.Class(len(refs) * refBytes)
		copy(arena.View[node.Ref](&f.arena, h, class), refs)
	}
	f.arena.Free(s.refs, int(s.refsClass))
	s.refs, s.refsClass, s.refsLen = h, uint8(class), uint16(len(refs))
}
