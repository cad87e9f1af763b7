package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"weir/graph/names"
	"weir/graph/order"
	"weir/internal/progress"
)

// Source is a graph to be written.
type Source struct {
	Vertices int
	Edges    int64 // all of those that Each hands out
	Weighted bool
	// Undirected says that both directions of every edge are there, a self-loop
	// once.
	Undirected bool
	// Reversed says that rows hold the sources of the edges into their vertex.
	Reversed bool
	// Names are what edge lists call the vertices; nil calls them by number.
	Names *names.Table
	// Each hands out the rows of vertices in ascending order; empty rows may be
	// left out. Weights is nil where the graph has none. It must hand out the
	// same every time it is called, and return the error of row at once.
	Each func(ctx context.Context, row func(v uint32, targets []uint32, weights []float32) error) error
}

// FromCSR is the graph of c, whose storage must have been verified; t may be nil.
func FromCSR(c *order.CSR, t *names.Table, undirected bool) Source {
	return Source{
		Vertices: c.Vertices(), Edges: c.Edges(), Weighted: c.Weights != nil,
		Undirected: undirected, Reversed: c.Reversed, Names: t,
		Each: func(ctx context.Context, row func(uint32, []uint32, []float32) error) error {
			for v := range uint32(len(c.Offsets) - 1) {
				lo, hi := c.Offsets[v], c.Offsets[v+1]
				if v&0xfff == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				if lo == hi {
					continue
				}
				var weights []float32
				if c.Weights != nil {
					weights = c.Weights[lo:hi]
				}
				if err := row(v, c.Targets[lo:hi], weights); err != nil {
					return err
				}
			}
			return ctx.Err()
		},
	}
}

// WriteOptions say how to write.
type WriteOptions struct {
	// Format is the format; Auto is an edge list or, for Create, what the name
	// of the file says.
	Format Format
	// Separator of an edge list: '\t', ',', ';' or ' '; 0 is a blank, or for
	// Create what the name of the file says.
	Separator byte
	// Weights says whether to write them; Guess writes those that are there. An
	// edge of a graph without weights weighs 1.
	Weights Choice
}

// Create writes g to a file, compressed where its name ends in .gz or .zst; "-"
// is standard output. The rest of the name chooses the format where opt does not:
// .mtx, .graph or .metis, .gr, else an edge list, separated by commas in a .csv,
// by tabs in a .tsv or .txt, by blanks elsewhere; .el leaves weights away and
// .wel has them. The file has its name only once it is complete.
func Create(ctx context.Context, path string, g Source, opt WriteOptions) (err error) {
	opt, packing := byName(path, opt)
	if path == "-" {
		return Write(ctx, os.Stdout, g, opt)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write graph %s: %w", path, err)
		}
	}()
	save := func(f *os.File) error {
		err := pack(f, packing, func(w io.Writer) error { return write(ctx, w, g, opt) })
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		// A device or a pipe is written to, never replaced.
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return save(f)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	// Temporary files are for their owner; a graph is as other files are.
	if err := errors.Join(f.Chmod(0o644), save(f)); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// byName fills in what the name of a file says, and how to compress it.
func byName(path string, opt WriteOptions) (_ WriteOptions, packing string) {
	name := strings.ToLower(path)
	for suffix, p := range map[string]string{".gz": "gzip", ".zst": "zstd"} {
		if strings.HasSuffix(name, suffix) {
			name, packing = strings.TrimSuffix(name, suffix), p
		}
	}
	ext := filepath.Ext(name)
	if opt.Format == Auto {
		switch ext {
		case ".mtx":
			opt.Format = MatrixMarket
		case ".graph", ".metis":
			opt.Format = METIS
		case ".gr":
			opt.Format = DIMACS
		default:
			opt.Format = EdgeList
		}
	}
	if opt.Separator == 0 {
		switch ext {
		case ".csv":
			opt.Separator = ','
		case ".tsv", ".txt":
			opt.Separator = '\t'
		}
	}
	if opt.Weights == Guess {
		switch ext {
		case ".el":
			opt.Weights = No
		case ".wel":
			opt.Weights = Yes
		}
	}
	return opt, packing
}

// pack lets write write through a compressor.
func pack(w io.Writer, packing string, write func(io.Writer) error) error {
	var z io.WriteCloser
	switch packing {
	case "":
		return write(w)
	case "gzip":
		z = gzip.NewWriter(w)
	case "zstd":
		var err error
		if z, err = zstd.NewWriter(w); err != nil {
			return err
		}
	}
	err := write(z)
	if closeErr := z.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Write writes g as text. Edge lists call vertices by their names and leave out
// those without edges; names are quoted where they must be. MatrixMarket, METIS
// and DIMACS call vertices 1 to n. An undirected graph has each of its edges once
// in a MatrixMarket file, which is symmetric then, and in both rows of a METIS
// file, which can hold no other; in edge lists and DIMACS files both directions
// are written.
func Write(ctx context.Context, w io.Writer, g Source, opt WriteOptions) error {
	if err := write(ctx, w, g, opt); err != nil {
		return fmt.Errorf("write graph: %w", err)
	}
	return nil
}

func write(ctx context.Context, w io.Writer, g Source, opt WriteOptions) error {
	stage := progress.Start(ctx, "write", g.Edges, progress.Edges)
	defer stage.Done()
	out := &writer{ctx: ctx, w: w, g: g, stage: stage, weights: opt.Weights == Yes || opt.Weights == Guess && g.Weighted}
	var err error
	switch opt.Format {
	case Auto, EdgeList:
		err = out.edgeList(opt.Separator)
	case MatrixMarket:
		err = out.matrixMarket()
	case METIS:
		err = out.metis()
	case DIMACS:
		err = out.dimacs()
	default:
		err = fmt.Errorf("unknown %v", opt.Format)
	}
	if err == nil {
		err = out.flush()
	}
	return err
}
