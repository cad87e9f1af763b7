//go:build unix

package mesh

import (
	"sync"
	"syscall"
	"testing"
	"time"
)

func cpuTime(t *testing.T) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// Workers with nothing to do use no processor, in one process or in several.
func TestIdleWorkersSleep(t *testing.T) {
	alone := start(t, Config{Threads: 4})
	meshes, workers := startCluster(t, loopback(t, 2, 2))
	defer closeAll(t, append(meshes, alone))
	workers = append(workers, alone.Workers()...)
	var all sync.WaitGroup
	for _, p := range workers {
		all.Go(func() { p.Park(0) })
	}
	time.Sleep(50 * time.Millisecond)
	before := cpuTime(t)
	time.Sleep(200 * time.Millisecond)
	if used := cpuTime(t) - before; used > 20*time.Millisecond {
		t.Errorf("idle workers used %v of 200 ms", used)
	}
	for _, p := range workers {
		p.Wake()
	}
	all.Wait()
}
