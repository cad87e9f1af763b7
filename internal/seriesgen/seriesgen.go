// Package seriesgen makes series of measurements for tests and benchmarks:
// five kinds of values that stores meet, mixed, at times that are regular or
// nearly so. What it makes depends on the seed alone.
//
//	set := seriesgen.Set{Seed: 1, Jitter: 5 * time.Millisecond}
//	s := set.Series(7)
//	fmt.Println(s.Name) // "walk host=h0001 region=r2" …
//	times, values := make([]int64, 1000), make([]float64, 1000)
//	s.Fill(times, values)
//	s.Fill(times, values) // the thousand points behind them
package seriesgen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Kind is what values of a series look like.
type Kind int

// The kinds. Series i of a mixed set is of kind i mod 5.
const (
	Walk     Kind = iota // a random walk with two decimals, such as a temperature
	Counter              // whole numbers that only grow
	Constant             // one value
	Integers             // whole numbers around a level
	Sine                 // a sine with noise in all its digits
	Kinds                // how many there are
)

var kindNames = [...]string{"walk", "counter", "constant", "integers", "sine"}

// String is the metric of series of this kind.
func (k Kind) String() string {
	if k < 0 || k >= Kinds {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Set says what series to make. The zero value is a mixed set at exact times
// from 2024 on, ten seconds apart.
type Set struct {
	Seed   uint64
	Start  int64         // the time of the first points, in ns since 1970; 0 is the begin of 2024
	Step   time.Duration // between points; 0 is ten seconds
	Jitter time.Duration // each time is early or late by at most this, which must be below Step/2
	Unit   time.Duration // jitter is a multiple of it: clocks of scrapes tick in milliseconds; 0 is one
}

// Regions is how many values the tag region has.
const Regions = 5

// Series is a series that is being made.
type Series struct {
	Name string // canonical
	Kind Kind

	random     *rand.Rand
	next       int64 // the time of the next point, before jitter
	step, unit int64
	jitter     int64 // in units
	state      float64
	phase      float64
	index      int
}

// Series is the beginning of series i of a mixed set.
func (s Set) Series(i int) *Series { return s.Only(Kind(i%int(Kinds)), i) }

// Only is the beginning of series i of a set of one kind.
func (s Set) Only(k Kind, i int) *Series {
	r := rand.New(rand.NewPCG(s.Seed, uint64(i)))
	g := &Series{
		Name: fmt.Sprintf("%v host=h%04d region=r%d", k, i/int(Kinds), i%Regions), Kind: k,
		random: r, next: s.Start, step: int64(s.Step), unit: int64(s.Unit),
		phase: 2 * math.Pi * r.Float64(),
	}
	if s.Start == 0 {
		g.next = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	}
	if s.Step == 0 {
		g.step = int64(10 * time.Second)
	}
	if s.Unit == 0 {
		g.unit = int64(time.Millisecond)
	}
	g.jitter = int64(s.Jitter) / g.unit
	switch k {
	case Walk:
		g.state = float64(r.IntN(10000)) // in hundredths
	case Counter:
		g.state = float64(r.IntN(1000000))
	default:
		g.state = float64(r.IntN(100))
	}
	return g
}

// Next is the next point.
func (g *Series) Next() (t int64, v float64) {
	t = g.next
	g.next += g.step
	if g.jitter > 0 {
		t += (g.random.Int64N(2*g.jitter+1) - g.jitter) * g.unit
	}
	switch g.Kind {
	case Walk:
		g.state += float64(g.random.IntN(101) - 50)
		v = g.state / 100
	case Counter:
		g.state += float64(g.random.IntN(1000))
		v = g.state
	case Constant:
		v = g.state
	case Integers:
		v = g.state + float64(g.random.IntN(21)-10)
	case Sine:
		v = g.state + 10*math.Sin(g.phase+2*math.Pi*float64(g.index)/360) + g.random.NormFloat64()
	}
	g.index++
	return t, v
}

// Fill makes the next points, as many as the shorter slice has room for, and
// returns how many.
func (g *Series) Fill(times []int64, values []float64) int {
	n := min(len(times), len(values))
	for i := range n {
		times[i], values[i] = g.Next()
	}
	return n
}
