package generate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collect returns the whole graph.
func collect(t testing.TB, spec Spec, threads int) (edges []uint64, weights []float32) {
	t.Helper()
	_, want, err := spec.Size()
	if err != nil {
		t.Fatal(err)
	}
	err = Generate(t.Context(), spec, threads, func(e []uint64, w []float32) error {
		edges, weights = append(edges, e...), append(weights, w...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(edges)) != want {
		t.Fatalf("%+v: made %d edges, and says it makes %d", spec, len(edges), want)
	}
	return edges, weights
}

func hash(edges []uint64, weights []float32) uint64 {
	h := xxh3.New()
	var b [8]byte
	for _, e := range edges {
		binary.LittleEndian.PutUint64(b[:], e)
		h.Write(b[:])
	}
	for _, w := range weights {
		binary.LittleEndian.PutUint32(b[:4], math.Float32bits(w))
		h.Write(b[:4])
	}
	return h.Sum64()
}

// specs has a graph of each kind, with more than a chunk of edges.
var specs = []struct {
	spec     Spec
	vertices int64
	edges    int64
	hash     uint64
}{
	{Spec{Kind: RMAT, Scale: 14, Seed: 1}, 1 << 14, 1 << 18, 0xe70ef3c69d44d252},
	{Spec{Kind: RMAT, Scale: 14, Seed: 2}, 1 << 14, 1 << 18, 0x225b61705a91af57},
	{Spec{Kind: RMAT, Scale: 13, Seed: 1, Noise: 0.5, PlainIDs: true, EdgeFactor: 10}, 1 << 13, 81920, 0xe3c1a8e4744981a6},
	{Spec{Kind: Kronecker, Vertices: 1 << 14, Seed: 1, A: 25, B: 25, C: 25, D: 25}, 1 << 14, 1 << 18, 0x453fae9784e0d635},
	{Spec{Kind: Uniform, Vertices: 10007, Edges: 100003, Seed: 7, Weights: Weights{Min: 1, Max: 255, Whole: true}}, 10007, 100003, 0xec1cfff06cebbfd3},
	{Spec{Kind: Grid, Rows: 200, Columns: 301, Seed: 1, Weights: Weights{Max: 1}}, 60200, 200*300 + 199*301, 0xb5288ab4ec9a4884},
	{Spec{Kind: Chain, Vertices: 70000}, 70000, 69999, 0x3848f51e1586897},
	{Spec{Kind: Star, Scale: 17}, 1 << 17, 1<<17 - 1, 0xf695b7071b1372da},
	{Spec{Kind: Complete, Vertices: 500}, 500, 500 * 499 / 2, 0x235aeb775610f9d8},
	{Spec{Kind: Preferential, Vertices: 20000, Degree: 5, Seed: 3}, 20000, 15 + 5*(20000-6), 0xaef3adf6f1c748f},
	{Spec{Kind: SmallWorld, Vertices: 12345, Seed: 3, Rewire: 0.1}, 12345, 12345 * 8, 0x4530d6b7b7fb47bf},
	{Spec{Kind: Bipartite, Vertices: 10000, Left: 100, Seed: 5}, 10000, 160000, 0x16ac3483ba7114d9},
}

func TestGoldenAndThreads(t *testing.T) {
	for _, c := range specs {
		t.Run(fmt.Sprintf("%s/%d", c.spec.Kind, c.spec.Seed), func(t *testing.T) {
			edges, weights := collect(t, c.spec, 1)
			vertices, _, err := c.spec.Size()
			if err != nil || vertices != c.vertices || int64(len(edges)) != c.edges {
				t.Errorf("%d vertices and %d edges (%v), want %d and %d", vertices, len(edges), err, c.vertices, c.edges)
			}
			for i, e := range edges {
				if int64(e>>32) >= vertices || int64(uint32(e)) >= vertices {
					t.Fatalf("edge %d goes from %d to %d among %d vertices", i, e>>32, uint32(e), vertices)
				}
			}
			if (c.spec.Weights != Weights{}) != (len(weights) == len(edges)) {
				t.Errorf("%d weights", len(weights))
			}
			for i, w := range weights {
				if w < c.spec.Weights.Min || w > c.spec.Weights.Max || c.spec.Weights.Whole && w != float32(int(w)) {
					t.Fatalf("weight %d is %v", i, w)
				}
			}
			got := hash(edges, weights)
			if got != c.hash {
				t.Errorf("hash %#x, want %#x: the same seed has to make the same graph in every version", got, c.hash)
			}
			for _, threads := range []int{2, 3, 16} {
				if h := hash(collect(t, c.spec, threads)); h != got {
					t.Errorf("%d threads make another graph than one", threads)
				}
			}
		})
	}
}

// degrees counts the edges out of and into each vertex.
func degrees(edges []uint64, n int64) (out, in []int) {
	out, in = make([]int, n), make([]int, n)
	for _, e := range edges {
		out[e>>32]++
		in[uint32(e)]++
	}
	return out, in
}

func maximum(xs []int) (best int) {
	for _, x := range xs {
		best = max(best, x)
	}
	return best
}

// chiSquare is how far counts are from equal, in standard deviations of what
// chance gives.
func chiSquare(counts []int, total int) float64 {
	want := float64(total) / float64(len(counts))
	var sum float64
	for _, c := range counts {
		sum += (float64(c) - want) * (float64(c) - want) / want
	}
	free := float64(len(counts) - 1)
	return (sum - free) / math.Sqrt(2*free)
}

func TestUniformIsUniform(t *testing.T) {
	edges, _ := collect(t, Spec{Kind: Uniform, Vertices: 5000, Edges: 500000, Seed: 11}, 0)
	out, in := degrees(edges, 5000)
	joint := make([]int, 100)
	for _, e := range edges {
		joint[(e>>32)%10*10+uint64(uint32(e))%10]++
	}
	for name, counts := range map[string][]int{"sources": out, "targets": in, "both": joint} {
		if x := chiSquare(counts, len(edges)); math.Abs(x) > 4 {
			t.Errorf("%s are %.1f standard deviations from uniform", name, x)
		}
	}
}

// Each level of a plain RMAT graph must show the quadrants' probabilities, and
// levels must not depend on one another.
func TestRMATQuadrants(t *testing.T) {
	const scale = 14
	p := [4]float64{0.57, 0.19, 0.19, 0.05}
	edges, _ := collect(t, Spec{Kind: RMAT, Scale: scale, Seed: 5, PlainIDs: true}, 0)
	m := float64(len(edges))
	quadrant := func(e uint64, level int) int {
		return int(e>>32>>level&1)<<1 | int(e>>level&1)
	}
	for l := range scale {
		var counts [4]int
		var pairs [4][4]int
		for _, e := range edges {
			counts[quadrant(e, l)]++
			pairs[quadrant(e, l)][quadrant(e, (l+1)%scale)]++
		}
		for q := range p {
			if d := (float64(counts[q]) - m*p[q]) / math.Sqrt(m*p[q]*(1-p[q])); math.Abs(d) > 5 {
				t.Errorf("level %d, quadrant %d: %d edges, %.1f deviations from %.0f", l, q, counts[q], d, m*p[q])
			}
			for r := range p {
				want := m * p[q] * p[r]
				if d := (float64(pairs[q][r]) - want) / math.Sqrt(want); math.Abs(d) > 5 {
					t.Errorf("level %d and the next, quadrants %d and %d: %d edges, want about %.0f", l, q, r, pairs[q][r], want)
				}
			}
		}
	}
}

func TestRMATIsSkewed(t *testing.T) {
	const scale = 16
	for _, plain := range []bool{false, true} {
		edges, _ := collect(t, Spec{Kind: RMAT, Scale: scale, Seed: 1, PlainIDs: plain}, 0)
		out, in := degrees(edges, 1<<scale)
		// The heaviest row is expected to hold 16 · 2^16 · 0.76^16 = 12,986 edges.
		want := float64(len(edges)) * math.Pow(0.76, scale)
		for name, d := range map[string][]int{"out": out, "in": in} {
			if got := float64(maximum(d)); math.Abs(got-want) > 6*math.Sqrt(want) {
				t.Errorf("plain=%v: largest %s-degree %v, want about %.0f", plain, name, got, want)
			}
		}
		if plain && out[0] != maximum(out) {
			t.Errorf("plain: vertex 0 has degree %d, the largest is %d", out[0], maximum(out))
		}
		isolated := 0
		for v := range out {
			if out[v]+in[v] == 0 {
				isolated++
			}
		}
		if share := float64(isolated) / (1 << scale); share < 0.2 || share > 0.5 {
			t.Errorf("plain=%v: a share of %.2f of the vertices has no edge, want about a third", plain, share)
		}
	}
}

func TestNoiseSmooths(t *testing.T) {
	steps := func(noise float64) float64 {
		// Without noise, a row's expected degree depends only on the number of ones
		// in its number, so that degrees cluster; with noise they spread out.
		edges, _ := collect(t, Spec{Kind: RMAT, Scale: 10, Seed: 9, EdgeFactor: 512, PlainIDs: true, Noise: noise}, 0)
		out, _ := degrees(edges, 1<<10)
		lo, hi := math.MaxInt, 0
		for bit := range 10 {
			lo, hi = min(lo, out[1<<bit]), max(hi, out[1<<bit])
		}
		return float64(hi) / float64(lo)
	}
	if plain, noisy := steps(0), steps(0.9); plain > 1.1 || noisy < 1.5 {
		t.Errorf("rows of one set bit differ by a factor of %.2f without noise (want 1) and %.2f with it (want more)", plain, noisy)
	}
}

func TestPermutationIsOne(t *testing.T) {
	for scale := 1; scale <= 16; scale++ {
		for seed := range uint64(3) {
			p := newPermutation(scale, seed)
			seen := make([]bool, 1<<scale)
			for x := range uint64(1) << scale {
				if y := p.of(x); y >= 1<<scale || seen[y] {
					t.Fatalf("scale %d, seed %d: %d goes to %d, outside or taken", scale, seed, x, y)
				} else {
					seen[y] = true
				}
			}
		}
	}
}

func TestShapes(t *testing.T) {
	pairs := func(spec Spec) string {
		edges, _ := collect(t, spec, 1)
		var b strings.Builder
		for _, e := range edges {
			fmt.Fprintf(&b, " %d-%d", e>>32, uint32(e))
		}
		return strings.TrimSpace(b.String())
	}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Kind: Grid, Rows: 2, Columns: 3}, "0-3 0-1 1-4 1-2 2-5 3-4 4-5"},
		{Spec{Kind: Grid, Rows: 1, Columns: 3}, "0-1 1-2"},
		{Spec{Kind: Grid, Rows: 3, Columns: 1}, "0-1 1-2"},
		{Spec{Kind: Grid, Rows: 1, Columns: 1}, ""},
		{Spec{Kind: Chain, Vertices: 1}, ""},
		{Spec{Kind: Chain, Vertices: 4}, "0-1 1-2 2-3"},
		{Spec{Kind: Star, Vertices: 4}, "0-1 0-2 0-3"},
		{Spec{Kind: Complete, Vertices: 4}, "0-1 0-2 0-3 1-2 1-3 2-3"},
		{Spec{Kind: SmallWorld, Vertices: 5, Degree: 4}, "0-1 0-2 1-2 1-3 2-3 2-4 3-4 3-0 4-0 4-1"},
		{Spec{Kind: Preferential, Vertices: 4, Degree: 3, Seed: 1}, "1-0 2-0 2-1 3-0 3-1 3-2"},
	} {
		if got := pairs(c.spec); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.spec, got, c.want)
		}
	}
}

