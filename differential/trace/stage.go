package trace

import (
	"cmp"
	"math"
	"math/bits"
	"runtime"
	"slices"

	"weir/internal/radix"
	"weir/timely"
)

// spillMin is how many changes of a time are staged unsorted at least before they are sorted into
// blocks. Later it is as many as are in blocks, so that each change is sorted once and merged about
// twice. Tests make it small.
var spillMin = 1 << 17

const (
	// spareRoom is the capacity up to which a stage is kept for later.
	spareRoom = 1 << 13
	// forgetMax is how many bytes of garbage of large columns may lie around.
	forgetMax = 32 << 20
	// fewChanges is how many are sorted by insertion.
	fewChanges = 64
)

// stage is the changes of one time.
type stage struct {
	time       timely.Time
	keys, vals []uint64
	diffs      []int64 // nil while all are diff
	diff       int64
	spare      []int64  // for diffs
	runs       []*Batch // sorted; nobody else has them
	sorted     int      // changes in runs
	room       int      // for how many to stay unsorted
}

func (s *stage) len() int { return len(s.keys) + s.sorted }

// mix makes room for diffs that are not all the same.
func (s *stage) mix(diff int64) {
	if len(s.keys) == 0 {
		s.diff = diff
		return
	}
	s.diffs = slices.Grow(s.spare[:0], len(s.keys)+1)
	for range s.keys {
		s.diffs = append(s.diffs, s.diff)
	}
}

// spill sorts what is unsorted of s into blocks.
func (b *Batcher) spill(s *stage) {
	s.runs = append(s.runs, b.sorter.sort([]*stage{s}))
	b.n -= s.sorted + len(s.keys)
	s.sorted = 0
	for _, run := range s.runs {
		s.sorted += run.edits
	}
	b.n += s.sorted
	s.keys, s.vals = s.keys[:0], s.vals[:0]
	if s.diffs != nil {
		s.diffs = s.diffs[:0]
	}
	if room := max(spillMin, s.sorted); room != s.room {
		s.room = room
		garbage := 16*cap(s.keys) + 8*cap(s.diffs)
		s.keys, s.vals = nil, nil
		b.sorter.forget(garbage)
		// The growth of append would take more than that.
		s.keys, s.vals = make([]uint64, 0, room), make([]uint64, 0, room)
		if s.diffs != nil {
			s.diffs = make([]int64, 0, room)
		}
	}
}

// sorter makes batches of stages.
type sorter struct {
	out Builder

	few        []staged
	keys, vals []uint64
	edits      []Edit
	order      []uint32
	group      []Edit
	forgotten  int // bytes
}

// staged is a change whose time is numbered.
type staged struct {
	key, val uint64
	Edit
}

// batch makes one batch of several stages.
func (s *sorter) batch(stages []*stage, lower, upper timely.Antichain) (*Batch, error) {
	var runs []*Batch
	for _, stage := range stages {
		runs = append(runs, stage.runs...)
		stage.runs = nil
	}
	if len(runs) == 0 {
		s.gather(stages)
		return s.done(lower, upper)
	}
	if rest := s.sort(stages); rest.edits > 0 {
		runs = append(runs, rest)
	}
	for _, stage := range stages {
		s.forget(16*cap(stage.keys) + 8*cap(stage.diffs))
		stage.keys, stage.vals, stage.diffs, stage.spare = nil, nil, nil, nil
	}
	s.keys, s.vals, s.edits, s.order = nil, nil, nil, nil
	err := s.out.err
	for len(runs) > 1 && err == nil {
		slices.SortFunc(runs, func(x, y *Batch) int { return cmp.Compare(y.edits, x.edits) })
		n := len(runs)
		var m merger
		s.forget(0)
		m.start(runs[n-1], runs[n-2], nil, true)
		_, _, err = m.work(math.MaxInt)
		s.forgotten += runs[n-1].bytes + runs[n-2].bytes
		runs = append(runs[:n-2], m.out.Done(nil, nil))
	}
	if err != nil {
		return nil, err
	}
	runs[0].lower, runs[0].upper = lower, upper
	return runs[0], nil
}

