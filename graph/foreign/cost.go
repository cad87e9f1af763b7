package foreign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"weir/graph/order"
	"weir/internal/mapfile"
)

// The names of COST's files. The program leaves the name of its gap stream to the
// shell; this is what we call it.
const (
	nodesExt = ".nodes"
	edgesExt = ".edges"
	upperExt = ".upper"
	lowerExt = ".lower"
	gapsExt  = ".compressed"
)

// COST is a graph from COST's files. Exactly one of Out and Hilbert is set.
type COST struct {
	// Out is set for X.nodes and X.edges. Its targets are those of the file, mapped,
	// unless Copied.
	Out *order.CSR
	// Hilbert is set for X.upper and X.lower, mapped unless Copied, and for gaps.
	Hilbert *order.Hilbert
	// Copied says that the file had to be brought into order in memory: sources or
	// squares were out of sequence, or the targets of one source were.
	Copied bool

	files []*mapfile.File
}

// Vertices is one more than the highest vertex of any edge or node: the files do
// not say.
func (c *COST) Vertices() int { return c.order().Vertices() }

// Edges is the number of edges.
func (c *COST) Edges() int64 { return c.order().Edges() }

func (c *COST) order() order.EdgeMap {
	if c.Out != nil {
		return c.Out
	}
	return c.Hilbert
}

// Close unmaps the files. The orders must not be used any more.
func (c *COST) Close() error {
	var errs []error
	for _, m := range c.files {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

func (c *COST) open(path string) (*mapfile.File, error) {
	m, err := mapfile.Open(path)
	if err == nil {
		c.files = append(c.files, m)
	}
	return m, err
}

// costFiles says which files the path means: a prefix, or one of a pair's files,
// or a stream of gaps (whose second file is empty).
func costFiles(path string) (first, second string, ok bool) {
	for _, pair := range [][2]string{{nodesExt, edgesExt}, {upperExt, lowerExt}} {
		for _, ext := range pair {
			if prefix, found := strings.CutSuffix(path, ext); found && prefix != "" {
				return prefix + pair[0], prefix + pair[1], true
			}
		}
	}
	if strings.HasSuffix(path, gapsExt) {
		return path, "", true
	}
	for _, pair := range [][2]string{{nodesExt, edgesExt}, {upperExt, lowerExt}} {
		if isFile(path+pair[0]) && isFile(path+pair[1]) {
			return path + pair[0], path + pair[1], true
		}
	}
	return "", "", false
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// IsCOST says whether OpenCOST takes the path, by its name and by which files
// there are beside it.
func IsCOST(path string) bool {
	_, _, ok := costFiles(path)
	return ok
}

// OpenCOST opens X.nodes with X.edges, X.upper with X.lower, or X.compressed. The
// path is any of these, or X: then the rows are preferred, because COST may have
// renumbered the vertices of the squares. Everything is checked before it returns,
// on the given number of goroutines (all processors if not positive).
func OpenCOST(ctx context.Context, path string, threads int) (*COST, error) {
	first, second, ok := costFiles(path)
	if !ok {
		return nil, fmt.Errorf("open %s: no COST files: expected %s with %s, %s with %s, or a name that ends in %s",
			path, path+nodesExt, edgesExt, path+upperExt, lowerExt, gapsExt)
	}
	c := new(COST)
	var err error
	switch {
	case second == "":
		err = c.openGaps(ctx, first, threads)
	case strings.HasSuffix(first, nodesExt):
		err = c.openRows(ctx, first, second, threads)
	default:
		err = c.openSquares(ctx, first, second, threads)
	}
	if err == nil && c.Copied {
		err = c.Close()
		c.files = nil
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *COST) openPair(first, second string) (m1, m2 *mapfile.File, err error) {
	if m1, err = c.open(first); err == nil {
		m2, err = c.open(second)
	}
	return m1, m2, err
}

// viewPair views two files as elements.
func viewPair[A, B any](m1, m2 *mapfile.File) (a []A, b []B, err error) {
	if a, err = viewFile[A](m1); err == nil {
		b, err = viewFile[B](m2)
	}
	return a, b, err
}

func viewFile[T any](m *mapfile.File) ([]T, error) {
	v, err := mapfile.View[T](m.Data())
	if err != nil {
		return nil, fmt.Errorf("%s: truncated, or not a COST file: %w", m.Path(), err)
	}
	return v, nil
}