// Chunks of a complete graph begin in the middle of rows.
func TestCompleteHasEachPairOnce(t *testing.T) {
	edges, _ := collect(t, Spec{Kind: Complete, Vertices: 600}, 2)
	i := 0
	for u := range uint64(600) {
		for v := u + 1; v < 600; v++ {
			if edges[i] != u<<32|v {
				t.Fatalf("edge %d is %d-%d, want %d-%d", i, edges[i]>>32, uint32(edges[i]), u, v)
			}
			i++
		}
	}
}

func TestPreferentialFavoursTheOld(t *testing.T) {
	const n, degree = 50000, 4
	edges, _ := collect(t, Spec{Kind: Preferential, Vertices: n, Degree: degree, Seed: 2}, 0)
	out, in := degrees(edges, n)
	for _, e := range edges {
		if e>>32 <= uint64(uint32(e)) {
			t.Fatalf("vertex %d is attached to %d, which is not older", e>>32, uint32(e))
		}
	}
	total := 0
	for v := range n {
		if v > degree && out[v] != degree {
			t.Fatalf("vertex %d has %d links, want %d", v, out[v], degree)
		}
		// Of a Barabási-Albert graph, a share of about 2/(d+2) of the vertices
		// gets no link after its own.
		if in[v] == 0 {
			total++
		}
	}
	if share := float64(total) / n; math.Abs(share-2.0/(degree+2)) > 0.02 {
		t.Errorf("a share of %.3f of the vertices has degree %d, want about %.3f", share, degree, 2.0/(degree+2))
	}
	// The oldest vertices grow like the square root of the number of vertices.
	if m := float64(maximum(in)); m < math.Sqrt(n) || m > 20*degree*math.Sqrt(n) {
		t.Errorf("largest degree %v for %d vertices", m, n)
	}
}

