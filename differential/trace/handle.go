package trace

import (
	"slices"

	"weir/timely"
)

// Handle is a reader's hold on a trace. Without any, a trace keeps nothing.
type Handle struct {
	trace *Trace
	since timely.Antichain
	ack   uint64
}

// Handle returns a new reader, that has heard of all batches so far, and may ask at all times that
// the readers before it may still ask at. The first reader, and the first after all others were
// dropped or ask no more, sees what is inserted from then on, at all times.
func (t *Trace) Handle() *Handle {
	h := &Handle{trace: t, since: slices.Clone(t.since), ack: t.seq}
	if len(t.handles) == 0 || len(h.since) == 0 {
		h.since = timely.Antichain{{}}
	}
	t.handles = append(t.handles, h)
	t.settle()
	return h
}

// Since is the frontier at or after which the reader may ask. It belongs to the handle.
func (h *Handle) Since() timely.Antichain { return h.since }

// Advance promises that the reader will ask only at times at or after since. A since that is not beyond the last is
// joined with it. The empty since says that the reader will not ask any more.
func (h *Handle) Advance(since timely.Antichain) {
	if since.Equal(h.since) {
		return
	}
	if !h.since.Dominates(since) {
		var joined timely.Antichain
		for _, a := range h.since {
			for _, b := range since {
				joined.Insert(a.Join(b))
			}
		}
		since = joined
	}
	h.since = slices.Clone(since)
	h.trace.settle()
}

// Ack says that the reader has heard of all batches up to number seq (see [Trace.Seq]): they may be merged.
func (h *Handle) Ack(seq uint64) {
	if seq = min(seq, h.trace.seq); seq > h.ack {
		h.ack = seq
		h.trace.hear()
	}
}

// Batches appends to dst the batches up to the reader's Ack, oldest first, without empty ones. Of two that are being
// merged there may be three: what is merged, and what is left of each. They do not change, whatever is merged later.
func (h *Handle) Batches(dst []*Batch) []*Batch {
	t := h.trace
	for i := range t.layers {
		for _, b := range t.layers[i].batches() {
			if b != nil && b.edits > 0 {
				dst = append(dst, b)
			}
		}
	}
	first := t.seq - uint64(len(t.recent))
	if h.ack > first {
		dst = append(dst, t.recent[:h.ack-first]...)
	}
	return dst
}

// Drop ends the hold. The handle must not be used afterwards, but may be dropped again.
func (h *Handle) Drop() {
	t := h.trace
	if i := slices.Index(t.handles, h); i >= 0 {
		t.handles = slices.Delete(t.handles, i, i+1)
		t.settle()
	}
}
