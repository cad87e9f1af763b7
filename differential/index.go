package differential

import (
	"slices"

	"weir/differential/trace"
	"weir/timely"
)

// index is an arrangement on this worker: a trace, of words, and a stream that tells of each batch
// that is added to it. The operators that read the trace are told of a batch after it was added, so that
// they see of the trace what they were told of.
type index struct {
	batches timely.Stream[news]
	trace   *trace.Trace
	depth   int   // of the scope that the trace was made in
	keys    words // how they are made
	values  words
	traffic *traffic
}

// newIndex makes the index of a new trace.
func newIndex(batches timely.Stream[news], keys, values words) *index {
	return &index{batches, trace.New(), batches.Scope().Depth(), keys, values, &traffic{}}
}

// tell sends word of batches of the trace.
func (x *index) tell(out *timely.Writer[news], t timely.Time, n news) {
	x.traffic.flying += x.traffic.listeners
	out.Send(t, n)
}

// news is that a batch was added to a trace, as its seq-th, or, to who joins late, all batches so far.
type news struct {
	batches []*trace.Batch
	seq     uint64
}

func (x *index) scope() *timely.Scope { return x.batches.Scope() }

// enter is the index within a loop. It is the same trace: coordinates of loops that a time is not
// in are 0, which is what the times become on entering.
func (x *index) enter(loop *timely.Scope) *index {
	inner := *x
	inner.batches = x.batches.Enter(loop)
	return &inner
}

// reader is an operator's use of an index.
type reader struct {
	in     *timely.Reader[news]
	index  *index
	handle *trace.Handle
	since  timely.Antichain
	told   uint64 // of how many batches; the handle may know of more where the index is imported
	time   timely.Time
	heard  []news         // at that time
	rest   []*trace.Batch // of the first of it
	list   []*trace.Batch
}

func (x *index) read(op *timely.Operator) *reader {
	x.traffic.listeners++
	return &reader{in: op.Input(x.batches, timely.Pipeline[news]()), index: x, handle: x.trace.Handle()}
}

