package par

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRangeCoversOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1000).Draw(t, "n")
		grain := rapid.IntRange(-1, 100).Draw(t, "grain")
		threads := rapid.IntRange(1, 8).Draw(t, "threads")
		seen := make([]atomic.Int32, n)
		err := Range(t.Context(), threads, n, grain, func(worker, lo, hi int) {
			if worker < 0 || worker >= threads || lo >= hi {
				t.Errorf("worker %d of %d got [%d, %d)", worker, threads, lo, hi)
			}
			for i := lo; i < hi; i++ {
				seen[i].Add(1)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range seen {
			if seen[i].Load() != 1 {
				t.Fatalf("element %d was visited %d times", i, seen[i].Load())
			}
		}
	})
}

func TestRangeStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int32
	err := Range(ctx, 2, 1000, 1, func(int, int, int) {
		calls.Add(1)
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	if calls.Load() > 2 {
		t.Errorf("%d pieces ran after cancellation", calls.Load())
	}
}

func TestEachWorkerOnce(t *testing.T) {
	for threads := range 4 {
		var calls atomic.Int64
		Each(threads, func(worker int) { calls.Add(1 << (8 * worker)) })
		if want := int64(0x010101) & (1<<(8*threads) - 1); calls.Load() != want {
			t.Errorf("%d threads: calls %x, expected %x", threads, calls.Load(), want)
		}
	}
}

func TestPanicReachesCaller(t *testing.T) {
	for _, threads := range []int{1, 4} {
		func() {
			defer func() {
				if r := recover(); r != "torn" {
					t.Errorf("with %d threads recovered %v, want torn", threads, r)
				}
			}()
			Each(threads, func(worker int) {
				if worker == threads-1 {
					panic("torn")
				}
			})
		}()
	}
}
