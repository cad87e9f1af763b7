package trace

import (
	"fmt"
	"slices"

	"weir/timely"
)

const (
	// layerRatio is how much larger than a layer the next older one must be to be left alone.
	layerRatio = 4
	// layerMin is the size of two layers that are merged whatever their ratio.
	layerMin = 64
	// fuelRate is how many edits each merge moves for an edit inserted. To merge a layer into one
	// layerRatio times its size moves 1+layerRatio edits for each of its own, and must be
	// over before as many have come again.
	fuelRate = 12
	// fuelMin is what each merge moves at least when something is inserted.
	fuelMin = 64
)

// Trace is the batches of one collection, from the first to the one that ends at Upper. It is used
// by one goroutine.
type Trace struct {
	upper   timely.Antichain
	layers  []layer  // oldest first, of batches that all readers have heard of
	recent  []*Batch // the others, oldest first; the last is number seq
	seq     uint64
	handles []*Handle
	since   timely.Antichain // meet of the handles' since
	version int              // how often since has moved
	owed    int              // edits that merges have not been fuelled for
	spare   *merger
	moved   int // edits, by merges so far
	err     error
}

// layer is a batch, or two that are being merged.
type layer struct {
	made     *Batch // nil, or what is merged already and no more in the other two
	batch    *Batch
	with     *Batch // nil, or the next newer one
	merge    *merger
	retry    int // version of since from which on to compact again
	patience int
}

// batches is what a layer consists of; some may be nil or empty.
func (l *layer) batches() [3]*Batch { return [3]*Batch{l.made, l.batch, l.with} }

func (l *layer) len() (edits int) {
	for _, b := range l.batches() {
		if b != nil {
			edits += b.edits
		}
	}
	return edits
}

// Stats is the size of a trace.
type Stats struct {
	Batches int // as a reader that has heard of all sees them
	Blocks  int
	Edits   int
	Values  int
	Bytes   int // without what merges under way have made but not handed over
	Merges  int // under way
}

// New returns a trace of nothing yet, whose Upper is the minimal time.
func New() *Trace { return &Trace{upper: timely.Antichain{{}}} }

// Upper is the frontier up to which the trace has all changes. It belongs to the trace but never changes.
func (t *Trace) Upper() timely.Antichain { return t.upper }

// Seq is the number of batches inserted so far that were not empty.
func (t *Trace) Seq() uint64 { return t.seq }

// Insert adds the batch that begins at [Trace.Upper], and merges on in proportion to its length. An
// empty batch only moves Upper. An error is an *OverflowError of merging, now or earlier, or says that
// the batch is not the next.
func (t *Trace) Insert(b *Batch) error {
	if !b.lower.Equal(t.upper) {
		return fmt.Errorf("insert batch of %d changes: it begins at %v, expected %v where the trace ends", b.edits, b.lower, t.upper)
	}
	t.upper = b.upper
	if b.edits > 0 {
		t.seq++
		if t.wanted() {
			t.recent = append(t.recent, b)
			t.hear()
		}
	}
	if t.owed > 0 {
		t.step(t.owed*fuelRate+fuelMin, true)
		t.owed = 0
	}
	return t.err
}

// Work merges on by about fuel edits, and says whether more is to be done. An error is as in Insert.
func (t *Trace) Work(fuel int) (more bool, err error) {
	if t.err != nil {
		return false, t.err
	}
	return t.step(fuel, false), t.err
}

// step starts the merges that are due and moves about fuel edits: in each of them, or in all together.
func (t *Trace) step(fuel int, each bool) (more bool) {
	for progress := true; progress && fuel > 0 && t.err == nil; {
		t.start()
		progress = false
		for i := len(t.layers) - 1; i >= 0 && fuel > 0 && t.err == nil; i-- {
			if t.layers[i].merge == nil {
				continue
			}
			left, done := t.move(&t.layers[i], fuel)
			if done {
				t.finish(i)
				progress = true
			}
			t.moved += fuel - left
			if !each {
				fuel = left
			}
		}
	}
	return t.err == nil && slices.ContainsFunc(t.layers, func(l layer) bool { return l.merge != nil })
}