// forget notes that bytes of large columns have become garbage, and has it collected when that is
// much. Left alone, the collector waits until the heap has doubled, and loading a collection doubles it.
func (s *sorter) forget(bytes int) {
	if s.forgotten += bytes; s.forgotten > forgetMax {
		s.forgotten = 0
		runtime.GC()
	}
}

func (s *sorter) done(lower, upper timely.Antichain) (*Batch, error) {
	if err := s.out.Err(); err != nil {
		return nil, err
	}
	return s.out.Done(lower, upper), nil
}

// sort is a batch of what is unsorted in stages. An overflow is left in s.out.err.
func (s *sorter) sort(stages []*stage) *Batch {
	s.gather(stages)
	err := s.out.Err()
	b := s.out.Done(nil, nil)
	s.out.err = err
	return b
}

// gather adds to s.out what is unsorted in stages.
func (s *sorter) gather(stages []*stage) {
	n := 0
	for _, stage := range stages {
		n += len(stage.keys)
	}
	switch {
	case n == 0:
	case len(stages) == 1 && stages[0].diffs == nil:
		stage := stages[0]
		if !ordered(stage.keys, stage.vals) {
			sortColumns(stage.keys, stage.vals)
		}
		s.addColumns(stage.keys, stage.vals, stage.time, stage.diff)
	case n <= fewChanges:
		s.addFew(stages)
	default:
		s.addMany(stages, n)
	}
}

// addFew adds few changes.
func (s *sorter) addFew(stages []*stage) {
	few := s.few[:0]
	for at, stage := range stages {
		for i, key := range stage.keys {
			c := staged{key, stage.vals[i], Edit{stage.diff, uint32(at)}}
			if stage.diffs != nil {
				c.Diff = stage.diffs[i]
			}
			j := len(few)
			few = append(few, c)
			for ; j > 0 && (few[j-1].key > c.key || few[j-1].key == c.key && few[j-1].val > c.val); j-- {
				few[j] = few[j-1]
			}
			few[j] = c
		}
	}
	s.few = few
	for i := range few {
		c := &few[i]
		s.out.Add(c.key, c.val, stages[c.Time].time, c.Diff)
	}
}

// addMany adds many changes of different times or weights.
func (s *sorter) addMany(stages []*stage, n int) {
	keys, vals, edits := slices.Grow(s.keys[:0], n), slices.Grow(s.vals[:0], n), slices.Grow(s.edits[:0], n)
	for at, stage := range stages {
		keys, vals = append(keys, stage.keys...), append(vals, stage.vals...)
		for i := range stage.keys {
			e := Edit{stage.diff, uint32(at)}
			if stage.diffs != nil {
				e.Diff = stage.diffs[i]
			}
			edits = append(edits, e)
		}
	}
	order := slices.Grow(s.order[:0], n)[:n]
	for i := range order {
		order[i] = uint32(i)
	}
	if !ordered(keys, vals) {
		sortOrder(keys, vals, order)
	}
	out, epoch := &s.out, -1
	times := make([]uint32, len(stages)) // index + 1 in the block that grows
	for i := 0; i < n; {
		if epoch != out.epoch {
			epoch = out.epoch
			clear(times)
		}
		key, val := keys[i], vals[i]
		group := s.group[:0]
		for ; i < n && keys[i] == key && vals[i] == val; i++ {
			e := edits[order[i]]
			if times[e.Time] == 0 {
				times[e.Time] = out.intern(stages[e.Time].time) + 1
			}
			group = append(group, Edit{e.Diff, times[e.Time] - 1})
		}
		s.group = group
		out.fold(key, val, group)
		out.breathe()
	}
	s.keys, s.vals, s.edits, s.order = keys, vals, edits, order
	if n > 8*spareRoom {
		s.keys, s.vals, s.edits, s.order = nil, nil, nil, nil
	}
}

