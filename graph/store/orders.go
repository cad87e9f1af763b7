package store

import (
	"context"
	"fmt"

	"weir/graph/order"
	"weir/internal/progress"
)

// WriteCSR writes rows: by source, or by target if c is Reversed. It sets Weighted
// in Meta if c has weights. c must be a whole graph, not a part that Split cut.
func (w *Writer) WriteCSR(ctx context.Context, c *order.CSR) error {
	offsets, ids, weights := OutOffsets, OutTargets, OutWeights
	if c.Reversed {
		offsets, ids, weights = InOffsets, InSources, InWeights
	}
	rows := len(c.Offsets) - 1
	if rows < 0 || c.Offsets[0] != 0 || c.Vertices() != rows || c.Offsets[rows] != uint64(len(c.Targets)) {
		return fmt.Errorf("write %s: the rows are a part of a graph; expected all of one", w.path)
	}
	if c.Weights != nil && len(c.Weights) != len(c.Targets) {
		return fmt.Errorf("write %s: %d weights for %d edges", w.path, len(c.Weights), len(c.Targets))
	}
	if err := c.Verify(); err != nil {
		return err
	}
	if err := writeAll(ctx, w, offsets, c.Offsets); err != nil {
		return err
	}
	if err := writeAll(ctx, w, ids, c.Targets); err != nil {
		return err
	}
	// Without edges a weighted graph may have no slice of weights.
	if c.Weights == nil && (!w.Meta.Weighted || len(c.Targets) > 0) {
		return nil
	}
	w.Meta.Weighted = true
	return writeAll(ctx, w, weights, c.Weights)
}

// WriteHilbert writes Hilbert order.
func (w *Writer) WriteHilbert(ctx context.Context, h *order.Hilbert) error {
	if len(h.Starts) != len(h.Squares)+1 || h.Starts[0] != 0 || h.Starts[len(h.Squares)] != uint64(len(h.Pairs)) {
		return fmt.Errorf("write %s: the squares are a part of a graph; expected all of one", w.path)
	}
	if h.Guard != nil {
		if err := h.Guard.Check(0, uint64(len(h.Pairs))); err != nil {
			return err
		}
	}
	if err := writeAll(ctx, w, HilbertSquares, h.Squares); err != nil {
		return err
	}
	return writeAll(ctx, w, HilbertPairs, h.Pairs)
}

// WriteCompressed writes compressed Hilbert order.
func (w *Writer) WriteCompressed(ctx context.Context, c *order.Compressed) error {
	var size uint64
	for _, b := range c.Blocks {
		if b.Offset != size {
			return fmt.Errorf("write %s: the compressed blocks are a part of a graph; expected all of one", w.path)
		}
		size += uint64(b.Size)
	}
	if size != uint64(len(c.Data)) {
		return fmt.Errorf("write %s: compressed blocks of %d bytes in %d; expected all of a graph", w.path, size, len(c.Data))
	}
	if c.Guard != nil {
		if err := c.Guard.Check(0, size); err != nil {
			return err
		}
	}
	if err := writeAll(ctx, w, CompressedBlocks, c.Blocks); err != nil {
		return err
	}
	return writeAll(ctx, w, CompressedData, c.Data)
}

// WriteNames writes the dictionary of original ids, as graph/names made it.
func (w *Writer) WriteNames(ctx context.Context, data []byte) error {
	return writeAll(ctx, w, Names, data)
}

// WriteDegrees writes the number of out-edges of each vertex, for a file without
// rows by source.
func (w *Writer) WriteDegrees(ctx context.Context, degrees []uint32) error {
	return writeAll(ctx, w, OutDegrees, degrees)
}

// writeAll writes a section whose elements are all in memory, and stops between
// pieces when ctx is done.
func writeAll[T any](ctx context.Context, w *Writer, kind Kind, elements []T) error {
	width := kinds[kind].width
	s, err := w.Section(kind, int64(len(elements))*int64(width))
	if err != nil {
		return err
	}
	stage := progress.Start(ctx, "write "+kind.String(), int64(len(elements))*int64(width), progress.Bytes)
	defer stage.Done()
	piece := 32 * blockSize / width
	for lo := 0; lo < len(elements); lo += piece {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := elements[lo:min(lo+piece, len(elements))]
		if err := s.WriteSlice(part); err != nil {
			return err
		}
		stage.Add(int64(len(part) * width))
	}
	return s.Close()
}
