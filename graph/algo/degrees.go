package algo

import (
	"cmp"
	"math/bits"
	"slices"
)

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
	slices.SortFunc(d.Counts[tail:], func(a, b DegreeCount) int { return cmp.Compare(a.Degree, b.Degree) })

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
