package names

import "encoding/binary"

// export calls emit with entries that make the index as it is from an empty one,
// in pieces of about size bytes. Deleted names are left out. Symbols keep their
// numbers, or else, if renumber is set, those that no name has are left out too.
func (ix *Index) export(size int, renumber bool, emit func(entries) error) error {
	numbers := make([]uint32, ix.symbols.at.len()) // new numbers plus one
	values := map[uint32]uint32{metricClass: metricClass, keyClass: keyClass}
	next, keys := uint32(0), uint32(0)
	var e entries
	symbol := func(old uint32) uint32 {
		if numbers[old] == 0 {
			class, text := ix.symbols.get(old)
			e = e.symbol(values[class], text)
			next++
			numbers[old] = next
		}
		return numbers[old] - 1
	}
	pass := func() error {
		if len(e) < size {
			return nil
		}
		err := emit(e)
		e = e[:0]
		return err
	}
	if !renumber {
		for old := range uint32(len(numbers)) {
			class, _ := ix.symbols.get(old)
			values[class] = class
			symbol(old)
			if err := pass(); err != nil {
				return err
			}
		}
	}
	var code []byte
	skipped := uint32(0)
	for id := range ix.at.len() {
		if !ix.live(ID(id)) {
			if skipped++; skipped == maxSkip {
				e, skipped = e.skip(skipped), 0
			}
			continue
		}
		if skipped > 0 {
			e, skipped = e.skip(skipped), 0
		}
		code = code[:0]
		for rest := ix.codes.get(ix.at.get(id)); len(rest) > 0; {
			var old uint32
			old, rest = nextSymbol(rest)
			class, _ := ix.symbols.get(old)
			if _, ok := values[class]; !ok {
				symbol(ix.symbols.key(class))
				values[class] = valueClass + keys
				keys++
			}
			code = binary.AppendUvarint(code, uint64(symbol(old)))
		}
		e = e.name(code)
		if err := pass(); err != nil {
			return err
		}
	}
	if skipped > 0 {
		e = e.skip(skipped)
	}
	if len(e) > 0 {
		return emit(e)
	}
	return nil
}
