package graphflow

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir/graph"
	"weir/graph/algo"
	"weir/graph/generate"
	"weir/graph/order"
	"weir/mesh"
	"weir/timely"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write makes a text file of a generated graph, and returns its name.
func write(t testing.TB, spec generate.Spec) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.txt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	err = generate.Generate(t.Context(), spec, 1, func(edges []uint64, _ []float32) error {
		for _, e := range edges {
			fmt.Fprintf(w, "%d %d\n", e>>32, uint32(e))
		}
		return nil
	})
	if err := errors.Join(err, w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *graph.Graph {
	t.Helper()
	g, err := graph.Open(t.Context(), path, graph.Options{Prefer: graph.InRows})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// openEach opens a file for each process.
func openEach(t testing.TB, path string, processes int) (all []*graph.Graph) {
	t.Helper()
	for range processes {
		all = append(all, open(t, path))
	}
	return all
}

// cluster is a configuration for each of some processes, all on this machine.
func cluster(t testing.TB, processes, threads int) []timely.Config {
	t.Helper()
	all := make([]timely.Config, processes)
	var addresses []string
	for i := range all {
		all[i] = timely.Threads(threads)
		if processes > 1 {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			all[i].Listener = l
			addresses = append(addresses, l.Addr().String())
		}
	}
	for i := range all {
		all[i].Processes, all[i].Process, all[i].Addresses = processes, i, addresses
		all[i].Secret = []byte("of the test")
	}
	return all
}

// run computes in a cluster within this process, and returns what process 0 did.
func run(t testing.TB, ctx context.Context, configs []timely.Config, graphs []*graph.Graph, opt PageRankOptions) (PageRankResult, error) {
	t.Helper()
	results := make([]PageRankResult, len(configs))
	errs := make([]error, len(configs))
	done := make(chan int)
	for i, cfg := range configs {
		go func() {
			results[i], errs[i] = PageRank(ctx, cfg, graphs[i], opt)
			done <- i
		}()
	}
	for range configs {
		<-done
	}
	for i, r := range results[1:] {
		if r.Ranks != nil || errs[i+1] == nil && len(r.Times) == 0 {
			t.Errorf("process %d has %d ranks and %d times, expected times only", i+1, len(r.Ranks), len(r.Times))
		}
	}
	return results[0], errors.Join(errs...)
}

// expect compares ranks with those of package algo.
func expect(t testing.TB, name string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d ranks, want %d", name, len(got), len(want))
	}
	for v := range want {
		if math.Abs(float64(got[v])-want[v]) > 1e-4*want[v] {
			t.Fatalf("%s: rank of vertex %d is %v, want %v", name, v, got[v], want[v])
		}
	}
}

func reference(t testing.TB, g *graph.Graph, iterations int) []float64 {
	t.Helper()
	in, err := g.In(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := algo.PageRank[float64](t.Context(), in, algo.PageRankOptions{Iterations: iterations})
	if err != nil {
		t.Fatal(err)
	}
	return want.Ranks
}

// Every way of adding up, in every constellation of workers, gives the ranks that one
// thread computes.
func TestAgrees(t *testing.T) {
	specs := []generate.Spec{
		{Kind: generate.RMAT, Scale: 14, EdgeFactor: 8, Seed: 1},
		{Kind: generate.Star, Vertices: 30_000},
		{Kind: generate.Chain, Vertices: 3},
		{Kind: generate.Grid, Rows: 30, Columns: 40},
	}
	for _, spec := range specs {
		path := write(t, spec)
		for _, shape := range [][2]int{{1, 1}, {1, 2}, {1, 3}, {2, 1}, {2, 2}, {3, 2}} {
			processes, threads := shape[0], shape[1]
			graphs := openEach(t, path, processes)
			want := reference(t, graphs[0], 20)
			sent := map[Aggregate]int64{}
			for _, a := range []Aggregate{AggregateNone, AggregateWorker, AggregateProcess} {
				name := fmt.Sprintf("%s, %d processes of %d workers, aggregate %v", spec.Kind, processes, threads, a)
				r, err := run(t, t.Context(), cluster(t, processes, threads), graphs, PageRankOptions{Aggregate: a})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				expect(t, name, r.Ranks, want)
				if len(r.Times) != 20 || r.Seconds() <= 0 {
					t.Errorf("%s: %d times, %v s each; want 20", name, len(r.Times), r.Seconds())
				}
				if processes == 1 {
					if r.Traffic != nil || r.WireBytes != 0 {
						t.Errorf("%s: traffic %v, %d bytes; want none", name, r.Traffic, r.WireBytes)
					}
					continue
				}
				var bound int64
				for _, p := range r.Traffic {
					sent[a] += p.Updates
					bound += 20 * p.Bound
				}
				if sent[a] < bound || a == AggregateProcess && sent[a] != bound {
					t.Errorf("%s: %d updates were sent, the least is %d", name, sent[a], bound)
				}
				if r.WireBytes < UpdateBytes*sent[a] {
					t.Errorf("%s: %d bytes on the wire carried %d updates", name, r.WireBytes, sent[a])
				}
			}
			if sent[AggregateNone] < sent[AggregateWorker] || sent[AggregateWorker] < sent[AggregateProcess] {
				t.Errorf("%s, %v: updates sent: %v", spec.Kind, shape, sent)
			}
		}
	}
}

// A graph without vertices has no ranks.
func TestEmptyGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.txt")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, shape := range [][2]int{{1, 2}, {2, 1}, {2, 2}} {
		r, err := run(t, t.Context(), cluster(t, shape[0], shape[1]), openEach(t, path, shape[0]), PageRankOptions{Aggregate: AggregateProcess})
		if err != nil || len(r.Ranks) != 0 || len(r.Times) != 20 {
			t.Errorf("%d processes of %d workers: %d ranks, %d times, %v", shape[0], shape[1], len(r.Ranks), len(r.Times), err)
		}
	}
}

