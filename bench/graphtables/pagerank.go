package main

import (
	"context"
	"fmt"

	"weir/graph/algo"
	"weir/graph/ladder"
	"weir/graph/order"
	"weir/internal/report"
	"weir/internal/table"
)

// iterations are those of the published table.
const iterations = ladder.PublishedIterations

// Names of the ways to walk the edges.
const (
	vertexOrder     = "vertex order"
	transposedOrder = "transposed vertex order"
	hilbertOrder    = "Hilbert order"
	compressedOrder = "compressed Hilbert order"
	doublePrecision = "Hilbert order, float64"
)

// rank is a variant of PageRank.
func rank[T algo.Float](s *subject, name string, m order.EdgeMap, threads int) variant {
	return variant{name: name, cores: threads, run: func(ctx context.Context) (answer, error) {
		r, err := algo.PageRank[T](ctx, m, algo.PageRankOptions{Iterations: iterations, Threads: threads, OutDegrees: s.degrees})
		return func() float64 {
			sum := 0.0
			for v, x := range r.Ranks {
				sum += float64(x) * float64(1+v%17) // so that it matters who has which rank
			}
			return sum
		}, err
	}}
}

func (b *bench) pageRank() *section {
	s := &section{Section: report.Section{
		Title: "Twenty PageRank iterations",
		Text: fmt.Sprintf("Edges times %d, divided by seconds. A run starts with the order mapped into memory and the out-degrees, which the file holds, "+
			"and ends with the ranks; ranks are float32 unless said otherwise. The published rows are from *Scalability! But at what COST?* "+
			"(McSherry, Isard and Murray, HotOS 2015), measured on other graphs and other machines.", iterations),
	}}
	for _, g := range b.subjects {
		j := &job{name: "PageRank", subject: g, tolerance: 1e-3, variants: []variant{
			rank[float32](g, vertexOrder, g.out, 1),
			rank[float32](g, transposedOrder, g.in, 1),
			rank[float32](g, hilbertOrder, g.hilbert, 1),
			rank[float32](g, compressedOrder, g.compressed, 1),
			rank[float64](g, doublePrecision, g.hilbert, 1),
		}}
		if b.cores > 1 {
			j.variants = append(j.variants,
				rank[float32](g, vertexOrder, g.out, b.cores),
				rank[float32](g, transposedOrder, g.in, b.cores),
				rank[float32](g, hilbertOrder, g.hilbert, b.cores),
				rank[float32](g, compressedOrder, g.compressed, b.cores))
		}
		s.jobs = append(s.jobs, j)
	}
	s.finish = b.finishPageRank
	return s
}

func (b *bench) finishPageRank(s *section) error {
	largest := b.mainJob(s)
	t, rows := compare(largest, publishedPageRank, iterations)
	s.Tables = []report.Table{
		{Title: "Beside the published figures", Rows: t, Notes: []string{
			rankAgainstClusters(s.jobs), rankHilbert(s.jobs), rankCores(s.jobs, b.cores),
		}},
		{Title: "All graphs", Rows: detail(s.jobs, "order", iterations), Notes: []string{rankPrecision(s.jobs)}},
	}
	var err error
	s.Plots, err = b.compareChart("Twenty PageRank iterations", "pagerank.svg", "Edges a second of twenty PageRank iterations, published and here", rows)
	return err
}

// rankAgainstClusters says whether one thread still beats what clusters published.
func rankAgainstClusters(jobs []*job) string {
	slower, systems := 0, 0
	single := publishedPageRank[len(publishedPageRank)-2]
	for _, p := range publishedPageRank {
		if !p.Single() {
			systems++
			if p.Seconds[0] > single.Seconds[0] {
				slower++
			}
		}
	}
	best, i := fastest(publishedPageRank)
	var plain, hilbert tally
	for _, j := range jobs {
		edges := j.subject.graph.Edges
		if t, ok := j.find(vertexOrder, 1); ok {
			plain.add(j.subject.name, rate(edges, iterations, t)*1e6/best.Rate(i))
		}
		if t, ok := j.find(hilbertOrder, 1); ok {
			hilbert.add(j.subject.name, rate(edges, iterations, t)*1e6/best.Rate(i))
		}
	}
	return fmt.Sprintf("Published: one thread in vertex order finished %s before %d of the %d systems. The fastest of the systems, %s on %s, "+
		"passed over %s M edges/s of %s. That one thread here passes over more: in vertex order, %s In Hilbert order, %s",
		ladder.PublishedGraphs[0].Name, slower, systems, best.System, cores(best.Cores), table.ThreeDigits(best.Rate(i)/1e6), ladder.PublishedGraphs[i].Name,
		plain.verdict(), hilbert.verdict())
}

// rankHilbert says what Hilbert order gains over vertex order.
func rankHilbert(jobs []*job) string {
	n := len(publishedPageRank)
	vertex, hilbert := publishedPageRank[n-2], publishedPageRank[n-1]
	return fmt.Sprintf("Published: on one thread Hilbert order is faster than vertex order, %s× on %s and %s× on %s. Here, %s",
		table.ThreeDigits(vertex.Seconds[0]/hilbert.Seconds[0]), ladder.PublishedGraphs[0].Name,
		table.ThreeDigits(vertex.Seconds[1]/hilbert.Seconds[1]), ladder.PublishedGraphs[1].Name,
		ratios(jobs, vertexOrder, 1, hilbertOrder, 1).verdict())
}

// rankCores says what more cores bring.
func rankCores(jobs []*job, n int) string {
	if n == 1 {
		return "With one core there is nothing to say of more."
	}
	return fmt.Sprintf("That Hilbert order is faster on %s than on one: %s", cores(n), ratios(jobs, hilbertOrder, 1, hilbertOrder, n).verdict())
}

func rankPrecision(jobs []*job) string {
	return "That float32 is faster than float64, in Hilbert order on one core: " + ratios(jobs, doublePrecision, 1, hilbertOrder, 1).verdict()
}
