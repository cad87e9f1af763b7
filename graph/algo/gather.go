package algo

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"weir/internal/huge"
	"weir/internal/par"
)

// GatherLimit is what a machine can do at best where edges have no order that
// memory likes: how many values a second it can read from random places of a vertex
// array, and how many bytes a second it can read in sequence. An iteration of
// PageRank over edges in random order cannot be faster than [GatherLimit.Seconds];
// an order that keeps to the cache can, which is the point of having one.
type GatherLimit struct {
	Vertices         int     `json:"vertices"` // elements of the array
	ElementBytes     int     `json:"element_bytes"`
	Threads          int     `json:"threads"`
	GathersPerSecond float64 `json:"gathers_per_second"` // all threads together
	BytesPerSecond   float64 `json:"bytes_per_second"`   // all threads together
}

// Seconds is the least time for an iteration over that many edges, stored in
// bytesPerEdge each, if their ends are anywhere.
func (g GatherLimit) Seconds(edges int64, bytesPerEdge float64) float64 {
	return max(float64(edges)*bytesPerEdge/g.BytesPerSecond, float64(edges)/g.GathersPerSecond)
}

// Each of the two rates is measured measureTimes times for measureFor, and the best
// counts, because it is a limit. gatherBlock reads are done between looks at the
// clock.
const (
	measureTimes = 5
	measureFor   = 50 * time.Millisecond
	gatherBlock  = 1 << 16
)

// MeasureGather measures the limit for an array of T, one element a vertex, on huge
// pages as the algorithms have them. It takes under a second.
func MeasureGather[T Float](ctx context.Context, vertices, threads int) (GatherLimit, error) {
	if vertices < 1 {
		return GatherLimit{}, fmt.Errorf("measure gathers from %d vertices, expected 1 or more", vertices)
	}
	threads = par.Threads(threads)
	g := GatherLimit{Vertices: vertices, ElementBytes: int(unsafe.Sizeof(T(0))), Threads: threads}
	values := huge.Make[T](vertices)
	for v := range values {
		values[v] = 1
	}
	var err error
	if g.GathersPerSecond, err = rate(ctx, threads, func(worker, block int) float64 {
		if gatherBlockSum(values, uint32(block*threads+worker)*gatherBlock) != gatherBlock {
			return 0 // never: every value is 1
		}
		return gatherBlock
	}); err != nil {
		return GatherLimit{}, fmt.Errorf("measure gathers: %w", err)
	}
	// Larger than the caches of most machines, yet not than their memory.
	stream := huge.Make[uint64](16 << 20)
	for i := range stream {
		stream[i] = uint64(i)
	}
	const piece = 1 << 17
	if g.BytesPerSecond, err = rate(ctx, threads, func(worker, block int) float64 {
		at := (block*threads + worker) * piece % len(stream)
		if streamSum(stream[at:at+piece]) == 0 {
			return 0 // never
		}
		return piece * 8
	}); err != nil {
		return GatherLimit{}, fmt.Errorf("measure bandwidth: %w", err)
	}
	return g, nil
}

// rate runs f on each thread for a while and adds up what it returns, by second.
func rate(ctx context.Context, threads int, f func(worker, block int) float64) (best float64, err error) {
	rates := make([]float64, threads)
	for range measureTimes {
		par.Each(threads, func(worker int) {
			begin, done := time.Now(), 0.0
			for block := 0; ; block++ {
				done += f(worker, block)
				if spent := time.Since(begin); spent >= measureFor || ctx.Err() != nil {
					rates[worker] = done / spent.Seconds()
					return
				}
			}
		})
		sum := 0.0
		for _, r := range rates {
			sum += r
		}
		best = max(best, sum)
	}
	return best, ctx.Err()
}

// gatherBlockSum reads gatherBlock values at places scrambled from a counter, which
// costs less than reading the places from memory would.
func gatherBlockSum[T Float](values []T, seed uint32) T {
	n := uint64(len(values))
	var a, b, c, d T
	for i := seed; i-seed < gatherBlock; i += 4 {
		a += values[place(i, n)]
		b += values[place(i+1, n)]
		c += values[place(i+2, n)]
		d += values[place(i+3, n)]
	}
	return a + b + c + d
}

// place scrambles i to a number below n.
func place(i uint32, n uint64) uint64 {
	i *= 0x9e3779b1
	i ^= i >> 15
	i *= 0x85ebca6b
	i ^= i >> 13
	return uint64(i) * n >> 32
}

func streamSum(x []uint64) uint64 {
	var a, b, c, d uint64
	for len(x) >= 4 {
		q := (*[4]uint64)(x)
		a += q[0]
		b += q[1]
		c += q[2]
		d += q[3]
		x = x[4:]
	}
	return a + b + c + d
}
