package graph

import (
	"context"
	"fmt"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/radix"
)

// relabel renumbers the vertices by falling degree, so that those that most edges
// have an end at lie together: a few pages of every vertex array then take most of
// the reads, and stay in the cache. Names follow. The graph is held in memory once
// more while that is done.
func (g *Graph) relabel(ctx context.Context) error {
	rows, err := g.Out(ctx)
	if err != nil {
		return err
	}
	in, err := order.InDegrees(ctx, rows, g.threads)
	if err != nil {
		return err
	}
	// The largest first; among equals the order of the file, which may mean something.
	keys := huge.Make[uint64](g.Vertices)
	for v := range keys {
		keys[v] = uint64(^(uint32(rows.Degree(uint32(v)))+in[v]))<<32 | uint64(v)
	}
	radix.Sort(keys, huge.Make[uint64](len(keys)))
	number := huge.Make[uint32](g.Vertices)
	for to, k := range keys {
		number[uint32(k)] = uint32(to)
	}
	if rows, err = order.Relabel(ctx, rows, number, g.threads); err != nil {
		return fmt.Errorf("renumber %s: %w", g.Source, err)
	}
	g.out, g.in, g.hilbert, g.compressed, g.degrees = rows, nil, nil, nil, nil
	g.held = [len(orderNames)]bool{}
	g.Names = g.Names.Permute(number)
	return nil
}
