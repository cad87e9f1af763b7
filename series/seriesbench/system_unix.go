//go:build unix

package seriesbench

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what this process has used of all processors; 0 where the system does not tell.
func processorTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// settle lets the system write what it still has to of files that are gone or closed.
func settle() { unix.Sync() }