func TestSmallWorldMovesItsShare(t *testing.T) {
	const n, rewire = 20000, 0.25
	edges, _ := collect(t, Spec{Kind: SmallWorld, Vertices: n, Degree: 10, Rewire: rewire, Seed: 4}, 0)
	moved := 0
	for _, e := range edges {
		step := (uint64(uint32(e)) + n - e>>32) % n
		if step == 0 {
			t.Fatalf("vertex %d is linked to itself", e>>32)
		}
		if step > 5 {
			moved++
		}
	}
	if share := float64(moved) / float64(len(edges)); math.Abs(share-rewire) > 0.01 {
		t.Errorf("a share of %.3f of the links was moved, want %v", share, rewire)
	}
}

func TestBadSpecs(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Kind: "ring", Scale: 3}, `no kind of graph is called "ring"`},
		{Spec{Kind: RMAT}, "0 vertices: want a scale"},
		{Spec{Kind: RMAT, Vertices: 1000}, "power of two"},
		{Spec{Kind: RMAT, Scale: 32}, "scale 32"},
		{Spec{Kind: Uniform, Scale: -1}, "scale -1"},
		{Spec{Kind: Uniform, Scale: 4, Vertices: 17}, "give one of them"},
		{Spec{Kind: Uniform, Vertices: -5}, "-5 vertices"},
		{Spec{Kind: Uniform, Vertices: 1 << 32}, "4294967296 vertices"},
		{Spec{Kind: Uniform, Scale: 4, Edges: 5, EdgeFactor: 2}, "give one of them"},
		{Spec{Kind: Uniform, Scale: 4, Edges: -1}, "-1 edges"},
		{Spec{Kind: Uniform, Scale: 4, EdgeFactor: math.NaN()}, "edge factor of NaN"},
		{Spec{Kind: Uniform, Scale: 4, EdgeFactor: -1}, "edge factor of -1"},
		{Spec{Kind: RMAT, Scale: 4, A: -1, B: 2}, "want probabilities"},
		{Spec{Kind: RMAT, Scale: 4, Noise: 2}, "noise 2"},
		{Spec{Kind: Grid, Rows: 3}, "grid of 3 × 0"},
		{Spec{Kind: Grid, Rows: 1 << 20, Columns: 1 << 20}, "at most"},
		{Spec{Kind: Preferential, Vertices: 5, Degree: 5}, "degree 5 for 5 vertices"},
		{Spec{Kind: SmallWorld, Vertices: 50, Degree: 5}, "even number"},
		{Spec{Kind: Complete, Vertices: 1<<32 - 1}, "at most 2^48 edges"},
		{Spec{Kind: Preferential, Vertices: 1<<32 - 1, Degree: 1 << 30}, "at most 2^48 edges"},
		{Spec{Kind: SmallWorld, Vertices: 1<<32 - 1, Degree: 1 << 30}, "at most 2^48 edges"},
		{Spec{Kind: SmallWorld, Vertices: 50, Rewire: 1.5}, "rewire 1.5"},
		{Spec{Kind: Bipartite, Vertices: 5, Left: 5}, "at least one on each side"},
		{Spec{Kind: Chain, Vertices: 5, Weights: Weights{Min: 2, Max: 1}}, "weights from 2 to 1"},
		{Spec{Kind: Chain, Vertices: 5, Weights: Weights{Min: 0.5, Max: 1, Whole: true}}, "whole weights"},
		{Spec{Kind: Chain, Vertices: 5, Weights: Weights{Max: float32(math.NaN())}}, "weights from 0 to NaN"},
	} {
		err := Generate(t.Context(), c.spec, 1, func([]uint64, []float32) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one that says %q", c.spec, err, c.want)
		}
	}
}

