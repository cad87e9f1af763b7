package algo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir/graph/order"
)

// componentsModel walks from each vertex, smallest first.
func componentsModel(g edgeList) (labels []uint32, count int) {
	const unknown = math.MaxUint32
	adjacent := map[uint32][]uint32{}
	for _, e := range g.edges {
		adjacent[e[0]] = append(adjacent[e[0]], e[1])
		adjacent[e[1]] = append(adjacent[e[1]], e[0])
	}
	labels = slices.Repeat([]uint32{unknown}, g.n)
	for v := range labels {
		if labels[v] != unknown {
			continue
		}
		count++
		for todo := []uint32{uint32(v)}; len(todo) > 0; {
			u := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if labels[u] == unknown {
				labels[u] = uint32(v)
				todo = append(todo, adjacent[u]...)
			}
		}
	}
	return labels, count
}

type componentsWay struct {
	name string
	find func(ctx context.Context, opt ComponentsOptions) (Components, error)
}

// componentsWays are all algorithms over all orders of g.
func componentsWays(g edgeList, orders []namedOrder) []componentsWay {
	var ways []componentsWay
	for _, o := range orders {
		ways = append(ways,
			componentsWay{"label propagation, " + o.name, func(ctx context.Context, opt ComponentsOptions) (Components, error) {
				return LabelPropagation(ctx, o.edges, opt)
			}},
			componentsWay{"union-find, " + o.name, func(ctx context.Context, opt ComponentsOptions) (Components, error) {
				return UnionFind(ctx, o.edges, opt)
			}})
	}
	out, in := orders[0].edges.(*order.CSR), orders[1].edges.(*order.CSR)
	both := edgeList{n: g.n}
	for _, e := range g.edges {
		both.edges = append(both.edges, e, [2]uint32{e[1], e[0]})
	}
	symmetric := both.rows(false)
	for _, rows := range []struct {
		name    string
		out, in *order.CSR
	}{{"both", out, in}, {"out only", out, nil}, {"turned", in, out}, {"symmetric", symmetric, symmetric}} {
		ways = append(ways, componentsWay{"afforest, " + rows.name, func(ctx context.Context, opt ComponentsOptions) (Components, error) {
			return Afforest(ctx, rows.out, rows.in, opt)
		}})
	}
	return ways
}

func checkComponents(t interface{ Fatalf(string, ...any) }, g edgeList) {
	labels, count := componentsModel(g)
	for _, way := range componentsWays(g, g.orders()) {
		for _, threads := range []int{1, 3} {
			got, err := way.find(context.Background(), ComponentsOptions{Threads: threads})
			if err != nil {
				t.Fatalf("%s, %d threads: %v", way.name, threads, err)
			}
			if got.Count != count || !slices.Equal(got.Labels, labels) {
				t.Fatalf("%s, %d threads: %d components %v, want %d %v", way.name, threads, got.Count, got.Labels, count, labels)
			}
		}
	}
}

func TestComponentsModel(t *testing.T) {
	defer goleak.VerifyNone(t)
	rapid.Check(t, func(t *rapid.T) { checkComponents(t, drawGraph(t)) })
}

// Long rows fill batches; a large graph lets threads meet; a path in its own order,
// in reverse and shuffled is what forests linked by number like least.
func TestComponentsShapes(t *testing.T) {
	star := edgeList{n: 5000}
	for v := range uint32(4990) {
		star.edges = append(star.edges, [2]uint32{3, v})
	}
	path, back, far := edgeList{n: 3000}, edgeList{n: 3000}, edgeList{n: 3000}
	for v := range uint32(2999) {
		path.edges = append(path.edges, [2]uint32{v, v + 1})
		back.edges = append(back.edges, [2]uint32{2999 - v, 2998 - v})
		far.edges = append(far.edges, [2]uint32{v * 1013 % 3000, (v + 1) * 1013 % 3000})
	}
	for name, g := range map[string]edgeList{"star": star, "path": path, "back": back, "far": far, "rmat": squaresList()} {
		t.Run(name, func(t *testing.T) { checkComponents(t, g) })
	}
}

func TestComponentsGraphalytics(t *testing.T) {
	for _, name := range []string{"test-wcc-directed", "test-wcc-undirected", "example-directed", "example-undirected"} {
		g, ids, want, _ := graphalytics(t, name, "WCC")
		for _, way := range componentsWays(g, g.orders()) {
			got, err := way.find(t.Context(), ComponentsOptions{})
			if err != nil {
				t.Fatal(err)
			}
			// The names of components are free: the same name here, the same name there.
			ours, theirs := map[uint32]string{}, map[string]uint32{}
			for v, label := range got.Labels {
				if w, ok := ours[label]; ok && w != want[v] {
					t.Errorf("%s, %s: vertex %s is in component %s, want %s", name, way.name, ids[v], w, want[v])
				}
				if l, ok := theirs[want[v]]; ok && l != label {
					t.Errorf("%s, %s: component %s has labels %d and %d", name, way.name, want[v], l, label)
				}
				ours[label], theirs[want[v]] = want[v], label
			}
			if got.Count != len(theirs) {
				t.Errorf("%s, %s: %d components, want %d", name, way.name, got.Count, len(theirs))
			}
		}
	}
}

func TestComponentsStop(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := rmatList(10)
	for i := range componentsWays(g, g.orders()) {
		for _, threads := range []int{1, 3} {
			ctx, cancel := context.WithCancel(t.Context())
			way := componentsWays(g, g.guarded(cancel, 1))[i]
			if strings.HasPrefix(way.name, "afforest, symmetric") { // its rows are not guarded
				cancel()
			}
			if _, err := way.find(ctx, ComponentsOptions{Threads: threads}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %d threads: error is %v, want %v", way.name, threads, err, context.Canceled)
			}
			cancel()
		}
	}
}

func TestAfforestMismatch(t *testing.T) {
	a, b := edgeList{3, [][2]uint32{{0, 1}}}, edgeList{4, [][2]uint32{{0, 1}}}
	if _, err := Afforest(t.Context(), a.rows(false), b.rows(true), ComponentsOptions{}); err == nil {
		t.Error("no error for rows of another graph")
	}
}

func TestLargest(t *testing.T) {
	c := Components{Labels: []uint32{0, 1, 0, 3, 1, 0, 3, 7}, Count: 4}
	all := []ComponentSize{{0, 3}, {1, 2}, {3, 2}, {7, 1}}
	for k := -1; k < 6; k++ {
		if got, want := c.Largest(k), all[:min(max(k, 0), 4)]; !slices.Equal(got, want) {
			t.Errorf("largest %d: %v, want %v", k, got, want)
		}
	}
	if got := (Components{}).Largest(3); len(got) != 0 {
		t.Errorf("largest of nothing: %v", got)
	}
}

func BenchmarkComponents(b *testing.B) {
	g := rmatList(16)
	for _, way := range componentsWays(g, g.orders()[:3]) {
		for _, threads := range []int{1, 0} {
			b.Run(fmt.Sprintf("%s/threads=%d", strings.ReplaceAll(way.name, ", ", "/"), threads), func(b *testing.B) {
				for b.Loop() {
					if _, err := way.find(b.Context(), ComponentsOptions{Threads: threads}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(g.edges))*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
			})
		}
	}
}
