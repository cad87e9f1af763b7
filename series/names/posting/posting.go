// Package posting keeps, for very many words, the ascending list of numbers
// (series) that each word occurs in.
//
// Most words have few series and few words have many, so a list grows through
// three shapes: a single number lives in the list's head; a short list is a
// chain of small pieces of a shared pool that the garbage collector does not
// scan (the byte slices of Lucene's indexing chain); what a long list gets
// later lies in blocks, each for a window of 65,536 numbers, delta coded where
// the list is sparse and a bitmap where it is dense (the idea of Chambi et
// al., "Better bitmap performance with Roaring bitmaps", 2016).
//
//	lists := posting.New()
//	lists.Add(word, 7)                     // one writer, numbers ascend within a list
//	ids := lists.View(word).AppendTo(nil)  // many readers
//
// A View is a picture of one list at one moment: nothing that it refers to is
// changed afterwards, so it is read without a lock.
package posting

import (
	"math/bits"
	"slices"
	"sync"
)

const (
	// longFrom is the length from which on a list grows in blocks.
	longFrom = 2048

	// turn is how many lists a reader takes before it lets the writer in.
	turn = 1024

	headBits  = 12 // heads of a chunk
	headChunk = 1 << headBits
)

// head is what there is for each list. The number of a list of one is last.
type head struct {
	n     uint32
	last  uint32
	start uint32 // first piece in the pool, from two numbers on
	end   uint32 // where the pool's next byte goes
}

// Lists are the lists of words 0, 1, 2 and so on. One goroutine at a time may
// call Add; any number may call the other methods meanwhile.
type Lists struct {
	mu    sync.RWMutex
	heads []*[headChunk]head
	pool  pool
	long  map[uint32]*long
	used  int // lists that are not empty
}

// New returns lists that are all empty.
func New() *Lists { return &Lists{long: map[uint32]*long{}} }

// Add appends id to the list of word. Numbers within a list must ascend: an id
// that is not above the last one is not added, and Add reports false.
func (l *Lists) Add(word, id uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(word, id)
}

// AddAll appends id to the lists of all words, at the cost of one lock.
func (l *Lists) AddAll(words []uint32, id uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range words {
		l.add(w, id)
	}
}

func (l *Lists) add(word, id uint32) bool {
	for int(word>>headBits) >= len(l.heads) {
		l.heads = append(l.heads, new([headChunk]head))
	}
	h := &l.heads[word>>headBits][word%headChunk]
	switch {
	case h.n == 0:
		h.n, h.last = 1, id
		l.used++
		return true
	case id <= h.last:
		return false
	case h.n == 1:
		h.start = l.pool.alloc(0)
		h.end = l.pool.put(h.start, h.last)
		h.end = l.pool.put(h.end, id-h.last)
	case h.n < longFrom:
		h.end = l.pool.put(h.end, id-h.last)
	default:
		b := l.long[word]
		if b == nil {
			b = &long{}
			l.long[word] = b
		}
		b.add(id)
	}
	h.n++
	h.last = id
	return true
}

// Len is the length of the list of word.
func (l *Lists) Len(word uint32) int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return int(l.head(word).n)
}

// Used is the number of lists that are not empty.
func (l *Lists) Used() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.used
}

// Full reports whether there may not be room for another number in some
// thousands of lists: short lists together have less than 4 GiB.
func (l *Lists) Full() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.pool.chunks) > maxChunks-4096
}

// Total is the sum of the lengths of the lists of words.
func (l *Lists) Total(words []uint32) (n int) {
	for some := range slices.Chunk(words, turn) {
		l.mu.RLock()
		for _, w := range some {
			n += int(l.head(w).n)
		}
		l.mu.RUnlock()
	}
	return n
}

func (l *Lists) head(word uint32) head {
	if int(word>>headBits) >= len(l.heads) {
		return head{}
	}
	return l.heads[word>>headBits][word%headChunk]
}

// View is the list of word as it is now.
func (l *Lists) View(word uint32) View {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.view(word)
}

// Views appends to dst the lists of words. Between some thousands of them the
// writer gets its turn.
func (l *Lists) Views(dst []View, words []uint32) []View {
	for some := range slices.Chunk(words, turn) {
		l.mu.RLock()
		for _, w := range some {
			dst = append(dst, l.view(w))
		}
		l.mu.RUnlock()
	}
	return dst
}

func (l *Lists) view(word uint32) View {
	v := View{head: l.head(word)}
	if v.n > 1 {
		v.chunks, v.sizes = l.pool.chunks, l.pool.sizes
	}
	if v.n > longFrom {
		v.long = l.long[word].view()
	}
	return v
}

// Bytes is the memory that the lists hold.
func (l *Lists) Bytes() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	total := len(l.heads)*headChunk*16 + len(l.pool.chunks)<<chunkBits
	for _, b := range l.long {
		total += b.bytes()
	}
	return total
}

// setBit sets a bit of a bitmap, if it is inside of it.
func setBit(set []uint64, id uint32) {
	if int(id>>6) < len(set) {
		set[id>>6] |= 1 << (id & 63)
	}
}

// ones calls yield with the numbers of the set bits of words, where bit 0 of
// the first word is number base, until yield returns false.
func ones(words []uint64, base uint32, yield func(uint32) bool) bool {
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			if !yield(base + uint32(i<<6|bits.TrailingZeros64(w))) {
				return false
			}
		}
	}
	return true
}
