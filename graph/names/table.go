// Package names remembers what the vertices of a graph were called where the
// graph came from.
//
// Algorithms want vertices numbered 0 to n-1. Files call them by integers with
// gaps, by 64-bit integers or by strings. A [Table] gives each vertex its name
// back, and finds the vertex of a name:
//
//	ids := names.Ascending([]uint64{30, 1412, 3352})
//	ids.Name(1)        // "1412"
//	ids.Find("3352")   // 2, true
//
// Tables are filled by the dictionaries [Ints] and [Strings], which number
// names in order of first appearance, or from a [Set] of integers, whose [Rank]
// renumbers them monotonically. All of them hold large arrays without pointers,
// which the garbage collector never scans.
package names

import (
	"slices"
	"strconv"
	"sync"
)

// Kind is how a [Table] holds names.
type Kind uint32

const (
	Identity   Kind = iota // vertex v is called v; the kind of a nil *Table
	Shifted                // vertex v is called first+v
	Increasing             // integers that rise with the vertex
	Listed                 // distinct 64-bit integers in any order
	Text                   // distinct strings in any order
)

// String names the kind.
func (k Kind) String() string {
	switch k {
	case Identity:
		return "identity"
	case Shifted:
		return "shifted"
	case Increasing:
		return "increasing integers"
	case Listed:
		return "listed integers"
	case Text:
		return "strings"
	}
	return "kind " + strconv.Itoa(int(k))
}

// Table is what the vertices 0 to Len()-1 are called. A nil *Table is the
// identity: every vertex is called by its number. A Table does not change after
// it was made and is safe for concurrent use.
type Table struct {
	kind  Kind
	n     int
	first uint64   // Shifted: the name of vertex 0
	small []uint32 // Increasing below 2³²; Text: n+1 starts in arena below 4 GiB
	large []uint64 // Increasing, Listed; Text: n+1 starts in arena
	arena []byte   // Text: all strings end to end

	indexed sync.Once
	index   index // Listed, Text: built by the first Find
}

// Offset is the table of n vertices called first, first+1, and so on: one-based
// formats have first = 1. It is nil, the identity, where first is 0.
func Offset(first uint64, n int) *Table {
	if first == 0 {
		return nil
	}
	return &Table{kind: Shifted, n: n, first: first}
}

// Ascending is the table of vertices whose names are the given integers, which
// must rise strictly. The table keeps the slice where a name reaches 2³², and a
// smaller copy where none does.
func Ascending(ids []uint64) *Table {
	if n := len(ids); n > 0 && ids[n-1] >= 1<<32 {
		return &Table{kind: Increasing, n: n, large: ids}
	}
	small := make([]uint32, len(ids))
	for i, id := range ids {
		small[i] = uint32(id)
	}
	return Ascending32(small)
}

// Ascending32 is [Ascending] for names below 2³². The table keeps the slice.
func Ascending32(ids []uint32) *Table {
	return &Table{kind: Increasing, n: len(ids), small: ids}
}

// List is the table of vertices whose names are the given distinct integers, in
// any order. The table keeps the slice.
func List(ids []uint64) *Table { return &Table{kind: Listed, n: len(ids), large: ids} }

// Of is the table that calls vertex i by the i-th string.
func Of(names ...string) *Table {
	t := &Table{kind: Text, n: len(names), large: make([]uint64, len(names)+1)}
	for i, s := range names {
		t.arena = append(t.arena, s...)
		t.large[i+1] = uint64(len(t.arena))
	}
	return t
}

// Kind is how the table holds its names.
func (t *Table) Kind() Kind {
	if t == nil {
		return Identity
	}
	return t.kind
}

// Len is the number of vertices that have a name: 0 for the identity, which
// names any vertex.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return t.n
}

// Append appends the name of vertex v to dst. A vertex that the table does not
// reach is called by its number.
func (t *Table) Append(dst []byte, v uint32) []byte {
	if t == nil || int(v) >= t.n {
		return strconv.AppendUint(dst, uint64(v), 10)
	}
	if t.kind == Text {
		return append(dst, t.text(v)...)
	}
	return strconv.AppendUint(dst, t.integer(v), 10)
}

// Name is the name of vertex v, as [Table.Append] writes it.
func (t *Table) Name(v uint32) string { return string(t.Append(nil, v)) }

// integer is the name of a vertex below n where names are integers.
func (t *Table) integer(v uint32) uint64 {
	switch {
	case t.kind == Shifted:
		return t.first + uint64(v)
	case t.small != nil:
		return uint64(t.small[v])
	}
	return t.large[v]
}

// text is the name of a vertex below n where names are strings.
func (t *Table) text(v uint32) []byte {
	if t.small != nil {
		return t.arena[t.small[v]:t.small[v+1]]
	}
	return t.arena[t.large[v]:t.large[v+1]]
}

// Find is the vertex of the given name. Integers may be written with leading
// zeros. The first Find in a table of kind [Listed] or [Text] builds an index
// of eight to sixteen bytes a name.
func (t *Table) Find(name string) (uint32, bool) {
	if t.Kind() == Text {
		t.indexed.Do(t.buildIndex)
		return t.index.find(hashString(name), func(v uint32) bool { return string(t.text(v)) == name })
	}
	id, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return 0, false
	}
	switch t.Kind() {
	case Identity:
		return uint32(id), id < 1<<32
	case Shifted:
		// Unsigned: a name below the first wraps round to a number beyond n.
		v := id - t.first
		return uint32(v), v < uint64(t.n)
	case Increasing:
		if t.small != nil {
			if id >= 1<<32 {
				return 0, false
			}
			v, ok := slices.BinarySearch(t.small, uint32(id))
			return uint32(v), ok
		}
		v, ok := slices.BinarySearch(t.large, id)
		return uint32(v), ok
	}
	t.indexed.Do(t.buildIndex)
	return t.index.find(hashUint64(id), func(v uint32) bool { return t.large[v] == id })
}

// buildIndex hashes every name.
func (t *Table) buildIndex() {
	t.index.reserve(t.n)
	for v := range uint32(t.n) {
		if t.kind == Text {
			t.index.insert(hash(t.text(v)), v)
		} else {
			t.index.insert(hashUint64(t.large[v]), v)
		}
	}
}
