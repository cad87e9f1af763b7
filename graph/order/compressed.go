package order

import (
	"context"
	"fmt"
	"sort"

	"weir/internal/eliasfano"
)

// CompressedBlockEdges is the number of edges of each block of a [Compressed]
// but the last, and the most that a block may have.
const CompressedBlockEdges = 1 << 16

// Compressed is Hilbert order as ascending curve positions, in blocks of frames
// (see package eliasfano) that are decoded while they are walked.
//
// The frames were chosen among five layouts by `go test -bench Layouts
// ./graph/order`, which compares bits an edge on an RMAT graph of scale 18, a
// crawl of the web, and a social network; and the time to decode the first:
//
//	layout                       RMAT    web   social   time
//	LEB128 gaps                  17.8    8.3   13.2     2.5
//	gaps of 1, 2, 4 or 8 bytes   17.7   10.2   14.4     0.7
//	128 gaps of equal width      17.4    7.4   14.2     0.6
//	Rice-coded gaps              15.6    4.8   11.9     2.6
//	Elias-Fano frames            16.0    5.0   12.2     1
//	vertex order, plain          36.0   34.1   37.5
//	the same in gzip; in zstd    19.9; 19.3   2.9; 2.8   18.7; 18.0
//
// To leave the curve costs as much again as to decode, whatever the layout.
type Compressed struct {
	N      int    // vertices
	M      int64  // edges
	Data   []byte // frames of positions; see CompressedBlock
	Blocks []CompressedBlock
	Guard  Guard // checks ranges of Data; nil where nothing can be damaged
}

// CompressedBlock is a run of edges that can be decoded without those before. Its
// frames are in Data[Offset:Offset+Size].
type CompressedBlock struct {
	First  uint64 // curve position of the first edge
	Offset uint64
	Size   uint32
	Count  uint32 // edges, at least 1
}

// Vertices is the number of vertices.
func (c *Compressed) Vertices() int { return c.N }

// Edges is the number of edges.
func (c *Compressed) Edges() int64 { return c.M }

// BitsPerEdge is the size of the whole order; 0 without edges.
func (c *Compressed) BitsPerEdge() float64 {
	bytes := 24 * len(c.Blocks) // a block's First, Offset, Size and Count
	for _, b := range c.Blocks {
		bytes += int(b.Size)
	}
	return 8 * float64(bytes) / max(float64(c.M), 1)
}

// Run decodes one block after the other and hands out its squares. A block may
// end within a square.
func (c *Compressed) Run(ctx context.Context, k Kernel) error {
	most := uint32(0)
	for _, b := range c.Blocks {
		most = max(most, b.Count)
	}
	d := squareDecoder{kernel: k, vertices: uint64(c.N), pairs: make([]Pair, 0, min(most, CompressedBlockEdges))}
	for i, b := range c.Blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.Offset > uint64(len(c.Data)) || uint64(b.Size) > uint64(len(c.Data))-b.Offset {
			return fmt.Errorf("compressed block %d: bytes %d to %d of %d", i, b.Offset, b.Offset+uint64(b.Size), len(c.Data))
		}
		if b.Count == 0 || b.Count > CompressedBlockEdges {
			return fmt.Errorf("compressed block %d: %d edges, expected 1 to %d", i, b.Count, CompressedBlockEdges)
		}
		err := check(c.Guard, b.Offset, b.Offset+uint64(b.Size))
		if err == nil {
			err = d.block(b.First, int(b.Count), c.Data[b.Offset:b.Offset+uint64(b.Size)])
		}
		if err != nil {
			return fmt.Errorf("compressed block %d at byte %d: %w", i, b.Offset, err)
		}
	}
	return nil
}

// Split cuts between blocks.
func (c *Compressed) Split(n int) []EdgeMap {
	ends := make([]int64, len(c.Blocks))
	sum := int64(0)
	for i, b := range c.Blocks {
		sum += int64(b.Count)
		ends[i] = sum
	}
	var parts []EdgeMap
	for i, lo := 0, 0; i < n && lo < len(c.Blocks); i++ {
		hi := len(c.Blocks)
		if i < n-1 {
			goal := sum / int64(n) * int64(i+1)
			hi = max(lo, sort.Search(len(ends), func(b int) bool { return ends[b] >= goal }))
		}
		if hi == lo {
			continue
		}
		part := &Compressed{N: c.N, M: ends[hi-1], Data: c.Data, Blocks: c.Blocks[lo:hi], Guard: c.Guard}
		if lo > 0 {
			part.M -= ends[lo-1]
		}
		parts = append(parts, part)
		lo = hi
	}
	return parts
}

// A squareDecoder turns frames into squares. Whatever the bytes, the edges that
// it hands out are between vertices below the given number.
type squareDecoder struct {
	kernel    Kernel
	vertices  uint64
	pairs     []Pair
	positions [eliasfano.FrameLen]uint64

	square   uint32 // position of the square at hand
	x, y     uint32
	state    uint32
	boundary bool // some of the square's vertices are too large
}

func (d *squareDecoder) block(base uint64, count int, data []byte) error {
	if err := d.enter(uint32(base >> 32)); err != nil {
		return err
	}
	for count > 0 {
		n := min(count, eliasfano.FrameLen)
		size, err := eliasfano.Read(data, base, d.positions[:n])
		if err != nil {
			return fmt.Errorf("%d edges before the end: %w", count, err)
		}
		for positions := d.positions[:n]; len(positions) > 0; {
			if square := uint32(positions[0] >> 32); square != d.square {
				if square < d.square {
					return fmt.Errorf("square %#x comes after %#x", square, d.square)
				}
				d.flush()
				if err := d.enter(square); err != nil {
					return err
				}
			}
			run := len(positions)
			if uint32(positions[run-1]>>32) != d.square {
				run = sort.Search(run, func(i int) bool { return uint32(positions[i]>>32) != d.square })
			}
			if err := d.leave(positions[:run]); err != nil {
				return err
			}
			positions = positions[run:]
		}
		base = d.positions[n-1]
		data, count = data[size:], count-n
	}
	if len(data) != eliasfano.Slack {
		return fmt.Errorf("%d bytes after the frames, expected %d", len(data), eliasfano.Slack)
	}
	d.flush()
	return nil
}

// enter begins a square.
func (d *squareDecoder) enter(square uint32) error {
	x, y, state := squareAt(square)
	d.square, d.x, d.y, d.state = square, x<<16, y<<16, state
	if last := uint64(max(d.x, d.y)); last >= d.vertices {
		return fmt.Errorf("square of vertices from %d and from %d, expected vertices below %d", d.x, d.y, d.vertices)
	}
	d.boundary = uint64(max(d.x, d.y))+SquareSide > d.vertices
	return nil
}

// leave appends the pairs at positions, all of which are taken to be in the
// square at hand.
func (d *squareDecoder) leave(positions []uint64) error {
	at := len(d.pairs)
	d.pairs = d.pairs[:at+len(positions)]
	pairs := d.pairs[at:]
	leavePairs(d.state, positions, pairs)
	if !d.boundary {
		return nil
	}
	for _, p := range pairs {
		if x, y := d.x|uint32(p.X), d.y|uint32(p.Y); uint64(max(x, y)) >= d.vertices {
			return fmt.Errorf("edge from vertex %d to %d, expected vertices below %d", x, y, d.vertices)
		}
	}
	return nil
}

// flush hands out the pairs of the square at hand.
func (d *squareDecoder) flush() {
	if len(d.pairs) > 0 {
		d.kernel.Square(Square{X: d.x, Y: d.y, Pairs: d.pairs})
		d.pairs = d.pairs[:0]
	}
}
