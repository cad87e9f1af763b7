package main

import (
	"fmt"
	"time"
)

// The figures of the Rust original, differential 0.25, were taken in November 2026 on another machine of the kind that
// docs/results/live.md was measured on (2 cores, 24 GiB), which others used too, and not in turns with ours: so a ratio
// to them has two days and two machines in it. They are of this size.
const (
	rustVertices = 1_000_000
	rustEdges    = 10_000_000
)

// rustLoad is the seconds until the first answer, and megabytes where they are known, by question and workers.
var rustLoad = map[string]struct{ seconds, memory float64 }{
	"bfs 1":     {7.3, 421},
	"bfs 2":     {4.6, 532},
	"degrees 1": {2.4, 470},
	"degrees 2": {1.9, 0},
}

// rustLatencies are quantiles, by question, workers and batch.
var rustLatencies = map[string]map[float64]time.Duration{
	"bfs 1 1":    {0.5: 131 * time.Microsecond, 0.9: 286 * time.Microsecond, 0.99: 1110 * time.Microsecond, 1: 35 * time.Millisecond},
	"bfs 1 10":   {0.5: 650 * time.Microsecond, 0.9: 1290 * time.Microsecond, 0.99: 6200 * time.Microsecond},
	"bfs 1 1000": {0.5: 36600 * time.Microsecond, 0.9: 64 * time.Millisecond, 1: 274 * time.Millisecond},
	"bfs 2 1":    {0.5: 116 * time.Microsecond, 0.99: 1160 * time.Microsecond},
	"bfs 2 1000": {0.5: 30 * time.Millisecond},
}

// rustRates are changes a second, by question, workers and batch. A round of 1 was given as 17.8 µs. Of the others it was not
// said whether an edge that is taken away and one that is added are one update or two: we count one, which
// is to our disadvantage if they are two.
var rustRates = map[string]float64{
	"degrees 1 1":      1 / 17.8e-6,
	"degrees 1 1000":   0.51e6,
	"degrees 1 100000": 1.42e6,
	"degrees 2 100000": 1.84e6,
}

// loadKey names a row of rustLoad, and batchKey one of the others.
func (t task) loadKey() string { return fmt.Sprintf("%s %d", t.Question, t.Workers) }

func (t task) batchKey(batch int) string {
	return fmt.Sprintf("%s %d %d", t.Question, t.Workers, batch)
}

// comparable says that the figures are of a graph like this.
func (t task) comparable() bool { return t.Vertices == rustVertices && t.Edges == rustEdges }
