package main

import (
	"math"
	"slices"

	"weir/differential"
)

// liveState is the answer, as the first worker knows it. A vertex has one answer or none once all changes up
// to an epoch have come, and in between any sum of such, so that the sums of values are enough: what is
// taken away goes out of them again.
type liveState struct {
	values []uint32 // of each vertex, the sum of values times weights, modulo 2³²
	counts []int32  // and of the weights: 1 where there is an answer
	names  []string // of the vertices beyond those of the graph

	following bool
	touched   map[uint32]liveOld // since the transaction began
}

// liveOld is what the answer for a vertex was.
type liveOld struct {
	value uint32
	has   bool
}

// take adds changes.
func (s *liveState) take(batch []differential.Update[liveAnswer]) {
	for i := range batch {
		u := &batch[i]
		v := u.Data.Key
		if n := int(v) + 1; n > len(s.values) {
			s.values = append(s.values, make([]uint32, n-len(s.values))...)
			s.counts = append(s.counts, make([]int32, n-len(s.counts))...)
		}
		if s.following {
			if _, ok := s.touched[v]; !ok {
				s.touched[v] = liveOld{s.values[v], s.counts[v] > 0}
			}
		}
		s.values[v] += u.Data.Value * uint32(u.Weight)
		s.counts[v] += int32(u.Weight)
	}
}

// begin begins a transaction.
func (s *liveState) begin() {
	if s.following && len(s.touched) < 1<<12 {
		clear(s.touched)
		return
	}
	s.following, s.touched = true, map[uint32]liveOld{}
}

// liveDiff is the change of an answer.
type liveDiff struct {
	vertex   uint32
	old, new liveOld
}

// changes is what has changed since the transaction began, in order of vertices.
func (s *liveState) changes() []liveDiff {
	var list []liveDiff
	for v, old := range s.touched {
		if now := (liveOld{s.values[v], s.counts[v] > 0}); now != old && (now.has || old.has) {
			list = append(list, liveDiff{v, old, now})
		}
	}
	slices.SortFunc(list, func(a, b liveDiff) int { return int(int64(a.vertex) - int64(b.vertex)) })
	return list
}

// liveSummary is an answer in short.
type liveSummary struct {
	Answered   int       `json:"answered"` // vertices that have one
	Depth      uint32    `json:"depth,omitempty"`
	Components int       `json:"components,omitempty"`
	Largest    int       `json:"largest,omitempty"` // vertices of a component
	Top        []liveTop `json:"top,omitempty"`
}

// liveRankTop is how many of the first vertices by rank a summary has.
const liveRankTop = 5

// summary looks at all answers.
func (s *liveState) summary(shown liveValue) (sum liveSummary, top []uint32) {
	var sizes []int32
	for v, n := range s.counts {
		if n <= 0 {
			continue
		}
		sum.Answered++
		switch x := s.values[v]; shown {
		case liveDistance:
			sum.Depth = max(sum.Depth, x)
		case liveLabel:
			if sizes == nil {
				sizes = make([]int32, len(s.values))
			}
			sizes[x]++
		case liveRank:
			i, _ := slices.BinarySearchFunc(top, x, func(w, x uint32) int {
				if math.Float32frombits(s.values[w]) >= math.Float32frombits(x) {
					return -1
				}
				return 1
			})
			if i < liveRankTop {
				top = slices.Insert(top, i, uint32(v))
				top = top[:min(len(top), liveRankTop)]
			}
		}
	}
	for _, n := range sizes {
		if n > 0 {
			sum.Components++
			sum.Largest = max(sum.Largest, int(n))
		}
	}
	return sum, top
}
