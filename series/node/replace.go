package node

import (
	"encoding/binary"
	"fmt"

	"weir/series/codec"
)

// MaxReplaced is how many references a replacement holds at most.
const MaxReplaced = 500

// Replaced is the body of a replacement: of the nodes of its series, those at addresses from Below on remain, behind
// Refs, which take the place of all others, deletions included.
type Replaced struct {
	Below  uint64
	Events bool // whether the points are texts
	// How many leaves the series has then, and how many of these are smaller than they might be.
	Leaves, Small uint32
	Refs          []Ref // up to MaxReplaced, in the order of their times; none if no point is left
}

// AppendReplacement appends a replacement to dst.
func AppendReplacement(dst []byte, h Header, r *Replaced) []byte {
	dst = appendHeader(dst, h)
	events := byte(0)
	if r.Events {
		events = 1
	}
	dst = append(dst, events)
	dst = binary.AppendUvarint(dst, r.Below)
	dst = binary.AppendUvarint(dst, uint64(r.Leaves))
	dst = binary.AppendUvarint(dst, uint64(r.Small))
	return AppendRefs(dst, r.Refs)
}

// DecodeReplacement reads the body of a replacement.
func DecodeReplacement(body []byte) (x Replaced, err error) {
	r := Reader{Rest: body}
	events := r.Byte()
	x.Events = events == 1
	x.Below = r.Uvarint(1<<64 - 1)
	x.Leaves = uint32(r.Uvarint(1<<32 - 1))
	x.Small = uint32(r.Uvarint(1<<32 - 1))
	if r.Err == nil {
		x.Refs, r.Rest, r.Err = DecodeRefs(nil, r.Rest)
	}
	if r.Err == nil && (events > 1 || len(r.Rest) > 0 || len(x.Refs) > MaxReplaced) {
		r.Err = fmt.Errorf("%w: a replacement with %d references, flags %#x and %d bytes more", ErrCorrupt, len(x.Refs), events, len(r.Rest))
	}
	return x, r.Err
}

// A replacement's references are one group of columns.
const _ = uint(codec.Max - MaxReplaced)
