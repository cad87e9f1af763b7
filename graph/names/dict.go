package names

import (
	"bytes"
	"math"

	"github.com/zeebo/xxh3"
)

// Limit is the largest number of names that a dictionary or a table holds.
const Limit = math.MaxUint32

// index is an open-addressing hash table from 32-bit hashes to vertices. A slot
// is hash<<32 | vertex+1, or 0 where it is free, so a lookup reads one word in
// most cases before it looks at a name.
type index struct {
	slots []uint64 // a power of two, at most half full
	used  int
}

// reserve makes room for n entries.
func (x *index) reserve(n int) {
	size := 16
	for size < 2*n {
		size *= 2
	}
	if size <= len(x.slots) {
		return
	}
	old := x.slots
	x.slots = make([]uint64, size)
	for _, s := range old {
		if s != 0 {
			x.place(s)
		}
	}
}

// place puts a slot that is not there yet.
func (x *index) place(s uint64) {
	mask := len(x.slots) - 1
	for i := int(s>>32) & mask; ; i = (i + 1) & mask {
		if x.slots[i] == 0 {
			x.slots[i] = s
			return
		}
	}
}

// insert adds a vertex whose name is not there yet.
func (x *index) insert(h uint32, v uint32) {
	if 2*(x.used+1) > len(x.slots) {
		x.reserve(max(8, 2*x.used))
	}
	x.used++
	x.place(uint64(h)<<32 | uint64(v+1))
}

// find is the vertex among those of hash h for which same holds.
func (x *index) find(h uint32, same func(v uint32) bool) (uint32, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	mask := len(x.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		s := x.slots[i]
		if s == 0 {
			return 0, false
		}
		if uint32(s>>32) == h && same(uint32(s)-1) {
			return uint32(s) - 1, true
		}
	}
}

// reset forgets all entries and keeps the memory.
func (x *index) reset() {
	clear(x.slots)
	x.used = 0
}

func hash(b []byte) uint32         { return uint32(xxh3.Hash(b) >> 32) }
func hashString(s string) uint32   { return uint32(xxh3.HashString(s) >> 32) }
func hashUint64(key uint64) uint32 { return uint32((key ^ key>>32) * 0x9e3779b97f4a7c15 >> 32) }

// Ints is a dictionary that numbers distinct integers 0, 1, 2, … in order of
// first appearance. The zero Ints is empty and ready. It is not safe for
// concurrent use.
type Ints struct {
	keys  []uint64
	index index
}

// Len is the number of distinct integers.
func (d *Ints) Len() int { return len(d.keys) }

// Keys holds the integers by their number. It belongs to the dictionary.
func (d *Ints) Keys() []uint64 { return d.keys }

// Add returns the number of key, a new one if key was not there. The caller
// sees to it that Len stays below [Limit].
func (d *Ints) Add(key uint64) uint32 {
	h := hashUint64(key)
	x := &d.index
	if 2*(len(d.keys)+1) > len(x.slots) {
		x.reserve(max(8, 2*len(d.keys)))
	}
	mask := len(x.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		s := x.slots[i]
		if s == 0 {
			d.keys = append(d.keys, key)
			x.used++
			x.slots[i] = uint64(h)<<32 | uint64(len(d.keys))
			return uint32(len(d.keys) - 1)
		}
		if uint32(s>>32) == h && d.keys[uint32(s)-1] == key {
			return uint32(s) - 1
		}
	}
}

// Reset forgets all keys and keeps the memory.
func (d *Ints) Reset() {
	d.keys = d.keys[:0]
	d.index.reset()
}

// Table is the names by number; the dictionary must not be used after it.
func (d *Ints) Table() *Table { return List(d.keys) }

// Strings is a dictionary that numbers distinct strings 0, 1, 2, … in order of
// first appearance. The zero Strings is empty and ready. It is not safe for
// concurrent use.
type Strings struct {
	arena []byte
	ends  []uint64 // by number: where its string ends in arena
	index index
}

// Len is the number of distinct strings.
func (d *Strings) Len() int { return len(d.ends) }

// Name is the string of the given number. It belongs to the dictionary.
func (d *Strings) Name(v uint32) []byte {
	lo := uint64(0)
	if v > 0 {
		lo = d.ends[v-1]
	}
	return d.arena[lo:d.ends[v]]
}

// Add returns the number of name, a new one if name was not there; it copies
// name then. The caller sees to it that Len stays below [Limit].
func (d *Strings) Add(name []byte) uint32 {
	h := hash(name)
	x := &d.index
	if 2*(len(d.ends)+1) > len(x.slots) {
		x.reserve(max(8, 2*len(d.ends)))
	}
	mask := len(x.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		s := x.slots[i]
		if s == 0 {
			d.arena = append(d.arena, name...)
			d.ends = append(d.ends, uint64(len(d.arena)))
			x.used++
			x.slots[i] = uint64(h)<<32 | uint64(len(d.ends))
			return uint32(len(d.ends) - 1)
		}
		if uint32(s>>32) == h && bytes.Equal(d.Name(uint32(s)-1), name) {
			return uint32(s) - 1
		}
	}
}

// Reset forgets all strings and keeps the memory.
func (d *Strings) Reset() {
	d.arena, d.ends = d.arena[:0], d.ends[:0]
	d.index.reset()
}

// Table is the names by number; the dictionary must not be used after it.
func (d *Strings) Table() *Table {
	t := &Table{kind: Text, n: len(d.ends), arena: d.arena}
	if len(d.arena) < math.MaxUint32 {
		t.small = make([]uint32, t.n+1)
		for i, end := range d.ends {
			t.small[i+1] = uint32(end)
		}
	} else {
		t.large = make([]uint64, t.n+1)
		copy(t.large[1:], d.ends)
	}
	return t
}
