package differential

import (
	"fmt"
	"iter"
	"slices"

	"weir/differential/trace"
	"weir/differential/word"
	"weir/timely"
)

// Shared is this worker's share of an index, for use from outside of the dataflow that keeps it:
// by other dataflows on the same worker, which [Shared.Import] it and need not build it again, and by the program,
// which may look into it between steps. It must be used on its worker only.
//
// It keeps all that is needed to answer for the epochs from that of [Shared.AdvanceTo] on, at first all of them: a
// program that never advances it makes the index grow.
type Shared[K, V comparable] struct {
	index   *index
	read    *reader
	upper   timely.Antichain // of what was told: earlier times do not change any more
	since   uint64
	closed  bool
	imports []*importing
	release func()

	keys   *word.Codec[K]
	values *word.Codec[V]
	cursor trace.Cursor
	edits  []trace.ValueEdit
}

// Share makes the index of the collection one that is used from outside. It is not for collections of loops.
func (k Keyed[K, V]) Share() *Shared[K, V] {
	if depth := k.scope.Depth(); depth != 1 {
		panic(&timely.MisuseError{Problem: fmt.Sprintf("a collection of a loop, of depth %d, is shared: leave the loop first", depth)})
	}
	op := timely.NewOperator(k.scope, "share")
	s := &Shared[K, V]{index: k.arranged(), upper: timely.Antichain{{}}, keys: codec[K](k.scope), values: codec[V](k.scope)}
	s.read = s.index.read(op)
	op.Watch()
	s.release = s.index.hold()
	op.Build(func() {
		for _, batch, ok := s.read.next(); ok; _, batch, ok = s.read.next() {
			for _, to := range s.imports {
				if s.read.told > to.seq {
					to.queue = append(to.queue, news{[]*trace.Batch{batch}, s.read.told})
				}
			}
			s.upper = slices.Clone(batch.Upper())
		}
		if f := s.read.in.Frontier(); s.upper.Dominates(f) {
			s.upper = slices.Clone(f)
		}
		for _, to := range s.imports {
			to.upper = s.upper
			to.op.Activate()
		}
	})
	op.AtEnd(func() {
		s.upper = nil
		for _, to := range s.imports {
			to.upper = nil
			to.op.Activate()
		}
	})
	return s
}

// Complete says that the epoch, and so those before it, does not change any more at this worker.
func (s *Shared[K, V]) Complete(epoch uint64) bool { return !s.upper.LessEqual(timely.Epoch(epoch)) }

// AdvanceTo gives up the epochs before the given one.
func (s *Shared[K, V]) AdvanceTo(epoch uint64) {
	if epoch > s.since && !s.closed {
		s.since = epoch
		s.read.handle.Advance(timely.Antichain{timely.Epoch(epoch)})
	}
}

// Close gives up all epochs. What was imported goes on.
func (s *Shared[K, V]) Close() {
	if !s.closed {
		s.closed = true
		s.read.handle.Drop()
		s.release()
	}
}

// check says whether it can answer for an epoch.
func (s *Shared[K, V]) check(epoch uint64) error {
	switch {
	case s.closed:
		return fmt.Errorf("read a shared index at epoch %d: it was closed", epoch)
	case epoch < s.since:
		return fmt.Errorf("read a shared index at epoch %d: it was advanced to epoch %d", epoch, s.since)
	case !s.Complete(epoch):
		return fmt.Errorf("read a shared index at epoch %d: the epoch may still change, step the worker until it is complete", epoch)
	}
	return nil
}

// Lookup appends to dst the values of a key in an epoch that is complete, in no order. Keys are at the worker of their
// hash: at the others, Lookup finds nothing.
func (s *Shared[K, V]) Lookup(epoch uint64, key K, dst []Weighted[V]) ([]Weighted[V], error) {
	if err := s.check(epoch); err != nil {
		return dst, err
	}
	s.cursor.Reset(s.read.batches())
	return s.collect(timely.Epoch(epoch), s.keys.Word(key), dst), nil
}

// collect appends the values of a key.
func (s *Shared[K, V]) collect(at timely.Time, key uint64, dst []Weighted[V]) []Weighted[V] {
	s.edits = s.cursor.Collect(key, at, s.edits[:0])
	sortEdits(s.edits)
	for i := 0; i < len(s.edits); {
		val, weight := s.edits[i].Val, int64(0)
		for ; i < len(s.edits) && s.edits[i].Val == val; i++ {
			if s.edits[i].Time == at { // or it is later
				weight = added(weight, s.edits[i].Diff)
			}
		}
		if weight != 0 {
			dst = append(dst, Weighted[V]{s.values.Value(val), weight})
		}
	}
	return dst
}

// Snapshot is this worker's share of the collection in an epoch that is complete: pairs with their weights, by key. The worker must
// not step before the end of the iteration.
func (s *Shared[K, V]) Snapshot(epoch uint64) (iter.Seq2[Pair[K, V], int64], error) {
	if err := s.check(epoch); err != nil {
		return nil, err
	}
	return func(yield func(Pair[K, V], int64) bool) {
		batches := s.read.batches()
		s.cursor.Reset(batches)
		fronts := frontsOf(nil, batches, false)
		var values []Weighted[V]
		for u, ok := first(fronts); ok; u, ok = first(fronts) {
			key := s.keys.Value(u.key)
			values = s.collect(timely.Epoch(epoch), u.key, values[:0])
			for _, v := range values {
				if !yield(Pair[K, V]{key, v.Value}, v.Weight) {
					return
				}
			}
			for i := range fronts {
				fronts[i].take(u, func(timely.Time) {})
			}
		}
	}, nil
}

// importing is where another dataflow hears of an index.
type importing struct {
	op    *timely.Operator
	queue []news
	seq   uint64 // of the last batch that was there when it began
	upper timely.Antichain
}

// Import is the collection in another dataflow of the same worker, that is being built: as it is now, and all that changes from
// now on. What changed before the epoch of [Shared.AdvanceTo] is told of too, partly added up and at earlier epochs: only the
// sums up to that epoch, or a later one, mean something. The index is the same one.
func (s *Shared[K, V]) Import(scope *timely.Scope) Keyed[K, V] {
	if s.closed || scope.Depth() != 1 || scope.Worker() != s.index.scope().Worker() {
		panic(&timely.MisuseError{Problem: "a shared index is imported that was closed, or into a loop, or on another worker than its own"})
	}
	op := timely.NewOperator(scope, "import")
	out, batches := op.Output[news]()
	hold := op.InitialCapability()
	to := &importing{op: op, upper: s.upper, seq: s.index.trace.Seq()}
	// What there is is told of at once. The readers in the other dataflow, which are made
	// before anything is added, know of as much.
	now := s.index.trace.Handle()
	if list := now.Batches(nil); len(list) > 0 {
		to.queue = append(to.queue, news{list, to.seq})
	}
	now.Drop()
	s.imports = append(s.imports, to)
	x := newIndex(batches, s.index.keys, s.index.values)
	x.trace = s.index.trace
	newUpkeep(op, x)
	done := false
	op.Build(func() {
		if done {
			return
		}
		for _, n := range to.queue {
			x.tell(out, hold.Time(), n)
		}
		clear(to.queue)
		to.queue = to.queue[:0]
		if len(to.upper) == 0 {
			done = true
			hold.Drop()
		} else if t := to.upper[0]; t != hold.Time() {
			hold.Downgrade(t)
		}
	})
	op.AtEnd(func() {
		done = true
		s.imports = slices.DeleteFunc(s.imports, func(x *importing) bool { return x == to })
	})
	return fromIndex[K, V](x)
}
