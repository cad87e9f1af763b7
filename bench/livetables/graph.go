package main

import (
	"weir/differential"
)

// edge is an edge of a graph, from key to value.
type edge = differential.Pair[uint32, uint32]

// graph is a random graph that is re-wired without end: at first it has edges 0 to n-1, and change
// number c takes edge c away and adds edge n+c. An edge is a function of its number, so that nobody needs to
// keep those that are to be taken away. (The Rust program draws from a second generator of the same seed.)
type graph struct {
	vertices uint32
	edges    int
}

// edge is edge number n, of all there will ever be.
func (g graph) edge(n int) edge {
	x := mix(uint64(n) + 1)
	return edge{Key: uint32(x >> 32 * uint64(g.vertices) >> 32), Value: uint32(x & 0xffffffff * uint64(g.vertices) >> 32)}
}

// mix is a bijection whose values look random: the finalizer of splitmix64 (Steele, Lea, Flood 2014).
func mix(n uint64) uint64 {
	x := n * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sum is what an answer adds to the sum of all: equal sums are equal answers, as far as anybody can tell.
func sum(a, b uint32) uint64 { return mix(uint64(a)<<32 | uint64(b)) }

// distances are the answers of a breadth-first search from vertex 0 after so many changes, made anew.
func (g graph) distances(changes int) (total uint64) {
	first := make([]int, g.vertices+1)
	for n := changes; n < changes+g.edges; n++ {
		first[g.edge(n).Key+1]++
	}
	for v := range g.vertices {
		first[v+1] += first[v]
	}
	next := make([]int, g.vertices)
	copy(next, first)
	targets := make([]uint32, g.edges)
	for n := changes; n < changes+g.edges; n++ {
		e := g.edge(n)
		targets[next[e.Key]] = e.Value
		next[e.Key]++
	}
	seen := make([]bool, g.vertices)
	seen[0] = true
	layer := []uint32{0}
	for distance := uint32(0); len(layer) > 0; distance++ {
		var further []uint32
		for _, v := range layer {
			total += sum(v, distance)
			for _, to := range targets[first[v]:first[v+1]] {
				if !seen[to] {
					seen[to] = true
					further = append(further, to)
				}
			}
		}
		layer = further
	}
	return total
}

// labels are the answers of components, the least vertex of each.
func (g graph) labels(changes int) (total uint64) {
	parent := make([]uint32, g.vertices)
	for v := range parent {
		parent[v] = uint32(v)
	}
	find := func(v uint32) uint32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	for n := changes; n < changes+g.edges; n++ {
		e := g.edge(n)
		a, b := find(e.Key), find(e.Value)
		parent[max(a, b)] = min(a, b)
	}
	for v := range g.vertices {
		total += sum(v, find(v))
	}
	return total
}

// degrees are how many vertices have each number of edges.
func (g graph) degrees(changes int) (total uint64) {
	degrees := make([]uint32, g.vertices)
	for n := changes; n < changes+g.edges; n++ {
		degrees[g.edge(n).Key]++
	}
	counts := map[uint32]uint32{}
	for _, d := range degrees {
		if d > 0 {
			counts[d]++
		}
	}
	for d, n := range counts {
		total += sum(d, n)
	}
	return total
}
