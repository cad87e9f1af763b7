// Package algo holds the textbook graph algorithms, written for one thread first
// and then for all of them.
//
// An algorithm takes the edges it needs explicitly: any [weir/graph/order.EdgeMap]
// where the order of the edges does not matter, rows of out- or in-neighbours
// ([weir/graph/order.CSR]) where it does. Results are indexed by vertex and belong
// to the caller.
//
//	ranks, err := algo.PageRank[float32](ctx, hilbert, algo.PageRankOptions{})
//	parts, err := algo.UnionFind(ctx, hilbert, algo.ComponentsOptions{})
//	fmt.Println(ranks.Ranks[7], parts.Count)
//
// Everything long takes a context and returns its error soon after it is done.
// Threads are given as a number, 0 meaning all processors; whether a result
// depends on it is said by each algorithm.
//
// The single-threaded algorithms and the order in which they improve follow
// McSherry, Isard and Murray, "Scalability! But at what COST?" (HotOS 2015) and
// the post "Bigger data; same laptop" (2015).
package algo
