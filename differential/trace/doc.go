// Package trace keeps arrangements: the index over everything that has ever changed in a
// keyed collection, from which the operators of package differential answer "what has this key, as of then?".
//
// A change is a key, a value, a time and a weight (key and value are words; package
// word makes them of what users have). A [Batcher] takes changes in any order and seals those whose
// times are over into a [Batch], which is sorted, columnar and never changes again. A [Trace] is the
// batches of one collection. It is log-structured: batches are merged in pairs of like size, so that there
// are never more than logarithmically many, and merging is done in small steps that are paid for by what is inserted, so
// that there is never a long one. A [Handle] is a reader's hold on a trace: it says from which times on the reader
// will still ask. Times that no reader can tell apart any more are folded into one while merging,
// where weights add up and mostly vanish; so the index over n live records stays O(n) however long its history.
//
//	var t = trace.New()
//	reader := t.Handle()
//	staged := trace.NewBatcher()
//	staged.Add(key, val, timely.Epoch(0), 1)
//	batch, err := staged.Seal(timely.Antichain{timely.Epoch(1)})
//	err = t.Insert(batch)
//	reader.Ack(t.Seq())
//	var cursor trace.Cursor
//	cursor.Reset(reader.Batches(nil))
//	edits = cursor.Collect(key, timely.Epoch(0), edits[:0])
//
// The idea of an arrangement, shared by all operators that need the same index, the log-structured trace ("spine")
// with merges that are fuelled by insertions, and compaction under the readers' frontier are those of differential
// dataflow, told in Frank McSherry's posts "Differential dataflow: arrangements" and "Data (layout) in differential
// dataflow" and in McSherry, Lattuada, Schwarzkopf, Roscoe: Shared Arrangements (VLDB 2020). Ours are: the bounded [Block]
// as unit of merging, allocation and sharing among batches, which keeps steps short and lets merges leave alone
// what does not overlap; the three forms of weights, of which settled data takes the one of no bytes at all;
// staging by time, so that sealing a time never looks at those that stay; and layers of ratio four,
// with readers that must have heard of a batch before it is merged.
package trace
