package codec

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// instants draws times of one of many kinds.
func instants(t *rapid.T) []int64 {
	n := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, Max), rapid.Just(Max)).Draw(t, "n")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	unit := rapid.SampledFrom(units[:]).Draw(t, "unit")
	step := rapid.Int64Range(1, 1e5).Draw(t, "step")
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	ts := make([]int64, n)
	at := rapid.Int64Range(-1e9, 2e9).Draw(t, "start")
	for i := range ts {
		at += step
		ts[i] = at
		switch kind {
		case 1:
			ts[i] += r.Int64N(step) / 3
		case 2:
			if r.IntN(30) == 0 {
				at += step * r.Int64N(10)
			}
		case 3:
			at += int64(r.ExpFloat64() * float64(step))
		case 4:
			ts[i] = r.Int64() - math.MaxInt64/2
		case 5:
			if r.IntN(10) == 0 {
				at -= 2 * step
			}
		}
		ts[i] *= unit
	}
	if rapid.IntRange(0, 9).Draw(t, "extremes") == 0 {
		ts[0], ts[n-1] = math.MinInt64, math.MaxInt64
	}
	return ts
}

func TestTimesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ts := instants(t)
		packed := AppendTimes([]byte("head"), &Hint{Dense: rapid.Bool().Draw(t, "dense")}, ts)
		if len(packed)-4 > Bound(len(ts)) {
			t.Fatalf("%d times take %d bytes", len(ts), len(packed)-4)
		}
		got, rest, err := DecodeTimes([]int64{42}, append(packed[4:], "behind"...))
		if err != nil || string(rest) != "behind" || got[0] != 42 || !slices.Equal(got[1:], ts) {
			t.Fatalf("%d came back as %d, with %q left: %v", ts, got, rest, err)
		}
	})
}

// TestGridSize holds the planned size of a grid against what it takes, also where a column is smaller.
func TestGridSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ts := instants(t)
		g := grids.New().(*grid)
		g.dense = rapid.Bool().Draw(t, "dense")
		times := g.divide(ts)
		want := slices.Clone(times)
		g.plan(times)
		if g.size == math.MaxInt {
			return
		}
		body := g.append(nil)
		if len(body) != g.size {
			t.Fatalf("a grid takes %d bytes, planned %d", len(body), g.size)
		}
		got := make([]int64, len(ts))
		if rest, err := decodeGrid(unsigned(got), body, 1); err != nil || len(rest) != 0 || !slices.Equal(got, want) {
			t.Fatalf("%d came back from a grid as %d: %v", want, got, err)
		}
	})
}

// TestSizesOfTimes holds bits a time against those of the published comparison.
func TestSizesOfTimes(t *testing.T) {
	for _, c := range timeKinds {
		ts := c.generate(Max * 40)
		size := 0
		for v := range slices.Chunk(ts, Max) {
			size += len(AppendTimes(nil, nil, v))
		}
		if bits := float64(size) * 8 / float64(len(ts)); bits > c.bits {
			t.Errorf("%s: %.3f bits a time, expected at most %v", c.name, bits, c.bits)
		}
	}
}

// timeKind is a kind of times as they occur, in nanoseconds, and the bits that each may take.
type timeKind struct {
	name string
	bits float64
	next func(r *rand.Rand, i, last int64) int64
}

var timeKinds = []timeKind{
	{"10 s exactly", 0.15, func(_ *rand.Rand, i, _ int64) int64 { return i * 10e9 }},
	{"10 s ± 5 ms", 4.3, func(r *rand.Rand, i, _ int64) int64 { return i*10e9 + (r.Int64N(11)-5)*1e6 }},
	{"10 s, σ 2 ms", 4.3, func(r *rand.Rand, i, _ int64) int64 { return i*10e9 + int64(math.Round(r.NormFloat64()*2))*1e6 }},
	{"late by 1 ms, 0.5 % by 300 ms", 2.9, func(r *rand.Rand, i, _ int64) int64 {
		late := int64(r.ExpFloat64())
		if r.IntN(200) == 0 {
			late = int64(r.ExpFloat64() * 300)
		}
		return i*10e9 + late*1e6
	}},
	{"drifting sleep", 3.3, func(r *rand.Rand, _, last int64) int64 { return last + 10_003e6 + (r.Int64N(3)-1)*1e6 }},
	{"Poisson, mean 1 s", 12.8, func(r *rand.Rand, _, last int64) int64 { return last + int64(r.ExpFloat64()*1000)*1e6 }},
}

const epoch = 1_700_000_000e9

func (c timeKind) generate(n int) []int64 {
	r := rand.New(rand.NewPCG(5, 6))
	ts := make([]int64, n)
	last := int64(0)
	for i := range ts {
		last = c.next(r, int64(i), last)
		ts[i] = epoch + last
	}
	return ts
}

func FuzzDecodeTimes(f *testing.F) {
	for _, c := range timeKinds {
		f.Add(AppendTimes(nil, nil, c.generate(40)))
	}
	f.Add([]byte{full, 3})
	f.Fuzz(func(t *testing.T, src []byte) {
		ts, rest, err := DecodeTimes(nil, src)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if len(ts) < 1 || len(ts) > Max || len(rest) >= len(src) {
			t.Fatalf("%d times of %d bytes, %d left", len(ts), len(src), len(rest))
		}
		again, _, err := DecodeTimes(nil, AppendTimes(nil, nil, ts))
		if err != nil || !slices.Equal(again, ts) {
			t.Fatalf("%d came back as %d: %v", ts, again, err)
		}
	})
}

func BenchmarkTimes(b *testing.B) {
	for _, c := range timeKinds {
		ts := c.generate(Max)
		packed := append(AppendTimes(nil, nil, ts), make([]byte, 8)...)
		rate := func(b *testing.B) {
			b.ReportMetric(float64(b.N)*Max/1e6/b.Elapsed().Seconds(), "Mtimes/s")
		}
		b.Run("encode/"+c.name, func(b *testing.B) {
			room := make([]byte, 0, Bound(Max))
			b.SetBytes(8 * Max)
			for b.Loop() {
				AppendTimes(room, nil, ts)
			}
			rate(b)
		})
		b.Run("decode/"+c.name, func(b *testing.B) {
			room := make([]int64, 0, Max)
			b.SetBytes(8 * Max)
			for b.Loop() {
				if _, _, err := DecodeTimes(room, packed); err != nil {
					b.Fatal(err)
				}
			}
			rate(b)
		})
	}
}
