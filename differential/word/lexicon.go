package word

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"reflect"
)

// Lexicons are the dictionaries of one worker, one for each interned type. The zero value
// is ready. They are for one goroutine.
type Lexicons struct {
	byType map[reflect.Type]*lexicon
	all    []*lexicon
	due    bool // a lexicon has doubled
}

// of returns the lexicon of a type.
func (l *Lexicons) of(t reflect.Type) *lexicon {
	if x := l.byType[t]; x != nil {
		return x
	}
	if l.byType == nil {
		l.byType = map[reflect.Type]*lexicon{}
	}
	x := newLexicon(l)
	l.byType[t] = x
	l.all = append(l.all, x)
	return x
}

// Size returns how many values the lexicons know, and how many bytes they take.
func (l *Lexicons) Size() (values, size int) {
	for _, x := range l.all {
		values += x.count
		size += x.size()
	}
	return values, size
}

// lexicon gives numbers to strings of bytes: dense ones, from 1.
type lexicon struct {
	lexicons *Lexicons
	seed     maphash.Seed

	// table is open, with linear probing: 32 bits of hash, then 32 bits of number;
	// 0 where nothing is. Its length is a power of two.
	table []uint64
	count int // of values

	// places says where the bytes of each number are: 32 bits of chunk, 32 of offset
	// in it. Chunk 0 does not exist: such a place is free, and its offset is the
	// number of the next free one, or 0. Number 0 is never given out.
	places []uint64
	free   uint32

	arena arena
	sweeper
}

const minTable = 64

func newLexicon(l *Lexicons) *lexicon {
	x := &lexicon{lexicons: l, seed: maphash.MakeSeed(), table: make([]uint64, minTable), places: make([]uint64, 1)}
	x.pace()
	return x
}

// intern returns the number of b, of which it keeps a copy if it has none.
func (x *lexicon) intern(b []byte) uint64 {
	h := maphash.Bytes(x.seed, b)
	tag := h >> 32
	mask := uint64(len(x.table) - 1)
	i := tag & mask
	for ; x.table[i] != 0; i = (i + 1) & mask {
		if s := x.table[i]; s>>32 == tag && bytes.Equal(x.bytes(s&math.MaxUint32), b) {
			return s & math.MaxUint32
		}
	}
	n := x.number(x.arena.add(b))
	x.table[i] = tag<<32 | n
	x.count++
	if 4*x.count > 3*len(x.table) {
		x.rehash(2 * len(x.table))
	}
	if x.count >= x.dueCount || x.arena.used >= x.dueBytes {
		x.lexicons.due = true
	}
	return n
}

// number gives a number to the bytes at a place.
func (x *lexicon) number(place uint64) uint64 {
	if n := x.free; n != 0 {
		x.free = uint32(x.places[n])
		x.places[n] = place
		return uint64(n)
	}
	n := uint64(len(x.places))
	if n > math.MaxUint32 {
		panic("word: a lexicon holds 2^32-1 values and is full")
	}
	x.places = append(x.places, place)
	return n
}

// rehash moves the table into one of n slots.
func (x *lexicon) rehash(n int) {
	old := x.table
	x.table = make([]uint64, n)
	for _, s := range old {
		if s != 0 {
			x.put(s)
		}
	}
}

// put puts a slot that is not there into the table, which has room.
func (x *lexicon) put(s uint64) {
	mask := uint64(len(x.table) - 1)
	i := s >> 32 & mask
	for x.table[i] != 0 {
		i = (i + 1) & mask
	}
	x.table[i] = s
}

// bytes returns the bytes of a number. They do not change.
func (x *lexicon) bytes(w uint64) []byte {
	if w >= uint64(len(x.places)) || x.places[w]>>32 == 0 {
		panic(fmt.Sprintf("word: %d is the word of no value: it was forgotten, or is of another type or worker", w))
	}
	return x.arena.at(x.places[w])
}

func (x *lexicon) size() int { return 8*(cap(x.table)+cap(x.places)) + x.arena.size() }

// arena keeps strings of bytes in chunks. Bytes once written are never changed, since
// strings that were handed out lie in them; what is dropped is left to the garbage collector.
type arena struct {
	chunks [][]byte // the first is none
	spare  []uint32 // chunks that were dropped
	last   uint32   // the chunk that is being filled
	used   int      // bytes in all chunks
}

// A chunk is as large as all before it, within bounds. What is larger than a quarter of
// the largest has a chunk of its own.
const (
	minChunk = 1 << 12
	maxChunk = 1 << 18
)

// add writes b, its length before it, and returns its place.
func (a *arena) add(b []byte) uint64 {
	var head [binary.MaxVarintLen64]byte
	width := binary.PutUvarint(head[:], uint64(len(b)))
	need := width + len(b)
	id := a.last
	if id == 0 || cap(a.chunks[id])-len(a.chunks[id]) < need {
		if need > maxChunk/4 {
			id = a.chunk(need)
		} else {
			id = a.chunk(max(min(max(a.used, minChunk), maxChunk), need))
			a.last = id
		}
	}
	c := a.chunks[id]
	off := len(c)
	a.chunks[id] = append(append(c, head[:width]...), b...)
	a.used += need
	return uint64(id)<<32 | uint64(off)
}

// chunk makes a chunk and returns its number.
func (a *arena) chunk(n int) uint32 {
	if len(a.chunks) == 0 {
		a.chunks = append(a.chunks, nil)
	}
	c := make([]byte, 0, n)
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
	b := a.chunks[place>>32][uint32(place):]
	n, width := uint64(b[0]), 1
	if n >= 0x80 {
		n, width = binary.Uvarint(b)
	}
	return b[width : width+int(n) : width+int(n)]
}

// drop forgets a chunk.
func (a *arena) drop(id uint32) {
	a.used -= len(a.chunks[id])
	a.chunks[id] = nil
	a.spare = append(a.spare, id)
	if a.last == id {
		a.last = 0
	}
}

func (a *arena) size() int {
	n := 0
	for _, c := range a.chunks {
		n += cap(c)
	}
	return n
}
