package main

import (
	"math"
	"time"

	"weir/internal/table"
	"weir/series/seriesbench"
)

// theirs says of what the figures of other stores are.
const theirs = "Figures of other stores (VictoriaMetrics 1.150, Prometheus 3.16, Akumuli 0.8.80, DuckDB, ClickHouse) were measured with the same mix of series on the same kind of machine, on another day, while others used it too."

// peerIngest is points written a second through loopback.
func peerIngest() *table.Table {
	t := table.New(table.Left("store"), table.Left("by"), table.Right("series"), table.Right("M points/s").Decimals(2), table.Right("M/s a core").Decimals(2), table.Right("resident, MB"))
	t.Row("VictoriaMetrics", "remote write", 1000, 1.27, 0.85, 205)
	t.Row("VictoriaMetrics", "remote write", 100_000, 0.73, 0.48, 324)
	t.Row("Prometheus", "remote write", 1000, 0.41, 0.28, 77)
	t.Row("Prometheus", "remote write", 100_000, 0.37, 0.23, 585)
	t.Row("Akumuli, log", "RESP, numbers for names, rows of ten", 1000, 2.20, 2.11, nil)
	t.Row("Akumuli, no log", "RESP, numbers for names, rows of ten", 1000, 2.44, 2.33, nil)
	t.Row("Akumuli, log", "RESP, numbers for names, rows of ten", 100_000, 1.78, 1.66, nil)
	t.Row("Akumuli, no log", "RESP, numbers for names", 100_000, 2.07, 2.02, nil)
	return t
}

// peerSizes is bytes a point, and how many there must be in the mean if all bits are to come back: those of the choices
// that the generator makes for each point, of which all are as likely.
func peerSizes() *table.Table {
	t := table.New(table.Left("kind"), table.Right("least without loss, ±5 ms").Decimals(2), table.Right("exact times").Decimals(3),
		table.Right("VictoriaMetrics, ±5 ms").Decimals(2), table.Right("exact times").Decimals(3), table.Right("Prometheus, ±5 ms").Decimals(2))
	for _, r := range []struct {
		kind    string
		choices float64 // 0 if they cannot be counted
		theirs  []any
	}{
		{"walk", 101, []any{1.52, 0.88, 8.62}}, {"counter", 1000, []any{1.42, 0.77, 4.12}}, {"constant", 1, []any{0.66, 0.015, 2.22}},
		{"integers", 21, []any{1.56, 0.91, 3.39}}, {"sine", 0, []any{6.77, 6.13, 8.69}}, {"mixed", 0, []any{2.38, nil, 5.41}},
	} {
		row := []any{r.kind, nil, nil}
		if r.choices > 0 {
			exact := math.Log2(r.choices) / 8
			row[1], row[2] = exact+math.Log2(float64(offsets))/8, exact
		}
		t.Row(append(row, r.theirs...)...)
	}
	return t
}

// offsets is how many times a point may have, in milliseconds.
const offsets = 2*int(seriesbench.Jitter/time.Millisecond) + 1

// peerReads is milliseconds until an answer, from servers that ran.
func peerReads() *table.Table {
	t := table.New(table.Left("store"), table.Left("question"), table.Right("1,000 × 20,000, ms"), table.Right("100,000 × 200, ms"))
	t.Row("VictoriaMetrics", "one maximum over all series", 183, 1121)
	t.Row("Prometheus", "one maximum over all series", 1873, 1756)
	t.Row("DuckDB", "one maximum over all series", 98, 133)
	t.Row("ClickHouse", "one maximum over all series", 245, 344)
	t.Row("Akumuli", "the maximum of each series", 135, nil)
	t.Row("Akumuli", "2 M points as text (0.6 M/s)", 3400, nil)
	return t
}
