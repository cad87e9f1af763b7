package word

import "slices"

// sweeper is what a lexicon knows for forgetting what nobody holds.
//
// A sweep is done in small steps while the dataflow goes on. It marks what the indices
// held at its beginning, and whatever is asked for by [Codec.Word] until its end
// (snapshot at the beginning: Yuasa, Real-time garbage collection on general-purpose
// machines, 1990). A word that is in an index later was in one at the beginning, or was
// asked for since. So nothing needs to be known of how words move between indices.
type sweeper struct {
	holders []*holder
	// A sweep is due with so many values, or bytes of them.
	dueCount, dueBytes int

	phase   phase
	live    []uint64   // the set of numbers that are marked
	columns [][]uint64 // to be marked yet
	cursor  uint64     // the hash, or the number, to go on from

	dead, places []uint64 // of a segment: room

	// The work of this sweep, in words looked at, and what was new during it.
	total, done int
	born, added int
	count, used int // when it began
}

type phase uint8

const (
	resting    phase = iota
	marking          // the columns
	forgetting       // segment by segment
	compacting       // number by number
)

type holder struct {
	visit   func(mark func(w uint64))
	columns func(to [][]uint64) [][]uint64
}

const (
	// A lexicon smaller than this is not swept.
	minDueCount = 1 << 10
	minDueBytes = 1 << 20
	// tidyFuel is how many words a call of Tidy looks at, at least: some 50 µs.
	tidyFuel = 1 << 14
	// costly is how many words could be looked at while one value is forgotten or copied.
	costly = 8
	// A sweep is done before a lexicon has grown by one part in sweepShare.
	sweepShare = 4
)

func (x *lexicon) hold(h *holder) (release func()) {
	x.holders = append(x.holders, h)
	return func() {
		if i := slices.Index(x.holders, h); i >= 0 {
			x.holders = slices.Delete(x.holders, i, i+1)
		}
	}
}

// Tidy does some of the work of forgetting values that no holder holds, if a lexicon has
// doubled since that was last done: some 50 µs, or more if many new values came since the
// last call, and almost nothing if there is nothing to do. It reports whether there is
// more to do, for those who have time.
//
// Call it between batches, when all words that are still needed are held: those in indices,
// and those in what was taken from an index and is still under way to an operator, or waits
// in one, since the index itself may have dropped them.
func (l *Lexicons) Tidy() (more bool) {
	return l.due && l.tidy()
}

func (l *Lexicons) tidy() (more bool) {
	fuel := l.fuel
	if fuel == 0 {
		fuel = tidyFuel
	}
	for _, x := range l.all {
		if x.phase == resting && (x.table.count >= x.dueCount || x.arena.used >= x.dueBytes) {
			x.begin()
		}
		if x.phase != resting {
			x.step(max(fuel, x.behind()))
			more = more || x.phase != resting
		}
	}
	l.due = more
	return more
}

// Sweep forgets all values that no holder holds, at once. What is said of [Lexicons.Tidy]
// holds here too.
func (l *Lexicons) Sweep() {
	l.due = false
	for _, x := range l.all {
		for x.phase != resting { // what it marked may be held no longer
			x.step(1 << 30)
		}
		x.begin()
		for x.phase != resting {
			x.step(1 << 30)
		}
	}
}

// pace sets when the next sweep is due: when the lexicon has doubled, so that sweeping costs
// each new value a constant share.
func (x *lexicon) pace() {
	x.dueCount = max(2*x.table.count, minDueCount)
	x.dueBytes = max(2*x.arena.used, minDueBytes)
}

// begin takes note of what is held.
func (x *lexicon) begin() {
	x.live = make([]uint64, len(x.numbers.pages)<<pageBits/64)
	x.phase, x.cursor = marking, 0
	x.done, x.born, x.added = 0, 0, x.arena.added
	x.count, x.used = x.table.count, x.arena.used
	x.total = x.table.slots + len(x.numbers.pages)<<pageBits + costly*x.count
	for _, h := range x.holders {
		if h.visit != nil {
			h.visit(x.mark)
		} else {
			x.columns = h.columns(x.columns)
		}
	}
	for _, c := range x.columns {
		x.total += len(c)
	}
}

