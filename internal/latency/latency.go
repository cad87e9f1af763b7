// Package latency counts durations, in classes that are narrow enough for any quantile, and few however many
// durations there are.
package latency

import (
	"iter"
	"math"
	"math/bits"
	"time"
)

// Histogram counts durations. Its classes are single nanoseconds to begin with, and from 64 ns on 1/32 of the power
// of two below them wide: a quantile is right within 3 %, and the longest duration is exact. The zero
// value is ready to use. Its fields are what it is written as.
type Histogram struct {
	Counts  []uint64      `json:"counts"` // by class, up to the last that there is
	Longest time.Duration `json:"longest"`
}

// Add counts a duration; one below 0 is 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	n := uint64(d)
	shift := max(bits.Len64(n)-6, 0)
	class := shift*32 + int(n>>shift)
	for len(h.Counts) <= class {
		h.Counts = append(h.Counts, make([]uint64, 64)...)
	}
	h.Counts[class]++
	h.Longest = max(h.Longest, d)
}

// Merge adds what another one has counted.
func (h *Histogram) Merge(other Histogram) {
	if n := len(other.Counts); n > len(h.Counts) {
		h.Counts = append(h.Counts, make([]uint64, n-len(h.Counts))...)
	}
	for class, n := range other.Counts {
		h.Counts[class] += n
	}
	h.Longest = max(h.Longest, other.Longest)
}

// Reset forgets all durations.
func (h *Histogram) Reset() {
	clear(h.Counts)
	h.Longest = 0
}

// Total is how many durations were counted.
func (h *Histogram) Total() (n uint64) {
	for _, count := range h.Counts {
		n += count
	}
	return n
}

// Quantile is a duration within which a share of them was, from 0 to 1; 0 if there are none.
func (h *Histogram) Quantile(share float64) time.Duration {
	left := max(uint64(math.Ceil(share*float64(h.Total()))), 1)
	for class, count := range h.Counts {
		if count >= left {
			return min(upper(class), h.Longest)
		}
		left -= count
	}
	return h.Longest
}

// Tail yields durations in ascending order, each with the share of all that took longer.
func (h *Histogram) Tail() iter.Seq2[time.Duration, float64] {
	return func(yield func(time.Duration, float64) bool) {
		total := h.Total()
		left := total
		for class, count := range h.Counts {
			if count == 0 {
				continue
			}
			left -= count
			if !yield(min(upper(class), h.Longest), float64(left)/float64(total)) {
				return
			}
		}
	}
}

// upper is the longest duration of a class.
func upper(class int) time.Duration {
	if class < 64 {
		return time.Duration(class)
	}
	shift := class/32 - 1
	return time.Duration(class-shift*32+1)<<shift - 1
}