// next is the next batch of the trace.
func (r *reader) next() (timely.Time, *trace.Batch, bool) {
	for len(r.rest) == 0 {
		if len(r.heard) == 0 {
			var ok bool
			if r.time, r.heard, ok = r.in.Next(); !ok {
				return timely.Time{}, nil, false
			}
		}
		r.told, r.rest = r.heard[0].seq, r.heard[0].batches
		r.heard = r.heard[1:]
		r.index.traffic.flying--
		r.handle.Ack(r.told)
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return r.time, b, true
}

// batches is what the reader has been told of. The slice is reused by the next call.
func (r *reader) batches() []*trace.Batch {
	r.list = r.list[:0]
	if r.told > 0 {
		r.list = r.handle.Batches(r.list)
	}
	return r.list
}

// advance promises that the reader tells only times at or after the frontier apart.
func (r *reader) advance(frontier timely.Antichain) {
	if r.since.Equal(frontier) && r.since != nil {
		return
	}
	r.since = append(r.since[:0], frontier...)
	var outer timely.Antichain
	for _, t := range frontier {
		clear(t[r.index.depth:])
		outer.Insert(t)
	}
	r.handle.Advance(outer)
}

// holds is the capabilities of an operator that sends what was staged once its time is over:
// at the earliest times of what is staged.
type holds struct {
	op   *timely.Operator
	caps []*timely.Capability // no time is after another
}

// add makes sure that there is a capability at or before t, at which the operator may send now.
func (h *holds) add(t timely.Time) {
	for _, c := range h.caps {
		if c.Time().LessEqual(t) {
			return
		}
	}
	h.caps = slices.DeleteFunc(h.caps, func(c *timely.Capability) bool {
		if t.LessEqual(c.Time()) {
			c.Drop()
			return true
		}
		return false
	})
	h.caps = append(h.caps, h.op.Retain(t))
}

// keep has capabilities at the given times and no others.
func (h *holds) keep(times timely.Antichain) {
	if len(times) == 1 && len(h.caps) == 1 {
		if h.caps[0].Time() != times[0] {
			h.caps[0].Downgrade(times[0])
		}
		return
	}
	old := h.caps
	h.caps = make([]*timely.Capability, 0, len(times))
	for _, t := range times {
		h.caps = append(h.caps, h.op.Retain(t))
	}
	for _, c := range old {
		c.Drop()
	}
}

// seal adds to a trace what is staged of the times that are over, those not at or after
// the frontier, and tells of it. A batch is told of at the time of one capability, so that
// there is one for each that is due: it has what this one allows and the later ones do not.
func (h *holds) seal(staged *trace.Batcher, x *index, out *timely.Writer[news], frontier timely.Antichain) {
	to := x.trace
	slices.SortFunc(h.caps, func(a, b *timely.Capability) int { return a.Time().Compare(b.Time()) })
	for i, c := range h.caps {
		if frontier.LessEqual(c.Time()) {
			continue
		}
		upper := slices.Clone(frontier)
		for _, later := range h.caps[i+1:] {
			upper.Insert(later.Time())
		}
		if batch := insert(staged, to, upper); batch.Len() > 0 {
			x.tell(out, c.Time(), news{[]*trace.Batch{batch}, to.Seq()})
		}
	}
	if !to.Upper().Equal(frontier) {
		if batch := insert(staged, to, slices.Clone(frontier)); batch.Len() > 0 {
			panic("differential: changes were staged at a time for which there was no capability")
		}
	}
}

func insert(staged *trace.Batcher, to *trace.Trace, upper timely.Antichain) *trace.Batch {
	batch, err := staged.Seal(upper)
	if err == nil {
		err = to.Insert(batch)
	}
	if err != nil {
		fail(err)
	}
	return batch
}

// form is how records of a stream become entries of an index. Indices are made of words so that there is
// no code for each type of keys and values but this.
type form[D any] struct {
	keys, values words
	hash         func(*D) uint64 // of the key: says which worker has it
	words        func(*D) (key, value uint64)
	// more, if there is any, is an amount for each record, that is added to the weight of value 1 of its key.
	more func(*D) int64
}

// wholes has records as keys, with nothing as the value.
func wholes[D comparable](s *timely.Scope) form[D] {
	keys := codec[D](s)
	return form[D]{
		keys: keys, values: codec[struct{}](s),
		hash:  func(x *D) uint64 { return keys.Hash(*x) },
		words: func(x *D) (uint64, uint64) { return keys.Word(*x), 0 },
	}
}

// pairs has keys and values.
func pairs[K, V comparable](s *timely.Scope) form[Pair[K, V]] {
	keys, values := codec[K](s), codec[V](s)
	return form[Pair[K, V]]{
		keys: keys, values: values,
		hash:  func(p *Pair[K, V]) uint64 { return keys.Hash(p.Key) },
		words: func(p *Pair[K, V]) (uint64, uint64) { return keys.Word(p.Key), values.Word(p.Value) },
	}
}

// arrange makes an index of a stream.
func arrange[D any](s timely.Stream[Update[D]], name string, f form[D]) *index {
	op := timely.NewOperator(s.Scope(), name)
	in := op.Input(s, timely.ByHash(func(u Update[D]) uint64 { return f.hash(&u.Data) }))
	out, batches := op.Output[news]()
	op.Watch()
	x := newIndex(batches, f.keys, f.values)
	staged, caps := trace.NewBatcher(), holds{op: op}
	keep := newUpkeep(op, x)
	keep.holds(f.keys, func(to [][]uint64) [][]uint64 { return staged.Columns(false, to) })
	keep.holds(f.values, func(to [][]uint64) [][]uint64 { return staged.Columns(true, to) })
	op.Build(func() {
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			keep.busy = true
			caps.add(t)
			for i := range data {
				u := &data[i]
				key, value := f.words(&u.Data)
				staged.Add(key, value, u.Time, u.Weight)
				if f.more != nil {
					staged.Add(key, 1, u.Time, product(u.Weight, f.more(&u.Data)))
				}
			}
		}
		if frontier := in.Frontier(); !x.trace.Upper().Equal(frontier) {
			keep.busy = true
			caps.seal(staged, x, out, frontier)
			caps.keep(staged.Frontier())
		}
		keep.run()
	})
	return x
}

// flatten is the updates of an index, of records made of its words.
func flatten[D any](x *index, record func(key, value uint64) D) timely.Stream[Update[D]] {
	x.traffic.listeners++
	return x.batches.Unary("flatten", timely.Pipeline[news](), func(in *timely.Reader[news], out *timely.Writer[Update[D]], _ *timely.Notificator) {
		var to sink[D]
		for t, data, ok := in.Next(); ok; t, data, ok = in.Next() {
			to.begin(out, t)
			for _, n := range data {
				x.traffic.flying--
				for _, batch := range n.batches {
					for _, b := range batch.Blocks() {
						flattenBlock(b, &to, record)
					}
				}
			}
			to.end()
		}
	})
}

func flattenBlock[D any](b *trace.Block, to *sink[D], record func(key, value uint64) D) {
	times, vals := b.Times(), b.Vals()
	for i, key := range b.Keys() {
		for j, hi := b.Values(i); j < hi; j++ {
			x := record(key, vals[j])
			for _, e := range b.Edits(j) {
				to.put(x, times[e.Time], e.Diff)
			}
		}
	}
}

// flattenWholes is the updates of an index whose keys are records.
func flattenWholes[D comparable](x *index) timely.Stream[Update[D]] {
	keys := codec[D](x.scope())
	return flatten(x, func(key, _ uint64) D { return keys.Value(key) })
}

// flattenPairs is the updates of an index of keys and values.
func flattenPairs[K, V comparable](x *index) timely.Stream[Update[Pair[K, V]]] {
	keys, values := codec[K](x.scope()), codec[V](x.scope())
	return flatten(x, func(key, value uint64) Pair[K, V] { return Pair[K, V]{keys.Value(key), values.Value(value)} })
}
