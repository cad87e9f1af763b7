package seriesbench

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"
)

// resident is the memory of this process that holds no files, in bytes, as the system or else the runtime tells.
func resident() int64 {
	if n := field("/proc/self/status", "RssAnon:"); n > 0 {
		return n << 10
	}
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() - sample[1].Value.Uint64())
}

// field is the number behind a name in a file of the system, 0 if it is not there.
func field(path, name string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name); found {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64) // 0 if it is none
			return n
		}
	}
	return 0
}

// memory watches how much memory the process has beyond what it had.
type memory struct {
	before int64
	most   int64
	stop   chan struct{}
	wg     sync.WaitGroup
}

// watchMemory begins to look. What was free is given back to the system first.
func watchMemory() *memory {
	debug.FreeOSMemory()
	m := &memory{before: resident(), stop: make(chan struct{})}
	m.wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			m.most = max(m.most, resident())
			select {
			case <-tick.C:
			case <-m.stop:
				return
			}
		}
	})
	return m
}

// end stops looking, and returns how much more memory there was, at most.
func (m *memory) end() int64 {
	close(m.stop)
	m.wg.Wait()
	return max(m.most, resident()) - m.before
}
