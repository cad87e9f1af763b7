package graph

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// memory is the budget in bytes: what the options say, else half of the machine's.
func (o Options) memory() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return machineMemory() / 2
}

// leastPerVertex is what any work on a graph takes for each vertex, in bytes: where
// its row begins, and a number for the answer.
const leastPerVertex = 12

// fits refuses a graph whose vertices alone are more than the machine can hold,
// for which one large id, or a header that promises too much, is enough.
func (o origin) fits() error {
	if need, have := int64(o.vertices)*leastPerVertex, machineMemory(); need > have {
		return fmt.Errorf("read graph %s: it has %d vertices, which need %d GiB at least; this machine has %d GiB",
			o.source, o.vertices, need>>30, have>>30)
	}
	return nil
}

// fallbackMemory is assumed where the machine does not say.
const fallbackMemory = 4 << 30

// machineMemory is the memory of the machine, in bytes.
func machineMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return fallbackMemory
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			if kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil {
				return kib << 10
			}
		}
	}
	return fallbackMemory
}
