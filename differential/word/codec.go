package word

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"

	"weir/timely"
)

// Codec maps values of T to words and back, one to one, on one worker. Make one with
// [New]. A codec of an interned type, as its lexicon, is for one goroutine.
type Codec[T comparable] struct {
	mode    mode
	flip    uint64  // of a packed type: the sign bits of its words
	turn    uint8   // of a pair: how far its halves are turned in memory
	fields  []field // of a packed type
	spell   spelling
	lexicon *lexicon // nil for a packed type
	hash    func(T) uint64
	order   order // of an interned type, once it is asked for
}

// New makes the codec of T. Codecs of one interned type that are made with the same
// lexicons agree in their words. The error names the part of T that has no word: a
// pointer, an interface, a channel. For a packed type lexicons may be nil.
func New[T comparable](lexicons *Lexicons) (*Codec[T], error) {
	t := reflect.TypeFor[T]()
	if err := check(t, t.String()); err != nil {
		return nil, fmt.Errorf("word: make words of %v: %w", t, err)
	}
	c := &Codec[T]{}
	if content(t) <= maxContent {
		c.fields = fields(parts(nil, t, 0))
		c.mode, c.flip = modeOf(c.fields, t.Size())
		if !bigEndian {
			c.turn = 32 // the first field, which is the high half of a word, is the low half of memory
		}
		return c, nil
	}
	if lexicons == nil {
		return nil, fmt.Errorf("word: make words of %v: %w", t, errors.New("it is interned, and there are no lexicons"))
	}
	c.spell = spellingOf(parts(nil, t, 0))
	c.lexicon = lexicons.of(t)
	c.hash = timely.HashOf[T]()
	return c, nil
}

// Packed says that words are the values themselves: they need no lexicon, are the same on
// all workers, and are in order.
func (c *Codec[T]) Packed() bool { return c.lexicon == nil }

// Ordered says that words compare as their values do (see the package comment). The
// least word is then that of the least value.
func (c *Codec[T]) Ordered() bool { return c.lexicon == nil }

// Word returns the word of x. The word of a value of an interned type is valid as long
// as an index holds it, and until the next [Lexicons.Tidy].
func (c *Codec[T]) Word(x T) uint64 {
	// The size is known when this is compiled for a T: a few of the cases are left.
	// Fields are loaded one by one, as they were stored, or the loads would wait.
	p := unsafe.Pointer(&x)
	switch {
	case c.mode == number && unsafe.Sizeof(x) == 8:
		return *(*uint64)(p) ^ c.flip
	case c.mode == number && unsafe.Sizeof(x) == 4:
		return uint64(*(*uint32)(p)) ^ c.flip
	case c.mode == number && unsafe.Sizeof(x) == 2:
		return uint64(*(*uint16)(p)) ^ c.flip
	case c.mode == number && unsafe.Sizeof(x) == 1:
		return uint64(*(*uint8)(p)) ^ c.flip
	case c.mode == double && unsafe.Sizeof(x) == 8:
		u := *(*uint64)(p)
		return u ^ (uint64(int64(u)>>63) | c.flip)
	case c.mode == pair44 && unsafe.Sizeof(x) == 8:
		return (uint64(*(*uint32)(p))<<32 | uint64(*(*uint32)(unsafe.Add(p, 4)))) ^ c.flip
	case c.mode == pair42 && unsafe.Sizeof(x) == 8:
		return (uint64(*(*uint32)(p))<<16 | uint64(*(*uint16)(unsafe.Add(p, 4)))) ^ c.flip
	}
	if c.lexicon == nil {
		return pack(c.fields, p)
	}
	return c.lexicon.intern(c.spell.spell(p))
}

// Value returns the value whose word is w, which must be a valid one. Strings in it lie in
// the lexicon's memory and stay valid for ever: a string that is kept keeps up to
// 256 KiB of strings around it.
func (c *Codec[T]) Value(w uint64) (x T) {
	p := unsafe.Pointer(&x)
	switch u := w ^ c.flip; {
	case c.mode == number && unsafe.Sizeof(x) == 8:
		*(*uint64)(p) = u
	case c.mode == number && unsafe.Sizeof(x) == 4:
		*(*uint32)(p) = uint32(u)
	case c.mode == number && unsafe.Sizeof(x) == 2:
		*(*uint16)(p) = uint16(u)
	case c.mode == number && unsafe.Sizeof(x) == 1:
		*(*uint8)(p) = uint8(u)
	case c.mode == double && unsafe.Sizeof(x) == 8:
		*(*uint64)(p) = w ^ (^uint64(int64(w)>>63) | c.flip)
	case c.mode == pair44 && unsafe.Sizeof(x) == 8:
		// Stored as one: an array is then copied as one.
		*(*uint64)(p) = bits.RotateLeft64(u, int(c.turn))
	case c.mode == pair42 && unsafe.Sizeof(x) == 8:
		*(*uint32)(p), *(*uint16)(unsafe.Add(p, 4)) = uint32(u>>16), uint16(u)
	case c.lexicon == nil:
		unpack(c.fields, p, w)
	default:
		c.spell.read(p, c.lexicon.bytes(w))
	}
	return x
}

// Hash returns a hash of x that is the same on all workers and in all processes of
// one program: values with the same word have the same hash.
func (c *Codec[T]) Hash(x T) uint64 {
	if c.lexicon == nil {
		return timely.HashUint64(c.Word(x))
	}
	return c.hash(x)
}

// Hold makes known what holds words of c. When its lexicon begins to be swept, visit is called
// and calls mark with each of the words, in any order, as often as it likes. What no holder
// marks is forgotten. There is no word 0 of an interned type; marking it does nothing. The
// holder stays until release is called. For a packed type nothing is done.
//
// Hold is for what is small, or changes: [Codec.HoldColumns] is for an index.
func (c *Codec[T]) Hold(visit func(mark func(w uint64))) (release func()) {
	if c.lexicon == nil {
		return func() {}
	}
	return c.lexicon.hold(&holder{visit: visit})
}

// HoldColumns is Hold for an index: when its lexicon begins to be swept, columns appends
// the slices of words that the index consists of at the time, and which are read
// little by little in the calls of [Lexicons.Tidy] that follow. Their elements must not
// be changed any more, but the index may forget them.
func (c *Codec[T]) HoldColumns(columns func(to [][]uint64) [][]uint64) (release func()) {
	if c.lexicon == nil {
		return func() {}
	}
	return c.lexicon.hold(&holder{columns: columns})
}
