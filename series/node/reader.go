package node

import (
	"encoding/binary"
	"fmt"
)

// A Reader takes numbers off the front of Rest, until there is an error, which wraps ErrCorrupt. From then on they are 0.
type Reader struct {
	Rest []byte
	Err  error
}

// Uvarint takes a number that is at most limit.
func (r *Reader) Uvarint(limit uint64) uint64 {
	if r.Err != nil {
		return 0
	}
	x, n := binary.Uvarint(r.Rest)
	if n <= 0 || x > limit {
		r.Err = fmt.Errorf("%w: no number up to %d where one is expected", ErrCorrupt, limit)
		return 0
	}
	r.Rest = r.Rest[n:]
	return x
}

// Varint takes a signed number.
func (r *Reader) Varint() int64 {
	x := r.Uvarint(1<<64 - 1)
	return int64(x>>1) ^ -int64(x&1)
}

// Bytes takes n bytes, which share the memory of Rest.
func (r *Reader) Bytes(n int) []byte {
	if r.Err != nil {
		return nil
	}
	if n > len(r.Rest) {
		r.Err = fmt.Errorf("%w: %d bytes where %d are expected", ErrCorrupt, len(r.Rest), n)
		return nil
	}
	b := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return b
}

// Byte takes a byte.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}
