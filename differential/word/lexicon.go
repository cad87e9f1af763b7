package word

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"reflect"
)

// Lexicons are the dictionaries of one worker, one for each interned type. The zero value
// is ready. They are for one goroutine.
type Lexicons struct {
	byType map[reflect.Type]*lexicon
	all    []*lexicon
	due    bool // a lexicon is to be swept, or is being swept
	fuel   int  // what a call of Tidy does at least; 0 is tidyFuel
}

// of returns the lexicon of a type.
func (l *Lexicons) of(t reflect.Type) *lexicon {
	if x := l.byType[t]; x != nil {
		return x
	}
	if l.byType == nil {
		l.byType = map[reflect.Type]*lexicon{}
	}
	x := &lexicon{lexicons: l, seed: maphash.MakeSeed(), table: newTable()}
	x.pace()
	l.byType[t] = x
	l.all = append(l.all, x)
	return x
}

// Size returns how many values the lexicons know, and how many bytes they take.
func (l *Lexicons) Size() (values, size int) {
	for _, x := range l.all {
		values += x.table.count
		size += x.table.size() + x.numbers.size() + x.arena.size()
	}
	return values, size
}

// lexicon gives numbers to strings of bytes. Its three parts grow by bounded steps:
// however many values it knows, one more never makes it copy more than a few kilobytes.
// Nothing in them is for the garbage collector to follow but the slices they consist of.
type lexicon struct {
	lexicons *Lexicons
	seed     maphash.Seed
	table    table   // from hash to number
	numbers  numbers // from number to place
	arena    arena   // from place to bytes
	sweeper
}

// intern returns the number of b, of which it keeps a copy if it has none.
func (x *lexicon) intern(b []byte) uint64 {
	tag := maphash.Bytes(x.seed, b) >> 32
	s := x.table.segment(tag)
	mask := uint64(len(s.slots) - 1)
	i := tag & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if slot := s.slots[i]; slot>>32 == tag && bytes.Equal(x.arena.at(x.numbers.place(slot&maxNumber)), b) {
			if x.phase != resting {
				x.mark(slot & maxNumber)
			}
			return slot & maxNumber
		}
	}
	n := x.numbers.take(x.arena.add(b))
	s.slots[i] = tag<<32 | n
	x.table.added(s, tag)
	if x.phase != resting {
		x.mark(n)
		x.born++
	} else if x.table.count >= x.dueCount || x.arena.used >= x.dueBytes {
		x.lexicons.due = true
	}
	return n
}

// bytes returns the bytes of a number. They do not change.
func (x *lexicon) bytes(w uint64) []byte {
	if !x.numbers.has(w) {
		panic(fmt.Sprintf("word: %d is the word of no value: it was forgotten, or is of another type or worker", w))
	}
	return x.arena.at(x.numbers.place(w))
}
