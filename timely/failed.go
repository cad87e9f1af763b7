package timely

import "fmt"

// Failed is a record that a function of the user's returned an error for.
type Failed[D any] struct {
	Record D
	// Err is what the error said: it may travel between processes, as an error could not.
	Err string
}

// Error makes a failed record an error.
func (f Failed[D]) Error() string { return fmt.Sprintf("%v: %s", f.Record, f.Err) }

// MapErr applies f to every record. The results are one stream, and the records for
// which it returned an error are the other: errors are data, which can be counted,
// written down or made part of the answer, and end nothing.
//
// (It is no method since a Stream[D] with a method that makes a Stream[Failed[D]]
// would be a type without end.)
func MapErr[D, E any](s Stream[D], f func(D) (E, error)) (ok Stream[E], failed Stream[Failed[D]]) {
	op := NewOperator(s.scope, "map")
	in := op.Input(s, Pipeline[D]())
	good, ok := op.Output[E]()
	bad, failed := op.Output[Failed[D]]()
	op.Build(func() {
		for t, data, more := in.Next(); more; t, data, more = in.Next() {
			buf := good.Buffer(t)
			for _, x := range data {
				y, err := f(x)
				if err != nil {
					bad.Send(t, Failed[D]{x, err.Error()})
					continue
				}
				if buf = append(buf, y); len(buf) >= BatchLen {
					buf = good.Flush(buf)
				}
			}
			good.Put(buf)
		}
	})
	return ok, failed
}

// Must is the results of a stream that should have no failed records: the first ends
// the run with its error.
func Must[D, E any](ok Stream[E], failed Stream[Failed[D]]) Stream[E] {
	failed.inspect("must", func(t Time, f Failed[D]) { fail(fmt.Errorf("at %v: %w", t, f)) })
	return ok
}

// runError is a panic that carries an error which needs no stack: it is not a bug of the
// program's.
type runError struct{ error }

func (e *runError) Unwrap() error { return e.error }

// fail ends the run with err, and the operator's name before it.
func fail(err error) { panic(&runError{err}) }
