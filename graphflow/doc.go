// Package graphflow computes on a graph file with a dataflow: by as many workers as
// there are processors, in as many processes, on as many machines.
//
//	g, err := graph.Open(ctx, "web.weir", graph.Options{Prefer: graph.InRows})
//	result, err := graphflow.PageRank(ctx, timely.Threads(2), g, graphflow.PageRankOptions{})
//	fmt.Println(result.Ranks[7], result.Seconds())
//
// Vertex v belongs to worker v modulo the number of workers, and is number v divided by it
// there. A worker keeps the edges whose source it owns, grouped by destination, so
// that one message for each destination leaves it and not one for each edge.
// Sums leave while the others are computed, in blocks of a range of
// destinations, which are handed on as they are: nothing is done per record on the way, and
// what a block is added to stays in the first-level cache.
//
// The design is that of McSherry and Schwarzkopf, "The impact of fast networks on
// graph analytics" (2015).
package graphflow
