package names

import (
	"bytes"
	"math"

	"github.com/zeebo/xxh3"

	"weir/internal/huge"
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
	x.slots = huge.Make[uint64](size)
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

// ready makes room for n entries more than used, so that the following inserts
// do not move anything.
func (x *index) ready(n int) {
	if 2*(x.used+n) > len(x.slots) {
		x.reserve(max(8, 2*x.used, x.used+n))
	}
}

// batch is how many lookups AddAll has under way at a time. Each step of a
// lookup is done for all of a batch before the next one: so the processor waits
// for many cache misses at a time instead of one after the other.
const batch = 32

// probe loads the first slots for hashes and returns, in vertices, whose name
// to compare first; 0 stands for nobody, which is harmless.
func (x *index) probe(hashes *[batch]uint32, vertices *[batch]uint32) {
	slots, mask := x.slots, len(x.slots)-1
	for i, h := range hashes {
		v := uint32(slots[int(h)&mask])
		if v > 0 {
			v--
		}
		vertices[i] = v
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
	keys    []uint64
	index   index
	touched uint64 // keeps the compiler from dropping loads
}

// Len is the number of distinct integers.
func (d *Ints) Len() int { return len(d.keys) }

// Keys holds the integers by their number. It belongs to the dictionary.
func (d *Ints) Keys() []uint64 { return d.keys }

// Add returns the number of key, a new one if key was not there. The caller
// sees to it that Len stays below [Limit].
func (d *Ints) Add(key uint64) uint32 {
	d.index.ready(1)
	return d.add(hashUint64(key), key)
}

// add is Add where there is room.
func (d *Ints) add(h uint32, key uint64) uint32 {
	x := &d.index
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

// AddAll appends the numbers of all keys, as Add gives them, to numbers. It is
// several times as fast as Add where the dictionary is larger than the caches.
func (d *Ints) AddAll(keys []uint64, numbers []uint32) []uint32 {
	var hashes, vertices [batch]uint32
	for len(keys) >= batch && len(d.keys) > 0 {
		d.index.ready(batch)
		for i, key := range keys[:batch] {
			hashes[i] = hashUint64(key)
		}
		d.index.probe(&hashes, &vertices)
		touched := uint64(0)
		for _, v := range vertices {
			touched += d.keys[v]
		}
		d.touched = touched
		for i, key := range keys[:batch] {
			numbers = append(numbers, d.add(hashes[i], key))
		}
		keys = keys[batch:]
	}
	for _, key := range keys {
		numbers = append(numbers, d.Add(key))
	}
	return numbers
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
	arena   []byte
	ends    []uint64 // by number: where its string ends in arena
	hashes  []uint32 // by number
	index   index
	touched byte // keeps the compiler from dropping loads
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
	d.index.ready(1)
	return d.add(hash(name), name)
}

// add is Add where there is room.
func (d *Strings) add(h uint32, name []byte) uint32 {
	x := &d.index
	mask := len(x.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		s := x.slots[i]
		if s == 0 {
			d.arena = append(d.arena, name...)
			d.ends = append(d.ends, uint64(len(d.arena)))
			d.hashes = append(d.hashes, h)
			x.used++
			x.slots[i] = uint64(h)<<32 | uint64(len(d.ends))
			return uint32(len(d.ends) - 1)
		}
		if uint32(s>>32) == h && bytes.Equal(d.Name(uint32(s)-1), name) {
			return uint32(s) - 1
		}
	}
}

// AddAll appends the numbers of all strings of other, as Add gives them, to
// numbers. It is several times as fast as Add where the dictionary is larger
// than the caches.
func (d *Strings) AddAll(other *Strings, numbers []uint32) []uint32 {
	var vertices [batch]uint32
	v, n := uint32(0), uint32(other.Len())
	for ; v+batch <= n && len(d.ends) > 0; v += batch {
		d.index.ready(batch)
		hashes := (*[batch]uint32)(other.hashes[v:])
		d.index.probe(hashes, &vertices)
		var starts [batch]uint64
		for i, w := range vertices {
			starts[i] = d.ends[w] - 1
		}
		touched := byte(0)
		for _, start := range starts {
			if start < uint64(len(d.arena)) { // not where the string is empty
				touched += d.arena[start]
			}
		}
		d.touched = touched
		for i, h := range hashes {
			numbers = append(numbers, d.add(h, other.Name(v+uint32(i))))
		}
	}
	for ; v < n; v++ {
		numbers = append(numbers, d.Add(other.Name(v)))
	}
	return numbers
}

// Reset forgets all strings and keeps the memory.
func (d *Strings) Reset() {
	d.arena, d.ends, d.hashes = d.arena[:0], d.ends[:0], d.hashes[:0]
	d.index.reset()
}

// Table is the names by number; the dictionary must not be used after it.
func (d *Strings) Table() *Table {
	t := &Table{kind: Text, n: len(d.ends), arena: d.arena}
	if uint64(len(d.arena)) < math.MaxUint32 {
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
