package names

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
)

// ErrFull is what Add answers when there are more names, or more bytes of
// them, than 32 bits can number.
var ErrFull = errors.New("the index of names is full: 4 GiB of texts or 2^32-2 names")

const (
	arenaBits  = 16 // bytes of a chunk of an arena
	columnBits = 10 // numbers of a chunk of a column
)

// arena holds byte strings behind one another in chunks that the garbage
// collector does not scan. Strings are written once, so whoever got an address
// from the writer in an orderly way may read without a lock.
type arena struct {
	dir  atomic.Pointer[[]*[1 << arenaBits]byte]
	next uint64 // where the next string goes; the writer's
}

// put stores head and tail as one string and returns its address.
func (a *arena) put(head, tail []byte) (uint32, error) {
	var prefix [binary.MaxVarintLen32]byte
	size := binary.PutUvarint(prefix[:], uint64(len(head)+len(tail)))
	need := uint64(size + len(head) + len(tail))
	at := a.next
	if at>>arenaBits != (at+need-1)>>arenaBits || at%(1<<arenaBits) == 0 {
		at = (at + 1<<arenaBits - 1) &^ (1<<arenaBits - 1)
		if at+1<<arenaBits > 1<<32 {
			return 0, ErrFull
		}
		var dir []*[1 << arenaBits]byte
		if old := a.dir.Load(); old != nil {
			dir = *old
		}
		dir = append(dir, new([1 << arenaBits]byte))
		a.dir.Store(&dir)
	}
	chunk := (*a.dir.Load())[at>>arenaBits]
	to := chunk[at%(1<<arenaBits):]
	n := copy(to, prefix[:size])
	n += copy(to[n:], head)
	copy(to[n:], tail)
	a.next = at + need
	return uint32(at), nil
}

// get is the string at an address that put returned. It must not be changed.
func (a *arena) get(at uint32) []byte {
	chunk := (*a.dir.Load())[at>>arenaBits]
	from := int(at % (1 << arenaBits))
	n, size := uint64(chunk[from]), 1
	if n >= 0x80 {
		n, size = binary.Uvarint(chunk[from:])
	}
	from += size
	return chunk[from : from+int(n) : from+int(n)]
}

func (a *arena) bytes() int {
	if dir := a.dir.Load(); dir != nil {
		return len(*dir)<<arenaBits + cap(*dir)*8
	}
	return 0
}

// column is a growing row of numbers that is read while it grows.
type column struct {
	dir atomic.Pointer[[]*[1 << columnBits]uint32]
	n   atomic.Uint32
}

func (c *column) append(x uint32) {
	n := c.n.Load()
	if n%(1<<columnBits) == 0 {
		var dir []*[1 << columnBits]uint32
		if old := c.dir.Load(); old != nil {
			dir = *old
		}
		dir = append(dir, new([1 << columnBits]uint32))
		c.dir.Store(&dir)
	}
	(*c.dir.Load())[n>>columnBits][n%(1<<columnBits)] = x
	c.n.Store(n + 1)
}

func (c *column) get(i uint32) uint32 {
	return (*c.dir.Load())[i>>columnBits][i%(1<<columnBits)]
}

func (c *column) len() uint32 { return c.n.Load() }

func (c *column) bytes() int {
	if dir := c.dir.Load(); dir != nil {
		return len(*dir)<<(columnBits+2) + cap(*dir)*8
	}
	return 0
}
