package timely

// Iterate is a loop: body gets a stream of the records of s, in round 0, and of what
// goes around, in the later rounds. It returns what is to go around again, a round
// later, and what leaves the loop, at the time at which s entered. The loop goes on for as long as
// records go around.
//
//	// The greatest odd divisor of each number.
//	odd := numbers.Iterate("halve", func(x timely.Stream[int]) (again, out timely.Stream[int]) {
//		even, odd := x.Branch(func(x int) bool { return x%2 == 0 })
//		return even.Map(func(x int) int { return x / 2 }), odd
//	})
//
// A loop with several streams in or around is made of a [Scope.Loop] and a
// [LoopVariable] for each.
func (s Stream[D]) Iterate[E any](name string, body func(round Stream[D]) (again Stream[D], out Stream[E])) Stream[E] {
	s.require(name)
	loop := s.scope.Loop(name)
	v := LoopVariable[D](loop, 0)
	again, out := body(s.Enter(loop).Concat(v.Stream()))
	v.Set(again)
	return out.Leave(s.scope)
}
