package timely

import "math/bits"

// activeSet is the set of operators that have something to do.
type activeSet struct {
	words []uint64
	count int
}

func (s *activeSet) grow(n int) { s.words = make([]uint64, (n+63)/64) }

func (s *activeSet) add(i int) {
	if w := &s.words[i/64]; *w&(1<<(i%64)) == 0 {
		*w |= 1 << (i % 64)
		s.count++
	}
}

func (s *activeSet) remove(i int) {
	if w := &s.words[i/64]; *w&(1<<(i%64)) != 0 {
		*w &^= 1 << (i % 64)
		s.count--
	}
}

func (s *activeSet) empty() bool { return s.count == 0 }

// next is the first member at or after i, or -1.
func (s *activeSet) next(i int) int {
	if s.count == 0 {
		return -1
	}
	for w := i / 64; w < len(s.words); w++ {
		word := s.words[w]
		if w == i/64 {
			word &= ^uint64(0) << (i % 64)
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}
