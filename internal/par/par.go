// Package par runs loops on several goroutines.
//
// Work is cut in pieces that the goroutines take from a shared counter, so
// that uneven pieces balance. A panic in a piece is re-raised on the caller's
// goroutine, where the package boundary can turn it into an error.
package par

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Threads is the number of goroutines to use when the user asked for n: n
// itself, or all processors if n is not positive.
func Threads(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Each calls f(worker) once for each worker in [0, threads), at the same time.
func Each(threads int, f func(worker int)) {
	if threads == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	var failed atomic.Pointer[any]
	for w := range threads {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					failed.CompareAndSwap(nil, &r)
				}
			}()
			f(w)
		})
	}
	wg.Wait()
	if r := failed.Load(); r != nil {
		panic(*r)
	}
}

// Range calls f(worker, lo, hi) for pieces that cover [0, n), each of at most
// grain elements, until all are done or ctx is. It returns ctx's error.
func Range(ctx context.Context, threads, n, grain int, f func(worker, lo, hi int)) error {
	grain = max(grain, 1)
	pieces := (n + grain - 1) / grain
	var next atomic.Int64
	Each(min(threads, max(pieces, 1)), func(worker int) {
		for {
			piece := int(next.Add(1)) - 1
			if piece >= pieces || ctx.Err() != nil {
				return
			}
			f(worker, piece*grain, min((piece+1)*grain, n))
		}
	})
	return ctx.Err()
}
