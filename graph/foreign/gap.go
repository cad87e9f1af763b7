package foreign

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync/atomic"

	"weir/graph/order"
	"weir/internal/huge"
	"weir/internal/mapfile"
	"weir/internal/progress"
)

// The names of GAP's files, and the length of their header: one byte that is 1 if
// the graph is directed, then the numbers of edges and of vertices.
const (
	gapExt         = ".sg"
	gapWeightedExt = ".wsg"
	gapHeader      = 17
)

// maxGAPVertices is the largest number of vertices: the ids are int32.
const maxGAPVertices = 1 << 31

// GAP is a graph from one of GAP's files.
type GAP struct {
	// Directed says that In is stored too. An undirected graph stores every edge in
	// both directions in Out, and In is nil.
	Directed bool
	Out, In  *order.CSR
	// Inexact counts the weights of Out that float32 had to round.
	Inexact int64
}

// IsGAP says whether the path has the name of one of GAP's files.
func IsGAP(path string) bool {
	return strings.HasSuffix(path, gapExt) || strings.HasSuffix(path, gapWeightedExt)
}

// ReadGAP reads an .sg or .wsg file into memory on the given number of goroutines
// (all processors if not positive). Its header is 17 bytes long, so that nothing
// in it is aligned and could be used in place.
func ReadGAP(ctx context.Context, path string, threads int) (*GAP, error) {
	if err := mapfile.HostOrder(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: it is not a regular file", path)
	}
	return readGAP(ctx, path, f, info.Size(), strings.HasSuffix(path, gapWeightedExt), threads)
}

func readGAP(ctx context.Context, path string, f io.ReaderAt, size int64, weighted bool, threads int) (*GAP, error) {
	if size < gapHeader {
		return nil, fmt.Errorf("%s: truncated: %d bytes; expected a header of %d", path, size, gapHeader)
	}
	var header [gapHeader]byte
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	edges, n := int64(binary.LittleEndian.Uint64(header[1:])), int64(binary.LittleEndian.Uint64(header[9:]))
	if header[0] > 1 || n < 0 || n > maxGAPVertices || edges < 0 || edges > math.MaxInt64/32 || n == 0 && edges > 0 {
		return nil, fmt.Errorf("%s: not a GAP graph: directed %d (expected 0 or 1), %d edges, %d vertices (expected at most %d)", path, header[0], edges, n, uint64(maxGAPVertices))
	}
	g := &GAP{Directed: header[0] == 1}
	r := gapReader{path: path, f: f, at: gapHeader, n: n, edges: edges, width: 4, threads: threads}
	if weighted {
		r.width = 8
	}
	one := 8*(n+1) + edges*r.width
	expected := gapHeader + one
	if g.Directed {
		expected += one
	}
	if size != expected {
		return nil, fmt.Errorf("%s: %d bytes; expected %d for %s graph of %d vertices and %d edges of %d bytes", path, size, expected,
			map[bool]string{true: "a directed", false: "an undirected"}[g.Directed], n, edges, r.width)
	}
	r.stage = progress.Start(ctx, "read "+path, size, progress.Bytes)
	defer r.stage.Done()
	var err error
	if g.Out, err = r.rows(ctx); err != nil {
		return nil, err
	}
	g.Inexact = r.inexact.Load()
	if g.Directed {
		if g.In, err = r.rows(ctx); err != nil {
			return nil, err
		}
		g.In.Reversed = true
	}
	return g, nil
}

// gapReader reads the parts of a file one after the other.
type gapReader struct {
	path     string
	f        io.ReaderAt
	at       int64 // of the next part
	n, edges int64
	width    int64 // bytes of an edge
	threads  int
	stage    *progress.Stage
	inexact  atomic.Int64
}

// rows reads offsets and neighbours.
func (r *gapReader) rows(ctx context.Context) (*order.CSR, error) {
	c := &order.CSR{Offsets: huge.Make[uint64](int(r.n) + 1), Targets: huge.Make[uint32](int(r.edges))}
	if err := readInto(ctx, r, c.Offsets, nil); err != nil {
		return nil, err
	}
	if first, last := c.Offsets[0], c.Offsets[r.n]; first != 0 || last != uint64(r.edges) {
		return nil, fmt.Errorf("%s: rows go from %d to %d; expected from 0 to %d", r.path, int64(first), int64(last), r.edges)
	}
	for v := range r.n {
		if lo, hi := c.Offsets[v], c.Offsets[v+1]; lo > hi {
			return nil, fmt.Errorf("%s: the row of vertex %d begins at %d and ends at %d", r.path, v, int64(lo), int64(hi))
		}
	}
	var err error
	if r.width == 4 {
		err = readInto(ctx, r, c.Targets, func(lo int, part []uint32) error { return checkIDs(r.path, part, lo, int(r.n)) })
	} else {
		c.Weights = huge.Make[float32](int(r.edges))
		err = r.weighted(ctx, c)
	}
	if err == nil {
		err = sortRows(ctx, r.threads, c.Offsets, c.Targets, c.Weights)
	}
	return c, err
}

// gapEdge is an edge of a .wsg file.
type gapEdge struct {
	Target uint32
	Weight int32
}

// weighted reads neighbours with their weights and takes them apart.
func (r *gapReader) weighted(ctx context.Context, c *order.CSR) error {
	begin := r.at
	r.at += r.edges * r.width
	return try(ctx, nil, r.threads, int(r.edges), edgeGrain, func(lo, hi int) error {
		part := make([]gapEdge, hi-lo)
		if err := r.read(mapfile.Bytes(part), begin+int64(lo)*r.width); err != nil {
			return err
		}
		inexact := 0
		for i, e := range part {
			w := float32(e.Weight)
			c.Targets[lo+i], c.Weights[lo+i] = e.Target, w
			if int64(w) != int64(e.Weight) {
				inexact++
			}
		}
		r.inexact.Add(int64(inexact))
		return checkIDs(r.path, c.Targets[lo:hi], lo, int(r.n))
	})
}

// readInto fills dst with the next part, and lets check see each piece while it
// is in the cache.
func readInto[T any](ctx context.Context, r *gapReader, dst []T, check func(lo int, part []T) error) error {
	begin := r.at
	r.at += int64(len(mapfile.Bytes(dst)))
	return try(ctx, nil, r.threads, len(dst), edgeGrain, func(lo, hi int) error {
		b := mapfile.Bytes(dst[lo:hi])
		if err := r.read(b, begin+int64(len(b)/(hi-lo))*int64(lo)); err != nil {
			return err
		}
		if check != nil {
			return check(lo, dst[lo:hi])
		}
		return nil
	})
}

func (r *gapReader) read(b []byte, at int64) error {
	if n, err := r.f.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("read %s: bytes %d to %d: %w", r.path, at, at+int64(len(b))-1, err)
	}
	r.stage.Add(int64(len(b)))
	return nil
}
