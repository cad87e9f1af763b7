package main

import (
	"math"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
)

// peakMemory is the most memory that this process has had, in bytes; 0 where the system does not tell.
func peakMemory() uint64 { return status("VmHWM:") }

// residentMemory is what it has now, as far as the system or else the runtime tells.
func residentMemory() uint64 {
	if n := status("VmRSS:"); n > 0 {
		return n
	}
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() - sample[1].Value.Uint64()
}

// liveHeap is what the last collection of garbage found to be in use, in bytes.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func status(name string) uint64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name); found {
			kib, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64) // 0 if it is none
			return kib << 10
		}
	}
	return 0
}

// pause is how often garbage collection stopped everything for a time of a class, which ends at so many seconds.
type pause struct {
	Seconds float64
	Count   uint64
}

// pauses are those since the process began.
type pauses []pause

func readPauses() pauses {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	h := sample[0].Value.Float64Histogram()
	list := make(pauses, len(h.Counts))
	for i, n := range h.Counts {
		end := h.Buckets[i+1]
		if math.IsInf(end, 1) {
			end = h.Buckets[i]
		}
		list[i] = pause{end, n}
	}
	return list
}

// since are the classes in which there is more than there was.
func (p pauses) since(before pauses) []pause {
	var list []pause
	for i, x := range p {
		if n := x.Count - before[i].Count; n > 0 {
			list = append(list, pause{x.Seconds, n})
		}
	}
	return list
}