// move moves about fuel edits in the merge of a layer, and returns what is left of fuel and whether all is merged.
func (t *Trace) move(l *layer, fuel int) (left int, done bool) {
	for fuel > 0 && !done && t.err == nil {
		fuel, done, t.err = l.merge.work(fuel)
		if t.err == nil && !done && l.merge.due() {
			l.made, l.batch, l.with = l.merge.handover(l.batch, l.with)
		}
	}
	return fuel, done && t.err == nil
}

// finish puts what the merge of layer i has made in the place of its inputs.
func (t *Trace) finish(i int) {
	l := &t.layers[i]
	before, last := l.len(), l.batch
	if l.with != nil {
		last = l.with
	}
	merged := l.merge.out.Done(l.batch.lower, last.upper)
	next := layer{batch: merged, retry: t.version + 1, patience: 1}
	if l.with == nil && merged.edits > before/2 {
		next.patience = 2 * l.patience
		next.retry = t.version + next.patience
	}
	t.spare = l.merge
	*l = next
	if merged.edits == 0 {
		t.layers = slices.Delete(t.layers, i, i+1)
	}
}

// start begins the merges that are due.
func (t *Trace) start() {
	for i := len(t.layers) - 1; i >= 0; i-- {
		l := &t.layers[i]
		if l.merge != nil {
			continue
		}
		if i > 0 && t.layers[i-1].merge == nil {
			older, newer := t.layers[i-1].batch, l.batch
			if older.edits <= layerRatio*newer.edits || older.edits+newer.edits <= layerMin {
				t.layers[i-1].with = newer
				t.layers[i-1].merge = t.merger(older, newer)
				t.layers = slices.Delete(t.layers, i, i+1)
				i--
				continue
			}
		}
		if b := l.batch; b.edits-b.values > b.edits/4 && t.version >= l.retry && b.upper.Dominates(t.since) {
			l.merge = t.merger(b, nil)
		}
	}
}

// merger returns one that is about to merge a and b.
func (t *Trace) merger(a, b *Batch) *merger {
	m := t.spare
	if m == nil {
		m = new(merger)
	}
	t.spare = nil
	m.start(a, b, t.since, false)
	return m
}

// wanted says whether any reader will still ask for anything.
func (t *Trace) wanted() bool { return len(t.since) > 0 }

// hear makes layers of the recent batches that all readers have heard of.
func (t *Trace) hear() {
	acked := t.seq
	for _, h := range t.handles {
		if len(h.since) > 0 {
			acked = min(acked, h.ack)
		}
	}
	first := t.seq - uint64(len(t.recent)) // the number before that of recent[0]
	if acked <= first {
		return
	}
	n := int(acked - first)
	for _, b := range t.recent[:n] {
		t.layers = append(t.layers, layer{batch: b, retry: t.version + 1, patience: 1})
		t.owed += b.edits
	}
	t.recent = slices.Delete(t.recent, 0, n)
}

// settle finds out since anew, after a handle has changed.
func (t *Trace) settle() {
	var since timely.Antichain
	if len(t.handles) > 0 {
		since = t.handles[0].since // which never changes, it is replaced
	}
	for _, h := range t.handles[min(1, len(t.handles)):] {
		since = Union(since, h.since)
	}
	if !since.Equal(t.since) {
		t.since = since
		t.version++
	}
	if !t.wanted() {
		t.layers, t.recent, t.owed = nil, nil, 0
		return
	}
	t.hear()
}

// Stats counts what the trace has.
func (t *Trace) Stats() Stats {
	var s Stats
	count := func(b *Batch) {
		if b == nil || b.edits == 0 {
			return
		}
		s.Batches++
		s.Blocks += len(b.blocks)
		s.Edits += b.edits
		s.Values += b.values
		s.Bytes += b.bytes
	}
	for i := range t.layers {
		for _, b := range t.layers[i].batches() {
			count(b)
		}
		if t.layers[i].merge != nil {
			s.Merges++
		}
	}
	for _, b := range t.recent {
		count(b)
	}
	return s
}
