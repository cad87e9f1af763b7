package query

import "math/bits"

// entry is a row of a window on its way into the order of keys.
type entry struct {
	key         int64
	strand, row uint32
}

const (
	entryBytes = 16
	few        = 32 // entries that are sorted by insertion
)

// sorter sorts entries by key and leaves those of one key in their order. It spreads them over parts of equal length of
// the range that they have, and again within each part that too many fell in: times of measurements that come in steps
// are in order after two rounds, however many series there are.
type sorter struct {
	entries, spare []entry
	ends           []uint32 // of the parts of all rounds that have begun
}

// sort calls emit with all entries in order, some at a time. It leaves nothing in the sorter that counts.
func (s *sorter) sort(emit func([]entry) error) error {
	if len(s.spare) < len(s.entries) {
		s.spare = make([]entry, cap(s.entries))
	}
	from, to := s.entries, s.spare[:len(s.entries)]
	parts := s.spread(from, to)
	if parts == 0 {
		inserted(from)
		return emit(from)
	}
	begin := uint32(0)
	for k := range parts {
		end := s.ends[k]
		if begin < end {
			s.into(to[begin:end], from[begin:end])
			if err := emit(from[begin:end]); err != nil {
				return err
			}
		}
		begin = end
	}
	s.ends = s.ends[:0]
	return nil
}

// into sorts entries into a slice of the same length.
func (s *sorter) into(from, to []entry) {
	base := len(s.ends)
	parts := s.spread(from, to)
	if parts == 0 {
		copy(to, from)
		inserted(to)
		return
	}
	begin := uint32(0)
	for k := range parts {
		end := s.ends[base+k]
		s.inPlace(to[begin:end], from[begin:end])
		begin = end
	}
	s.ends = s.ends[:base]
}

// inPlace sorts entries with the help of a slice of the same length.
func (s *sorter) inPlace(all, help []entry) {
	base := len(s.ends)
	parts := s.spread(all, help)
	if parts == 0 {
		inserted(all)
		return
	}
	begin := uint32(0)
	for k := range parts {
		end := s.ends[base+k]
		s.into(help[begin:end], all[begin:end])
		begin = end
	}
	s.ends = s.ends[:base]
}

// spread copies entries part by part, and returns the number of parts, whose ends it appends. It returns 0, and copies
// nothing, where insertion is as good.
func (s *sorter) spread(from, to []entry) int {
	if len(from) <= few {
		return 0
	}
	low, high := from[0].key, from[0].key
	for i := range from {
		low, high = min(low, from[i].key), max(high, from[i].key)
	}
	if low == high {
		return 0
	}
	width := uint64(high) - uint64(low)
	shift := max(bits.Len64(width)-bits.Len(uint(len(from)/16)), 0)
	parts := int(width>>shift) + 1
	base := len(s.ends)
	s.ends = grow(s.ends, parts)
	ends := s.ends[base:]
	clear(ends)
	for i := range from {
		ends[(uint64(from[i].key)-uint64(low))>>shift]++
	}
	at := uint32(0)
	for k, n := range ends {
		ends[k] = at
		at += n
	}
	for i := range from {
		end := &ends[(uint64(from[i].key)-uint64(low))>>shift]
		to[*end] = from[i]
		*end++
	}
	return parts
}

// inserted sorts by insertion: in time that grows with the entries only where they are few, or in order.
func inserted(all []entry) {
	for i := 1; i < len(all); i++ {
		moving := all[i]
		k := i
		for k > 0 && all[k-1].key > moving.key {
			all[k] = all[k-1]
			k--
		}
		all[k] = moving
	}
}
