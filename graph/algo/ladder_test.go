package algo

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"weir/graph/order"
	"weir/internal/progress"
)

func ladderInput(g edgeList) LadderInput {
	h := g.hilbert()
	return LadderInput{Out: g.rows(false), In: g.rows(true), Hilbert: h, Compressed: blocks{h}}
}

// counter is a display that counts what stages did.
type counter struct{ stages, done, total atomic.Int64 }

func (c *counter) Begin(s *progress.Stage) func() {
	c.stages.Add(1)
	return func() {
		c.done.Add(s.Current())
		c.total.Add(s.Total)
	}
}

func TestLadder(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := rmatList(12)
	var seen counter
	rungs, err := Ladder(progress.With(t.Context(), &seen), ladderInput(g), MeasureOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"label propagation", "union-find", "Hilbert order", "no bounds checks", "smaller footprint", "prefetch", "one comparison", "2 threads"}
	checkRungs(t, rungs, want, float64(len(g.edges)))
	if seen.stages.Load() == 0 {
		t.Error("no progress")
	}
	rungs, err = Ladder(t.Context(), ladderInput(edgeList{}), MeasureOptions{Threads: 1, Runs: 1})
	if err != nil || len(rungs) != 7 {
		t.Errorf("ladder of nothing on one thread: %d rungs, %v; want 7 rungs", len(rungs), err)
	}
	if _, err := Ladder(t.Context(), LadderInput{Out: g.rows(false)}, MeasureOptions{}); err == nil {
		t.Error("no error without Hilbert order")
	}
}

func checkRungs(t *testing.T, rungs []Rung, names []string, edges float64) {
	t.Helper()
	var got []string
	for _, r := range rungs {
		got = append(got, r.Name)
		if r.Seconds <= 0 || r.Note == "" || !near(r.EdgesPerSecond*r.Seconds, edges, 1e-9) || !near(r.Speedup, rungs[0].Seconds/r.Seconds, 1e-9) {
			t.Errorf("rung %+v over %v edges", r, edges)
		}
	}
	if !slices.Equal(got, names) {
		t.Errorf("rungs %q, want %q", got, names)
	}
}

// Every union of the ladder on every order, against the model.
func TestLadderUnions(t *testing.T) {
	g := squaresList()
	labels, _ := componentsModel(g)
	for _, o := range g.orders() {
		ranked, unchecked, small := newRankedUnion(g.n), newUncheckedUnion(g.n), smallUnion{newForest(order.PadVertices(g.n))}
		batch := &batchUnion{f: newForest(order.PadVertices(g.n))}
		for _, k := range []order.Kernel{ranked, unchecked, small, batch} {
			if err := o.edges.Run(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		smallLabels, err := forestLabels(t.Context(), small.f, g.n, nil)
		if err != nil {
			t.Fatal(err)
		}
		batchLabels, err := forestLabels(t.Context(), batch.f, g.n, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string][]uint32{
			"ranked": ranked.labels(), "unchecked": unchecked.labels(), "small": smallLabels, "batch": batchLabels,
		} {
			if err := sameLabels(labels, got); err != nil {
				t.Errorf("%s, %s: %v", o.name, name, err)
			}
		}
	}
}

func TestPageRankLadder(t *testing.T) {
	g := rmatList(10)
	rungs, err := PageRankLadder(t.Context(), ladderInput(g), MeasureOptions{Threads: 2, Runs: 2, Iterations: 3})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, threads := range []string{"", ", 2 threads"} {
		for _, name := range []string{"compressed", "vertex push", "vertex pull", "Hilbert"} {
			want = append(want, name+threads+", float64", name+threads+", float32")
		}
	}
	checkRungs(t, rungs, want, 3*float64(len(g.edges)))
	if _, err := PageRankLadder(t.Context(), LadderInput{}, MeasureOptions{}); err == nil {
		t.Error("no error without any order")
	}
}

// A way that finds something else is named.
func TestLadderNoticesDifferences(t *testing.T) {
	in := ladderInput(rmatList(8))
	in.Hilbert = rmatList(9).hilbert()
	if _, err := Ladder(t.Context(), in, MeasureOptions{Runs: 1}); err == nil || !strings.Contains(err.Error(), "Hilbert order") {
		t.Errorf("error is %v, expected one that names Hilbert order", err)
	}
	in = ladderInput(edgeList{4, [][2]uint32{{0, 1}, {1, 2}}})
	in.In = edgeList{4, [][2]uint32{{0, 1}, {2, 3}}}.rows(true)
	if _, err := PageRankLadder(t.Context(), in, MeasureOptions{Runs: 1}); err == nil || !strings.Contains(err.Error(), "vertex pull") {
		t.Errorf("error is %v, expected one that names the pull", err)
	}
}

func TestLadderStops(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	in := ladderInput(rmatList(10))
	guard := &cancelling{cancel: cancel}
	guard.left.Store(5)
	in.Hilbert.Guard = guard
	if _, err := Ladder(ctx, in, MeasureOptions{Runs: math.MaxInt32}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
}

func TestCost(t *testing.T) {
	for name, report := range map[string]func(context.Context, LadderInput, MeasureOptions) (CostTable, error){
		"components": ComponentsCost, "pagerank": PageRankCost,
	} {
		table, err := report(t.Context(), ladderInput(rmatList(8)), MeasureOptions{Threads: 3, Runs: 1, Iterations: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(table.Threads, []int{1, 2, 3}) || table.Seconds <= 0 || len(table.Rows) < 4 {
			t.Fatalf("%s: %+v", name, table)
		}
		for _, row := range table.Rows {
			cost := 0
			for i := len(row.Seconds) - 1; i >= 0; i-- {
				if row.Seconds[i] < table.Seconds {
					cost = table.Threads[i]
				}
			}
			if len(row.Seconds) != 3 || row.Cost != cost {
				t.Errorf("%s: %+v against %v s: want cost %d", name, row, table.Seconds, cost)
			}
		}
		if _, err := report(t.Context(), LadderInput{}, MeasureOptions{}); err == nil {
			t.Errorf("%s: no error without Hilbert order", name)
		}
	}
	failed := errors.New("failed")
	bad := CostWay{"bad", func(context.Context, int) error { return failed }}
	if _, err := CostReport(t.Context(), bad, nil, MeasureOptions{}); !errors.Is(err, failed) {
		t.Errorf("error is %v, want %v", err, failed)
	}
}

func TestMeasureGather(t *testing.T) {
	defer goleak.VerifyNone(t)
	g, err := MeasureGather[float32](t.Context(), 1000, 2)
	if err != nil {
		t.Fatal(err)
	}
	if g.Vertices != 1000 || g.ElementBytes != 4 || g.Threads != 2 || g.GathersPerSecond < 1e5 || g.BytesPerSecond < 1e6 {
		t.Errorf("limit %+v", g)
	}
	g.GathersPerSecond, g.BytesPerSecond = 100, 1000
	if s := g.Seconds(500, 4); s != 5 {
		t.Errorf("500 edges of 4 bytes in %v s, want 5: gathers bound", s)
	}
	if s := g.Seconds(500, 20); s != 10 {
		t.Errorf("500 edges of 20 bytes in %v s, want 10: bytes bound", s)
	}
	if _, err := MeasureGather[float64](t.Context(), 0, 1); err == nil {
		t.Error("no error for no vertices")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MeasureGather[float64](ctx, 10, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
	var at [16]int
	for i := range uint32(1 << 12) {
		at[place(i, 16)]++
	}
	if least := slices.Min(at[:]); least < 128 {
		t.Errorf("places are uneven: %v", at)
	}
}
