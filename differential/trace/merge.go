package trace

import (
	"math"
	"slices"

	"weir/timely"
)

// shareFuel is what sharing a block costs.
const shareFuel = 32

// shareMin is how many values a block must have to be shared rather than copied, so that
// there is at most one smaller block for each of that size.
func shareMin() int { return blockMax / 4 }

// fullEnough is how many values a growing block must have to end where a block of the input ends, so that adding
// a little to a block makes one block of it and not one and a bit.
func fullEnough() int { return blockTarget * 3 / 4 }

// merger adds two batches up to one, in steps, with times advanced to since.
type merger struct {
	a, b  side
	since timely.Antichain
	out   Builder
	both  []Edit

	passed int // blocks of the inputs, since the last handover
	pass   int // how many are enough for the next
}

// size is how large something is.
type size struct{ edits, values, bytes int }

// side is how far a merger is in one of its inputs.
type side struct {
	blocks []*Block
	owned  bool // blocks may be forgotten once they are merged
	at     int
	b      *Block // the block at, nil at the end
	key    int    // of b
	val    int    // position of the next value of key
	gone   size   // of the blocks before at

	// What the times of b are in the block that grows, whose epoch this is: index + 1, or 0 for not known yet.
	epoch int
	times []uint32
}

// start begins to merge a and b, of which b may be nil, into batches of times advanced to since.
func (m *merger) start(a, b *Batch, since timely.Antichain, owned bool) {
	m.since = since
	m.out.limit = blockMax
	m.passed, m.pass = 0, math.MaxInt
	m.a.start(a, owned)
	m.b.start(b, owned)
	if !owned {
		m.plan()
	}
}

func (s *side) start(batch *Batch, owned bool) {
	s.blocks, s.at, s.b, s.owned, s.gone = nil, 0, nil, owned, size{}
	if batch != nil && len(batch.blocks) > 0 {
		s.blocks = batch.blocks
		s.enter()
	}
}

func (s *side) enter() {
	s.b, s.key, s.val, s.epoch = s.blocks[s.at], 0, 0, -1
}

// next goes to the next block.
func (m *merger) next(s *side) {
	m.passed++
	if s.owned {
		s.blocks[s.at] = nil
	}
	s.gone.edits += s.b.Len()
	s.gone.values += len(s.b.vals)
	s.gone.bytes += s.b.bytes()
	if s.at++; s.at == len(s.blocks) {
		s.b, s.blocks = nil, nil
	} else {
		s.enter()
	}
	if len(m.out.vals) >= fullEnough() {
		m.out.flush()
	}
}

// work moves about fuel edits and returns what is left of fuel, and whether all is merged. It
// pauses when a handover is due.
func (m *merger) work(fuel int) (left int, done bool, err error) {
	a, b := &m.a, &m.b
	for fuel > 0 && m.passed < m.pass {
		switch {
		case a.b == nil && b.b == nil:
			return fuel, true, m.out.err
		case b.b == nil:
			fuel -= m.copy(a, nil, fuel)
		case a.b == nil:
			fuel -= m.copy(b, nil, fuel)
		default:
			ka, kb := a.b.keys[a.key], b.b.keys[b.key]
			switch {
			case ka < kb:
				fuel -= m.copy(a, &kb, fuel)
			case kb < ka:
				fuel -= m.copy(b, &ka, fuel)
			default:
				fuel -= m.add(ka, fuel)
			}
		}
		if m.out.err != nil {
			return fuel, false, m.out.err
		}
	}
	return fuel, a.b == nil && b.b == nil, nil
}

// settled says that a block would not get any smaller by advancing its times to since. It may then
// as well keep them: edits at one time stay as many at another.
func (m *merger) settled(b *Block) bool {
	return len(b.times) == 1 || !slices.ContainsFunc(b.times, func(t timely.Time) bool { return AdvanceTime(t, m.since) != t })
}

