package graph

import (
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
