package names

import (
	"math/bits"
	"slices"
)

// pageWords is the number of 64-bit words of a page: a page covers 65536 ids.
const pageWords = 1 << 10

type page [pageWords]uint64

// nothing stands for every page that has no ids, so that a lookup needs no
// check. It is never written.
var nothing page

// Set is a set of 32-bit integers: a bitmap in pages that appear as they are
// needed, so a few large ids cost little. The zero Set is empty and ready. It is
// not safe for concurrent use: workers fill sets of their own, which [Set.Or]
// joins.
type Set struct {
	pages []*page // by the upper half of an id, as far as ids went
	n     int
}

// NewSet is an empty set.
func NewSet() *Set { return &Set{} }

// reach makes s have n pages at least.
func (s *Set) reach(n int) {
	for len(s.pages) < n {
		s.pages = append(s.pages, &nothing)
	}
}

// Len is the number of ids in the set.
func (s *Set) Len() int { return s.n }

// Has says whether id is in the set.
func (s *Set) Has(id uint32) bool {
	i := int(id >> 16)
	return i < len(s.pages) && s.pages[i][id>>6&(pageWords-1)]>>(id&63)&1 != 0
}

// Add puts id in the set and says whether it was new.
func (s *Set) Add(id uint32) bool {
	s.reach(int(id>>16) + 1)
	p := s.pages[id>>16]
	word, bit := id>>6&(pageWords-1), uint64(1)<<(id&63)
	if p[word]&bit != 0 {
		return false
	}
	if p == &nothing {
		p = new(page)
		s.pages[id>>16] = p
	}
	p[word] |= bit
	s.n++
	return true
}

// Or adds all ids of other.
func (s *Set) Or(other *Set) {
	s.reach(len(other.pages))
	for i, q := range other.pages {
		if q == &nothing {
			continue
		}
		p := s.pages[i]
		if p == &nothing {
			p = new(page)
			s.pages[i] = p
		}
		for w := range p {
			s.n += bits.OnesCount64(q[w] &^ p[w])
			p[w] |= q[w]
		}
	}
}

// Max is the largest id; ok is false where the set is empty.
func (s *Set) Max() (id uint32, ok bool) {
	for i, p := range slices.Backward(s.pages) {
		if p == &nothing {
			continue
		}
		for w, word := range slices.Backward(p[:]) {
			if word != 0 {
				return uint32(i<<16 | w<<6 | 63 - bits.LeadingZeros64(word)), true
			}
		}
	}
	return 0, false
}

// AppendTo appends the ids in ascending order.
func (s *Set) AppendTo(dst []uint32) []uint32 {
	dst = slices.Grow(dst, s.n)
	for i, p := range s.pages {
		if p == &nothing {
			continue
		}
		for w, word := range p {
			for ; word != 0; word &= word - 1 {
				dst = append(dst, uint32(i<<16|w<<6|bits.TrailingZeros64(word)))
			}
		}
	}
	return dst
}

// Rank numbers the ids of a [Set] 0 to n-1 so that they keep their order.
type Rank struct {
	pages []rankPage // by the upper half of an id; up to the largest one
	n     int
	dense bool
}

// rankPage is a page of the bitmap with, for each word, the number of ids
// before it.
type rankPage struct {
	bits   *page
	before *[pageWords]uint32
}

// noneBefore belongs to nothing.
var noneBefore [pageWords]uint32

// Rank is the numbering of the ids now in the set. It copies what it needs, so
// the set may go on growing.
func (s *Set) Rank() *Rank {
	last, ok := s.Max()
	if !ok {
		return &Rank{dense: true}
	}
	r := &Rank{pages: make([]rankPage, last>>16+1), n: s.n, dense: uint64(last)+1 == uint64(s.n)}
	before := uint32(0)
	for i := range r.pages {
		p := s.pages[i]
		if p == &nothing {
			r.pages[i] = rankPage{&nothing, &noneBefore}
			continue
		}
		copied, count := *p, new([pageWords]uint32)
		for w, word := range copied {
			count[w] = before
			before += uint32(bits.OnesCount64(word))
		}
		r.pages[i] = rankPage{&copied, count}
	}
	return r
}

// Len is the number of ids.
func (r *Rank) Len() int { return r.n }

// Identity says that the ids are 0 to n-1, so that each is its own rank.
func (r *Rank) Identity() bool { return r.dense }

// Of is the rank of id, which must be in the set: the number of ids below it.
// For any other id the result means nothing.
func (r *Rank) Of(id uint32) uint32 {
	if int(id>>16) >= len(r.pages) {
		return uint32(r.n)
	}
	p, w := &r.pages[id>>16], id>>6&(pageWords-1)
	return p.before[w] + uint32(bits.OnesCount64(p.bits[w]&(1<<(id&63)-1)))
}

// Apply renumbers edges (source<<32 | target) in place. Parts of one slice may
// be renumbered at the same time.
func (r *Rank) Apply(edges []uint64) {
	if r == nil || r.dense {
		return
	}
	for i, e := range edges {
		edges[i] = uint64(r.Of(uint32(e>>32)))<<32 | uint64(r.Of(uint32(e)))
	}
}
