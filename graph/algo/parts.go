package algo

import (
	"weir/graph/order"
	"weir/internal/par"
)

// vertexGrain is how many vertices a goroutine takes at a time where the work on
// each is the same and small.
const vertexGrain = 1 << 16

// eachPart calls f for the index of each part, all at the same time, and returns
// the error of the first part that has one.
func eachPart(parts []order.EdgeMap, f func(part int) error) error {
	if len(parts) == 0 {
		return nil
	}
	errs := make([]error, len(parts))
	par.Each(len(parts), func(i int) { errs[i] = f(i) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
