package differential

import (
	"slices"
	"weak"

	"weir/differential/trace"
	"weir/timely"
)

// counted is the traces of a worker.
type counted struct{ traces []weak.Pointer[trace.Trace] }

// Stats is the size of the indices of one worker, of all its dataflows: the state that it keeps.
func Stats(w *timely.Worker) trace.Stats {
	own := timely.Own[counted](w)
	var all trace.Stats
	own.traces = slices.DeleteFunc(own.traces, func(p weak.Pointer[trace.Trace]) bool {
		t := p.Value()
		if t == nil {
			return true
		}
		s := t.Stats()
		all.Batches += s.Batches
		all.Blocks += s.Blocks
		all.Edits += s.Edits
		all.Values += s.Values
		all.Bytes += s.Bytes
		all.Merges += s.Merges
		return false
	})
	return all
}

// newTrace is a trace that [Stats] counts for as long as it is used.
func newTrace(s *timely.Scope) *trace.Trace {
	own, t := timely.Own[counted](s.Worker()), trace.New()
	own.traces = append(own.traces, weak.Make(t))
	return t
}
