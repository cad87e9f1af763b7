package tree

// LimitsFor is what each of many series may have in memory so that all of them take at most about budget bytes, of
// those that Memory counts, for as long as points come. Series with few points take less: with limits for 2,400 bytes a
// series, 200 points of each take half of that. Where budget is too low for the least limits that there are, these are
// returned, and the owner has to close series.
func LimitsFor(budget int64, series int) Limits {
	each := budget / int64(max(series, 1))
	for _, step := range steps[:len(steps)-1] {
		if each >= step.each {
			return step.limits
		}
	}
	return steps[len(steps)-1].limits
}

// steps are limits, and what a series takes with them on average, where it is the most: measured with series of mixed
// kinds and thousands of points each.
var steps = [...]struct {
	each   int64
	limits Limits
}{
	{12_000, DefaultLimits},
	{6_600, Limits{Tail: 128, Leaf: 4096, Late: 1024, Fanout: 16}},
	{3_900, Limits{Tail: 64, Leaf: 2048, Late: 512, Fanout: 8}},
	{2_400, Limits{Tail: 20, Leaf: 1400, Late: 128, Fanout: 4}},
	{1_900, Limits{Tail: 20, Leaf: 700, Late: 64, Fanout: 3}},
	{1_600, Limits{Tail: 8, Leaf: 350, Late: 64, Fanout: 4}},
}
