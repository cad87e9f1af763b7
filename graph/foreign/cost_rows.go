package foreign

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/mapfile"
	"weir/internal/progress"
)

// node is an element of X.nodes: a source, and how many elements of X.edges, next
// after those of the node before, are its targets.
type node struct{ ID, Count uint32 }

// openRows opens X.nodes and X.edges.
func (c *COST) openRows(ctx context.Context, nodesPath, edgesPath string, threads int) error {
	m1, m2, err := c.openPair(nodesPath, edgesPath)
	if err != nil {
		return err
	}
	nodes, edges, err := viewPair[node, uint32](m1, m2)
	if err != nil {
		return err
	}
	var starts []uint64
	err = m1.Protect(func() (err error) {
		starts, err = placeNodes(nodesPath, edgesPath, nodes, len(edges))
		return err
	})
	if err != nil {
		return err
	}
	c.Out, c.Copied, err = rowsOf(ctx, edgesPath, m2, nodes, starts, edges, threads)
	return err
}

// placeNodes is where each node's targets begin, with the end of the last.
func placeNodes(nodesPath, edgesPath string, nodes []node, edges int) ([]uint64, error) {
	starts := make([]uint64, len(nodes)+1)
	for i, n := range nodes {
		starts[i+1] = starts[i] + uint64(n.Count)
	}
	if sum := starts[len(nodes)]; sum != uint64(edges) {
		return nil, fmt.Errorf("%s counts %d edges, but %s has %d", nodesPath, sum, edgesPath, edges)
	}
	return starts, nil
}

// rowsOf makes vertex order. If sources and each source's targets ascend the
// order has edges itself as targets, otherwise a copy.
func rowsOf(ctx context.Context, path string, m *mapfile.File, nodes []node, starts []uint64, edges []uint32, threads int) (c *order.CSR, copied bool, err error) {
	ascending := true
	var highest atomic.Uint64 // vertex
	var unsorted atomic.Bool
	if len(nodes) > 0 {
		top := nodes[0].ID
		for i := 1; i < len(nodes); i++ {
			ascending = ascending && nodes[i-1].ID < nodes[i].ID
			top = max(top, nodes[i].ID)
		}
		highest.Store(uint64(top))
	}
	err = try(ctx, m, threads, len(nodes), rowGrain, func(lo, hi int) error {
		top, sorted := uint32(0), true
		for i := lo; i < hi; i++ {
			row := edges[starts[i]:starts[i+1]]
			if len(row) == 0 {
				continue
			}
			if slices.IsSorted(row) {
				top = max(top, row[len(row)-1])
			} else {
				top, sorted = max(top, slices.Max(row)), false
			}
		}
		if !sorted {
			unsorted.Store(true)
		}
		for old := highest.Load(); uint64(top) > old && !highest.CompareAndSwap(old, uint64(top)); old = highest.Load() {
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	n := highest.Load() + 1
	if len(nodes) == 0 {
		n = 0
	}
	if err := checkVertices(path, n, len(edges)); err != nil {
		return nil, false, err
	}
	if !ascending {
		c, err := regroup(ctx, m, int(n), nodes, starts, edges, threads)
		return c, true, err
	}
	c = &order.CSR{Offsets: huge.Make[uint64](int(n) + 1), Targets: edges}
	next := 0
	for i, node := range nodes {
		for ; next <= int(node.ID); next++ {
			c.Offsets[next] = starts[i]
		}
	}
	for ; next <= int(n); next++ {
		c.Offsets[next] = uint64(len(edges))
	}
	if !unsorted.Load() {
		return c, false, nil
	}
	c.Targets = huge.Make[uint32](len(edges))
	err = try(ctx, m, threads, len(edges), edgeGrain, func(lo, hi int) error {
		copy(c.Targets[lo:hi], edges[lo:hi])
		return nil
	})
	if err == nil {
		err = sortRows(ctx, threads, c.Offsets, c.Targets, nil)
	}
	return c, true, err
}

// regroup makes vertex order of nodes in any sequence.
func regroup(ctx context.Context, m *mapfile.File, n int, nodes []node, starts []uint64, edges []uint32, threads int) (*order.CSR, error) {
	chunks := make([][]uint64, (len(edges)+edgeGrain-1)/edgeGrain)
	err := try(ctx, m, threads, len(edges), edgeGrain, func(lo, hi int) error {
		chunk := make([]uint64, 0, hi-lo)
		i, _ := slices.BinarySearch(starts, uint64(lo)+1)
		for i--; i < len(nodes) && starts[i] < uint64(hi); i++ {
			for _, t := range edges[max(starts[i], uint64(lo)):min(starts[i+1], uint64(hi))] {
				chunk = append(chunk, order.Pack(nodes[i].ID, t))
			}
		}
		chunks[lo/edgeGrain] = chunk
		return nil
	})
	if err != nil {
		return nil, err
	}
	c, _, err := order.Build(ctx, n, chunks, nil, order.BuildOptions{Threads: threads})
	return c, err
}

// WriteCOSTVertex writes X.nodes and X.edges for the prefix X, as COST's to_vertex
// does from edges in vertex order. Weights, and vertices above the highest of any
// edge, are not kept. c must have rows of sources.
func WriteCOSTVertex(ctx context.Context, prefix string, c *order.CSR) error {
	if c.Reversed {
		return fmt.Errorf("write %s: rows of targets; expected rows of sources", prefix+nodesExt)
	}
	if err := c.Verify(); err != nil {
		return err
	}
	out, err := create(prefix+nodesExt, prefix+edgesExt)
	if err != nil {
		return err
	}
	defer out.abandon()
	stage := progress.Start(ctx, "write "+prefix+edgesExt, c.Edges(), progress.Edges)
	defer stage.Done()
	nodes := make([]node, 0, rowGrain)
	rows := len(c.Offsets) - 1
	for lo := 0; lo < rows; lo += rowGrain {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+rowGrain, rows)
		nodes = nodes[:0]
		for v := lo; v < hi; v++ {
			// A count of more than 32 bits is split.
			for left := c.Offsets[v+1] - c.Offsets[v]; left > 0; {
				part := min(left, math.MaxUint32)
				nodes = append(nodes, node{uint32(v), uint32(part)})
				left -= part
			}
		}
		if err := write(out[0], nodes); err != nil {
			return err
		}
		if err := write(out[1], c.Targets[c.Offsets[lo]:c.Offsets[hi]]); err != nil {
			return err
		}
		stage.Add(int64(c.Offsets[hi] - c.Offsets[lo]))
	}
	return out.commit()
}
