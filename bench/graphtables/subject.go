package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"weir/graph"
	"weir/graph/order"
	"weir/graph/text"
	"weir/internal/huge"
	"weir/internal/par"
)

// subject is a graph that is measured, with all of its orders.
type subject struct {
	input
	text string // file that the graph was read from, "" where that is not measured

	graph      *graph.Graph
	out, in    *order.CSR
	hilbert    *order.Hilbert
	compressed *order.Compressed
	degrees    []uint32 // out of each vertex
}

// orders are those that the cache keeps of the graph. The transposed rows of an
// undirected one are its rows.
func (in input) orders() []graph.Order {
	if in.undirected() {
		return []graph.Order{graph.OutRows, graph.Hilbert, graph.Compressed}
	}
	return []graph.Order{graph.OutRows, graph.InRows, graph.Hilbert, graph.Compressed}
}

// readOptions tell how the text of the input is read.
func (in input) readOptions(threads int) graph.Options {
	o := graph.Options{Text: text.Options{Columns: in.columns}, Threads: threads}
	if in.spec != nil {
		// All of its vertices exist, as they do in the published programs' files.
		o.Text.Vertices = 1 << in.spec.Scale
	}
	if in.undirected() {
		o.Undirected, o.Dedup = true, true
	}
	return o
}

// open opens the graph of in, generates it where the cache does not hold it, and
// reads all of it once, so that no run is the first to see a page of a file.
func (b *bench) open(ctx context.Context, in input) (*subject, error) {
	s := &subject{input: in}
	path, opt := in.path, in.readOptions(0)
	if in.spec != nil {
		var err error
		if path, s.text, err = b.generate(ctx, in); err != nil {
			return nil, fmt.Errorf("generate %s: %w", in.name, err)
		}
		opt = graph.Options{}
	}
	g, err := graph.Open(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	s.graph = g
	if err := s.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("load %s: %w", in.name, err), g.Close())
	}
	return s, nil
}

func (s *subject) load(ctx context.Context) error {
	var err error
	if s.out, err = s.graph.Out(ctx); err != nil {
		return err
	}
	if s.in, err = s.graph.In(ctx); err != nil {
		return err
	}
	for _, o := range []graph.Order{graph.Hilbert, graph.Compressed} {
		m, err := s.graph.Map(ctx, o)
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *order.Hilbert:
			s.hilbert = m
		case *order.Compressed:
			s.compressed = m
		}
		if _, err := order.OutDegrees(ctx, m, 0); err != nil {
			return err
		}
	}
	if s.graph.Edges == 0 {
		return errors.New("it has no edges, so there is nothing to measure")
	}
	s.degrees, err = s.graph.OutDegrees(ctx)
	return err
}

// generate returns weir's own file of the graph, with all orders, and its text;
// it makes those that the cache does not hold.
func (b *bench) generate(ctx context.Context, in input) (stored, listed string, err error) {
	name := filepath.Join(b.opt.cache, fmt.Sprintf("%s-%d-seed%d", in.spec.Kind, in.spec.Scale, in.spec.Seed))
	stored, listed = name+".weir", name+".txt"
	if err := os.MkdirAll(b.opt.cache, 0o777); err != nil {
		return "", "", err
	}
	if _, err := os.Stat(listed); err != nil {
		if err := writeList(ctx, listed, *in.spec); err != nil {
			return "", "", err
		}
	}
	if complete(ctx, stored, in) {
		return stored, listed, nil
	}
	g, err := graph.Convert(ctx, listed, stored, graph.ConvertOptions{Options: in.readOptions(0), Orders: in.orders()})
	if err != nil {
		return "", "", err
	}
	return stored, listed, g.Close()
}

// complete says whether the file at path holds the graph in all orders.
func complete(ctx context.Context, path string, in input) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	g, err := graph.Open(ctx, path, graph.Options{})
	if err != nil {
		return false
	}
	defer g.Close()
	for _, o := range in.orders() {
		if !g.Stored(o) {
			return false
		}
	}
	return g.Vertices == 1<<in.spec.Scale
}

// sources are vertices with edges out, to search from: the same ones each time.
func (s *subject) sources(n int) []uint32 {
	random := rand.New(rand.NewPCG(seed, 0))
	found := make([]uint32, 0, n)
	for len(found) < n {
		v := random.IntN(s.graph.Vertices)
		for s.degrees[v] == 0 {
			v = (v + 1) % s.graph.Vertices
		}
		found = append(found, uint32(v))
	}
	return found
}

// weighted is vertex order with whole weights from 1 to 255, as the GAP benchmark
// has them. Both directions of an edge weigh the same.
func (s *subject) weighted(ctx context.Context) (*order.CSR, error) {
	rows := *s.out
	rows.Weights = huge.Make[float32](len(rows.Targets))
	err := par.Range(ctx, 0, s.graph.Vertices, 1<<12, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			for e := rows.Offsets[v]; e < rows.Offsets[v+1]; e++ {
				u := uint32(v)
				hash := order.Pack(min(u, rows.Targets[e]), max(u, rows.Targets[e])) * 0x9e3779b97f4a7c15
				hash = (hash ^ hash>>32) * 0xd6e8feb86659fd93
				rows.Weights[e] = float32(1 + hash>>32%255)
			}
		}
	})
	return &rows, err
}
