package node

import (
	"encoding/binary"
	"fmt"

	"weir/series/codec"
)

// MaxVectors is how many vectors a leaf holds at most.
const MaxVectors = 64

// Vector is one vector of a leaf, still encoded.
type Vector struct {
	// FirstTime is the time of its first point. The vectors of a leaf are in the order of their times.
	FirstTime int64
	// Bytes is the vector of times and behind it the vector of values, as package codec writes them.
	Bytes []byte
}

// Points is how many points v has; 0 if v is none.
func (v Vector) Points() int { return codec.Points(v.Bytes) }

// Decode appends the points of v to times and values.
func (v Vector) Decode(times []int64, values []float64) ([]int64, []float64, error) {
	n := len(times)
	times, rest, err := codec.DecodeTimes(times, v.Bytes)
	if err != nil {
		return times, values, err
	}
	m := len(values)
	decoded, rest, err := codec.DecodeValues(values, rest)
	if err != nil {
		return times[:n], values, err
	}
	if len(times)-n != len(decoded)-m || len(rest) != 0 {
		return times[:n], values, fmt.Errorf("%w: %d times, %d values and %d bytes more in a vector", ErrCorrupt, len(times)-n, len(decoded)-m, len(rest))
	}
	return times, decoded, nil
}

// AppendLeaf appends a leaf of one or more vectors to dst. The texts of events, one for each point and each with its
// length in front (see AppendText), follow the vectors; they are empty in a leaf of values.
func AppendLeaf(dst []byte, h Header, vectors []Vector, texts []byte) []byte {
	dst = appendHeader(dst, h)
	dst = binary.AppendUvarint(dst, uint64(len(vectors)))
	last := int64(0)
	for _, v := range vectors {
		dst = binary.AppendVarint(dst, v.FirstTime-last)
		dst = binary.AppendUvarint(dst, uint64(len(v.Bytes)))
		last = v.FirstTime
	}
	for _, v := range vectors {
		dst = append(dst, v.Bytes...)
	}
	return append(dst, texts...)
}

// DecodeLeaf appends the vectors of a leaf, whose body is what DecodeHeader returned, to dst. They share the body's
// memory, and so do the texts.
func DecodeLeaf(dst []Vector, body []byte) (vectors []Vector, texts []byte, err error) {
	r := Reader{Rest: body}
	n := int(r.Uvarint(MaxVectors))
	var lengths [MaxVectors]int
	begin, last := len(dst), int64(0)
	for i := range n {
		last += r.Varint()
		lengths[i] = int(r.Uvarint(1 << 16))
		dst = append(dst, Vector{FirstTime: last})
	}
	for i := range n {
		dst[begin+i].Bytes = r.Bytes(lengths[i])
	}
	if r.Err == nil && n == 0 {
		r.Err = fmt.Errorf("%w: a leaf without vectors", ErrCorrupt)
	}
	if r.Err != nil {
		return dst[:begin], nil, r.Err
	}
	return dst, r.Rest, nil
}

// AppendText appends a text with its length in front.
func AppendText(dst, text []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

// NextText takes the first text off texts. The text shares the memory of texts.
func NextText(texts []byte) (text, rest []byte, err error) {
	r := Reader{Rest: texts}
	text = r.Bytes(int(r.Uvarint(1 << 20)))
	return text, r.Rest, r.Err
}
