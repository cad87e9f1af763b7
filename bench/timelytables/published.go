package main

import "time"

// rust are the figures of the Rust original, timely 0.30, by the key of what was measured. They were
// taken in November 2026 on another machine of the kind that docs/results/timely.md was measured on
// (2 cores, 24 GiB), and not in turns with ours: so a ratio to them has two days and two machines in it.
var rust = map[string]float64{
	// Rounds a second. For 1,000 and 1,000,000 records they were given as 131 and 56, and about 250
	// and 160 million records a second, of all workers.
	"exchange 1×1 1":       285e3,
	"exchange 1×2 1":       69e3,
	"exchange 1×1 1000":    131e6 / 1e3,
	"exchange 1×2 1000":    56e6 / 2e3,
	"exchange 1×1 1000000": 250e6 / 1e6,
	"exchange 1×2 1000000": 160e6 / 2e6,
	"barrier 1×1":          1 / 2.1e-6,
	"barrier 1×2":          1 / 47e-6,
	"idle 1×1 100":         1 / 308e-6,
	// Edges a second.
	"union-find 1×1": 10e6 / 1.7,
	"union-find 1×2": 10e6 / 1.2,
}

// rustMemory are the megabytes of the same.
var rustMemory = map[string]float64{"union-find 1×1": 52, "union-find 1×2": 95}

// rustLatencies are those of a million events a second on one worker, by share.
var rustLatencies = map[float64]time.Duration{0.5: 9700, 0.99: 59 * time.Microsecond, 0.999: 2500 * time.Microsecond}

// rustRate is the rate of rustLatencies, and rustSize the size of union-find above.
const (
	rustRate     = 1_000_000
	rustVertices = 1_000_000
	rustEdges    = 10_000_000
)
