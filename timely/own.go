package timely

import "reflect"

// Own is the worker's own value of a type, which is zero at first: for what the operators of a
// package share on a worker, where a variable of the package would be shared by all workers.
// The type should be one that the package does not export.
func Own[T any](w *Worker) *T {
	key := reflect.TypeFor[T]()
	if x, ok := w.own[key]; ok {
		return x.(*T)
	}
	if w.own == nil {
		w.own = map[reflect.Type]any{}
	}
	x := new(T)
	w.own[key] = x
	return x
}

// Fail ends the run with an error, which gets the operator's name before it. It is called from the
// code of an operator, and does not return.
func Fail(err error) { fail(err) }
