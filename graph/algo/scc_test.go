package algo

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir/graph/order"
)

// modelSCC reaches from every vertex: the component of v are the vertices that
// v reaches and that reach v.
func modelSCC(out *order.CSR) []uint32 {
	n := out.Vertices()
	reach := make([][]int32, n)
	for v := range reach {
		reach[v] = modelBFS(out, uint32(v))
	}
	labels := make([]uint32, n)
	for v := range labels {
		for u := range n {
			if reach[v][u] >= 0 && reach[u][v] >= 0 {
				labels[v] = uint32(u)
				break
			}
		}
	}
	return labels
}

func sccVariants(t fataler, out, in *order.CSR, want []uint32) {
	t.Helper()
	sizes := map[uint32]int{}
	for _, l := range want {
		sizes[l]++
	}
	largest, trivial := 0, 0
	for _, size := range sizes {
		largest = max(largest, size)
		if size == 1 {
			trivial++
		}
	}
	for _, rows := range []*order.CSR{nil, in} {
		for _, opt := range []SCCOptions{{Threads: 1}, {Threads: 2}, {Threads: 5}, {Tarjan: true}} {
			got, err := SCC(context.Background(), out, rows, opt)
			if err != nil {
				t.Fatalf("%+v: %v", opt, err)
			}
			if !slices.Equal(got.Labels, want) {
				t.Fatalf("%+v: labels %v, want %v", opt, got.Labels, want)
			}
			if got.Count != len(sizes) || got.Largest != largest || got.Trivial != trivial {
				t.Fatalf("%+v: %d components, largest %d, %d trivial; want %d, %d, %d",
					opt, got.Count, got.Largest, got.Trivial, len(sizes), largest, trivial)
			}
		}
	}
}

func TestSCCShapes(t *testing.T) {
	for _, s := range travShapes() {
		if s.n > 1000 {
			continue // the model is slow; TestSCCLarge has larger ones
		}
		t.Run(s.name, func(t *testing.T) {
			out, in := travGraph(s.n, s.edges, false)
			sccVariants(t, out, in, modelSCC(out))
		})
	}
	empty, _ := travGraph(0, nil, false)
	sccVariants(t, empty, empty, nil)
}

func TestSCCRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := travDraw(t)
		out, in := travGraph(n, edges, false)
		sccVariants(t, out, in, modelSCC(out))
	})
}

// On larger graphs the parts run at the same time; Tarjan's algorithm alone,
// checked above, is the model.
func TestSCCLarge(t *testing.T) {
	const n = 1 << 14
	edges := travRMAT(14, 3, 7)
	// A long ring on the way in, and one on the way out.
	for v := range uint32(3000) {
		edges = append(edges, travEdge{v, (v + 1) % 3000, 0}, travEdge{n - 1 - v, n - 1 - (v+1)%3000, 0})
	}
	out, in := travGraph(n, edges, false)
	model, err := SCC(context.Background(), out, nil, SCCOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if model.Largest < 3000 || model.Count < 100 {
		t.Fatalf("graph is too simple: %d components, largest %d", model.Count, model.Largest)
	}
	sccVariants(t, out, in, model.Labels)
}

// Vertices in a row are as deep as a search can get.
func TestSCCLongChain(t *testing.T) {
	size := 1 << 20
	if testing.Short() {
		size = 1 << 16
	}
	out := &order.CSR{Offsets: make([]uint64, size+1), Targets: make([]uint32, size)}
	for v := range size {
		out.Offsets[v+1] = uint64(v + 1)
		out.Targets[v] = uint32((v + 1) % size)
	}
	r, err := SCC(context.Background(), out, nil, SCCOptions{})
	if err != nil || r.Count != 1 || r.Largest != size || r.Labels[size-1] != 0 {
		t.Fatalf("a ring of %d vertices: %d components, %v", size, r.Count, err)
	}
	out.Targets[size-1] = uint32(size - 1)
	r, err = SCC(context.Background(), out, nil, SCCOptions{})
	if err != nil || r.Count != size || r.Trivial != size {
		t.Fatalf("a chain of %d vertices: %d components, %v", size, r.Count, err)
	}
}

func TestSCCErrors(t *testing.T) {
	out, in := travGraph(1<<12, travBoth(travRMAT(12, 32, 3)), false)
	if _, err := SCC(context.Background(), nil, in, SCCOptions{}); err == nil {
		t.Error("no error without rows")
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for _, rows := range []*order.CSR{nil, in} {
		if _, err := SCC(stopped, out, rows, SCCOptions{}); err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("cancelled: error %v", err)
		}
	}
}
