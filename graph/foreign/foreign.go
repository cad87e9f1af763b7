// Package foreign reads and writes the binary graph files of two other programs,
// exactly as those write them.
//
//   - COST, the program of McSherry, Isard and Murray's paper "Scalability! But at
//     what COST?" (2015): X.nodes with X.edges hold rows, X.upper with X.lower
//     squares along the Hilbert curve, and a stream of gaps the same compressed.
//   - GAP, Beamer, Asanović and Patterson's benchmark suite (2015): .sg holds rows,
//     .wsg rows with whole-number weights.
//
// None of these has a header that names it or a checksum, so a file is known by
// its name, and what can be checked is: that sizes and counts agree and that
// every vertex exists. Files whose layout is that of an order are mapped and used
// in place; they must not be changed meanwhile. Write under a temporary name and
// rename, as this package does.
package foreign

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/mapfile"
	"weir/internal/par"
)

const (
	edgeGrain = 1 << 18 // edges that one goroutine takes at a time
	rowGrain  = 1 << 12 // rows
)

// try calls f for pieces of [0, n) at the same time, as par.Range does, inside
// m's protection, and stops at the first error. m may be nil.
func try(ctx context.Context, m *mapfile.File, threads, n, grain int, f func(lo, hi int) error) error {
	var failure atomic.Pointer[error]
	err := par.Range(ctx, par.Threads(threads), n, grain, func(_, lo, hi int) {
		if failure.Load() != nil {
			return
		}
		err := protect(m, func() error { return f(lo, hi) })
		if err != nil {
			failure.CompareAndSwap(nil, &err)
		}
	})
	if e := failure.Load(); e != nil {
		return *e
	}
	return err
}

func protect(m *mapfile.File, f func() error) error {
	if m == nil {
		return f()
	}
	return m.Protect(f)
}

// sortRows sorts the rows that are not ascending, each with its weights if there
// are any. Equal targets keep their sequence.
func sortRows(ctx context.Context, threads int, offsets []uint64, targets []uint32, weights []float32) error {
	return try(ctx, nil, threads, len(offsets)-1, rowGrain, func(lo, hi int) error {
		var edges []weighted
		for v := lo; v < hi; v++ {
			begin, end := offsets[v], offsets[v+1]
			row := targets[begin:end]
			if slices.IsSorted(row) {
				continue
			}
			if weights == nil {
				slices.Sort(row)
				continue
			}
			edges = edges[:0]
			for i, t := range row {
				edges = append(edges, weighted{t, weights[begin+uint64(i)]})
			}
			slices.SortStableFunc(edges, func(a, b weighted) int { return int(int64(a.target) - int64(b.target)) })
			for i, e := range edges {
				row[i], weights[begin+uint64(i)] = e.target, e.weight
			}
		}
		return nil
	})
}

type weighted struct {
	target uint32
	weight float32
}

// checkIDs checks that ids, those of the edges from number first on, are below n.
func checkIDs(path string, ids []uint32, first, n int) error {
	if len(ids) == 0 || int64(slices.Max(ids)) < int64(n) {
		return nil
	}
	i := slices.IndexFunc(ids, func(id uint32) bool { return int64(id) >= int64(n) })
	return fmt.Errorf("%s: edge %d names vertex %d; expected less than %d", path, first+i, ids[i], n)
}

// sparse is how many vertices a file may imply whatever its size; above it there
// must be an edge for every 64. A variable for tests.
var sparse uint64 = 1 << 26

// checkVertices checks a number of vertices that follows from the highest id: a
// few damaged bytes must not ask for arrays of many gigabytes.
func checkVertices(path string, vertices uint64, edges int) error {
	switch {
	case vertices > order.MaxVertices:
		return fmt.Errorf("%s: a vertex of number %d; expected at most %d", path, vertices-1, uint64(order.MaxVertices-1))
	case vertices > max(sparse, 64*uint64(edges)):
		return fmt.Errorf("%s: a vertex of number %d among only %d edges: damaged, or to be renumbered first", path, vertices-1, edges)
	}
	return nil
}
