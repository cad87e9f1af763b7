package trace

import "slices"

// lists is the edits of the values of a growing block, in the least of three forms that will do.
type lists struct {
	form  form
	n     int                  // values
	count int                  // edits of all values
	edits []Edit               // of the different lists, or of all in form listed
	from  []uint32             // starts of lists in edits, and the end; empty in form uniform
	codes []uint8              // of each value in form coded
	table [2 * maxCodes]uint16 // hash of a list -> code + 1, in form coded
	one   [1]Edit
}

type form uint8

const (
	uniform form = iota // all values have the same list
	coded               // there are few different lists
	listed              // each value has its own list
)

// maxCodes is how many different lists can be told apart by a byte.
const maxCodes = 256

// reset starts the next block.
func (l *lists) reset() {
	if l.form == coded {
		clear(l.table[:])
	}
	l.form, l.n, l.count, l.edits, l.from, l.codes = uniform, 0, 0, l.edits[:0], l.from[:0], l.codes[:0]
}

// addOne adds the list of a value that is e alone.
func (l *lists) addOne(e Edit) {
	if l.form == uniform && l.n > 0 && len(l.edits) == 1 && l.edits[0] == e {
		l.n++
		l.count++
		return
	}
	l.one[0] = e
	l.add(l.one[:])
}

// add adds the list of a value.
func (l *lists) add(list []Edit) {
	switch l.form {
	case uniform:
		if l.n == 0 {
			l.edits = append(l.edits, list...)
			break
		}
		if slices.Equal(list, l.edits) {
			break
		}
		l.form = coded
		l.from = append(l.from, 0, uint32(len(l.edits)))
		*l.slot(l.edits) = 1
		l.codes = append(l.codes, make([]uint8, l.n)...)
		fallthrough
	case coded:
		slot := l.slot(list)
		if *slot == 0 && len(l.from) > maxCodes {
			l.spread()
			l.append(list)
			break
		}
		if *slot == 0 {
			*slot = uint16(len(l.from))
			l.append(list)
		}
		l.codes = append(l.codes, uint8(*slot-1))
	case listed:
		l.append(list)
	}
	l.n++
	l.count += len(list)
}

// again adds the list of the last value for n more.
func (l *lists) again(n int) {
	if n == 0 {
		return
	}
	size := len(l.edits)
	switch l.form {
	case coded:
		code := l.codes[l.n-1]
		l.codes = slices.Grow(l.codes, n)
		for range n {
			l.codes = append(l.codes, code)
		}
		size = int(l.from[int(code)+1] - l.from[code])
	case listed:
		list := l.edits[l.from[l.n-1]:l.from[l.n]]
		size = len(list)
		for range n {
			l.append(list)
		}
	}
	l.n += n
	l.count += n * size
}

func (l *lists) append(list []Edit) {
	l.edits = append(l.edits, list...)
	l.from = append(l.from, uint32(len(l.edits)))
}

// slot is where the table has the code of list, or where it belongs.
func (l *lists) slot(list []Edit) *uint16 {
	h := uint64(len(list))
	for _, e := range list {
		h = (h ^ uint64(e.Diff) ^ uint64(e.Time)<<32) * 0x9e3779b97f4a7c15
	}
	for i := h >> 32; ; i++ {
		slot := &l.table[i%uint64(len(l.table))]
		if *slot == 0 || slices.Equal(list, l.edits[l.from[*slot-1]:l.from[*slot]]) {
			return slot
		}
	}
}

// spread gives each value its own list.
func (l *lists) spread() {
	edits, from, codes := slices.Clone(l.edits), slices.Clone(l.from), l.codes
	clear(l.table[:])
	l.form, l.edits, l.from, l.codes = listed, l.edits[:0], append(l.from[:0], 0), l.codes[:0]
	for _, c := range codes {
		l.append(edits[from[c]:from[int(c)+1]])
	}
}
