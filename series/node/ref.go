package node

import (
	"encoding/binary"
	"fmt"

	"weir/series/aggregate"
	"weir/series/codec"
)

// Ref is a reference to a node: where it is, and what is known of the points below it.
type Ref struct {
	aggregate.Aggregate
	At     uint64 // address in the volumes
	Oldest uint64 // the lowest address of a node below it, its own if it is a leaf: what is gone once that is gone
	Length uint32 // bytes
	Level  uint32 // 0 is a leaf; more than that of each node below
}

// AppendInner appends a node of 1 to MaxFanout references to dst.
func AppendInner(dst []byte, h Header, refs []Ref) []byte {
	return AppendRefs(appendHeader(dst, h), refs)
}

// DecodeInner appends the references of a node, whose body is what DecodeHeader returned, to dst.
func DecodeInner(dst []Ref, body []byte) ([]Ref, error) {
	begin := len(dst)
	dst, rest, err := DecodeRefs(dst, body)
	if err == nil && (len(rest) != 0 || len(dst) == begin || len(dst)-begin > MaxFanout) {
		err = fmt.Errorf("%w: %d references and %d bytes more", ErrCorrupt, len(dst)-begin, len(rest))
	}
	if err != nil {
		return dst[:begin], err
	}
	return dst, nil
}

// whole lists the columns of references that are whole numbers, and floats those that are not. A time is written as
// its distance from the first, and an address as its distance from the one before.
var whole = [...]func(r *Ref) *int64{
	func(r *Ref) *int64 { return &r.FirstTime },
	func(r *Ref) *int64 { return &r.LastTime },
	func(r *Ref) *int64 { return &r.MinTime },
	func(r *Ref) *int64 { return &r.MaxTime },
}

var unsigned = [...]func(r *Ref) *uint64{
	func(r *Ref) *uint64 { return &r.Count },
	func(r *Ref) *uint64 { return &r.NaNs },
	func(r *Ref) *uint64 { return &r.At },
	func(r *Ref) *uint64 { return &r.Oldest },
}

var small = [...]func(r *Ref) *uint32{
	func(r *Ref) *uint32 { return &r.Length },
	func(r *Ref) *uint32 { return &r.Level },
}

var floats = [...]func(r *Ref) *float64{
	func(r *Ref) *float64 { return &r.First },
	func(r *Ref) *float64 { return &r.Last },
	func(r *Ref) *float64 { return &r.Min },
	func(r *Ref) *float64 { return &r.Max },
	func(r *Ref) *float64 { return &r.Sum },
	func(r *Ref) *float64 { return &r.Drops },
}

// AppendRefs appends up to codec.Max references to dst, a column after the other, each packed by package codec.
func AppendRefs(dst []byte, refs []Ref) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(refs)))
	if len(refs) == 0 {
		return dst
	}
	var ints [codec.Max]int64
	for c, at := range whole {
		for i := range refs {
			ints[i] = *at(&refs[i])
			if c > 0 {
				ints[i] -= refs[i].FirstTime
			}
		}
		dst = codec.AppendTimes(dst, nil, ints[:len(refs)])
	}
	for c, at := range unsigned {
		for i := range refs {
			x := *at(&refs[i])
			if c == 3 {
				x = refs[i].At - x
			}
			ints[i] = int64(x)
		}
		dst = codec.AppendTimes(dst, nil, ints[:len(refs)])
	}
	for _, at := range small {
		for i := range refs {
			ints[i] = int64(*at(&refs[i]))
		}
		dst = codec.AppendTimes(dst, nil, ints[:len(refs)])
	}
	var values [codec.Max]float64
	for _, at := range floats {
		for i := range refs {
			values[i] = *at(&refs[i])
		}
		dst = codec.AppendValues(dst, nil, values[:len(refs)])
	}
	return dst
}

// DecodeRefs appends the references at the start of src to dst, and returns what follows them.
func DecodeRefs(dst []Ref, src []byte) (refs []Ref, rest []byte, err error) {
	r := Reader{Rest: src}
	n := int(r.Uvarint(codec.Max))
	if r.Err != nil || n == 0 {
		return dst, r.Rest, r.Err
	}
	begin := len(dst)
	dst = append(dst, make([]Ref, n)...)
	refs = dst[begin:]
	var buffer [codec.Max]int64
	column := func() []int64 {
		if r.Err != nil {
			return buffer[:n]
		}
		var ints []int64
		ints, r.Rest, r.Err = codec.DecodeTimes(buffer[:0], r.Rest)
		if r.Err == nil && len(ints) != n {
			r.Err = fmt.Errorf("%w: a column of %d where %d are expected", ErrCorrupt, len(ints), n)
		}
		return buffer[:n]
	}
	for c, at := range whole {
		for i, x := range column() {
			if c > 0 {
				x += refs[i].FirstTime
			}
			*at(&refs[i]) = x
		}
	}
	for c, at := range unsigned {
		for i, x := range column() {
			y := uint64(x)
			if c == 3 {
				y = refs[i].At - y
			}
			*at(&refs[i]) = y
		}
	}
	for _, at := range small {
		for i, x := range column() {
			if x < 0 || x > 1<<31-1 {
				r.Err = fmt.Errorf("%w: %d is no length and no level", ErrCorrupt, x)
			}
			*at(&refs[i]) = uint32(x)
		}
	}
	var values [codec.Max]float64
	for _, at := range floats {
		if r.Err != nil {
			break
		}
		var decoded []float64
		decoded, r.Rest, r.Err = codec.DecodeValues(values[:0], r.Rest)
		if r.Err == nil && len(decoded) != n {
			r.Err = fmt.Errorf("%w: a column of %d where %d are expected", ErrCorrupt, len(decoded), n)
		}
		for i := range refs {
			*at(&refs[i]) = values[i]
		}
	}
	if r.Err != nil {
		return dst[:begin], nil, fmt.Errorf("%w: %w", ErrCorrupt, r.Err)
	}
	return dst, r.Rest, nil
}