// mark keeps a number from being forgotten by this sweep. Those of pages that are new since
// it began are not forgotten in any case.
func (x *lexicon) mark(n uint64) {
	if i := n / 64; i < uint64(len(x.live)) {
		x.live[i] |= 1 << (n % 64)
	}
}

func (x *lexicon) isLive(n uint64) bool {
	i := n / 64
	return i >= uint64(len(x.live)) || x.live[i]>>(n%64)&1 != 0
}

// behind is how much is to be done so that the sweep ends in time.
func (x *lexicon) behind() int {
	grown := max(float64(x.born)/float64(max(x.count, minDueCount)), float64(x.arena.added-x.added)/float64(max(x.used, minDueBytes)))
	return int(min(sweepShare*grown, 1)*float64(x.total)) - x.done
}

// step goes on with the sweep for so many words.
func (x *lexicon) step(fuel int) {
	x.done += fuel
	for fuel > 0 {
		switch x.phase {
		case marking:
			fuel -= x.markSome(fuel)
		case forgetting:
			fuel -= x.forgetSome()
		case compacting:
			fuel -= x.compactSome(fuel)
		case resting:
			return
		}
	}
}

// markSome marks some of a column, and returns how much.
func (x *lexicon) markSome(fuel int) int {
	last := len(x.columns) - 1
	if last < 0 {
		x.columns = nil
		x.phase, x.cursor = forgetting, 0
		return 0
	}
	column := x.columns[last]
	n := min(fuel, len(column))
	for _, w := range column[:n] {
		x.live[w/64] |= 1 << (w % 64)
	}
	if n < len(column) {
		x.columns[last] = column[n:]
	} else {
		x.columns[last] = nil
		x.columns = x.columns[:last]
	}
	return n
}

// forgetSome forgets the numbers of a segment that are not marked, and returns the work it was.
func (x *lexicon) forgetSome() int {
	s := x.table.segment(x.cursor)
	work, bits := len(s.slots), s.bits
	dead := x.table.filter(x.cursor, x.isLive, x.dead[:0])
	// One loop for each memory that is far away: its loads do not wait for one another.
	places := x.places[:0]
	for _, n := range dead {
		places = append(places, x.numbers.place(n))
	}
	for _, place := range places {
		x.arena.forget(place)
	}
	for _, n := range dead {
		x.numbers.release(n)
	}
	x.dead, x.places = dead, places
	work += costly * len(dead)
	span := uint64(1) << (hashBits - bits)
	x.cursor = x.cursor&^(span-1) + span // it may have been joined with the one before, which is done
	if x.cursor>>hashBits != 0 {
		x.live, x.dead, x.places = nil, nil, nil
		x.phase, x.cursor = compacting, 0
		if !x.arena.thin() {
			x.end()
		}
	}
	return work
}

// compactSome copies values that are in chunks with little else, and returns the work it was.
func (x *lexicon) compactSome(fuel int) int {
	work := 0
	for work < fuel {
		if x.cursor>>pageBits == uint64(len(x.numbers.pages)) {
			x.end()
			break
		}
		places := x.numbers.pages[x.cursor>>pageBits].places
		if places == nil {
			work++
			x.cursor += 1 << pageBits
			continue
		}
		place := &places[x.cursor&pageMask]
		if *place>>32 != 0 {
			var copied int
			if *place, copied = x.arena.move(*place); copied > 0 {
				work += costly + copied/64
			}
		}
		work++
		x.cursor++
	}
	return work
}

func (x *lexicon) end() {
	x.phase = resting
	x.numbers.tidy()
	x.pace()
}
