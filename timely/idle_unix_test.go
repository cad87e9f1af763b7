//go:build unix

package timely

import (
	"syscall"
	"testing"
	"time"
)

func cpuTime(t testing.TB) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// TestIdleWorkersSleep has workers wait for records that come after a while.
func TestIdleWorkersSleep(t *testing.T) {
	const idle = 300 * time.Millisecond
	for _, threads := range []int{1, 2, 8} {
		err := Run(Threads(threads), func(w *Worker) error {
			c := newCounted(w, "idle")
			if err := c.round(w, 100); err != nil {
				return err
			}
			if w.Index() > 0 {
				return c.round(w, 1) // when the first is there too
			}
			before := cpuTime(t)
			for end := time.Now().Add(idle); time.Now().Before(end); {
				if err := w.StepOrPark(max(time.Until(end), 1)); err != nil {
					return err
				}
			}
			if used := cpuTime(t) - before; used > 20*time.Millisecond {
				t.Errorf("%d idle workers used %v of %v", threads, used, idle)
			}
			return c.round(w, 1)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
