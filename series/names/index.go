package names

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"weir/series/names/posting"
)

// ID is the number of a series: how many names were given a number before it.
// The number of a deleted name is not given again.
type ID uint32

// noCode is the address of the code of an ID that has no name, at load.
const noCode = 1<<32 - 1

// Index numbers names and finds them. The zero value is not ready: see New.
type Index struct {
	mu      sync.Mutex // held by whoever changes the index
	symbols *symbols
	codes   arena  // of each name, its symbols: the metric and the values, as varints
	at      column // address of the code of each ID
	table   table  // IDs by the hash of their codes
	lists   *posting.Lists
	dead    atomic.Pointer[[]uint64] // bit set: the ID has no name anymore
	deleted atomic.Uint32            // how many

	// In the index of a Store, changes are noted here, and room is asked before each.
	pending entries
	room    func() error

	// The writer's scratch.
	parts   parts
	code    []byte
	words   []uint32
	classes []uint32
	checked []uint32 // classes of a name that were found in order
}

// New returns an empty index.
func New() *Index {
	ix := &Index{symbols: newSymbols(), lists: posting.New()}
	ix.dead.Store(new([]uint64))
	return ix
}

// Len is the number of names.
func (ix *Index) Len() int {
	deleted := ix.deleted.Load() // first: it never is above the other
	return int(ix.at.len() - deleted)
}

// Next is the ID that the next new name will get.
func (ix *Index) Next() ID { return ID(ix.at.len()) }

func codeHash(code []byte) uint32 { return uint32(xxh3.Hash(code) >> 32) }

// Lookup finds the ID of a name, which need not be in canonical form. An error
// is a *SyntaxError. It does not wait for the writer.
func (ix *Index) Lookup(name []byte) (id ID, ok bool, err error) {
	var p parts
	if err := p.parse(name); err != nil {
		return 0, false, err
	}
	var room [64]byte
	code, ok := ix.encode(room[:0], &p)
	if !ok {
		return 0, false, nil
	}
	id, ok = ix.byCode(code)
	return id, ok, nil
}

// encode appends the code of a name, if all of its symbols are known.
func (ix *Index) encode(code []byte, p *parts) ([]byte, bool) {
	symbol, ok := ix.symbols.find(metricClass, p.metricText())
	if !ok {
		return code, false
	}
	code = binary.AppendUvarint(code, uint64(symbol))
	for i, t := range p.tags() {
		class, _, ok := ix.symbols.values(p.key(i))
		if !ok {
			return code, false
		}
		if symbol, ok = ix.symbols.find(class, p.text[t.equals+1:t.to]); !ok {
			return code, false
		}
		code = binary.AppendUvarint(code, uint64(symbol))
	}
	return code, true
}

func (ix *Index) byCode(code []byte) (ID, bool) {
	return ix.byHash(codeHash(code), code)
}

func (ix *Index) byHash(hash uint32, code []byte) (ID, bool) {
	number, ok := ix.table.find(hash, func(number uint32) bool {
		return bytes.Equal(ix.codes.get(ix.at.get(number)), code)
	})
	return ID(number), ok
}

