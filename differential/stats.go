package differential

import (
	"weir/differential/trace"
	"weir/timely"
)

// Stats is the size of the indices of one worker, of all its dataflows: the state that it keeps.
func Stats(w *timely.Worker) trace.Stats {
	var all trace.Stats
	seen := map[*trace.Trace]bool{}
	for _, x := range timely.Own[local](w).indices {
		if seen[x.trace] {
			continue // it was imported
		}
		seen[x.trace] = true
		s := x.trace.Stats()
		all.Batches += s.Batches
		all.Blocks += s.Blocks
		all.Edits += s.Edits
		all.Values += s.Values
		all.Bytes += s.Bytes
		all.Merges += s.Merges
	}
	return all
}
