package order

import (
	"context"
	"fmt"
	"sort"

	"weir/internal/eliasfano"
	"weir/internal/huge"
	"weir/internal/par"
	"weir/internal/progress"
)

// Compress makes compressed Hilbert order. It needs no memory besides the result.
// It is an error if edges are not along the curve, as those of other programs'
// files may not be: [ToCSR] and [BuildHilbert] bring them there.
func Compress(ctx context.Context, h *Hilbert, threads int) (*Compressed, error) {
	threads = par.Threads(threads)
	stage := progress.Start(ctx, "compress", h.Edges(), progress.Edges)
	defer stage.Done()
	first, end := h.Starts[0], h.Starts[len(h.Squares)]
	c := &Compressed{N: h.N, M: h.Edges(), Blocks: make([]CompressedBlock, (end-first+CompressedBlockEdges-1)/CompressedBlockEdges)}
	bounds := func(i int) (lo, hi uint64) {
		lo = first + uint64(i)*CompressedBlockEdges
		return lo, min(lo+CompressedBlockEdges, end)
	}

	// The sizes follow from every frame's last position.
	errs := make([]error, len(c.Blocks))
	err := par.Range(ctx, threads, len(c.Blocks), 1, func(_, i, _ int) {
		lo, hi := bounds(i)
		if errs[i] = check(h.Guard, lo, hi); errs[i] != nil {
			return
		}
		b := &c.Blocks[i]
		b.First, b.Count, b.Size = h.positions(lo, lo+1, nil)[0], uint32(hi-lo), eliasfano.Slack
		base := b.First
		for ; lo < hi; lo += eliasfano.FrameLen {
			last := min(lo+eliasfano.FrameLen, hi)
			position := h.positions(last-1, last, nil)[0]
			if position < base {
				errs[i] = backwards(position, base)
				return
			}
			size := eliasfano.Size(position-base, int(last-lo))
			b.Size, base = b.Size+uint32(size), position
		}
	})
	if err == nil {
		err = firstError(errs)
	}
	if err != nil {
		return nil, err
	}
	size := uint64(0)
	for i := range c.Blocks {
		c.Blocks[i].Offset = size
		size += uint64(c.Blocks[i].Size)
	}
	c.Data = huge.Make[byte](int(size))

	buffers := make([][]uint64, threads)
	err = par.Range(ctx, threads, len(c.Blocks), 1, func(worker, i, _ int) {
		lo, hi := bounds(i)
		b := &c.Blocks[i]
		// With the edge before, so that blocks ascend from one to the next too.
		before := max(lo, first+1) - 1
		positions := h.positions(before, hi, buffers[worker][:0])
		buffers[worker] = positions
		for j := 1; j < len(positions); j++ {
			if positions[j] < positions[j-1] {
				errs[i] = backwards(positions[j], positions[j-1])
				return
			}
		}
		positions = positions[lo-before:]
		dst, base := c.Data[b.Offset:b.Offset+uint64(b.Size)], b.First
		for len(positions) > 0 {
			n := min(len(positions), eliasfano.FrameLen)
			dst = dst[eliasfano.Write(dst, base, positions[:n]):]
			base, positions = positions[n-1], positions[n:]
		}
		stage.Add(int64(hi - lo))
	})
	if err == nil {
		err = firstError(errs)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// backwards is the error of an edge at a position before that of an edge it follows.
func backwards(position, before uint64) error {
	x, y := Point(position)
	u, v := Point(before)
	return fmt.Errorf("compress: the edge from %d to %d follows the one from %d to %d, which is farther along the Hilbert curve; expected edges along it", x, y, u, v)
}

// positions appends the curve positions of edges lo to hi.
func (h *Hilbert) positions(lo, hi uint64, dst []uint64) []uint64 {
	s := sort.Search(len(h.Squares), func(s int) bool { return h.Starts[s+1] > lo })
	for ; lo < hi; s++ {
		square, state := squarePosition(uint32(h.Squares[s].X), uint32(h.Squares[s].Y))
		end := min(hi, h.Starts[s+1])
		dst = enterPairs(square, state, h.Pairs[lo:end], dst)
		lo = end
	}
	return dst
}
