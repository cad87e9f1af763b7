package trace

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"weir/timely"
)

// record is what a collection has weights of.
type record struct{ key, val uint64 }

// update is a change of the model, in the batch of a number.
type update struct {
	record
	time timely.Time
	diff int64
	seq  uint64
}

// source decides what happens in a test: rapid, or the bytes of a fuzzer.
type source interface {
	below(n int, what string) int
}

type rapidSource struct{ t *rapid.T }

func (s rapidSource) below(n int, what string) int { return rapid.IntRange(0, n-1).Draw(s.t, what) }

type byteSource struct{ bytes []byte }

func (s *byteSource) below(n int, what string) int {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return int(b) % n
}

// world is a trace with its readers beside a model that never forgets.
type world struct {
	fatal   func(format string, args ...any)
	from    source
	dims    int // coordinates of times
	keys    int
	vals    int
	batcher *Batcher
	trace   *Trace
	readers []*Handle
	staged  []update
	log     []update // of the batches inserted
	missed  uint64   // number of the last batch that was inserted without readers
}

func (w *world) time(base timely.Time) timely.Time {
	for i := range w.dims {
		if w.from.below(2, "later") == 1 {
			base[i] += uint64(w.from.below(3, "by"))
		}
	}
	return base
}

// beyond is a frontier at or after f.
func (w *world) beyond(f timely.Antichain) timely.Antichain {
	var out timely.Antichain
	for _, t := range f {
		for range 1 + w.from.below(2, "times") {
			out.Insert(w.time(t))
		}
	}
	return out
}

func (w *world) add() {
	lower := w.trace.Upper()
	if len(lower) == 0 {
		return
	}
	n := 1 + w.from.below(6, "changes")
	if w.from.below(8, "many") == 0 {
		n *= 40
	}
	for range n {
		u := update{record: record{uint64(w.from.below(w.keys, "key")), uint64(w.from.below(w.vals, "val"))}}
		u.time = w.time(lower[w.from.below(len(lower), "after")])
		u.diff = int64(w.from.below(5, "diff") - 2)
		w.batcher.Add(u.key, u.val, u.time, u.diff)
		if u.diff != 0 {
			w.staged = append(w.staged, u)
		}
	}
	var frontier timely.Antichain
	for _, u := range w.staged {
		frontier.Insert(u.time)
	}
	if got := w.batcher.Frontier(); !got.Equal(frontier) {
		w.fatal("frontier of staged changes is %v, expected %v", got, frontier)
	}
}

func (w *world) seal() {
	lower := w.trace.Upper()
	upper := w.beyond(lower)
	if w.from.below(30, "end") == 29 {
		upper = nil
	}
	b, err := w.batcher.Seal(upper)
	if err != nil {
		w.fatal("%v", err)
	}
	var ready []update
	rest := w.staged[:0]
	sums := map[update]int64{}
	for _, u := range w.staged {
		if upper.LessEqual(u.time) {
			rest = append(rest, u)
			continue
		}
		ready = append(ready, u)
		sums[update{record: u.record, time: u.time}] += u.diff
	}
	w.staged = rest
	maps.DeleteFunc(sums, func(_ update, n int64) bool { return n == 0 })
	got := map[update]int64{}
	for _, u := range checkBatch(w.fatal, b) {
		got[update{record: u.record, time: u.time}] = u.diff
		if !lower.LessEqual(u.time) || upper.LessEqual(u.time) {
			w.fatal("batch from %v to %v has a change at %v", lower, upper, u.time)
		}
	}
	if !maps.Equal(sums, got) {
		w.fatal("batch has changes %v, expected %v", got, sums)
	}
	if err := w.trace.Insert(b); err != nil {
		w.fatal("%v", err)
	}
	for _, u := range ready {
		u.seq = w.trace.Seq()
		w.log = append(w.log, u)
	}
	if !w.trace.wanted() {
		w.missed = w.trace.Seq()
	}
	if !w.trace.Upper().Equal(upper) {
		w.fatal("trace ends at %v, expected %v", w.trace.Upper(), upper)
	}
}

// step does something, and checks a reader.
func (w *world) step() {
	switch w.from.below(8, "what") {
	case 0, 1:
		w.add()
	case 2, 3:
		w.seal()
	case 4:
		if _, err := w.trace.Work(1 + w.from.below(50, "fuel")); err != nil {
			w.fatal("%v", err)
		}
	case 5:
		if len(w.readers) < 3 {
			w.readers = append(w.readers, w.trace.Handle())
		} else if w.from.below(4, "drop") == 0 {
			i := w.from.below(len(w.readers), "reader")
			w.readers[i].Drop()
			w.readers = slices.Delete(w.readers, i, i+1)
		}
	case 6:
		for _, h := range w.readers {
			h.Ack(h.ack + uint64(w.from.below(4, "heard")))
		}
	case 7:
		for _, h := range w.readers {
			if w.from.below(2, "advance") == 1 {
				since := w.beyond(h.Since())
				if w.from.below(4, "behind") == 0 {
					since = w.beyond(timely.Antichain{{}, {0, 1}})
				}
				before := h.Since()
				h.Advance(since)
				if !before.Dominates(h.Since()) || !since.Dominates(h.Since()) {
					w.fatal("since %v, advanced to %v, is %v", before, since, h.Since())
				}
			}
		}
	}
	if !w.trace.wanted() {
		w.missed = w.trace.Seq()
	}
	for _, h := range w.readers {
		w.check(h)
	}
}

