package algo

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/par"
)

// OutDegrees counts the edges out of each vertex, parallel edges and loops
// included. A vertex of 2³² edges or more would overflow its count; no order of
// fewer edges can hold one.
func OutDegrees(ctx context.Context, edges order.EdgeMap, threads int) ([]uint32, error) {
	return degrees(ctx, edges, threads, false)
}

// InDegrees counts the edges into each vertex, as [OutDegrees] does those out of
// it.
func InDegrees(ctx context.Context, edges order.EdgeMap, threads int) ([]uint32, error) {
	return degrees(ctx, edges, threads, true)
}

func degrees(ctx context.Context, edges order.EdgeMap, threads int, in bool) ([]uint32, error) {
	n := edges.Vertices()
	total := huge.Make[uint32](order.PadVertices(n))
	parts := edges.Split(par.Threads(threads))
	counts := make([][]uint32, len(parts))
	err := eachPart(parts, func(i int) error {
		counts[i] = total
		if i > 0 {
			counts[i] = huge.Make[uint32](len(total))
		}
		return parts[i].Run(ctx, &degreeKernel{counts: counts[i], in: in})
	})
	if err != nil {
		return nil, fmt.Errorf("count degrees: %w", err)
	}
	err = par.Range(ctx, par.Threads(threads), n, vertexGrain, func(_, lo, hi int) {
		for _, more := range counts[min(1, len(counts)):] {
			for v, c := range more[lo:hi] {
				total[lo+v] += c
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("count degrees: %w", err)
	}
	return total[:n], nil
}

// degreeKernel counts one end of each edge. counts is padded to whole squares.
type degreeKernel struct {
	counts []uint32
	in     bool
}

func (k *degreeKernel) Rows(r order.Rows) {
	counts := k.counts
	if k.in != r.Reversed {
		for _, u := range r.Targets[r.Offsets[0]:r.Offsets[len(r.Offsets)-1]] {
			counts[u]++
		}
		return
	}
	own := counts[r.First:]
	for i, end := range r.Offsets[1:] {
		own[i] += uint32(end - r.Offsets[i])
	}
}

func (k *degreeKernel) Square(s order.Square) {
	if k.in {
		side := (*[order.SquareSide]uint32)(k.counts[s.Y:])
		for _, p := range s.Pairs {
			side[p.Y]++
		}
		return
	}
	side := (*[order.SquareSide]uint32)(k.counts[s.X:])
	for _, p := range s.Pairs {
		side[p.X]++
	}
}

// DegreeCount says how many vertices have a degree.
type DegreeCount struct {
	Degree   uint32 `json:"degree"`
	Vertices int64  `json:"vertices"`
}

// Distribution describes how the edges of a graph are spread over its vertices.
type Distribution struct {
	Counts   []DegreeCount `json:"counts"` // exact, ascending by degree, no zero entries
	Log2     []int64       `json:"log2"`   // vertices of degree 0, 1, 2-3, 4-7, 8-15 and so on
	Min      uint32        `json:"min"`
	Median   uint32        `json:"median"` // the lower one where there are two
	P99      uint32        `json:"p99"`    // 99 % of the vertices have this degree or less
	Max      uint32        `json:"max"`
	Mean     float64       `json:"mean"`
	Gini     float64       `json:"gini"`      // 0: all equal, towards 1: one vertex has all edges
	TopShare float64       `json:"top_share"` // share of the edges at the 1 % of vertices that have most
}

// DegreeDistribution summarises degrees, which it neither keeps nor changes. It
// is zero for a graph of no vertices.
func DegreeDistribution(degrees []uint32) Distribution {
	var d Distribution
	if len(degrees) == 0 {
		return d
	}
	// Nearly all degrees are small: those are counted in an array, the rest in a map.
	var small [1 << 12]int64
	large := map[uint32]int64{}
	for _, deg := range degrees {
		if deg < uint32(len(small)) {
			small[deg]++
		} else {
			large[deg]++
		}
	}
	for deg, c := range small {
		if c != 0 {
			d.Counts = append(d.Counts, DegreeCount{uint32(deg), c})
		}
	}
	tail := len(d.Counts)
	for deg, c := range large {
		d.Counts = append(d.Counts, DegreeCount{deg, c})
	}
	slices.SortFunc(d.Counts[tail:], func(a, b DegreeCount) int { return int(int64(a.Degree) - int64(b.Degree)) })

	d.Min, d.Max = d.Counts[0].Degree, d.Counts[len(d.Counts)-1].Degree
	d.Log2 = make([]int64, bits.Len32(d.Max)+1)
	n := int64(len(degrees))
	medianAt, p99At, topAt := (n-1)/2, (n*99+99)/100-1, n-(n+99)/100
	var seen int64             // vertices before this degree
	var sum, area, top float64 // edges; Σ rank × degree, ranks from 1; edges of the top 1 %
	for _, c := range d.Counts {
		deg := float64(c.Degree)
		d.Log2[bits.Len32(c.Degree)] += c.Vertices
		last := seen + c.Vertices
		if seen <= medianAt && medianAt < last {
			d.Median = c.Degree
		}
		if seen <= p99At && p99At < last {
			d.P99 = c.Degree
		}
		sum += deg * float64(c.Vertices)
		area += deg * float64(c.Vertices) * float64(seen+1+last) / 2
		if last > topAt {
			top += deg * float64(last-max(seen, topAt))
		}
		seen = last
	}
	d.Mean = sum / float64(n)
	if sum > 0 {
		d.Gini = 2*area/(float64(n)*sum) - float64(n+1)/float64(n)
		d.TopShare = top / sum
	}
	return d
}
