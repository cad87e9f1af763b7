//go:build !unix

package timely

import (
	"testing"
	"time"
)

// cpuTime is the time on the clock where the processor's is not known.
func cpuTime(testing.TB) time.Duration { return time.Since(started) }

var started = time.Now()