// Random graphs, with loops, duplicates and vertices that have no edges.
func TestAgreesOnRandomGraphs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		spec := generate.Spec{
			Kind: generate.Uniform, Vertices: rapid.Int64Range(1, 300).Draw(rt, "vertices"),
			Edges: rapid.Int64Range(1, 2000).Draw(rt, "edges"), Seed: rapid.Uint64().Draw(rt, "seed"),
		}
		iterations := rapid.IntRange(1, 5).Draw(rt, "iterations")
		a := Aggregate(rapid.IntRange(0, 2).Draw(rt, "aggregate"))
		graphs := openEach(t, write(t, spec), 2)
		configs := cluster(t, rapid.IntRange(1, 2).Draw(rt, "processes"), rapid.IntRange(1, 3).Draw(rt, "threads"))
		r, err := run(t, t.Context(), configs, graphs, PageRankOptions{Iterations: iterations, Aggregate: a})
		if err != nil {
			rt.Fatal(err)
		}
		expect(t, "random graph", r.Ranks, reference(t, graphs[0], iterations))
	})
}

// The edges of all shares together are those of the graph, each once.
func TestShares(t *testing.T) {
	g := open(t, write(t, generate.Spec{Kind: generate.RMAT, Scale: 14, EdgeFactor: 4, Seed: 3}))
	in, err := g.In(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint64]int{}
	for v := range uint32(g.Vertices) {
		for _, u := range in.Neighbours(v) {
			want[order.Pack(u, v)]++
		}
	}
	for _, workers := range []int{1, 2, 3, 7, 64} {
		got := map[uint64]int{}
		for me := range workers {
			s, err := newShare(t.Context(), in, workers, me, func(to int) bool { return to == 0 })
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, task := range s.tasks {
				if task.to == 0 {
					kept++
				}
				edge := task.firstEdge
				for row := task.row; row < task.row+task.rows; row++ {
					local := s.locals[row]
					if local/partSize != task.part || s.lengths[row] == 0 {
						t.Fatalf("row of vertex %d with %d edges in range %d", local, s.lengths[row], task.part)
					}
					for range s.lengths[row] {
						got[order.Pack(s.sources[edge]*uint32(workers)+uint32(me), local*uint32(workers)+task.to)]++
						edge++
					}
				}
				if edge != task.firstEdge+task.edges {
					t.Fatalf("task of %d edges has rows of %d", task.edges, edge-task.firstEdge)
				}
			}
			if want := (owned(g.Vertices, workers, 0) + partSize - 1) / partSize; kept != want {
				t.Errorf("%d tasks for the worker that was to be kept, want %d", kept, want)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d workers have %d edges, want %d", workers, len(got), len(want))
		}
		for e, n := range want {
			if got[e] != n {
				t.Fatalf("%d workers have edge %x %d times, want %d", workers, e, got[e], n)
			}
		}
	}
}

func TestDivider(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint32Min(1).Draw(t, "n")
		v := rapid.OneOf(rapid.Uint32(), rapid.Map(rapid.Uint32(), func(k uint32) uint32 { return k*n - 1 })).Draw(t, "v")
		if q, r := newDivider(int(n)).split(v); q != v/n || r != v%n {
			t.Fatalf("%d / %d is %d, remainder %d", v, n, q, r)
		}
	})
}

