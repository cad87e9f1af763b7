package differential

import (
	"cmp"
	"slices"

	"weir/differential/trace"
	"weir/timely"
)

// weighted is a value, as a word, and how often it is there.
type weighted struct {
	val    uint64
	weight int64
}

// logic is what a reduction makes of the values of a key, none of which has weight 0, in order of their words. It
// appends to out, and is called only if there are any.
type logic func(key uint64, values []weighted, out []weighted) []weighted

// reduce makes an index of what f makes of each key of an index. Where each is set, f is given one value of a key
// at a time and the result is the sum.
//
// A key is looked at again at the times at which its values change, and at the joins of these with other times at
// which they did, where changes meet that knew nothing of one another. Those beyond the frontier
// are kept for later. (McSherry, Murray, Isaacs, Isard: "Differential dataflow", CIDR 2013, section 3.)
func reduce(x *index, name string, each bool, results words, f logic) *index {
	op := timely.NewOperator(x.scope(), name)
	in := x.read(op)
	out, batches := op.Output[news]()
	op.Watch()
	y := newIndex(batches, x.keys, results)
	own := y.trace.Handle()
	r := &reducer{logic: f, each: each, staged: trace.NewBatcher(), holds: holds{op: op}, upper: timely.Antichain{{}}}
	r.eval.reducer, r.see = r, r.eval.see
	keep := newUpkeep(op, y)
	keep.holds(x.keys, func(to [][]uint64) [][]uint64 { return append(to, r.pending.words(false)) })
	if each {
		keep.holds(x.values, func(to [][]uint64) [][]uint64 { return append(to, r.pending.words(true)) })
	}
	op.Build(func() {
		upper := r.upper
		for t, batch, ok := in.next(); ok; t, batch, ok = in.next() {
			r.holds.add(t)
			r.fresh = append(r.fresh, batch)
			upper = batch.Upper()
		}
		// The index is complete up to its last batch, and as far as the frontier has come.
		if f := in.in.Frontier(); upper.Dominates(f) {
			upper = f
		}
		if !upper.Equal(r.upper) {
			keep.busy = true
			r.upper = slices.Clone(upper)
			r.outs = own.Batches(r.outs[:0])
			r.run(in.batches())
			r.holds.seal(r.staged, y, out, r.upper)
			r.holds.keep(r.pending.frontier())
			in.advance(r.upper)
			own.Advance(r.upper)
			own.Ack(y.trace.Seq())
			clear(r.fresh)
			r.fresh = r.fresh[:0]
		}
		keep.run()
	})
	return y
}

// reducer is the state of a reduction.
type reducer struct {
	logic  logic
	each   bool
	upper  timely.Antichain // the times not at or after it are done
	fresh  []*trace.Batch   // what is new
	outs   []*trace.Batch   // what was made so far
	staged *trace.Batcher   // what is made now
	holds  holds

	pending agenda
	due     []visit
	fronts  []front
	see     func(timely.Time) // eval.see
	eval    evaluation
}

// run looks at all that is to be looked at before the frontier upper.
func (r *reducer) run(input []*trace.Batch) {
	r.due = r.pending.due(r.upper, r.due[:0])
	r.fronts = frontsOf(r.fronts[:0], r.fresh, r.each)
	e := &r.eval
	e.input.Reset(input)
	e.output.Reset(r.outs)
	due := r.due
	for {
		next, found := first(r.fronts)
		if len(due) > 0 && (!found || due[0].unit.less(next)) {
			next, found = due[0].unit, true
		}
		if !found {
			return
		}
		e.at = e.at[:0]
		for ; len(due) > 0 && due[0].unit == next; due = due[1:] {
			e.see(due[0].time)
		}
		for i := range r.fronts {
			r.fronts[i].take(next, r.see)
		}
		e.unit = next
		e.evaluate()
	}
}

// unit is what is reduced by itself: a key, or a key with one value.
type unit struct{ key, val uint64 }

func (u unit) less(o unit) bool { return u.key < o.key || u.key == o.key && u.val < o.val }

// front goes through the units of a batch.
type front struct {
	blocks     []*trace.Block
	key, value int // in the first block
	each       bool
}

