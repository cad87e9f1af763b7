package foreign

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"weir/graph/order"
	"weir/internal/progress"
)

// WriteGAP writes a graph as GAP's own programs write it. The path ends in .sg,
// which keeps no weights, or in .wsg, whose weights must be whole numbers. A
// directed graph needs both rows; of an undirected one, with both directions
// stored in out, in is not looked at.
func WriteGAP(ctx context.Context, path string, out, in *order.CSR, directed bool) error {
	weighted := strings.HasSuffix(path, gapWeightedExt)
	if !IsGAP(path) {
		return fmt.Errorf("write %s: expected a name that ends in %s or %s", path, gapExt, gapWeightedExt)
	}
	rows := []*order.CSR{out}
	if directed {
		rows = append(rows, in)
	}
	for i, c := range rows {
		name := [...]string{"rows of sources", "rows of targets"}[i]
		switch {
		case c == nil || c.Reversed != (i == 1):
			return fmt.Errorf("write %s: it needs %s", path, name)
		case int64(c.Vertices()) > maxGAPVertices:
			return fmt.Errorf("write %s: %d vertices; the format holds at most %d", path, c.Vertices(), int64(maxGAPVertices))
		case c.Vertices() != out.Vertices() || c.Edges() != out.Edges() || len(c.Offsets) != c.Vertices()+1 || c.Offsets[0] != 0:
			return fmt.Errorf("write %s: %s of %d vertices and %d edges; expected a whole graph of %d and %d",
				path, name, len(c.Offsets)-1, c.Edges(), out.Vertices(), out.Edges())
		case weighted && c.Weights == nil && c.Edges() > 0:
			return fmt.Errorf("write %s: the graph has no weights; expected some, or a name that ends in %s", path, gapExt)
		}
		if err := c.Verify(); err != nil {
			return err
		}
	}
	files, err := create(path)
	if err != nil {
		return err
	}
	defer files.abandon()
	w := gapWriter{files[0], progress.Start(ctx, "write "+path, out.Edges()*int64(len(rows)), progress.Edges)}
	defer w.stage.Done()
	header := make([]byte, gapHeader)
	if directed {
		header[0] = 1
	}
	binary.LittleEndian.PutUint64(header[1:], uint64(out.Edges()))
	binary.LittleEndian.PutUint64(header[9:], uint64(out.Vertices()))
	if err := write(w.o, header); err != nil {
		return err
	}
	for _, c := range rows {
		if err := w.rows(ctx, c, weighted); err != nil {
			return err
		}
	}
	return files.commit()
}

type gapWriter struct {
	o     *output
	stage *progress.Stage
}

func (w *gapWriter) rows(ctx context.Context, c *order.CSR, weighted bool) error {
	if err := write(w.o, c.Offsets); err != nil {
		return err
	}
	var buf []gapEdge
	for lo := 0; lo < len(c.Targets); lo += edgeGrain {
		hi := min(lo+edgeGrain, len(c.Targets))
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if weighted {
			if buf, err = join(buf[:0], c.Targets[lo:hi], c.Weights[lo:hi]); err == nil {
				err = write(w.o, buf)
			} else {
				err = fmt.Errorf("write %s: edge %d: %w", w.o.path, lo+len(buf), err)
			}
		} else {
			err = write(w.o, c.Targets[lo:hi])
		}
		if err != nil {
			return err
		}
		w.stage.Add(int64(hi - lo))
	}
	return nil
}

var errWeight = errors.New("expected a whole number of 32 bits, as GAP's weights are")

// join puts targets and weights together, up to the first weight that is no int32.
func join(edges []gapEdge, targets []uint32, weights []float32) ([]gapEdge, error) {
	for i, t := range targets {
		w := float64(weights[i])
		if w != math.Trunc(w) || w < math.MinInt32 || w > math.MaxInt32 {
			return edges, fmt.Errorf("weight %v: %w", weights[i], errWeight)
		}
		edges = append(edges, gapEdge{t, int32(w)})
	}
	return edges, nil
}
