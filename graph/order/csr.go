package order

import (
	"context"
	"fmt"
	"sort"
)

// CSR is vertex order: compressed sparse rows. Rows are those of sources, or, if
// Reversed, of targets (then it is also called CSC).
type CSR struct {
	// Offsets has Vertices()+1 elements, rising from 0 to Edges().
	Offsets []uint64
	// Targets holds the neighbours, ascending within a row.
	Targets []uint32
	// Weights is nil, or holds the weight of each edge of Targets.
	Weights []float32
	// Reversed says that row v holds the sources of the edges into v.
	Reversed bool
	// Guard checks ranges of Targets and Weights before Run hands them out. Code
	// that reads the slices itself calls Verify first. Nil where nothing can be
	// damaged. Offsets are always checked before a CSR is made.
	Guard Guard

	first uint32 // vertex of the first row, where this is a part of a larger CSR
	total int    // vertices of the whole, where this is a part
}

// rowsPerBlock and edgesPerBlock bound a block that Run hands out: large enough
// that calls cost nothing, small enough that a cancelled run ends at once.
const (
	rowsPerBlock  = 1 << 16
	edgesPerBlock = 1 << 20
)

// Vertices is the number of vertices of the graph.
func (c *CSR) Vertices() int {
	if c.total != 0 {
		return c.total
	}
	return len(c.Offsets) - 1
}

// Edges is the number of edges.
func (c *CSR) Edges() int64 { return int64(c.Offsets[len(c.Offsets)-1] - c.Offsets[0]) }

// Neighbours is row v. It belongs to the CSR.
func (c *CSR) Neighbours(v uint32) []uint32 {
	return c.Targets[c.Offsets[v]:c.Offsets[v+1]]
}

// Degree is the length of row v.
func (c *CSR) Degree(v uint32) int { return int(c.Offsets[v+1] - c.Offsets[v]) }

// Verify checks all of the storage, so that the slices may be read directly.
func (c *CSR) Verify() error { return check(c.Guard, c.Offsets[0], c.Offsets[len(c.Offsets)-1]) }

// Run hands out rows in order of their vertex.
func (c *CSR) Run(ctx context.Context, k Kernel) error {
	n := len(c.Offsets) - 1
	for lo := 0; lo < n; {
		hi := c.blockEnd(lo)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := check(c.Guard, c.Offsets[lo], c.Offsets[hi]); err != nil {
			return fmt.Errorf("rows of vertices %d to %d: %w", lo, hi-1, err)
		}
		k.Rows(Rows{
			First:    c.first + uint32(lo),
			Offsets:  c.Offsets[lo : hi+1],
			Targets:  c.Targets,
			Reversed: c.Reversed,
		})
		lo = hi
	}
	return nil
}

// blockEnd is where a block that begins with row lo ends: it holds at least one
// row, else neither too many rows nor too many edges.
func (c *CSR) blockEnd(lo int) int {
	n := len(c.Offsets) - 1
	hi := min(lo+rowsPerBlock, n)
	limit := c.Offsets[lo] + edgesPerBlock
	if c.Offsets[hi] <= limit {
		return hi
	}
	return lo + max(1, sort.Search(hi-lo, func(i int) bool { return c.Offsets[lo+i+1] > limit }))
}

// Split cuts between rows. A single row is never cut.
func (c *CSR) Split(n int) []EdgeMap {
	rows := len(c.Offsets) - 1
	base, edges := c.Offsets[0], c.Offsets[rows]-c.Offsets[0]
	var parts []EdgeMap
	for i, lo := 0, 0; i < n && lo < rows; i++ {
		hi := rows
		if i < n-1 {
			// Rows count as an edge each, so that long runs of empty rows are shared too.
			goal := (edges + uint64(rows)) * uint64(i+1) / uint64(n)
			hi = max(lo, sort.Search(rows, func(v int) bool { return c.Offsets[v]-base+uint64(v) >= goal }))
		}
		if hi == lo {
			continue
		}
		parts = append(parts, &CSR{
			Offsets: c.Offsets[lo : hi+1], Targets: c.Targets, Weights: c.Weights, Reversed: c.Reversed, Guard: c.Guard,
			first: c.first + uint32(lo), total: c.Vertices(),
		})
		lo = hi
	}
	return parts
}