// frontsOf appends one for each batch.
func frontsOf(list []front, batches []*trace.Batch, each bool) []front {
	for _, b := range batches {
		list = append(list, front{blocks: b.Blocks(), each: each})
	}
	return list
}

// first is the first unit of all.
func first(fronts []front) (next unit, found bool) {
	for i := range fronts {
		if u, ok := fronts[i].peek(); ok && (!found || u.less(next)) {
			next, found = u, true
		}
	}
	return next, found
}

func (f *front) peek() (unit, bool) {
	if len(f.blocks) == 0 {
		return unit{}, false
	}
	b := f.blocks[0]
	u := unit{key: b.Keys()[f.key]}
	if f.each {
		u.val = b.Vals()[f.value]
	}
	return u, true
}

// take goes on to the next unit if it is at u, and shows the times at which u changes.
func (f *front) take(u unit, see func(timely.Time)) {
	for len(f.blocks) > 0 {
		b := f.blocks[0]
		if b.Keys()[f.key] != u.key || f.each && b.Vals()[f.value] != u.val {
			return
		}
		lo, hi := b.Values(f.key)
		if f.each {
			lo, hi = f.value, f.value+1
		}
		f.times(b, lo, hi, see)
		f.value = hi
		if _, end := b.Values(f.key); f.value == end {
			f.key++
		}
		if f.key == len(b.Keys()) {
			f.blocks, f.key, f.value = f.blocks[1:], 0, 0
		}
	}
}

// times shows the times of changes to values, each at least once.
func (f *front) times(b *trace.Block, lo, hi int, see func(timely.Time)) {
	times := b.Times()
	if len(times) == 1 {
		see(times[0])
		return
	}
	for j := lo; j < hi; j++ {
		for _, x := range b.Edits(j) {
			see(times[x.Time])
		}
	}
}

// evaluation looks at one unit.
type evaluation struct {
	reducer       *reducer
	input, output trace.Cursor
	unit          unit
	at            []timely.Time // at which the unit is to be looked at

	ins, outs []trace.ValueEdit // what it is, and what was made of it
	made      []trace.ValueEdit // what is made of it now
	values    []weighted
	results   []weighted
}

// see notes that the unit is to be looked at.
func (e *evaluation) see(t timely.Time) {
	if n := len(e.at); n > 0 && e.at[n-1] == t || slices.Contains(e.at, t) {
		return
	}
	e.at = append(e.at, t)
}

// evaluate makes the changes of the results of the unit.
func (e *evaluation) evaluate() {
	from := e.at[0]
	for _, t := range e.at[1:] {
		from = from.Meet(t)
	}
	// Only times at or after from will be told apart.
	e.ins = collect(&e.input, e.unit, e.reducer.each, from, e.ins[:0])
	e.outs = collect(&e.output, e.unit, e.reducer.each, from, e.outs[:0])
	e.made = e.made[:0]
	sortEdits(e.ins)
	if len(e.at) == 1 && e.settled(from) {
		e.once(from)
		return
	}
	e.close()
	for _, t := range e.at {
		if e.reducer.upper.LessEqual(t) {
			e.reducer.pending.add(t, e.unit)
		} else {
			e.once(t)
		}
	}
}

func collect(c *trace.Cursor, u unit, each bool, from timely.Time, to []trace.ValueEdit) []trace.ValueEdit {
	if each {
		return c.CollectValue(u.key, u.val, from, to)
	}
	return c.Collect(u.key, from, to)
}

// settled says that there are no changes after from.
func (e *evaluation) settled(from timely.Time) bool {
	for i := range e.ins {
		if e.ins[i].Time != from {
			return false
		}
	}
	return true
}

// close adds to the times at which the unit is looked at all joins with times at which its values change,
// and sorts them, so that what is before comes before.
func (e *evaluation) close() {
	history := make([]timely.Time, 0, 8)
	for i := range e.ins {
		if t := e.ins[i].Time; !slices.Contains(history, t) {
			history = append(history, t)
		}
	}
	known := map[timely.Time]struct{}{}
	for _, t := range e.at {
		known[t] = struct{}{}
	}
	for i := 0; i < len(e.at); i++ {
		for _, h := range history {
			t := e.at[i].Join(h)
			if _, ok := known[t]; !ok {
				known[t] = struct{}{}
				e.at = append(e.at, t)
			}
		}
	}
	slices.SortFunc(e.at, timely.Time.Compare)
}

