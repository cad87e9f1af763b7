// Package node is the nodes of a series' tree as bytes: leaves, which hold points, and inner nodes, which hold
// references to other nodes together with what is known of the points below them.
//
// A node says by itself which series it belongs to and where in it, so that a tree can be rebuilt by reading nodes in
// the order in which they were written. It does not say how long it is nor whether it is whole: the volume that it is
// in does. docs/formats-series.md has the format.
package node

import (
	"encoding/binary"
	"errors"
	"fmt"

	"weir/series/names"
)

// Kind is what a node is.
type Kind byte

// The kinds of nodes. The numbers are those of the format.
const (
	Leaf     Kind = 1 // points
	Inner    Kind = 2 // references
	Deletion Kind = 3 // of points in the nodes before it

	// What folding a series writes. Detached nodes have the bodies of leaves and of inner nodes, and count for nothing
	// by themselves: a replacement makes them the nodes of the series, all at once.
	DetachedLeaf  Kind = 4
	DetachedInner Kind = 5
	Replacement   Kind = 6
)

func (k Kind) String() string {
	switch k {
	case Leaf:
		return "leaf"
	case Inner:
		return "inner node"
	case Deletion:
		return "deletion"
	case DetachedLeaf:
		return "detached leaf"
	case DetachedInner:
		return "detached inner node"
	case Replacement:
		return "replacement"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// ErrCorrupt is wrapped by the errors of all decoders: the bytes are not a node that this package has written.
var ErrCorrupt = errors.New("corrupt node")

// MaxFanout is how many references a node holds at most.
const MaxFanout = 32

// Header is what every node begins with.
type Header struct {
	Kind   Kind
	Series names.ID
	// Lane is which of the trees of the series the node belongs to: 0 is that of the points that came in order; late
	// points have trees of their own.
	Lane uint32
	// Ordinal and Late say of a leaf how many points of the series, those that came in order and those that came late,
	// are in the volumes once it is: what the log has of these is not needed any more. Of a deletion they say the
	// same, and so which one it is. A replacement says the same as the leaf before it.
	Ordinal, Late uint64
	// More says that the node counts only together with the next node of the series that has Continued set: nodes that
	// count all or not at all are a chain. A node without Continued starts anew, and a chain that was open until then,
	// since writing it had failed, is nothing.
	More, Continued bool
}

// Bits of the first byte of a node, which stand for the fields of Header of the same names.
const (
	More      = 0x80
	Continued = 0x40
)

// appendHeader appends h to dst.
func appendHeader(dst []byte, h Header) []byte {
	kind := byte(h.Kind)
	if h.More {
		kind |= More
	}
	if h.Continued {
		kind |= Continued
	}
	dst = append(dst, kind)
	dst = binary.AppendUvarint(dst, uint64(h.Series))
	dst = binary.AppendUvarint(dst, uint64(h.Lane))
	dst = binary.AppendUvarint(dst, h.Ordinal)
	return binary.AppendUvarint(dst, h.Late)
}

// DecodeHeader reads the header at the start of a node, and returns what follows it.
func DecodeHeader(src []byte) (h Header, body []byte, err error) {
	if len(src) == 0 {
		return h, nil, fmt.Errorf("%w: no bytes", ErrCorrupt)
	}
	h.Kind, h.More = Kind(src[0]&^(More|Continued)), src[0]&More != 0
	h.Continued = src[0]&Continued != 0
	if h.Kind < Leaf || h.Kind > Replacement {
		return h, nil, fmt.Errorf("%w: unknown %v", ErrCorrupt, h.Kind)
	}
	r := Reader{Rest: src[1:]}
	series, lane := r.Uvarint(1<<32-1), r.Uvarint(1<<32-1)
	h.Series, h.Lane = names.ID(series), uint32(lane)
	h.Ordinal, h.Late = r.Uvarint(1<<64-1), r.Uvarint(1<<64-1)
	return h, r.Rest, r.Err
}

// AppendDeletion appends a deletion of the points from one time to another, both included, to dst.
func AppendDeletion(dst []byte, h Header, from, to int64) []byte {
	dst = appendHeader(dst, h)
	dst = binary.AppendVarint(dst, from)
	return binary.AppendVarint(dst, to)
}

// DecodeDeletion reads the body of a deletion.
func DecodeDeletion(body []byte) (from, to int64, err error) {
	r := Reader{Rest: body}
	from, to = r.Varint(), r.Varint()
	if r.Err == nil && (len(r.Rest) > 0 || from > to) {
		r.Err = fmt.Errorf("%w: a deletion from %d to %d and %d bytes more", ErrCorrupt, from, to, len(r.Rest))
	}
	return from, to, r.Err
}
