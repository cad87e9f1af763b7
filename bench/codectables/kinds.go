package main

import (
	"math"
	"math/rand/v2"
	"time"
)

// set is a series, or several of a kind.
type set struct {
	name   string
	what   string // in a few words
	series [][]float64
}

// kind makes values one after the other; i counts them.
type kind struct {
	name, what string
	start      func(r *rand.Rand) func(i int) float64
}

// kinds are what series of measurements look like.
var kinds = []kind{
	{"walk", "random walk of σ 0.25, two decimals", walk},
	{"counter", "counter that grows by N(150, 12²)", func(r *rand.Rand) func(int) float64 {
		at := 1e6
		return func(int) float64 { at += max(math.Round(150+12*r.NormFloat64()), 0); return at }
	}},
	{"constant", "always 42.5", func(*rand.Rand) func(int) float64 { return func(int) float64 { return 42.5 } }},
	{"integers", "N(500, 20²), rounded", func(r *rand.Rand) func(int) float64 {
		return func(int) float64 { return math.Round(500 + 20*r.NormFloat64()) }
	}},
	{"noise", "sine of amplitude 10 and N(0, 1), all bits", func(r *rand.Rand) func(int) float64 {
		return func(i int) float64 { return 10*math.Sin(float64(i)/100) + r.NormFloat64() }
	}},
	{"sticky", "N(50, 4²), one decimal, 70 % repeated", func(r *rand.Rand) func(int) float64 {
		at := 50.0
		return func(int) float64 {
			if r.IntN(10) >= 7 {
				at = math.Round(500+40*r.NormFloat64()) / 10
			}
			return at
		}
	}},
	{"pages", "walk of multiples of 4096, σ 35 of them", func(r *rand.Rand) func(int) float64 {
		at := 1e6
		return func(int) float64 { at += math.Round(35 * r.NormFloat64()); return at * 4096 }
	}},
	{"states", "one of three states, 3 % change", func(r *rand.Rand) func(int) float64 {
		at := 0.0
		return func(int) float64 {
			if r.IntN(100) < 3 {
				at = float64(r.IntN(3))
			}
			return at
		}
	}},
	{"idle counter", "counter of which 7 % grow, by up to 1000", func(r *rand.Rand) func(int) float64 {
		at := 1e5
		return func(int) float64 {
			if r.IntN(100) < 7 {
				at += float64(1 + r.IntN(1000))
			}
			return at
		}
	}},
	{"rates", "N(500, 30²), rounded, divided by 15", func(r *rand.Rand) func(int) float64 {
		return func(int) float64 { return math.Round(500+30*r.NormFloat64()) / 15 }
	}},
	{"float32", "N(20, 2²) as float32", func(r *rand.Rand) func(int) float64 {
		return func(int) float64 { return float64(float32(20 + 2*r.NormFloat64())) }
	}},
	{"specials", "the walk with 2 % NaN payloads, infinities, -0 and the least number", func(r *rand.Rand) func(int) float64 {
		next := walk(r)
		return func(i int) float64 {
			v := next(i)
			if r.IntN(50) > 0 {
				return v
			}
			odd := [...]float64{math.Float64frombits(0x7ff8000000000000 | r.Uint64N(1<<20)), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.SmallestNonzeroFloat64}
			return odd[r.IntN(len(odd))]
		}
	}},
}

func walk(r *rand.Rand) func(int) float64 {
	at := 5000.0
	return func(int) float64 { at += math.Round(25 * r.NormFloat64()); return at / 100 }
}

// generated are the kinds, of n values each.
func generated(n int) []set {
	var all []set
	for k, kind := range kinds {
		next := kind.start(rand.New(rand.NewPCG(1, uint64(k))))
		vs := make([]float64, n)
		for i := range vs {
			vs[i] = next(i)
		}
		all = append(all, set{kind.name, kind.what, [][]float64{vs}})
	}
	return all
}

// clock is a kind of times.
type clock struct {
	name string
	next func(r *rand.Rand, i int, last time.Duration) time.Duration
}

const step = 10 * time.Second

// clocks are how the times of measurements go.
var clocks = []clock{
	{"every 10 s", func(_ *rand.Rand, i int, _ time.Duration) time.Duration { return time.Duration(i) * step }},
	{"every 10 s, 1 % missed", func(r *rand.Rand, _ int, last time.Duration) time.Duration {
		for last += step; r.IntN(100) == 0; last += step {
		}
		return last
	}},
	{"every 10 s ± 5 ms", func(r *rand.Rand, i int, _ time.Duration) time.Duration {
		return time.Duration(i)*step + time.Duration(r.IntN(11)-5)*time.Millisecond
	}},
	{"every 10 s ± 5 ms, 1 % missed", func(r *rand.Rand, _ int, last time.Duration) time.Duration {
		for last = last.Round(step) + step; r.IntN(100) == 0; last += step {
		}
		return last + time.Duration(r.IntN(11)-5)*time.Millisecond
	}},
	{"every 10 s, σ 2 ms", func(r *rand.Rand, i int, _ time.Duration) time.Duration {
		return time.Duration(i)*step + time.Duration(math.Round(2*r.NormFloat64()))*time.Millisecond
	}},
	{"late by 1 ms on average, 0.5 % by 300 ms", func(r *rand.Rand, i int, _ time.Duration) time.Duration {
		late := time.Duration(r.ExpFloat64())
		if r.IntN(200) == 0 {
			late = time.Duration(300 * r.ExpFloat64())
		}
		return time.Duration(i)*step + late*time.Millisecond
	}},
	{"every second, σ 50 µs, in ns", func(r *rand.Rand, i int, _ time.Duration) time.Duration {
		return time.Duration(i)*time.Second + time.Duration(50e3*r.NormFloat64())
	}},
	{"10.003 s ± 1 ms after the last", func(r *rand.Rand, _ int, last time.Duration) time.Duration {
		return last + 10_003*time.Millisecond + time.Duration(r.IntN(3)-1)*time.Millisecond
	}},
	{"Poisson, 1 s on average, in ms", func(r *rand.Rand, _ int, last time.Duration) time.Duration {
		return last + time.Duration(1000*r.ExpFloat64())*time.Millisecond
	}},
}

func (c clock) times(n int) []int64 {
	r := rand.New(rand.NewPCG(3, 4))
	ts := make([]int64, n)
	last := time.Duration(0)
	for i := range ts {
		last = c.next(r, i, last)
		ts[i] = 1_700_000_000e9 + int64(last)
	}
	return ts
}