// once looks at the unit at a time: what the results should be there, less what they are.
func (e *evaluation) once(t timely.Time) {
	e.values = e.values[:0]
	for i := range e.ins {
		if x := &e.ins[i]; x.Time.LessEqual(t) {
			e.values = addTo(e.values, x.Val, x.Diff)
		}
	}
	e.values = slices.DeleteFunc(e.values, func(v weighted) bool { return v.weight == 0 })
	e.results = e.results[:0]
	if len(e.values) > 0 {
		e.results = e.reducer.logic(e.unit.key, e.values, e.results)
	}
	for _, list := range [...][]trace.ValueEdit{e.outs, e.made} {
		for i := range list {
			if x := &list[i]; x.Time.LessEqual(t) {
				e.results = append(e.results, weighted{x.Val, negated(x.Diff)})
			}
		}
	}
	sortWeighted(e.results)
	for i := 0; i < len(e.results); {
		v := e.results[i]
		for i++; i < len(e.results) && e.results[i].val == v.val; i++ {
			v.weight = added(v.weight, e.results[i].weight)
		}
		if v.weight != 0 {
			e.reducer.staged.Add(e.unit.key, v.val, t, v.weight)
			e.made = append(e.made, trace.ValueEdit{Val: v.val, Time: t, Diff: v.weight})
		}
	}
}

// addTo adds a weight to the last of the values, or a value after it.
func addTo(values []weighted, val uint64, weight int64) []weighted {
	if n := len(values); n > 0 && values[n-1].val == val {
		values[n-1].weight = added(values[n-1].weight, weight)
		return values
	}
	return append(values, weighted{val, weight})
}

// sortEdits sorts by value, which lists of one batch are.
func sortEdits(list []trace.ValueEdit) {
	for i := 1; i < len(list); i++ {
		if list[i].Val < list[i-1].Val {
			slices.SortFunc(list, func(a, b trace.ValueEdit) int { return cmp.Compare(a.Val, b.Val) })
			return
		}
	}
}

func sortWeighted(list []weighted) {
	if len(list) > 1 {
		slices.SortFunc(list, func(a, b weighted) int { return cmp.Compare(a.val, b.val) })
	}
}

// agenda is what is to be looked at later, by time.
type agenda struct {
	times []timely.Time // in lexicographic order
	units [][]unit      // for each
}

func (a *agenda) add(t timely.Time, u unit) {
	i, found := slices.BinarySearchFunc(a.times, t, timely.Time.Compare)
	if !found {
		a.times = slices.Insert(a.times, i, t)
		a.units = slices.Insert(a.units, i, nil)
	}
	if list := a.units[i]; len(list) == 0 || list[len(list)-1] != u {
		a.units[i] = append(list, u)
	}
}

// visit is that a unit is to be looked at, at a time.
type visit struct {
	unit
	time timely.Time
}

// due takes what is to be looked at before the frontier, in order of units, and appends it to list.
func (a *agenda) due(frontier timely.Antichain, list []visit) []visit {
	kept := 0
	for i, t := range a.times {
		if frontier.LessEqual(t) {
			a.times[kept], a.units[kept] = t, a.units[i]
			kept++
			continue
		}
		for _, u := range a.units[i] {
			list = append(list, visit{u, t})
		}
	}
	clear(a.units[kept:])
	a.times, a.units = a.times[:kept], a.units[:kept]
	slices.SortFunc(list, func(x, y visit) int {
		return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.val, y.val), x.time.Compare(y.time))
	})
	return list
}

// words is the keys, or the values, of all units.
func (a *agenda) words(values bool) []uint64 {
	var list []uint64
	for _, units := range a.units {
		for _, u := range units {
			if values {
				list = append(list, u.val)
			} else {
				list = append(list, u.key)
			}
		}
	}
	return list
}

func (a *agenda) frontier() timely.Antichain {
	var f timely.Antichain
	for _, t := range a.times {
		f.Insert(t)
	}
	return f
}
