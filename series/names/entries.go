package names

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// The kinds of entries of a file of names.
const (
	symbolEntry = 1 // class, length, text: the next symbol
	nameEntry   = 2 // length, code: the name of the next ID
	removeEntry = 3 // ID: has no name anymore
	skipEntry   = 4 // count: that many next IDs have no name
)

// entries are changes of an index as they stand in a file: a byte of kind and
// varints and texts.
type entries []byte

func (e entries) symbol(class uint32, text []byte) entries {
	e = binary.AppendUvarint(append(e, symbolEntry), uint64(class))
	e = binary.AppendUvarint(e, uint64(len(text)))
	return append(e, text...)
}

func (e entries) name(code []byte) entries {
	e = binary.AppendUvarint(append(e, nameEntry), uint64(len(code)))
	return append(e, code...)
}

func (e entries) remove(id ID) entries {
	return binary.AppendUvarint(append(e, removeEntry), uint64(id))
}

func (e entries) skip(count uint32) entries {
	return binary.AppendUvarint(append(e, skipEntry), uint64(count))
}

// maxSkip is how many IDs one entry skips at most, so that few bytes of a file
// cannot ask for very much memory.
const maxSkip = 1 << 20

// An entryError says which byte of the entries is wrong.
type entryError struct {
	at  int
	err error
}

func (e *entryError) Error() string { return e.err.Error() }
func (e *entryError) Unwrap() error { return e.err }

// reader takes varints and texts from entries.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() uint32 {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 || x > math.MaxUint32 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return uint32(x)
}

func (r *reader) text() []byte {
	n := r.number()
	if uint64(n) > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	t := r.rest[:n]
	r.rest = r.rest[n:]
	return t
}

// apply makes the changes of e in an index that nobody else uses yet. It checks
// all that the index relies on. An error is an *entryError.
func (ix *Index) apply(e entries) error {
	r := reader{rest: e}
	var removed []ID
	for len(r.rest) > 0 {
		at := len(e) - len(r.rest)
		kind := r.rest[0]
		r.rest = r.rest[1:]
		var err error
		switch kind {
		case symbolEntry:
			class, text := r.number(), r.text()
			if !r.bad {
				err = ix.applySymbol(class, text)
			}
		case nameEntry:
			if code := r.text(); !r.bad {
				err = ix.applyName(code)
			}
		case removeEntry:
			removed = append(removed, ID(r.number()))
		case skipEntry:
			if count := r.number(); !r.bad {
				err = ix.applySkip(count)
			}
		default:
			err = fmt.Errorf("an entry of unknown kind %d", kind)
		}
		if r.bad {
			err = errors.New("an entry that is cut short")
		}
		if err == nil && len(removed) > 0 && (len(r.rest) == 0 || r.rest[0] != removeEntry) {
			err = ix.applyRemoved(removed)
			removed = removed[:0]
		}
		if err != nil {
			return &entryError{at, err}
		}
	}
	return nil
}

func (ix *Index) applySymbol(class uint32, text []byte) error {
	p := parts{text: text}
	end, err := p.word(0)
	if err != nil {
		return err
	}
	switch {
	case class >= valueClass+ix.symbols.members(keyClass).len():
		return fmt.Errorf("a value of key %d, of %d", class-valueClass, ix.symbols.members(keyClass).len())
	case end != len(text), len(text) > MaxLength:
		return fmt.Errorf("a text that is no word: %.100q", text)
	case class < valueClass && skipBlanks(text, 0) > 0, class < valueClass && end == 0:
		return fmt.Errorf("a metric or key that is empty or begins with a blank: %.100q", text)
	case class == keyClass && indexUnescaped(text, '=') >= 0:
		return fmt.Errorf("a key with '=': %.100q", text)
	}
	if number, ok := ix.symbols.find(class, text); ok {
		return fmt.Errorf("the text %.100q, which is symbol %d already", text, number)
	}
	_, err = ix.symbols.add(class, text)
	return err
}

func (ix *Index) applyName(code []byte) error {
	r := reader{rest: code}
	ix.code, ix.words = ix.code[:0], ix.words[:0]
	classes := ix.classes[:0]
	length, known := 0, ix.symbols.at.len()
	for len(r.rest) > 0 && !r.bad {
		symbol := r.number()
		if r.bad || symbol >= known {
			return fmt.Errorf("a name with symbol %d of %d", symbol, known)
		}
		class, text := ix.symbols.get(symbol)
		if (class == metricClass) != (len(classes) == 0) || class == keyClass {
			return fmt.Errorf("a name with a symbol of class %d at place %d", class, len(classes))
		}
		if length += 1 + len(text); class >= valueClass {
			key := ix.symbols.key(class)
			_, keyText := ix.symbols.get(key)
			length += 1 + len(keyText)
			ix.words = append(ix.words, key)
		}
		classes = append(classes, class)
		ix.words = append(ix.words, symbol)
		ix.code = binary.AppendUvarint(ix.code, uint64(symbol))
	}
	ix.classes = classes
	switch {
	case len(classes) < 2 || len(classes) > 1+MaxTags || length-1 > MaxLength:
		return fmt.Errorf("a name of %d tags and %d bytes", len(classes)-1, length-1)
	case !bytes.Equal(code, ix.code):
		return errors.New("a name whose numbers are not in their shortest form")
	}
	// Names of the same keys come in great numbers: what was found in order is not looked at again.
	if !slices.Equal(classes, ix.checked) {
		for i := 2; i < len(classes); i++ {
			_, a := ix.symbols.get(ix.symbols.key(classes[i-1]))
			_, b := ix.symbols.get(ix.symbols.key(classes[i]))
			if bytes.Compare(a, b) >= 0 {
				return fmt.Errorf("a name with key %.100q behind %.100q", b, a)
			}
		}
		ix.checked = append(ix.checked[:0], classes...)
	}
	hash := codeHash(code)
	if id, ok := ix.byHash(hash, code); ok {
		return fmt.Errorf("a name that series %d has already", id)
	}
	if ix.at.len() >= gone-1 || ix.lists.Full() {
		return ErrFull
	}
	_, err := ix.insert(hash, code, ix.words)
	return err
}

func (ix *Index) applySkip(count uint32) error {
	from := ix.at.len()
	if count == 0 || count > maxSkip || from+count < from || from+count >= gone {
		return fmt.Errorf("a skip of %d numbers behind %d", count, from)
	}
	dead := make([]uint64, (from+count+63)/64)
	copy(dead, *ix.dead.Load())
	for i := from; i < from+count; i++ {
		ix.at.append(noCode)
		dead[i>>6] |= 1 << (i & 63)
	}
	ix.dead.Store(&dead)
	ix.deleted.Add(count)
	return nil
}

func (ix *Index) applyRemoved(ids []ID) error {
	slices.Sort(ids)
	for i, id := range ids {
		if !ix.live(id) || i > 0 && ids[i-1] == id {
			return fmt.Errorf("the removal of series %d, which has no name", id)
		}
	}
	ix.bury(ids)
	return nil
}
