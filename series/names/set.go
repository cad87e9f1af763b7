package names

import (
	"iter"
	"math/bits"
	"slices"
)

// Set is a set of series. It is not changed after it was made: any number of
// goroutines may read it. Few IDs are kept one by one, many as a bitmap.
type Set struct {
	ids  []uint32 // ascending; or
	bits []uint64
	n    int
}

// Len is the number of series.
func (s *Set) Len() int { return s.n }

// Contains reports whether id is in the set.
func (s *Set) Contains(id ID) bool {
	if s.bits != nil {
		return has(s.bits, uint32(id))
	}
	_, ok := slices.BinarySearch(s.ids, uint32(id))
	return ok
}

// All yields the series in the order in which they were created, which is the order
// of results of series of values.
func (s *Set) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for _, id := range s.ids {
			if !yield(ID(id)) {
				return
			}
		}
		for i, w := range s.bits {
			for ; w != 0; w &= w - 1 {
				if !yield(ID(i<<6 | bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Backward yields the series from the latest to the first, which is the order of
// results of series of events.
func (s *Set) Backward() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for _, id := range slices.Backward(s.ids) {
			if !yield(ID(id)) {
				return
			}
		}
		for i, w := range slices.Backward(s.bits) {
			for w != 0 {
				top := 63 - bits.LeadingZeros64(w)
				if !yield(ID(i<<6 | top)) {
					return
				}
				w &^= 1 << top
			}
		}
	}
}

// keep drops the IDs that are not set in words, or those that are.
func (s *Set) keep(words []uint64, set bool) {
	if s.bits == nil {
		s.ids = slices.DeleteFunc(s.ids, func(id uint32) bool { return has(words, id) != set })
		return
	}
	for i := range s.bits {
		var w uint64
		if i < len(words) {
			w = words[i]
		}
		if !set {
			w = ^w
		}
		s.bits[i] &= w
	}
}

// count sets the length.
func (s *Set) count() {
	s.n = len(s.ids)
	for _, w := range s.bits {
		s.n += bits.OnesCount64(w)
	}
}