func TestStops(t *testing.T) {
	spec := Spec{Kind: RMAT, Scale: 20, Seed: 1}
	for _, threads := range []int{1, 4} {
		full := errors.New("disk full")
		calls := 0
		err := Generate(t.Context(), spec, threads, func([]uint64, []float32) error {
			if calls++; calls == 3 {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) || calls != 3 {
			t.Errorf("%d threads: %v after %d calls, want the error of the third", threads, err, calls)
		}
		ctx, cancel := context.WithCancel(t.Context())
		calls = 0
		err = Generate(ctx, spec, threads, func([]uint64, []float32) error {
			calls++
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) || calls != 1 {
			t.Errorf("%d threads: %v after %d calls, want to be cancelled after the first", threads, err, calls)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, spec := range []Spec{
		{Kind: RMAT, Scale: 22, Edges: 1 << 22}, {Kind: Uniform, Scale: 22, Edges: 1 << 22},
		{Kind: Preferential, Scale: 19}, {Kind: SmallWorld, Scale: 19, Rewire: 0.1}, {Kind: Grid, Rows: 1500, Columns: 1500},
	} {
		b.Run(string(spec.Kind), func(b *testing.B) {
			_, edges, _ := spec.Size()
			for b.Loop() {
				if err := Generate(b.Context(), spec, 1, func([]uint64, []float32) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(edges)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
	}
}
