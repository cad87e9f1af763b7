package differential

import (
	"slices"

	"weir/differential/trace"
	"weir/timely"
)

// cheap makes an index of what f makes of each unit, where f takes no time to speak of, and looks at nothing but the values.
//
// Outside of loops times come one after the other. So what was made of a unit is what f makes of the values
// that it had before, and need be neither kept nor looked up: half the work of a reduction, and of its memory,
// unless somebody else reads the index. Within loops it is a reduction as any other.
func cheap(x *index, name string, each bool, results words, f logic) *index {
	if x.scope().Depth() > 1 {
		return reduce(x, name, each, results, f)
	}
	op := timely.NewOperator(x.scope(), name)
	in := x.read(op)
	out, batches := op.Output[news]()
	op.Watch()
	y := newIndex(batches, x.keys, results)
	r := &reworker{logic: f, each: each, staged: trace.NewBatcher()}
	caps := holds{op: op}
	keep := newUpkeep(op, y)
	done := timely.Antichain{{}}
	var before, fresh []*trace.Batch
	op.Build(func() {
		before = append(before[:0], in.batches()...)
		upper := done
		for t, batch, ok := in.next(); ok; t, batch, ok = in.next() {
			caps.add(t)
			fresh = append(fresh, batch)
			upper = batch.Upper()
		}
		if f := in.in.Frontier(); upper.Dominates(f) {
			upper = f
		}
		if !upper.Equal(done) {
			keep.busy = true
			done = slices.Clone(upper)
			r.run(before, fresh)
			caps.seal(r.staged, y, out, done)
			caps.keep(nil)
			in.advance(done)
			clear(fresh)
			fresh = fresh[:0]
		}
		clear(before)
		keep.run()
	})
	return y
}

// reworker is the state of a reduction that makes again what it made before.
type reworker struct {
	logic  logic
	each   bool
	staged *trace.Batcher

	fronts       []front
	old, new     trace.Cursor // what was there before, and what has come
	edits        []trace.ValueEdit
	at           []timely.Time
	see          func(timely.Time)
	values       []weighted // of the unit, at a time
	made, remade []weighted
}

// run makes the changes of all units that have changed.
func (r *reworker) run(before, fresh []*trace.Batch) {
	if r.see == nil {
		r.see = r.note
	}
	r.old.Reset(before)
	r.new.Reset(fresh)
	r.fronts = frontsOf(r.fronts[:0], fresh, r.each)
	for u, ok := first(r.fronts); ok; u, ok = first(r.fronts) {
		r.at = r.at[:0]
		for i := range r.fronts {
			r.fronts[i].take(u, r.see)
		}
		if len(r.at) > 1 {
			slices.SortFunc(r.at, timely.Time.Compare)
		}
		r.rework(u)
	}
}

// note notes that the unit has changed at a time.
func (r *reworker) note(t timely.Time) {
	if n := len(r.at); n > 0 && r.at[n-1] == t || slices.Contains(r.at, t) {
		return
	}
	if t != timely.Epoch(t[0]) {
		timely.Fail(&timely.MisuseError{Problem: "an update outside of all loops has a time with a round"})
	}
	r.at = append(r.at, t)
}

// rework makes the changes of a unit.
func (r *reworker) rework(u unit) {
	r.edits = collect(&r.old, u, r.each, timely.Time{}, r.edits[:0])
	r.values = r.values[:0]
	for i := range r.edits {
		r.add(&r.edits[i])
	}
	r.made = r.make(u, r.made[:0])
	r.edits = collect(&r.new, u, r.each, timely.Time{}, r.edits[:0])
	for _, t := range r.at {
		for i := range r.edits {
			if r.edits[i].Time == t {
				r.add(&r.edits[i])
			}
		}
		r.remade = r.make(u, r.remade[:0])
		if !slices.Equal(r.made, r.remade) {
			for _, v := range r.made {
				r.staged.Add(u.key, v.val, t, negated(v.weight))
			}
			for _, v := range r.remade {
				r.staged.Add(u.key, v.val, t, v.weight)
			}
		}
		r.made, r.remade = r.remade, r.made
	}
}

// add adds an edit to the values, which stay in order and without any of weight 0.
func (r *reworker) add(e *trace.ValueEdit) {
	for i := range r.values {
		v := &r.values[i]
		if v.val == e.Val {
			if v.weight = added(v.weight, e.Diff); v.weight == 0 {
				r.values = slices.Delete(r.values, i, i+1)
			}
			return
		}
		if v.val > e.Val {
			r.values = slices.Insert(r.values, i, weighted{e.Val, e.Diff})
			return
		}
	}
	r.values = append(r.values, weighted{e.Val, e.Diff})
}

// make appends what the logic makes of the values.
func (r *reworker) make(u unit, to []weighted) []weighted {
	if len(r.values) == 0 {
		return to
	}
	return r.logic(u.key, r.values, to)
}
