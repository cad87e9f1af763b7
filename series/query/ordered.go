package query

import (
	"context"
	"fmt"
	"sync/atomic"

	"weir/series/query/rows"
)

// account counts the memory of a query.
type account struct {
	limit int64
	used  atomic.Int64
}

// A MemoryError says that a query would take more memory than it may.
type MemoryError struct{ Limit int64 }

func (e *MemoryError) Error() string {
	return fmt.Sprintf("not enough memory: the query needs more than its %d bytes; ask for fewer series, a shorter range, or order by series", e.Limit)
}

// take counts n bytes more, or less.
func (a *account) take(n int) error {
	if a.used.Add(int64(n)) > a.limit {
		a.used.Add(-int64(n))
		return &MemoryError{a.limit}
	}
	return nil
}

// give counts n bytes less.
func (a *account) give(n int64) { a.used.Add(-n) }

// emitter hands batches to whoever reads them.
type emitter struct {
	ctx context.Context
	out chan *rows.Batch
}

func (e *emitter) emit(b *rows.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	select {
	case e.out <- b:
		return nil
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	}
}

// ordered runs n tasks on some goroutines, ahead of the reader by no more than their number, and emits what they emit in
// the order of tasks.
func ordered(e *emitter, n, workers int, run func(task int, e *emitter) error) error {
	if n == 1 || workers == 1 {
		for task := range n {
			if err := run(task, e); err != nil {
				return err
			}
		}
		return nil
	}
	type result struct {
		out chan *rows.Batch
		err error
	}
	ctx, cancel := context.WithCancel(e.ctx)
	queue := make(chan *result, workers-1)
	done := make(chan struct{}, workers)
	go func() {
		defer close(queue)
		for task := range n {
			r := &result{out: make(chan *rows.Batch, 2)}
			select {
			case done <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				defer func() { <-done }()
				defer close(r.out)
				r.err = run(task, &emitter{ctx, r.out})
			}()
			queue <- r // has room, or the reader will make some: it reads on to the end
		}
	}()
	var err error
	for r := range queue {
		for b := range r.out {
			if err == nil {
				if err = e.emit(b); err != nil {
					cancel()
				}
			}
		}
		if r.err != nil && err == nil {
			err = r.err
			cancel()
		}
	}
	cancel()
	if err == nil && e.ctx.Err() != nil {
		err = context.Cause(e.ctx)
	}
	return err
}
