package differential

import (
	"weir/timely"
)

// Input is where a program changes a collection. Each worker has its own; all of them change
// the same collection.
type Input[D comparable] struct {
	in *timely.Input[Update[D]]
}

// NewInput makes an input, in epoch 0, and its collection, which is empty.
func NewInput[D comparable](s *timely.Scope) (*Input[D], Collection[D]) {
	in := timely.NewInput[Update[D]](s)
	return &Input[D]{in}, Collection[D]{updates: in.Stream()}
}

// Insert adds records, in the present epoch.
func (in *Input[D]) Insert(records ...D) {
	for _, x := range records {
		in.Update(x, 1)
	}
}

// Remove takes records away, in the present epoch. What is taken away that is not there is
// there less than no time from then on, until it is inserted: see the package comment.
func (in *Input[D]) Remove(records ...D) {
	for _, x := range records {
		in.Update(x, -1)
	}
}

// Update adds weight to how often a record is in the collection, in the present epoch.
func (in *Input[D]) Update(record D, weight int64) {
	in.in.Send(Update[D]{record, timely.Epoch(in.in.Epoch()), weight})
}

// UpdateAt is as [Input.Update], from an epoch on that is not before the present one.
func (in *Input[D]) UpdateAt(epoch uint64, record D, weight int64) {
	if epoch < in.in.Epoch() {
		panic(&timely.MisuseError{Problem: "an update is for an epoch that is over"})
	}
	in.in.Send(Update[D]{record, timely.Epoch(epoch), weight})
}

// Epoch is the present epoch.
func (in *Input[D]) Epoch() uint64 { return in.in.Epoch() }

// AdvanceTo ends the epochs before the given one: they are changed no more.
func (in *Input[D]) AdvanceTo(epoch uint64) { in.in.AdvanceTo(epoch) }

// Close ends the input: the collection is changed no more.
func (in *Input[D]) Close() { in.in.Close() }
