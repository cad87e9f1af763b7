package timely

import (
	"iter"
	"slices"
)

// position is where a place stands in the order in which changes are carried
// along. It follows from the shape of the dataflow alone.
//
// The order is one of pairs of a place and a time in which every step leads
// forward, so that all that can change a pair has happened when its turn comes,
// which is once. Between places that are on no cycle together, the one
// upstream is first, whatever the times: rank says so. Places that are on
// a cycle together make up a loop. Between these the first coordinate of the times
// decides. Where it is equal, the steps that add to it are out of the question, and
// without them the loop falls apart into single places and smaller loops: again
// the one upstream is first, and within a smaller loop the second coordinate
// decides, and so on.
type position struct {
	rank int32
	// loops are the loops that the place is in, the largest first, by a number of
	// their own from 1 on. They need not be the loops of the program.
	loops [MaxDepth]int32
}

// arranger finds the positions of places.
type arranger struct {
	steps [][]step
	at    []position
	ranks int32 // how many have been given
	loops int32
	cycle []int32 // the places of a cycle that does not advance time, if there is one

	// The loop that is being taken apart, and how many coordinates it has been
	// taken apart by before; at level 0 it is the whole dataflow.
	level  int
	within int32

	// Of Tarjan's algorithm: the number of each place in the order of discovery, the
	// lowest that it leads back to, and the places whose component is not complete.
	index, low []int32
	count      int32
	stack      []int32
	open       []bool
	components [][]int32 // the most downstream first
}

// arrange finds the position of each place, or else a cycle that does not advance
// time: one that leads from some time at a place to the same again.
//
// A cycle keeps as many coordinates as that of its steps that keeps the fewest. It
// advances time if and only if one of its steps adds to a coordinate that it keeps:
// what is added to others is forgotten on the way around.
func arrange(steps [][]step) (positions []position, cycle []int32) {
	a := &arranger{
		steps: steps,
		at:    make([]position, len(steps)),
		index: make([]int32, len(steps)),
		low:   make([]int32, len(steps)),
		open:  make([]bool, len(steps)),
	}
	all := make([]int32, len(steps))
	for i := range all {
		all[i] = int32(i)
	}
	a.order(all, 0, 0)
	return a.at, a.cycle
}

// order gives ranks to the places of a loop, or at level 0 to all.
func (a *arranger) order(members []int32, level int, within int32) {
	a.level, a.within = level, within
	for _, p := range members {
		a.index[p] = 0
	}
	for _, p := range members {
		if a.index[p] == 0 {
			a.visit(p)
		}
	}
	components := a.components
	a.components = nil
	for _, c := range slices.Backward(components) {
		a.level, a.within = level, within
		if !a.cyclic(c) {
			a.ranks++
			a.at[c[0]].rank = a.ranks
			continue
		}
		if a.cycle = a.standing(c); a.cycle != nil {
			return
		}
		a.loops++
		loop := a.loops
		for _, p := range c {
			a.at[p].loops[level] = loop
		}
		if a.order(c, level+1, loop); a.cycle != nil {
			return
		}
	}
}

// inside are the steps from p that stay in the loop that is taken apart, without
// those that add to a coordinate that it was taken apart by.
func (a *arranger) inside(p int32) iter.Seq[step] {
	return func(yield func(step) bool) {
	steps:
		for _, s := range a.steps[p] {
			if a.level > 0 && a.at[s.to].loops[a.level-1] != a.within {
				continue
			}
			for _, n := range s.summary.Add[:a.level] {
				if n > 0 {
					continue steps
				}
			}
			if !yield(s) {
				return
			}
		}
	}
}

// visit finds strongly connected components (Tarjan, 1972).
func (a *arranger) visit(p int32) {
	a.count++
	a.index[p], a.low[p] = a.count, a.count
	a.stack = append(a.stack, p)
	a.open[p] = true
	for s := range a.inside(p) {
		if a.index[s.to] == 0 {
			a.visit(s.to)
			a.low[p] = min(a.low[p], a.low[s.to])
		} else if a.open[s.to] {
			a.low[p] = min(a.low[p], a.index[s.to])
		}
	}
	if a.low[p] != a.index[p] {
		return
	}
	var c []int32
	for done := false; !done; {
		q := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		a.open[q] = false
		c = append(c, q)
		done = q == p
	}
	a.components = append(a.components, c)
}

// cyclic says that a component is a loop and not a single place.
func (a *arranger) cyclic(component []int32) bool {
	if len(component) > 1 {
		return true
	}
	for s := range a.inside(component[0]) {
		if s.to == component[0] {
			return true
		}
	}
	return false
}

// standing finds a cycle in a component that does not advance time. No step in it
// adds to the coordinates before level, and every step is on some cycle, so one
// step that keeps no more than those makes such a cycle.
func (a *arranger) standing(component []int32) []int32 {
	member := make(map[int32]bool, len(component))
	for _, p := range component {
		member[p] = true
	}
	for _, p := range component {
		for s := range a.inside(p) {
			if member[s.to] && min(s.summary.Keep, MaxDepth) <= a.level {
				return a.path(s.to, p)
			}
		}
	}
	return nil
}

// path is the places on a shortest path, with both ends.
func (a *arranger) path(from, to int32) []int32 {
	before := map[int32]int32{from: from}
	for queue := []int32{from}; len(queue) > 0; queue = queue[1:] {
		for s := range a.inside(queue[0]) {
			if _, seen := before[s.to]; !seen {
				before[s.to] = queue[0]
				queue = append(queue, s.to)
			}
		}
	}
	path := []int32{to}
	for p := to; p != from; p = before[p] {
		path = append(path, before[p])
	}
	slices.Reverse(path)
	return path
}
