package trace

import "weir/timely"

// merger adds two adjacent batches up to one, in steps.
type merger struct {
	a, b  side
	since timely.Antichain
	out   Builder
}

// side is how far a merge is in one of its inputs.
type side struct {
	blocks []*Block
	at     int
	key    int
	val    int
}

func newMerger(a, b *Batch, since timely.Antichain) *merger {
	m := &merger{since: since}
	m.a.blocks = a.blocks
	if b != nil {
		m.b.blocks = b.blocks
	}
	return m
}

func (s *side) done() bool { return s.at == len(s.blocks) }

func (s *side) peek() (key, val uint64) {
	b := s.blocks[s.at]
	return b.keys[s.key], b.vals[s.val]
}

func (s *side) move(m *merger) int {
	b := s.blocks[s.at]
	edits := b.Edits(s.val)
	for _, e := range edits {
		m.out.Add(b.keys[s.key], b.vals[s.val], AdvanceTime(b.times[e.Time], m.since), e.Diff)
	}
	s.val++
	if s.val == int(b.starts[s.key+1]) {
		if s.key++; s.key == len(b.keys) {
			s.at, s.key, s.val = s.at+1, 0, 0
		}
	}
	return len(edits)
}

// work moves about fuel edits and returns what is left of fuel, and whether all is merged.
func (m *merger) work(fuel int) (left int, done bool, err error) {
	for fuel > 0 {
		switch {
		case m.a.done() && m.b.done():
			return fuel, true, m.out.Err()
		case m.b.done():
			fuel -= m.a.move(m)
		case m.a.done():
			fuel -= m.b.move(m)
		default:
			ka, va := m.a.peek()
			kb, vb := m.b.peek()
			if ka < kb || ka == kb && va <= vb {
				fuel -= m.a.move(m)
			} else {
				fuel -= m.b.move(m)
			}
		}
	}
	return fuel, m.a.done() && m.b.done(), m.out.err
}
