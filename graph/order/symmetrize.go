package order

import (
	"context"
	"fmt"
	"slices"

	"weir/internal/huge"
	"weir/internal/par"
)

// Symmetrize gives the undirected graph: each edge in both directions, a
// self-loop once. With Dedup an edge is there once whatever the number of edges
// between its ends in either direction (with the smallest weight); without, each
// of them counts. Reversed is ignored, since rows and columns are the same.
//
// It merges each row with that of the transpose. It needs the transpose and the
// result besides c.
func Symmetrize(ctx context.Context, c *CSR, opt BuildOptions) (*CSR, error) {
	threads := par.Threads(opt.Threads)
	t, err := Transpose(ctx, c, threads)
	if err != nil {
		return nil, fmt.Errorf("symmetrize: %w", err)
	}
	n := c.Vertices()
	out := &CSR{Offsets: huge.Make[uint64](n + 1)}
	const grain = 1 << 12
	sizes := make([]uint64, (n+grain-1)/grain+1)
	err = par.Range(ctx, threads, n, grain, func(_, lo, hi int) {
		sum := uint64(0)
		for v := lo; v < hi; v++ {
			out.Offsets[v] = sum
			sum += mergedSize(c.Neighbours(uint32(v)), t.Neighbours(uint32(v)), uint32(v), opt.Dedup)
		}
		sizes[lo/grain+1] = sum
	})
	if err != nil {
		return nil, err
	}
	for i := range sizes[1:] {
		sizes[i+1] += sizes[i]
	}
	edges := sizes[len(sizes)-1]
	out.Offsets[n] = edges
	out.Targets = huge.Make[uint32](int(edges))
	if c.Weights != nil {
		out.Weights = huge.Make[float32](int(edges))
	}
	err = par.Range(ctx, threads, n, grain, func(_, lo, hi int) {
		base := sizes[lo/grain]
		for v := lo; v < hi; v++ {
			out.Offsets[v] += base
		}
		m := merger{targets: out.Targets[base:base], dedup: opt.Dedup}
		if c.Weights != nil {
			m.weights = out.Weights[base:base]
		}
		for v := lo; v < hi; v++ {
			m.row(uint32(v), c, t)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// mergedSize is the length of the merged row of vertex v.
func mergedSize(a, b []uint32, v uint32, dedup bool) uint64 {
	if !dedup {
		// The loops are in both rows.
		lo, _ := slices.BinarySearch(a, v)
		hi := lo
		for hi < len(a) && a[hi] == v {
			hi++
		}
		return uint64(len(a) + len(b) - (hi - lo))
	}
	size := uint64(0)
	for i, j := 0, 0; i < len(a) || j < len(b); size++ {
		var u uint32
		if j == len(b) || i < len(a) && a[i] <= b[j] {
			u = a[i]
		} else {
			u = b[j]
		}
		for i < len(a) && a[i] == u {
			i++
		}
		for j < len(b) && b[j] == u {
			j++
		}
	}
	return size
}

// A merger appends merged rows.
type merger struct {
	targets []uint32
	weights []float32
	dedup   bool
}

func (m *merger) row(v uint32, a, b *CSR) {
	i, iEnd := a.Offsets[v], a.Offsets[v+1]
	j, jEnd := b.Offsets[v], b.Offsets[v+1]
	start := len(m.targets)
	for i < iEnd || j < jEnd {
		from, e := a, i
		if i == iEnd || j < jEnd && b.Targets[j] < a.Targets[i] {
			from, e = b, j
			j++
			if b.Targets[e] == v {
				continue // a loop, which a has too
			}
		} else {
			i++
		}
		u := from.Targets[e]
		last := len(m.targets) - 1
		if m.dedup && last >= start && m.targets[last] == u {
			if from.Weights != nil {
				m.weights[last] = Lighter(m.weights[last], from.Weights[e])
			}
			continue
		}
		m.targets = append(m.targets, u)
		if from.Weights != nil {
			m.weights = append(m.weights, from.Weights[e])
		}
	}
}
