package timely

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// Results gathers the records of a stream on all workers of a process, to be looked
// at outside of the dataflow. The zero Results is empty. It is safe for use by several
// goroutines; what workers of other processes collect is there, not here.
//
//	var sums timely.Results[int]
//	err := timely.Run(timely.Threads(2), func(w *timely.Worker) error { … stream.Collect(&sums) … })
//	for t, sum := range sums.All() { … }
type Results[D any] struct {
	mu   sync.Mutex
	data map[Time][]D
}

// Collect adds all records to r, and returns the stream.
func (s Stream[D]) Collect(r *Results[D]) Stream[D] { return s.inspectBatch("collect", r.add) }

func (r *Results[D]) add(t Time, data []D) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.data == nil {
		r.data = map[Time][]D{}
	}
	r.data[t] = append(r.data[t], data...)
}

// All is the records so far, in lexicographic order of their times. Those of one time are in the order in
// which they came, which depends on the workers.
func (r *Results[D]) All() iter.Seq2[Time, D] {
	return func(yield func(Time, D) bool) {
		for _, t := range r.Times() {
			for _, x := range r.At(t) {
				if !yield(t, x) {
					return
				}
			}
		}
	}
}

// At is a copy of the records of a time so far.
func (r *Results[D]) At(t Time) []D {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.data[t])
}

// Times is the times of which there are records, in lexicographic order.
func (r *Results[D]) Times() []Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(maps.Keys(r.data), Time.Compare)
}

// Len is the number of records so far.
func (r *Results[D]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, data := range r.data {
		n += len(data)
	}
	return n
}