// addColumns adds sorted changes of one time and weight.
func (s *sorter) addColumns(keys, vals []uint64, t timely.Time, diff int64) {
	out := &s.out
	vals = vals[:len(keys)]
	for i := 0; i < len(keys); {
		e := Edit{diff, out.intern(t)}
		stop := min(len(keys), i+blockTarget)
		for i < stop {
			key, val := keys[i], vals[i]
			i++
			if i < len(keys) && keys[i] == key && vals[i] == val {
				sum := diff
				for ; i < len(keys) && keys[i] == key && vals[i] == val; i++ {
					sum = out.sum(key, val, t, sum, diff)
				}
				out.startKey(key)
				out.single(val, Edit{sum, e.Time})
				continue
			}
			out.startKey(key)
			out.single(val, e)
		}
		out.breathe()
	}
}

// ordered says that changes are sorted already.
func ordered(keys, vals []uint64) bool {
	vals = vals[:len(keys)]
	for i := 1; i < len(keys); i++ {
		if keys[i-1] > keys[i] || keys[i-1] == keys[i] && vals[i-1] > vals[i] {
			return false
		}
	}
	return true
}

// packing is how keys and values fit one word, where they do.
type packing struct {
	key, val uint64 // the least
	width    int    // of values
}

func packs(keys, vals []uint64) (p packing, ok bool) {
	p.key, p.val = math.MaxUint64, math.MaxUint64
	var key, val uint64
	for i, k := range keys {
		v := vals[i]
		p.key, key = min(p.key, k), max(key, k)
		p.val, val = min(p.val, v), max(val, v)
	}
	p.width = bits.Len64(val - p.val)
	return p, p.width+bits.Len64(key-p.key) <= 64
}

func (p packing) pack(key, val uint64) uint64 { return (key-p.key)<<p.width | (val - p.val) }

func (p packing) unpack(word uint64) (key, val uint64) {
	return word>>p.width + p.key, word&(1<<p.width-1) + p.val
}

// sortColumns sorts changes by key and value, without room of its own where they fit one word.
func sortColumns(keys, vals []uint64) {
	if len(keys) <= fewChanges {
		for i := range keys {
			k, v, j := keys[i], vals[i], i
			for ; j > 0 && (keys[j-1] > k || keys[j-1] == k && vals[j-1] > v); j-- {
				keys[j], vals[j] = keys[j-1], vals[j-1]
			}
			keys[j], vals[j] = k, v
		}
		return
	}
	p, ok := packs(keys, vals)
	if !ok {
		keyRoom, valRoom := make([]uint64, len(keys)), make([]uint64, len(keys))
		radix.SortPairs(vals, keys, valRoom, keyRoom)
		radix.SortPairs(keys, vals, keyRoom, valRoom)
		return
	}
	for i, k := range keys {
		keys[i] = p.pack(k, vals[i])
	}
	radix.Sort(keys, vals)
	for i, word := range keys {
		keys[i], vals[i] = p.unpack(word)
	}
}

// sortOrder sorts changes by key and value, and order, which is that of 0, 1, 2 …, along.
func sortOrder(keys, vals []uint64, order []uint32) {
	room := make([]uint32, len(order))
	p, ok := packs(keys, vals)
	if ok {
		for i, k := range keys {
			keys[i] = p.pack(k, vals[i])
		}
		radix.SortPairs(keys, order, vals, room)
		for i, word := range keys {
			keys[i], vals[i] = p.unpack(word)
		}
		return
	}
	byVal, byKey := slices.Clone(vals), make([]uint64, len(keys))
	radix.SortPairs(byVal, order, byKey, room)
	for i, o := range order {
		byKey[i] = keys[o]
	}
	radix.SortPairs(byKey, order, byVal, room)
	copy(keys, byKey)
	for i, o := range order {
		byVal[i] = vals[o]
	}
	copy(vals, byVal)
}
