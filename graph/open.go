package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"weir/graph/names"
	"weir/graph/store"
	"weir/graph/text"
)

// Open opens the graph file at path; "-" is a text on standard input. What the
// file is, its content tells. Close the graph when it is no longer needed: a
// stored graph is a mapped file.
func Open(ctx context.Context, path string, opt Options) (*Graph, error) {
	g, err := open(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	g.threads = opt.Threads
	if g.Report == nil {
		if err := g.rework(ctx, opt); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	return g, nil
}

func open(ctx context.Context, path string, opt Options) (*Graph, error) {
	if path == "-" {
		return loadText(ctx, path, opt)
	}
	if g, err := openForeign(ctx, path, opt); g != nil || err != nil {
		return g, err
	}
	stored, err := isStored(path)
	if err != nil {
		return nil, err
	}
	if stored {
		return openStored(path)
	}
	return loadText(ctx, path, opt)
}

// isStored says whether the file at path is one of weir's own. Pipes are not: what
// is read of them to look is gone.
func isStored(path string) (bool, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("open graph: %w", err)
	}
	defer f.Close()
	head := make([]byte, 8)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("open graph: %w", err)
	}
	return store.Is(head[:n]), nil
}

// openText opens a text, or says what else a file is that cannot be read as one.
func openText(path string) (*text.Input, error) {
	in, err := text.Open(path)
	if err != nil {
		return nil, err
	}
	if store.Is(in.Peek()) {
		err := fmt.Errorf("open graph %s: weir's own files are mapped, not read: need a plain file, not a pipe or a compressed one", in.Name())
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// openStored maps weir's own file.
func openStored(path string) (*Graph, error) {
	f, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	g, err := fromStored(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return g, nil
}

func fromStored(f *store.File) (*Graph, error) {
	m := f.Meta
	g := &Graph{
		Source:     f.Path(),
		Format:     "weir graph",
		Vertices:   int(m.Vertices),
		Edges:      m.Edges,
		Undirected: m.Undirected,
		Weighted:   m.Weighted,
		SelfLoops:  m.SelfLoops,
		Duplicates: m.Duplicates,
		close:      f.Close,
	}
	var err error
	take := func(o Order, kind store.Kind, get func() error) {
		if err == nil && f.Has(kind) {
			err = get()
			g.held[o] = true
		}
	}
	take(OutRows, store.OutTargets, func() (err error) { g.out, err = f.Out(); return })
	take(InRows, store.InSources, func() (err error) { g.in, err = f.In(); return })
	take(Hilbert, store.HilbertPairs, func() (err error) { g.hilbert, err = f.Hilbert(); return })
	take(Compressed, store.CompressedData, func() (err error) { g.compressed, err = f.Compressed(); return })
	if err == nil && f.Has(store.OutDegrees) {
		g.degrees, err = f.Degrees()
	}
	if err == nil && f.Has(store.Names) {
		var data []byte
		if data, err = f.Names(); err == nil {
			g.Names, err = names.Unmarshal(data)
		}
	}
	if err == nil && g.Names != nil && g.Names.Len() != g.Vertices {
		err = fmt.Errorf("%s: names of %d vertices, expected %d", f.Path(), g.Names.Len(), g.Vertices)
	}
	return g, err
}