// Add finds the ID of a name, which need not be in canonical form, or gives it
// one. It keeps nothing of name. An error is a *SyntaxError, ErrFull, or, in
// the index of a Store, the failure of its file; there is no new name then.
func (ix *Index) Add(name []byte) (id ID, created bool, err error) {
	if id, ok, err := ix.Lookup(name); ok || err != nil {
		return id, false, err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err := ix.parts.parse(name); err != nil {
		return 0, false, err
	}
	known := false
	if ix.code, known = ix.encode(ix.code[:0], &ix.parts); known {
		if id, ok := ix.byCode(ix.code); ok {
			return id, false, nil
		}
	}
	id, err = ix.create()
	return id, err == nil, err
}

// create makes the series of ix.parts.
func (ix *Index) create() (ID, error) {
	if ix.at.len() >= gone-1 || ix.lists.Full() {
		return 0, ErrFull
	}
	if ix.room != nil {
		if err := ix.room(); err != nil {
			return 0, err
		}
	}
	p := &ix.parts
	intern := func(class uint32, text []byte) (uint32, error) {
		symbol, ok := ix.symbols.find(class, text)
		if ok {
			return symbol, nil
		}
		symbol, err := ix.symbols.add(class, text)
		if err == nil && ix.room != nil {
			ix.pending = ix.pending.symbol(class, text)
		}
		return symbol, err
	}
	metric, err := intern(metricClass, p.metricText())
	if err != nil {
		return 0, err
	}
	words := append(ix.words[:0], metric)
	code := binary.AppendUvarint(ix.code[:0], uint64(metric))
	for i, t := range p.tags() {
		if _, err := intern(keyClass, p.key(i)); err != nil {
			return 0, err
		}
		class, key, _ := ix.symbols.values(p.key(i))
		value, err := intern(class, p.text[t.equals+1:t.to])
		if err != nil {
			return 0, err
		}
		words = append(words, key, value)
		code = binary.AppendUvarint(code, uint64(value))
	}
	ix.words, ix.code = words, code
	id, err := ix.insert(codeHash(code), code, words)
	if err == nil && ix.room != nil {
		ix.pending = ix.pending.name(code)
	}
	return id, err
}

// insert gives a code, and the words to find it by, the next ID.
func (ix *Index) insert(hash uint32, code []byte, words []uint32) (ID, error) {
	at, err := ix.codes.put(nil, code)
	if err != nil {
		return 0, err
	}
	number := ix.at.len()
	// Queries take IDs below the length of the column, so that comes after the lists.
	ix.lists.AddAll(words, number)
	ix.at.append(at)
	ix.table.insert(hash, number)
	return ID(number), nil
}

// Name is the canonical name of an ID; "" if there is none.
func (ix *Index) Name(id ID) string { return string(ix.AppendName(nil, id)) }

// AppendName appends the canonical name of an ID; nothing if there is none.
func (ix *Index) AppendName(dst []byte, id ID) []byte {
	if !ix.live(id) {
		return dst
	}
	for rest := ix.codes.get(ix.at.get(uint32(id))); len(rest) > 0; {
		var symbol uint32
		symbol, rest = nextSymbol(rest)
		class, text := ix.symbols.get(symbol)
		if class >= valueClass {
			_, key := ix.symbols.get(ix.symbols.key(class))
			dst = append(append(append(dst, ' '), key...), '=')
		}
		dst = append(dst, text...)
	}
	return dst
}

// nextSymbol takes a symbol from a code.
func nextSymbol(code []byte) (symbol uint32, rest []byte) {
	if code[0] < 0x80 {
		return uint32(code[0]), code[1:]
	}
	x, n := binary.Uvarint(code)
	return uint32(x), code[n:]
}

// live reports whether an ID has a name.
func (ix *Index) live(id ID) bool {
	return uint32(id) < ix.at.len() && !has(*ix.dead.Load(), uint32(id))
}

func has(bits []uint64, i uint32) bool {
	return int(i>>6) < len(bits) && bits[i>>6]>>(i&63)&1 != 0
}

// Delete takes the names of IDs out of the index and returns how many had one.
// Its memory comes back when a store is opened again.
func (ix *Index) Delete(ids ...ID) (int, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id ID) bool { return !ix.live(id) })
	if len(ids) == 0 {
		return 0, nil
	}
	if ix.room != nil {
		if err := ix.room(); err != nil {
			return 0, fmt.Errorf("delete %d names: %w", len(ids), err)
		}
		for _, id := range ids {
			ix.pending = ix.pending.remove(id)
		}
	}
	ix.bury(ids)
	return len(ids), nil
}

// bury marks live IDs, in ascending order, as deleted.
func (ix *Index) bury(ids []ID) {
	for _, id := range ids {
		ix.table.remove(codeHash(ix.codes.get(ix.at.get(uint32(id)))), uint32(id))
	}
	old := *ix.dead.Load()
	dead := make([]uint64, max(len(old), int(ids[len(ids)-1]>>6)+1))
	copy(dead, old)
	for _, id := range ids {
		dead[id>>6] |= 1 << (id & 63)
	}
	ix.dead.Store(&dead)
	ix.deleted.Add(uint32(len(ids)))
}

// Bytes is the memory that the index holds.
func (ix *Index) Bytes() int {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.symbols.bytes() + ix.codes.bytes() + ix.at.bytes() + ix.table.bytes() + ix.lists.Bytes() + len(*ix.dead.Load())*8
}
