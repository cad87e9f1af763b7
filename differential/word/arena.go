package word

import "encoding/binary"

// arena keeps strings of bytes in chunks. Bytes once written are never changed, since
// strings that were handed out lie in them; a chunk that is dropped is left to the garbage
// collector, which keeps it as long as there are such strings.
type arena struct {
	chunks []chunk  // the first is none
	spare  []uint32 // chunks that were dropped
	last   uint32   // the chunk that is being filled
	used   int      // bytes of the values that are known
	added  int      // bytes that were ever added
	held   int      // bytes of all chunks
}

type chunk struct {
	data   []byte
	used   int  // bytes of the values in it that are known
	sparse bool // it is being emptied
}

// A chunk is as large as all before it, within bounds. What is larger than a quarter of
// the largest has a chunk of its own.
const (
	minChunk = 1 << 10
	maxChunk = 1 << 18
)

// add writes b, its length before it, and returns its place.
func (a *arena) add(b []byte) uint64 {
	need := spelled(b)
	id := a.last
	if id == 0 || cap(a.chunks[id].data)-len(a.chunks[id].data) < need {
		if need > maxChunk/4 {
			id = a.chunk(need)
		} else {
			id = a.chunk(max(min(max(a.used, minChunk), maxChunk), need))
			a.last = id
		}
	}
	c := &a.chunks[id]
	off := len(c.data)
	c.data = append(binary.AppendUvarint(c.data, uint64(len(b))), b...)
	c.used += need
	a.used += need
	a.added += need
	return uint64(id)<<32 | uint64(off)
}

// spelled is how many bytes b takes.
func spelled(b []byte) int {
	n := len(b) + 1
	for k := len(b); k >= 0x80; k >>= 7 {
		n++
	}
	return n
}

// chunk makes a chunk and returns its number.
func (a *arena) chunk(n int) uint32 {
	if len(a.chunks) == 0 {
		a.chunks = append(a.chunks, chunk{})
	}
	a.held += n
	c := chunk{data: make([]byte, 0, n)}
	if k := len(a.spare); k > 0 {
		id := a.spare[k-1]
		a.spare = a.spare[:k-1]
		a.chunks[id] = c
		return id
	}
	a.chunks = append(a.chunks, c)
	return uint32(len(a.chunks) - 1)
}

// at returns what is at a place.
func (a *arena) at(place uint64) []byte {
	b := a.chunks[place>>32].data[uint32(place):]
	n, width := uint64(b[0]), 1
	if n >= 0x80 {
		n, width = binary.Uvarint(b)
	}
	return b[width : width+int(n) : width+int(n)]
}

// forget takes note that what is at a place is known no longer.
func (a *arena) forget(place uint64) {
	n := spelled(a.at(place))
	a.chunks[place>>32].used -= n
	a.used -= n
}

// thin finds the chunks less than half of whose bytes are of known values. Those with none
// are dropped. It reports whether there are others, for move to empty.
func (a *arena) thin() (others bool) {
	for id := range a.chunks {
		switch c := &a.chunks[id]; {
		case c.data == nil || 2*c.used >= len(c.data):
			continue
		case c.used == 0:
			a.drop(uint32(id))
			continue
		default:
			c.sparse, others = true, true
		}
		if a.last == uint32(id) {
			a.last = 0
		}
	}
	return others
}

// move returns the new place of what is at a place, and how many bytes it copied to empty
// the chunk it was in.
func (a *arena) move(place uint64) (moved uint64, copied int) {
	c := place >> 32
	if !a.chunks[c].sparse {
		return place, 0
	}
	b := a.at(place)
	moved = a.add(b)
	a.forget(place)
	if a.chunks[c].used == 0 {
		a.drop(uint32(c))
	}
	return moved, len(b) + 1
}

// drop lets go of a chunk.
func (a *arena) drop(id uint32) {
	a.held -= cap(a.chunks[id].data)
	a.chunks[id] = chunk{}
	a.spare = append(a.spare, id)
	if a.last == id {
		a.last = 0
	}
}

func (a *arena) size() int { return a.held + 40*cap(a.chunks) }
