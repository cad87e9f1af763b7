package main

import (
	"context"

	"weir/graph"
	"weir/graph/generate"
)

// storeGenerated writes the graph as weir's own file.
func (a *app) storeGenerated(ctx context.Context, spec generate.Spec, path string, undirected bool, orders []graph.Order) error {
	vertices, _, err := spec.Size()
	if err != nil {
		return err
	}
	g, err := graph.Store(ctx, graph.Stream{
		Source: "weir graph generate " + string(spec.Kind), Vertices: int(vertices), Weighted: spec.Weights != (generate.Weights{}),
		Edges: func(ctx context.Context, emit func([]uint64, []float32) error) error {
			return generate.Generate(ctx, spec, a.threads, emit)
		},
	}, path, graph.ConvertOptions{
		Options: graph.Options{Undirected: undirected, Threads: a.threads, Memory: int64(a.memory)},
		Orders:  orders,
	})
	if err != nil {
		return err
	}
	return g.Close()
}
