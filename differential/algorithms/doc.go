// Package algorithms answers questions on graphs that change: each function makes of a collection of
// edges a collection of answers, which from then on follows the edges. A change costs in proportion to what it
// changes: of the answer, and of the steps that led to it.
//
//	dist := algorithms.BFS(edges, roots) // Keyed[uint32, uint32]: vertex and distance
//
// # Edges
//
// Edges are a [differential.Keyed]: the source of an edge is the key, its target the value. A vertex is of any
// comparable type; numbers of up to eight bytes are fast. An edge that is there several times is several edges
// for [PageRank], and one for all others. Edges must not be there less than no time.
//
// Where the index of the edges is used, it is the one that the Keyed has: several functions that are given the same
// Keyed share it.
//
// # Loops
//
// All but [Triangles] are loops, whose times have a coordinate more; [SCC] has loops in a loop. So all may be
// called in any scope that has so many coordinates left, of the [timely.MaxDepth] there are.
//
// # What is kept
//
// To know what a change changes, an algorithm keeps how it came to its answer: with E edges and V vertices,
// mostly the edges, and what each edge proposed to its target. That is said with each function, in records; an
// index takes some 8 to 16 bytes for each (see package differential/trace).
package algorithms
