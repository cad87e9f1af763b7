package foreign

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/progress"
)

// A stream of gaps is COST's compressed Hilbert order: the differences between
// ascending curve positions, from 0 on, each as n-1 zero bytes and then its n
// significant bytes, the highest first. So no gap is 0: an edge is there once,
// and the one from 0 to 0, whose position is 0, cannot be told.

var (
	errGapCut  = errors.New("truncated: the last gap is incomplete")
	errGapLong = errors.New("a gap of more than 8 bytes")
	errGapPast = errors.New("a gap leads past the end of the curve")
)

// readGap is the gap at the beginning of b, and its length.
func readGap(b []byte) (gap uint64, size int, err error) {
	n := 1
	for n <= len(b) && b[n-1] == 0 {
		n++
	}
	if n > 8 {
		return 0, 0, errGapLong
	}
	if size = 2*n - 1; size > len(b) {
		return 0, 0, errGapCut
	}
	for _, v := range b[n-1 : size] {
		gap = gap<<8 | uint64(v)
	}
	return gap, size, nil
}

// appendGap appends a gap, which is not 0.
func appendGap(b []byte, gap uint64) []byte {
	n := (bits.Len64(gap) + 7) / 8
	var word [16]byte
	binary.BigEndian.PutUint64(word[8:], gap)
	// The zeros are those before the significant bytes in word, and before word.
	return append(append(b, word[:n-1]...), word[16-n:]...)
}

// mark is a place in a stream, every edgeGrain edges.
type mark struct {
	at       int    // of the next gap
	position uint64 // of the edge before
}

// marksOf walks the stream and counts its edges.
func marksOf(ctx context.Context, path string, data []byte) (marks []mark, edges int, err error) {
	position := uint64(0)
	for at := 0; at < len(data); edges++ {
		if edges%edgeGrain == 0 {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			marks = append(marks, mark{at, position})
		}
		gap, size := uint64(data[at]), 1
		if gap == 0 {
			if gap, size, err = readGap(data[at:]); err != nil {
				return nil, 0, fmt.Errorf("%s: byte %d: %w", path, at, err)
			}
		}
		if position+gap < position {
			return nil, 0, fmt.Errorf("%s: byte %d: %w", path, at, errGapPast)
		}
		position += gap
		at += size
	}
	return marks, edges, nil
}

// openGaps decodes a stream of gaps.
func (c *COST) openGaps(ctx context.Context, path string, threads int) error {
	m, err := c.open(path)
	if err != nil {
		return err
	}
	c.Copied = true
	return m.Protect(func() (err error) {
		c.Hilbert, err = decodeGaps(ctx, path, m.Data(), threads)
		return err
	})
}

// decodeGaps finds places to begin at, and decodes from all of them at once. The
// first pass has read every byte, so that only a file that changes meanwhile can
// fault in the second.
func decodeGaps(ctx context.Context, path string, data []byte, threads int) (*order.Hilbert, error) {
	marks, edges, err := marksOf(ctx, path, data)
	if err != nil {
		return nil, err
	}
	stage := progress.Start(ctx, "decode "+path, int64(edges), progress.Edges)
	defer stage.Done()
	h := &order.Hilbert{Pairs: huge.Make[order.Pair](edges)}
	runs := make([][]order.Extent, len(marks)) // the squares of each run of edgeGrain edges
	err = try(ctx, nil, threads, edges, edgeGrain, func(lo, hi int) error {
		run := lo / edgeGrain
		at, position := marks[run].at, marks[run].position
		var squares []order.Extent
		last := uint64(1) << 32 // no square
		for e := lo; e < hi; e++ {
			gap, size, err := readGap(data[at:])
			if err != nil {
				return fmt.Errorf("%s: byte %d: %w", path, at, err)
			}
			at, position = at+size, position+gap
			x, y := order.Point(position)
			h.Pairs[e] = order.Pair{X: uint16(x), Y: uint16(y)}
			if position>>32 != last {
				last = position >> 32
				squares = append(squares, order.Extent{X: uint16(x >> 16), Y: uint16(y >> 16)})
			}
			squares[len(squares)-1].Count++
		}
		runs[run] = squares
		stage.Add(int64(hi - lo))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, squares := range runs {
		for _, s := range squares {
			if k := len(h.Squares) - 1; k >= 0 && h.Squares[k].X == s.X && h.Squares[k].Y == s.Y {
				h.Squares[k].Count += s.Count
			} else {
				h.Squares = append(h.Squares, s)
			}
		}
	}
	h.Starts = make([]uint64, len(h.Squares)+1)
	for i, s := range h.Squares {
		h.Starts[i+1] = h.Starts[i] + uint64(s.Count)
	}
	n := verticesOf(h)
	if err := checkVertices(path, n, edges); err != nil {
		return nil, err
	}
	h.N = int(n)
	return h, nil
}

// WriteCOSTGaps writes the stream of gaps that COST's "compressed" program makes
// of the same edges. It returns how many edges the stream could not hold: those
// beyond the first between the same two vertices, and those from 0 to 0.
func WriteCOSTGaps(ctx context.Context, path string, h *order.Hilbert) (dropped int64, err error) {
	out, err := create(path)
	if err != nil {
		return 0, err
	}
	defer out.abandon()
	if dropped, err = writeGaps(ctx, out[0], h); err != nil {
		return 0, err
	}
	return dropped, out.commit()
}

func writeGaps(ctx context.Context, o *output, h *order.Hilbert) (dropped int64, err error) {
	stage := progress.Start(ctx, "write "+o.path, h.Edges(), progress.Edges)
	defer stage.Done()
	last := uint64(0)
	var buf []byte
	err = pieces(ctx, h, func(square int, pairs []order.Pair) error {
		x, y := uint32(h.Squares[square].X)<<16, uint32(h.Squares[square].Y)<<16
		buf = buf[:0]
		for _, p := range pairs {
			at := order.Position(x|uint32(p.X), y|uint32(p.Y))
			switch {
			case at > last:
				buf = appendGap(buf, at-last)
				last = at
			case at == last:
				dropped++
			default:
				return fmt.Errorf("write %s: the edge from %d to %d comes after one that is farther along the curve", o.path, x|uint32(p.X), y|uint32(p.Y))
			}
		}
		stage.Add(int64(len(pairs)))
		return write(o, buf)
	})
	return dropped, err
}
