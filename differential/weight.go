package differential

import (
	"errors"
	"fmt"
	"math/bits"

	"weir/differential/trace"
	"weir/timely"
)

// OverflowError says that a weight, or another sum of the package's, left the range of int64.
type OverflowError struct{ Problem string }

func (e *OverflowError) Error() string { return "overflow: " + e.Problem }

// fail ends the run with an error of an index.
func fail(err error) {
	if sums, ok := errors.AsType[*trace.OverflowError](err); ok {
		err = &OverflowError{fmt.Sprintf("a weight of %d plus one of %d, at %v", sums.A, sums.B, sums.Time)}
	}
	timely.Fail(err)
}

// product is a times b; it ends the run where that is out of range, as the others below do.
func product(a, b int64) int64 {
	if int64(int32(a)) == a && int64(int32(b)) == b {
		return a * b
	}
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	switch negative := (a < 0) != (b < 0); {
	case hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative:
		timely.Fail(&OverflowError{fmt.Sprintf("a weight of %d times one of %d", a, b)})
	case negative:
		return -int64(lo)
	}
	return int64(lo)
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// added is a plus b.
func added(a, b int64) int64 {
	s := a + b
	if (a >= 0) == (b >= 0) && (s >= 0) != (a >= 0) {
		timely.Fail(&OverflowError{fmt.Sprintf("a weight of %d plus one of %d", a, b)})
	}
	return s
}

// negated is -a.
func negated(a int64) int64 {
	if a == -a && a != 0 {
		timely.Fail(&OverflowError{fmt.Sprintf("a weight of %d is negated", a)})
	}
	return -a
}
