package order

import (
	"context"
	"fmt"
	"math/bits"

	"weir/internal/par"
)

// BuildOptions says how edges become rows. The zero value keeps every edge, has
// a row for each source, and uses all processors.
type BuildOptions struct {
	// Threads is the number of goroutines; all processors if not positive.
	Threads int
	// Reversed makes a row for each target, holding the sources.
	Reversed bool
	// Dedup keeps one of the edges that have both ends equal; where edges have
	// weights, the smallest (NaN only if there is nothing else).
	Dedup bool
}

// Stats counts what a builder saw.
type Stats struct {
	Edges      int64 // edges in the result
	SelfLoops  int64 // edges given whose two ends are the same vertex
	Duplicates int64 // edges given beyond the first between the same two vertices
}

// Pack makes the form in which builders take an edge. Packed edges compare in
// vertex order.
func Pack(source, target uint32) uint64 { return uint64(source)<<32 | uint64(target) }

// Build sorts edges into rows. Each element of chunks is a run of packed edges
// (see [Pack]) in any order between vertices below n; weights is nil, or has the
// weights of the edges of each chunk. Rows are ascending, and edges between the
// same vertices stay in the order in which they were given.
//
// The chunks are consumed: Build uses them as its own storage and leaves
// anything in them. Besides them it needs the result (8 bytes a vertex, 4 an
// edge, 8 with weights) and a few megabytes for each thread. Chunks of 2^18
// edges or multiples of it are cheapest.
//
// It is a radix sort in two steps, each of which stays in the cache: pieces of
// the input are split by the high bits of the source; then each group of
// sources, gathered from all pieces, is sorted by target and by source.
func Build(ctx context.Context, n int, chunks [][]uint64, weights [][]float32, opt BuildOptions) (*CSR, Stats, error) {
	if n < 0 || uint64(n) > MaxVertices {
		return nil, Stats{}, fmt.Errorf("build vertex order: %d vertices, expected 0 to %d", n, uint64(MaxVertices))
	}
	if weights != nil && len(weights) != len(chunks) {
		return nil, Stats{}, fmt.Errorf("build vertex order: weights for %d chunks, expected %d", len(weights), len(chunks))
	}
	var edges int64
	var pieces [][]uint64
	var pieceWeights [][]float32
	for i, chunk := range chunks {
		if weights != nil && len(weights[i]) != len(chunk) {
			return nil, Stats{}, fmt.Errorf("build vertex order: chunk %d has %d weights, expected %d", i, len(weights[i]), len(chunk))
		}
		edges += int64(len(chunk))
		for lo := 0; lo < len(chunk); lo += tileEdges {
			hi := min(lo+tileEdges, len(chunk))
			pieces = append(pieces, chunk[lo:hi])
			if weights != nil {
				pieceWeights = append(pieceWeights, weights[i][lo:hi])
			}
		}
	}
	p := newPartition(n, edges, par.Threads(opt.Threads), weights != nil)
	p.tiles = make([]tile, len(pieces))
	splitters := make([]splitter, p.threads)
	err := par.Range(ctx, p.threads, len(pieces), 1, func(worker, i, _ int) {
		keys := pieces[i]
		if opt.Reversed {
			for j, k := range keys {
				keys[j] = bits.RotateLeft64(k, 32)
			}
		}
		var w []float32
		if weights != nil {
			w = pieceWeights[i]
		}
		p.tiles[i] = splitters[worker].swap(p, keys, w)
	})
	if err != nil {
		return nil, Stats{}, err
	}
	if err := p.checkEnds(opt.Reversed); err != nil {
		return nil, Stats{}, fmt.Errorf("build vertex order: %w", err)
	}
	return p.rows(ctx, rowOptions{reversed: opt.Reversed, dedup: opt.Dedup})
}
