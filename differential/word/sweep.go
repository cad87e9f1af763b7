package word

import "slices"

// sweeper is what a lexicon knows for forgetting what nobody holds.
type sweeper struct {
	holders []*holder
	// A sweep is due with so many values, or bytes of them.
	dueCount, dueBytes int
}

type holder struct{ visit func(mark func(w uint64)) }

// A lexicon smaller than this is not swept.
const (
	minDueCount = 1 << 10
	minDueBytes = 1 << 20
)

func (x *lexicon) hold(visit func(mark func(w uint64))) (release func()) {
	h := &holder{visit}
	x.holders = append(x.holders, h)
	return func() {
		if i := slices.Index(x.holders, h); i >= 0 {
			x.holders = slices.Delete(x.holders, i, i+1)
		}
	}
}

// Tidy forgets the values that no holder holds, in each lexicon that has doubled
// since this was last done: it visits all holders of those. Words that are not in an index yet
// are forgotten with them, so call it between batches, when no operator has any in
// hand. It costs next to nothing when there is nothing to do.
func (l *Lexicons) Tidy() {
	if l.due {
		l.tidy()
	}
}

func (l *Lexicons) tidy() {
	l.due = false
	for _, x := range l.all {
		if x.count >= x.dueCount || x.arena.used >= x.dueBytes {
			x.sweep()
		}
	}
}

// Sweep is Tidy for all lexicons, due or not.
func (l *Lexicons) Sweep() {
	l.due = false
	for _, x := range l.all {
		x.sweep()
	}
}

// pace sets when the next sweep is due: when the lexicon has doubled, so that sweeping costs
// each new value a constant share.
func (x *lexicon) pace() {
	x.dueCount = max(2*x.count, minDueCount)
	x.dueBytes = max(2*x.arena.used, minDueBytes)
}

// sweep forgets the values that no holder marks.
func (x *lexicon) sweep() {
	live := make([]uint64, len(x.places)/64+1)
	mark := func(w uint64) { live[w/64] |= 1 << (w % 64) }
	for _, h := range x.holders {
		h.visit(mark)
	}
	x.forget(live)
	x.compact()
	x.pace()
}

// forget frees the numbers that are not in the set live, and shrinks the tables to what
// is left.
func (x *lexicon) forget(live []uint64) {
	isLive := func(w uint64) bool { return live[w/64]>>(w%64)&1 != 0 }

	end := len(x.places)
	for end > 1 && !(isLive(uint64(end-1)) && x.places[end-1]>>32 != 0) {
		end--
	}
	x.places = x.places[:end]
	if cap(x.places) > 4*end {
		x.places = slices.Clip(slices.Clone(x.places))
	}
	x.free, x.count = 0, 0
	for w := end - 1; w > 0; w-- { // the lowest numbers are to be taken first
		if isLive(uint64(w)) && x.places[w]>>32 != 0 {
			x.count++
		} else {
			x.places[w] = uint64(x.free)
			x.free = uint32(w)
		}
	}

	old := x.table
	n := len(old)
	for n > minTable && 4*x.count < n {
		n /= 2
	}
	x.table = make([]uint64, n)
	for _, s := range old {
		if s != 0 && isLive(s&(1<<32-1)) {
			x.put(s)
		}
	}
}

// compact drops the chunks in which less than half is live, and copies what is.
func (x *lexicon) compact() {
	inUse := make([]int, len(x.arena.chunks))
	for _, place := range x.places {
		if id := place >> 32; id != 0 {
			inUse[id] += spelled(x.arena.at(place))
		}
	}
	// What is copied must not go into a chunk that is to be dropped.
	sparse := make([]bool, len(inUse))
	for id := range inUse {
		if c := x.arena.chunks[id]; len(c) > 0 && 2*inUse[id] < len(c) {
			sparse[id] = true
			if x.arena.last == uint32(id) {
				x.arena.last = 0
			}
		}
	}
	for w, place := range x.places {
		if id := place >> 32; id != 0 && int(id) < len(sparse) && sparse[id] {
			x.places[w] = x.arena.add(x.arena.at(place))
		}
	}
	for id, is := range sparse {
		if is {
			x.arena.drop(uint32(id))
		}
	}
}

// spelled is how many bytes of an arena b takes.
func spelled(b []byte) int {
	n := len(b) + 1
	for k := len(b); k >= 0x80; k >>= 7 {
		n++
	}
	return n
}