func TestOptions(t *testing.T) {
	g := open(t, write(t, generate.Spec{Kind: generate.Chain, Vertices: 3}))
	for _, opt := range []PageRankOptions{{Iterations: -1}, {Damping: 1}, {Damping: math.NaN()}, {Aggregate: 3}, {Aggregate: -1}} {
		if _, err := PageRank(t.Context(), timely.Threads(1), g, opt); err == nil {
			t.Errorf("%+v is accepted", opt)
		}
	}
	if name := Aggregate(7).String(); name != "Aggregate(7)" {
		t.Errorf("name of no aggregate is %q", name)
	}
}

// Whoever computes something else, or on another graph, is not let in: as little as one edge
// that is elsewhere would make ranks that are of neither graph.
func TestOthersAreRefused(t *testing.T) {
	edges := func(list string) *graph.Graph {
		path := filepath.Join(t.TempDir(), "graph.txt")
		if err := os.WriteFile(path, []byte(list), 0o666); err != nil {
			t.Fatal(err)
		}
		return open(t, path)
	}
	for name, graphs := range map[string][]*graph.Graph{
		"another number of vertices": {
			open(t, write(t, generate.Spec{Kind: generate.Chain, Vertices: 30})),
			open(t, write(t, generate.Spec{Kind: generate.Chain, Vertices: 40})),
		},
		"another seed": {
			open(t, write(t, generate.Spec{Kind: generate.RMAT, Scale: 8, Seed: 1, PlainIDs: true})),
			open(t, write(t, generate.Spec{Kind: generate.RMAT, Scale: 8, Seed: 2, PlainIDs: true})),
		},
		"ends exchanged, the same degrees": {
			edges("0 2\n1 3\n2 0\n3 1\n"),
			edges("0 3\n1 2\n2 0\n3 1\n"),
		},
	} {
		configs := cluster(t, 2, 1)
		for i := range configs {
			configs[i].Wait = time.Second
		}
		if _, err := run(t, t.Context(), configs, graphs, PageRankOptions{}); !errors.Is(err, mesh.ErrRefused) {
			t.Errorf("%s: error %v, want %v", name, err, mesh.ErrRefused)
		}
	}
}

// A graph is the same however its edges are cut into parts.
func TestIdentity(t *testing.T) {
	g := open(t, write(t, generate.Spec{Kind: generate.RMAT, Scale: 12, Seed: 1}))
	in, err := g.Map(t.Context(), graph.InRows)
	if err != nil {
		t.Fatal(err)
	}
	want, err := identity(t.Context(), 1, in)
	if err != nil {
		t.Fatal(err)
	}
	for threads := range 9 {
		if got, err := identity(t.Context(), threads+1, in); got != want || err != nil {
			t.Errorf("%d threads: identity %x, error %v, want %x", threads+1, got, err, want)
		}
	}
}

func TestCancel(t *testing.T) {
	graphs := openEach(t, write(t, generate.Spec{Kind: generate.RMAT, Scale: 12, Seed: 1}), 2)
	for _, shape := range [][2]int{{1, 2}, {2, 1}} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := run(t, ctx, cluster(t, shape[0], shape[1]), graphs, PageRankOptions{Iterations: 1e9})
		cancel()
		if err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
			t.Errorf("%v: error %v, want %v", shape, err, context.DeadlineExceeded)
		}
	}
}

func TestEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.mtx")
	if err := os.WriteFile(path, []byte("%%MatrixMarket matrix coordinate pattern general\n5 5 0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	g := open(t, path)
	r, err := PageRank(t.Context(), timely.Threads(2), g, PageRankOptions{})
	if err != nil || len(r.Ranks) != 5 || r.Ranks[4] != 0.15 {
		t.Errorf("ranks %v, %v; want 5 of 0.15", r.Ranks, err)
	}
}
