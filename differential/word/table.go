package word

// table finds numbers by hash. It is in segments, each open with linear probing: extendible
// hashing (Fagin, Nievergelt, Pippenger, Strong: Extendible hashing, 1979), so that it
// grows and shrinks a segment at a time. A hash has 32 bits. The first of them choose the
// segment, the last ones the slot in it.
type table struct {
	directory []*segment // by the first bits of hashes; a segment may have several entries
	bits      uint8      // how many first bits that are
	count     int        // of values
	slots     int        // in all segments
}

type segment struct {
	slots []uint64 // 32 bits of hash, then 32 bits of number; 0 where nothing is
	count int
	bits  uint8 // how many first bits the hashes in it share
}

// A segment has a power of two of slots within these bounds, and splits when the largest
// is three quarters full.
const (
	minSegment = 1 << 6
	maxSegment = 1 << 12
	hashBits   = 32
)

func newTable() table {
	return table{directory: []*segment{{slots: make([]uint64, minSegment)}}, slots: minSegment}
}

// segment returns the segment of a hash.
func (t *table) segment(hash uint64) *segment {
	return t.directory[hash>>((hashBits-t.bits)&63)]
}

// added takes note of a hash that was added to s, and makes room for the next.
func (t *table) added(s *segment, hash uint64) {
	t.count++
	s.count++
	if 4*s.count <= 3*len(s.slots) {
		return
	}
	if len(s.slots) < maxSegment || s.bits == hashBits-1 {
		t.slots += len(s.slots)
		s.fill(s.slots, 2*len(s.slots))
		return
	}
	if s.bits == t.bits {
		twice := make([]*segment, 2*len(t.directory))
		for i, s := range t.directory {
			twice[2*i], twice[2*i+1] = s, s
		}
		t.directory = twice
		t.bits++
	}
	s.bits++
	other := &segment{bits: s.bits}
	old := s.slots
	low, high := make([]uint64, 0, len(old)), make([]uint64, 0, len(old)) // by the bit that is new
	for _, slot := range old {
		switch {
		case slot == 0:
		case slot>>(2*hashBits-s.bits)&1 == 0:
			low = append(low, slot)
		default:
			high = append(high, slot)
		}
	}
	s.fill(low, len(old))
	other.fill(high, len(old))
	t.slots += len(old)
	span := 1 << (t.bits - s.bits)
	at := int(hash>>(hashBits-t.bits)) &^ (2*span - 1)
	for i := range span {
		t.directory[at+span+i] = other
	}
}

// fill makes a segment of n slots of those of other ones that are in use.
func (s *segment) fill(from []uint64, n int) {
	s.slots, s.count = make([]uint64, n), 0
	for _, slot := range from {
		if slot != 0 {
			s.put(slot)
		}
	}
}

// put puts a slot that is not there into a segment that has room.
func (s *segment) put(slot uint64) {
	mask := uint64(len(s.slots) - 1)
	i := slot >> 32 & mask
	for s.slots[i] != 0 {
		i = (i + 1) & mask
	}
	s.slots[i] = slot
	s.count++
}

// filter drops the numbers of a segment that keep does not want, and joins it with its
// neighbour if both together are small. hash is one of those in its range. What it drops
// is appended to dropped.
func (t *table) filter(hash uint64, keep func(n uint64) bool, dropped []uint64) []uint64 {
	s := t.segment(hash)
	kept := make([]uint64, 0, s.count)
	for _, slot := range s.slots {
		switch {
		case slot == 0:
		case keep(slot & maxNumber):
			kept = append(kept, slot)
		default:
			dropped = append(dropped, slot&maxNumber)
		}
	}
	if len(kept) == s.count {
		return dropped
	}
	t.count -= s.count - len(kept)
	n := len(s.slots)
	for n > minSegment && 4*len(kept) < n {
		n /= 2
	}
	t.slots += n - len(s.slots)
	s.fill(kept, n)

	for s.bits > 0 { // the neighbour differs in the last of the shared bits
		bit := uint64(1) << (hashBits - s.bits)
		other := t.segment(hash ^ bit)
		if other.bits != s.bits || 8*(s.count+other.count) > 3*maxSegment {
			break
		}
		t.slots -= len(s.slots) + len(other.slots)
		n := minSegment
		for 2*n < 4*(s.count+other.count) {
			n *= 2
		}
		s.fill(append(s.slots, other.slots...), n)
		t.slots += n
		s.bits--
		span := 1 << (t.bits - s.bits)
		at := int(hash>>(hashBits-t.bits)) &^ (span - 1)
		for i := range span {
			t.directory[at+i] = s
		}
	}
	return dropped
}

func (t *table) size() int { return 8*t.slots + 8*cap(t.directory) }