// check compares what h sees at a time that it may ask for with the model.
func (w *world) check(h *Handle) {
	batches := h.Batches(nil)
	for i, b := range batches {
		checkBatch(w.fatal, b)
		if b.edits == 0 {
			w.fatal("batch %d of the trace is empty", i)
		}
	}
	at := w.time(h.Since()[w.from.below(len(h.Since()), "since")])
	want := map[record]int64{}
	for _, u := range w.log {
		if u.seq <= h.ack && u.seq > w.missed && u.time.LessEqual(at) {
			want[u.record] += u.diff
		}
	}
	maps.DeleteFunc(want, func(_ record, n int64) bool { return n == 0 })
	got := map[record]int64{}
	var c Cursor
	c.Reset(batches)
	for key := range uint64(w.keys + 1) {
		edits := c.Collect(key, timely.Time{}, nil)
		values := map[uint64][]ValueEdit{}
		for _, e := range edits {
			values[e.Val] = append(values[e.Val], e)
			if e.Time.LessEqual(at) {
				got[record{key, e.Val}] += e.Diff
			}
		}
		for val := range uint64(w.keys + 10) {
			if one := c.CollectValue(key, val, timely.Time{}, nil); !slices.Equal(one, values[val]) {
				w.fatal("value %d of key %d has edits %v, expected %v", val, key, one, values[val])
			}
		}
	}
	maps.DeleteFunc(got, func(_ record, n int64) bool { return n == 0 })
	if !maps.Equal(want, got) {
		w.fatal("at %v, since %v, heard %d of %d: records are %v, expected %v", at, h.Since(), h.ack, w.trace.Seq(), got, want)
	}
}

// checkBatch checks that a batch is as it says and returns its changes.
func checkBatch(fatal func(string, ...any), b *Batch) []update {
	var out []update
	for n, block := range b.Blocks() {
		if len(block.keys) == 0 || len(block.vals) > blockMax || block.last() != b.lasts[n] {
			fatal("block %d is empty, too long or not noted", n)
		}
		if !slices.IsSortedFunc(block.Times(), timely.Time.Compare) {
			fatal("times %v are not sorted", block.Times())
		}
		for i, key := range block.Keys() {
			if i > 0 && block.keys[i-1] >= key {
				fatal("block %d: keys do not ascend", n)
			}
			lo, hi := block.Values(i)
			if lo >= hi {
				fatal("key %d has no values", key)
			}
			for j := lo; j < hi; j++ {
				u := update{record: record{key, block.Vals()[j]}}
				if k := len(out); k > 0 && (out[k-1].key > u.key || out[k-1].key == u.key && out[k-1].val >= u.val) {
					fatal("values do not ascend: %v, %v", out[k-1].record, u.record)
				}
				for k, e := range block.Edits(j) {
					if e.Diff == 0 || k > 0 && block.Edits(j)[k-1].Time >= e.Time {
						fatal("edits %v: zero, or times do not ascend", block.Edits(j))
					}
					u.time, u.diff = block.Times()[e.Time], e.Diff
					out = append(out, u)
				}
				if len(block.Edits(j)) == 0 {
					fatal("%v has no edits", u.record)
				}
			}
		}
	}
	size := batchBytes + 16*len(b.blocks)
	values := 0
	for _, block := range b.blocks {
		size += block.bytes()
		values += len(block.vals)
	}
	if size != b.bytes || values != b.values {
		fatal("batch has %d bytes and %d values and says %d and %d", size, values, b.bytes, b.values)
	}
	if len(out) != b.Len() {
		fatal("batch has %d edits and says %d", len(out), b.Len())
	}
	return out
}

func newWorld(fatal func(string, ...any), from source) *world {
	w := &world{fatal: fatal, from: from, batcher: NewBatcher(), trace: New()}
	w.dims = 1 + from.below(3, "dims")
	w.keys = []int{1, 4, 40}[from.below(3, "keys")]
	w.vals = []int{1, 4, 40}[from.below(3, "vals")]
	w.readers = append(w.readers, w.trace.Handle())
	return w
}

// small makes blocks small, so that there are many.
func small(t testing.TB) {
	target, most, spill, handover := blockTarget, blockMax, spillMin, handoverMin
	blockTarget, blockMax, spillMin, handoverMin = 4, 8, 16, 1
	t.Cleanup(func() { blockTarget, blockMax, spillMin, handoverMin = target, most, spill, handover })
}

func TestTraceIsTheModel(t *testing.T) {
	small(t)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t.Fatalf, rapidSource{t})
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			w.step()
		}
	})
}

func FuzzTrace(f *testing.F) {
	small(f)
	f.Add([]byte("\x01\x00\x02\x00\x01\x01\x01\x02\x03\x00\x01\x06\x03\x07\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 300 {
			return
		}
		from := &byteSource{data}
		w := newWorld(t.Fatalf, from)
		for len(from.bytes) > 0 {
			w.step()
		}
	})
}
