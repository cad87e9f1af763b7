package names

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// The classes of symbols: metrics, keys of tags, and for each key in the order
// in which keys came, the values that go with it.
const (
	metricClass = 0
	keyClass    = 1
	valueClass  = 2 // of key number 0
)

// symbols numbers the texts that names are made of: one number for a metric,
// for a key, and for a value together with its key.
type symbols struct {
	texts   arena  // the class as a varint, and the text
	at      column // address of each symbol
	table   table
	classes atomic.Pointer[[]*column] // the symbols of each class, in their order
}

func newSymbols() *symbols {
	s := new(symbols)
	s.classes.Store(&[]*column{{}, {}})
	return s
}

func symbolHash(class uint32, text []byte) uint32 {
	return uint32(xxh3.HashSeed(text, uint64(class)) >> 32)
}

// find returns the number of a symbol.
func (s *symbols) find(class uint32, text []byte) (uint32, bool) {
	return s.table.find(symbolHash(class, text), func(number uint32) bool {
		c, t := s.get(number)
		return c == class && bytes.Equal(t, text)
	})
}

// get is the class and the text of a symbol. The text must not be changed.
func (s *symbols) get(number uint32) (class uint32, text []byte) {
	entry := s.texts.get(s.at.get(number))
	if entry[0] < 0x80 {
		return uint32(entry[0]), entry[1:]
	}
	c, n := binary.Uvarint(entry)
	return uint32(c), entry[n:]
}

// add numbers a symbol that is not there.
func (s *symbols) add(class uint32, text []byte) (uint32, error) {
	number := s.at.len()
	if number == gone-1 {
		return 0, ErrFull
	}
	var head [binary.MaxVarintLen32]byte
	at, err := s.texts.put(binary.AppendUvarint(head[:0], uint64(class)), text)
	if err != nil {
		return 0, err
	}
	s.at.append(at)
	classes := *s.classes.Load()
	if class == keyClass {
		classes = append(classes, new(column))
		s.classes.Store(&classes)
	}
	classes[class].append(number)
	s.table.insert(symbolHash(class, text), number)
	return number, nil
}

// members are the symbols of a class.
func (s *symbols) members(class uint32) *column { return (*s.classes.Load())[class] }

// each calls yield with the symbols lo to hi of a class and their texts, until it
// returns false. Values come in millions and prefixes look at all of them, so
// what get finds out for each text is found out once here.
func (s *symbols) each(class uint32, members *column, lo, hi uint32, yield func(symbol uint32, text []byte) bool) {
	if lo >= hi {
		return
	}
	numbers, at, texts := *members.dir.Load(), *s.at.dir.Load(), *s.texts.dir.Load()
	var head [binary.MaxVarintLen32]byte
	skip := binary.PutUvarint(head[:], uint64(class))
	for i := lo; i < hi; i++ {
		symbol := numbers[i>>columnBits][i%(1<<columnBits)]
		address := at[symbol>>columnBits][symbol%(1<<columnBits)]
		chunk, from := texts[address>>arenaBits], int(address%(1<<arenaBits))
		n, size := int(chunk[from]), 1
		if n >= 0x80 {
			long, bytes := binary.Uvarint(chunk[from:])
			n, size = int(long), bytes
		}
		from += size
		if !yield(symbol, chunk[from+skip:from+n:from+n]) {
			return
		}
	}
}

// key is the symbol of the key of a class of values.
func (s *symbols) key(class uint32) uint32 { return s.members(keyClass).get(class - valueClass) }

// values is the class of the values of a key.
func (s *symbols) values(key []byte) (class, symbol uint32, ok bool) {
	symbol, ok = s.find(keyClass, key)
	if !ok {
		return 0, 0, false
	}
	// Keys are few and looked up often: their place in the class follows from a search,
	// as symbols of a class ascend.
	keys := s.members(keyClass)
	lo, hi := uint32(0), keys.len()
	for lo < hi {
		mid := (lo + hi) / 2
		if keys.get(mid) < symbol {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return valueClass + lo, symbol, true
}

func (s *symbols) bytes() int {
	total := s.texts.bytes() + s.at.bytes() + s.table.bytes()
	for _, c := range *s.classes.Load() {
		total += c.bytes() + 32
	}
	return total
}
