package algo

import (
	"context"
	"testing"

	"weir/graph/order"
)

// benchGraph is made once for all benchmarks: 2¹⁶ vertices, 10⁶ edges both ways
// with weights 1 to 255.
func benchGraph(b *testing.B) *order.CSR {
	b.Helper()
	if benchRows == nil {
		benchRows, _ = travGraph(1<<16, travBoth(travRMAT(16, 16, 1)), true)
	}
	return benchRows
}

var benchRows *order.CSR

// bench runs f on one thread and on all, and reports the edges of the graph a
// second.
func bench(b *testing.B, g *order.CSR, f func(threads int) error) {
	for _, c := range []struct {
		name    string
		threads int
	}{{"one", 1}, {"all", 0}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := f(c.threads); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(g.Edges())*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
		})
	}
}

func BenchmarkBFS(b *testing.B) {
	g := benchGraph(b)
	source := benchSource(g)
	bench(b, g, func(threads int) error {
		_, err := BFS(context.Background(), g, g, source, BFSOptions{Threads: threads})
		return err
	})
}

func BenchmarkBFSTopDown(b *testing.B) {
	g := benchGraph(b)
	source := benchSource(g)
	bench(b, g, func(threads int) error {
		_, err := BFS(context.Background(), g, nil, source, BFSOptions{Threads: threads})
		return err
	})
}

func BenchmarkSSSP(b *testing.B) {
	g := benchGraph(b)
	source := benchSource(g)
	bench(b, g, func(threads int) error {
		_, err := SSSP(context.Background(), g, source, SSSPOptions{Threads: threads})
		return err
	})
}

func BenchmarkPath(b *testing.B) {
	g := benchGraph(b)
	from, to := benchSource(g), uint32(0)
	for g.Degree(to) == 0 {
		to++
	}
	for _, c := range []struct {
		name string
		opt  PathOptions
	}{{"weighted", PathOptions{}}, {"unweighted", PathOptions{Unweighted: true}}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Path(context.Background(), g, g, from, to, c.opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSCC(b *testing.B) {
	out, in := travGraph(1<<16, travRMAT(16, 16, 1), false)
	b.Run("multistep", func(b *testing.B) {
		bench(b, out, func(threads int) error {
			_, err := SCC(context.Background(), out, in, SCCOptions{Threads: threads})
			return err
		})
	})
	b.Run("tarjan", func(b *testing.B) {
		for b.Loop() {
			if _, err := SCC(context.Background(), out, nil, SCCOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(out.Edges())*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
	})
}

func BenchmarkKCore(b *testing.B) {
	g := benchGraph(b)
	bench(b, g, func(threads int) error {
		_, err := KCore(context.Background(), g, g, KCoreOptions{Threads: threads})
		return err
	})
}

func BenchmarkTriangles(b *testing.B) {
	g := benchGraph(b)
	bench(b, g, func(threads int) error {
		_, err := Triangles(context.Background(), g, g, TriangleOptions{Threads: threads})
		return err
	})
}

func BenchmarkLCC(b *testing.B) {
	g := benchGraph(b)
	bench(b, g, func(threads int) error {
		_, err := LCC(context.Background(), g, g, LCCOptions{Threads: threads})
		return err
	})
}

// benchSource is a vertex of many edges.
func benchSource(g *order.CSR) (best uint32) {
	for v := range uint32(g.Vertices()) {
		if g.Degree(v) > g.Degree(best) {
			best = v
		}
	}
	return best
}
