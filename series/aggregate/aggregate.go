// Package aggregate sums up runs of points so that sums of longer runs come from those of shorter ones: what an inner
// node of a tree says of each subtree, and what a query answers about a range.
//
//	var a aggregate.Aggregate
//	a.Add(times, values)
//	a.Merge(&later)
//	fmt.Println(a.Mean(), a.Increase())
package aggregate

import "math"

// Aggregate is what is known of a run of points of one series, in the order of their times. The zero value is that of
// no point: only Count means something then.
//
// NaN is a value like any other to Count, First and Last, and counts for nothing in Min, Max and Sum: these are about
// the Count - NaNs numbers, and where there is none Min and Max are NaN and Sum is 0.
type Aggregate struct {
	Count, NaNs         uint64
	FirstTime, LastTime int64 // nanoseconds
	MinTime, MaxTime    int64 // of the first point that has the least, the greatest value
	First, Last         float64
	Min, Max            float64
	Sum                 float64
	// Drops is what a counter had lost by its resets: the sum of the values that were followed by a lesser one. With
	// it the increase of a counter over any run comes from its ends.
	Drops float64
}

// Numbers is how many of the values are not NaN.
func (a *Aggregate) Numbers() uint64 { return a.Count - a.NaNs }

// Mean is the mean of the numbers; NaN if there is none.
func (a *Aggregate) Mean() float64 {
	if a.Numbers() == 0 {
		return math.NaN()
	}
	return a.Sum / float64(a.Numbers())
}

// Increase is how far a counter got from the first point to the last, resets counted as starts from 0.
func (a *Aggregate) Increase() float64 { return a.Last - a.First + a.Drops }

// AddPoint adds a point that is not before the others.
func (a *Aggregate) AddPoint(time int64, value float64) {
	a.Add([]int64{time}, []float64{value})
}

// Add adds points that are in the order of their times and not before those that a has. The slices are of one length
// and are not kept.
func (a *Aggregate) Add(times []int64, values []float64) {
	if len(times) == 0 {
		return
	}
	values = values[:len(times)]
	last := a.Last
	if a.Count == 0 {
		*a = Aggregate{FirstTime: times[0], First: values[0], Min: math.NaN(), Max: math.NaN()}
		last = values[0]
	}
	lo, hi, sum, drops := a.Min, a.Max, a.Sum, a.Drops
	nans := 0
	for i, v := range values {
		// A comparison with NaN is false: the bounds begin as NaN, and the first number takes their place.
		if !(v >= lo) || !(v <= hi) {
			switch {
			case v != v:
				nans++
				last = v
				continue
			case lo != lo:
				lo, hi = v, v
				a.MinTime, a.MaxTime = times[i], times[i]
			case v < lo:
				lo, a.MinTime = v, times[i]
			default:
				hi, a.MaxTime = v, times[i]
			}
		}
		sum += v
		// Of noise, half of the values are less than the one before: a branch would be guessed wrong as often.
		var less uint64
		if v < last {
			less = 1
		}
		drops += math.Float64frombits(math.Float64bits(last) & -less)
		last = v
	}
	a.Min, a.Max, a.Sum, a.Drops, a.Last = lo, hi, sum, drops, last
	a.Count += uint64(len(times))
	a.NaNs += uint64(nans)
	a.LastTime = times[len(times)-1]
}

// Merge adds a run that follows a's.
func (a *Aggregate) Merge(later *Aggregate) {
	switch {
	case later.Count == 0:
		return
	case a.Count == 0:
		*a = *later
		return
	}
	if later.First < a.Last {
		a.Drops += a.Last
	}
	a.Count += later.Count
	a.Drops += later.Drops
	a.Last, a.LastTime = later.Last, later.LastTime
	a.mergeNumbers(later)
}

// Join adds a run of another series, or one that overlaps a's in time: the first and the last point are the earliest
// and the latest of both, of a where their times are equal. Drops has no meaning for several series: it becomes NaN.
func (a *Aggregate) Join(other *Aggregate) {
	switch {
	case other.Count == 0:
		return
	case a.Count == 0:
		*a = *other
		return
	}
	if other.FirstTime < a.FirstTime {
		a.First, a.FirstTime = other.First, other.FirstTime
	}
	if other.LastTime > a.LastTime {
		a.Last, a.LastTime = other.Last, other.LastTime
	}
	a.Count += other.Count
	a.Drops = math.NaN()
	a.mergeNumbers(other)
}

func (a *Aggregate) mergeNumbers(b *Aggregate) {
	mine := a.Min == a.Min
	a.NaNs += b.NaNs
	a.Sum += b.Sum
	if b.Min != b.Min {
		return
	}
	if !mine || b.Min < a.Min || b.Min == a.Min && b.MinTime < a.MinTime {
		a.Min, a.MinTime = b.Min, b.MinTime
	}
	if !mine || b.Max > a.Max || b.Max == a.Max && b.MaxTime < a.MaxTime {
		a.Max, a.MaxTime = b.Max, b.MaxTime
	}
}
