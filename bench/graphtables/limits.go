package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/report"
	"weir/internal/table"
)

// edgeBytes are those of an edge in vertex or Hilbert order.
const edgeBytes = 4

// gathers is the number of random reads of a run. Their indices come from memory
// one after the other, as the edges of a graph do.
func (b *bench) gathers() int { return b.opt.limitBytes / 16 }

const (
	streamName = "sequential reads"
	gatherName = "gathers"
)

// readAll adds up x, in sums that do not wait for one another.
func readAll(x []uint64) uint64 {
	var a, b, c, d uint64
	for len(x) >= 8 {
		y := (*[8]uint64)(x)
		a += y[0] + y[4]
		b += y[1] + y[5]
		c += y[2] + y[6]
		d += y[3] + y[7]
		x = x[8:]
	}
	return a + b + c + d
}

// gather adds up x at the given indices, as PageRank over transposed rows does.
func gather(x []float32, indices []uint32) float32 {
	var a, b, c, d float32
	for len(indices) >= 4 {
		i := (*[4]uint32)(indices)
		a += x[i[0]]
		b += x[i[1]]
		c += x[i[2]]
		d += x[i[3]]
		indices = indices[4:]
	}
	return a + b + c + d
}

// shares runs f over equal shares of n elements on so many threads.
func shares(threads, n int, f func(lo, hi int) float64) answer {
	sums := make([]float64, threads)
	par.Each(threads, func(w int) { sums[w] = f(w*n/threads, (w+1)*n/threads) })
	return func() float64 { return sums[0] }
}

// streamJob measures reading memory from end to end.
func (b *bench) streamJob() *job {
	var data []uint64
	j := &job{name: streamName, tolerance: -1, prepare: func(context.Context) (func(), error) {
		data = huge.Make[uint64](b.opt.limitBytes / 8)
		for i := range data {
			data[i] = 1 // pages that were never written are all the same one
		}
		return func() { data = nil }, nil
	}}
	for _, threads := range b.threadCounts() {
		j.variants = append(j.variants, variant{name: streamName, cores: threads, run: func(context.Context) (answer, error) {
			return shares(threads, len(data), func(lo, hi int) float64 { return float64(readAll(data[lo:hi])) }), nil
		}})
	}
	return j
}

// gatherJob measures random reads of an array of n ranks.
func (b *bench) gatherJob(g *subject, n int) *job {
	var data []float32
	var indices []uint32
	j := &job{name: gatherName, subject: g, tolerance: -1, prepare: func(ctx context.Context) (func(), error) {
		data, indices = huge.Make[float32](n), huge.Make[uint32](b.gathers())
		for i := range data {
			data[i] = 1
		}
		const piece = 1 << 16
		err := par.Range(ctx, 0, len(indices), piece, func(_, lo, hi int) {
			random := rand.NewPCG(seed, uint64(lo))
			for i := range indices[lo:hi] {
				indices[lo+i] = uint32(uint64(uint32(random.Uint64())) * uint64(n) >> 32)
			}
		})
		return func() { data, indices = nil, nil }, err
	}}
	for _, threads := range b.threadCounts() {
		j.variants = append(j.variants, variant{name: gatherName, cores: threads, run: func(context.Context) (answer, error) {
			return shares(threads, len(indices), func(lo, hi int) float64 { return float64(gather(data, indices[lo:hi])) }), nil
		}})
	}
	return j
}

func (b *bench) limits() *section {
	s := &section{Section: report.Section{
		Title: "The machine's limits",
		Text: "An iteration of PageRank reads 4 bytes an edge one after the other, and for each edge one rank from anywhere (a gather). So an order that does nothing for locality " +
			"passes over no more edges a second than memory delivers, nor than it gathers from an array as large as the ranks are; an order that keeps both ends of an edge in cache, " +
			"no more than it gathers from the side of a square, 65,536 ranks. Here, unlike above, the least of the times of several runs counts: a limit is what can be reached.",
	}, jobs: []*job{b.streamJob(), b.gatherJob(nil, order.SquareSide)}}
	for _, g := range b.subjects {
		s.jobs = append(s.jobs, b.gatherJob(g, g.graph.Vertices))
	}
	s.finish = b.finishLimits
	return s
}

func (b *bench) finishLimits(s *section) error {
	counts := b.threadCounts()
	columns := []table.Column{table.Left("measure"), table.Right("unit")}
	for _, threads := range counts {
		columns = append(columns, table.Right(cores(threads)))
	}
	rates := table.New(columns...)
	row := func(name, unit string, j *job, amount float64) {
		cells := []any{name, unit}
		for i := range counts {
			cells = append(cells, amount/j.timings[i].least())
		}
		rates.Row(cells...)
	}
	stream, cached := s.jobs[0], s.jobs[1]
	streamBytes, gatherCount := float64(b.opt.limitBytes), float64(b.gathers())
	row(streamName, "GB/s", stream, streamBytes/1e9)
	row("the same, as edges of 4 bytes", "M edges/s", stream, streamBytes/edgeBytes/1e6)
	row(fmt.Sprintf("gathers from %s ranks (the side of a square)", table.Thousands(fmt.Sprint(order.SquareSide))), "M/s", cached, gatherCount/1e6)

	reach := table.New(table.Left("graph"), table.Right("cores"), table.Left("fastest order"), table.Right("M edges/s"),
		table.Right("limit without locality"), table.Right("reached, %").Decimals(0), table.Right("limit in cache"), table.Right("reached, %").Decimals(0))
	var past tally
	for _, j := range s.jobs[2:] {
		row(fmt.Sprintf("gathers from %s ranks (%s)", table.Thousands(fmt.Sprint(j.subject.graph.Vertices)), j.subject.name), "M/s", j, gatherCount/1e6)
		for i, threads := range counts {
			memory := streamBytes / edgeBytes / 1e6 / stream.timings[i].least()
			loose := min(memory, gatherCount/1e6/j.timings[i].least())
			tight := min(memory, gatherCount/1e6/cached.timings[i].least())
			name, best := b.fastestOrder(j.subject, threads)
			reach.Row(j.subject.name, threads, name, best, loose, 100*best/loose, tight, 100*best/tight)
			if threads == 1 {
				past.add(j.subject.name, best/loose)
			}
		}
	}
	s.Tables = []report.Table{
		{Title: "What memory delivers", Rows: rates},
		{Title: "How far PageRank is from it", Rows: reach, Notes: []string{
			"That an order takes PageRank past what one core could reach without locality: " + past.verdict(),
		}},
	}
	return nil
}

// fastestOrder is the order in which PageRank passes over most edges a second on
// so many cores, in millions.
func (b *bench) fastestOrder(g *subject, threads int) (name string, best float64) {
	j := b.jobOf("PageRank", g)
	for i, v := range j.variants {
		if v.cores != threads {
			continue
		}
		if r := float64(g.graph.Edges) * iterations / j.timings[i].least() / 1e6; r > best {
			name, best = v.name, r
		}
	}
	return name, best
}