// copy takes over some of what s has at keys below bound (nil for no bound), up to about fuel edits, and returns how many.
func (m *merger) copy(s *side, bound *uint64, fuel int) int {
	b := s.b
	if s.val == 0 && len(b.vals) >= shareMin() && (bound == nil || b.last() < *bound) && m.settled(b) {
		m.out.flush()
		m.out.push(b)
		m.next(s)
		return shareFuel
	}
	end := len(b.keys)
	if bound != nil {
		if end = s.key + 1; end < len(b.keys) && b.keys[end] < *bound {
			end = b.Seek(end, *bound)
		}
	}
	stop := min(int(b.starts[end]), s.val+min(fuel, m.out.limit-len(m.out.vals)))
	if b.count != len(b.vals) {
		return m.copyLists(s, stop)
	}
	n := stop - s.val
	out := &m.out
	k, shift := s.key, uint32(len(out.vals)-s.val)
	out.startKey(b.keys[k])
	for k++; int(b.starts[k]) < stop; k++ {
		out.keys = append(out.keys, b.keys[k])
		out.starts = append(out.starts, b.starts[k]+shift)
	}
	// From here on each value has one edit.
	switch {
	case b.from == nil:
		out.repeat(m.edit(s, b.edits[0]), b.vals[s.val:stop])
	case b.codes == nil:
		for i := s.val; i < stop; i++ {
			out.single(b.vals[i], m.edit(s, b.edits[i]))
		}
	default:
		for i := s.val; i < stop; {
			from, code := i, b.codes[i]
			for i++; i < stop && b.codes[i] == code; i++ {
			}
			out.repeat(m.edit(s, b.edits[b.from[code]]), b.vals[from:i])
		}
	}
	s.key, s.val = k-1, stop
	m.settle(s)
	return n
}

// copyLists is copy of the values before stop of a block whose values have lists of edits.
func (m *merger) copyLists(s *side, stop int) (used int) {
	b := s.b
	for s.val < stop && len(m.out.lists.edits) < m.out.limit {
		used += m.take(s, b.keys[s.key])
		if s.val == int(b.starts[s.key+1]) {
			s.key++
		}
	}
	if s.key == len(b.keys) {
		m.next(s)
	}
	m.out.breathe()
	return used
}

// settle goes to the next key, if there are no more values of this one.
func (m *merger) settle(s *side) {
	if s.val == int(s.b.starts[s.key+1]) {
		if s.key++; s.key == len(s.b.keys) {
			m.next(s)
		}
	}
	m.out.breathe()
}

// take takes over the next value, of key, and returns how many edits it has.
func (m *merger) take(s *side, key uint64) int {
	edits := s.b.Edits(s.val)
	if len(edits) == 1 {
		e := m.edit(s, edits[0])
		m.out.startKey(key)
		m.out.single(s.b.vals[s.val], e)
	} else {
		m.both = m.edits(m.both[:0], s, edits)
		m.out.fold(key, s.b.vals[s.val], m.both)
	}
	s.val++
	return len(edits)
}

// add merges values of a key that both sides have, until one has no more in this block.
func (m *merger) add(key uint64, fuel int) (used int) {
	a, b := &m.a, &m.b
	endA, endB := int(a.b.starts[a.key+1]), int(b.b.starts[b.key+1])
	for used < fuel && a.val < endA && b.val < endB && len(m.out.vals) < m.out.limit && len(m.out.lists.edits) < m.out.limit {
		va, vb := a.b.vals[a.val], b.b.vals[b.val]
		switch {
		case va < vb:
			used += m.take(a, key)
		case vb < va:
			used += m.take(b, key)
		default:
			m.both = m.edits(m.both[:0], a, a.b.Edits(a.val))
			m.both = m.edits(m.both, b, b.b.Edits(b.val))
			used += len(m.both)
			m.out.fold(key, va, m.both)
			a.val++
			b.val++
		}
	}
	m.settle(a)
	m.settle(b)
	return used
}

// edit is e of s in terms of the block that grows.
func (m *merger) edit(s *side, e Edit) Edit {
	if s.epoch != m.out.epoch {
		s.epoch = m.out.epoch
		s.times = append(s.times[:0], make([]uint32, len(s.b.times))...)
	}
	if s.times[e.Time] == 0 {
		s.times[e.Time] = m.out.intern(AdvanceTime(s.b.times[e.Time], m.since)) + 1
	}
	return Edit{e.Diff, s.times[e.Time] - 1}
}

func (m *merger) edits(dst []Edit, s *side, edits []Edit) []Edit {
	for _, e := range edits {
		dst = append(dst, m.edit(s, e))
	}
	return dst
}
