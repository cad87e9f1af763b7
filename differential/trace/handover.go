package trace

import "slices"

// handoverMin is after how many blocks of input a merge hands over at least. Tests make it small.
var handoverMin = 32

// plan says when the next handover is due.
func (m *merger) plan() {
	m.passed, m.pass = 0, max(handoverMin, (len(m.a.blocks)+len(m.b.blocks))/8)
}

// due says that so many blocks are merged that they had better be given back.
func (m *merger) due() bool { return m.passed >= m.pass }

// handover ends the growing block and splits what a merge is about into what is made and what
// is left of its inputs a and b (which may be nil). The three together are what a and b are together. Who
// keeps those instead needs a and b no more, and so a merge never holds much more than its inputs.
func (m *merger) handover(a, b *Batch) (made, restA, restB *Batch) {
	m.out.flush()
	made = &Batch{
		blocks: slices.Clone(m.out.blocks), lasts: slices.Clone(m.out.lasts), lower: a.lower, upper: a.upper,
		edits: m.out.edits, values: m.out.values, bytes: m.out.bytes + batchBytes + 16*len(m.out.blocks),
	}
	restA = m.a.rest(a)
	if b != nil {
		made.upper = b.upper
		restB = m.b.rest(b)
	}
	m.plan()
	return made, restA, restB
}

// rest is what is left of batch, and what the side goes on with.
func (s *side) rest(batch *Batch) *Batch {
	rest := &Batch{lower: batch.lower, upper: batch.upper, bytes: batchBytes}
	if s.b == nil {
		return rest
	}
	first := s.b.tail(s.key, s.val)
	rest.blocks = slices.Clone(s.blocks[s.at:])
	rest.blocks[0] = first
	rest.lasts = slices.Clone(batch.lasts[s.at:])
	rest.edits = batch.edits - s.gone.edits - (s.b.Len() - first.Len())
	rest.values = batch.values - s.gone.values - (len(s.b.vals) - len(first.vals))
	rest.bytes = batch.bytes - s.gone.bytes - (s.b.bytes() - first.bytes()) - 16*s.at
	s.blocks, s.at, s.gone = rest.blocks, 0, size{}
	s.enter()
	return rest
}

// tail is the block from a value of a key on.
func (b *Block) tail(key, val int) *Block {
	if val == 0 {
		return b
	}
	t := &Block{
		keys: slices.Clone(b.keys[key:]), starts: slices.Clone(b.starts[key:]), vals: slices.Clone(b.vals[val:]),
		edits: b.edits, times: b.times,
	}
	shift(t.starts, uint32(val))
	t.from = b.from
	switch {
	case b.codes != nil:
		t.codes = slices.Clone(b.codes[val:])
		for _, c := range t.codes {
			t.count += int(b.from[int(c)+1] - b.from[c])
		}
	case b.from != nil:
		t.from = slices.Clone(b.from[val:])
		t.edits = slices.Clone(b.edits[t.from[0]:])
		t.count = len(t.edits)
		shift(t.from, t.from[0])
	default:
		t.count = len(t.edits) * len(t.vals)
	}
	return t
}

// shift lowers ascending positions, none of them below 0.
func shift(positions []uint32, by uint32) {
	for i, p := range positions {
		positions[i] = max(p, by) - by
	}
}
