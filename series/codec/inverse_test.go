package codec

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestInverse divides by multiplication what is as near to the middle between two numbers as can be, and anything.
func TestInverse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	used := 0
	for i, by := range divisors {
		inv := &inverses[i]
		if inv.limit == 0 {
			continue
		}
		used++
		check := func(d int64) {
			for _, d := range [...]float64{float64(d), float64(-d)} {
				if got, want := float64(d*inv.high)+float64(d*inv.low), d/by; math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("%v / %v = %v, want %v", d, by, got, want)
				}
			}
		}
		most := 2 * int64(inv.limit)
		for range 10_000 {
			check(rnd.Int64N(most) >> rnd.IntN(bits.Len64(uint64(most))-1))
		}
		odd := int64(by) >> bits.TrailingZeros64(uint64(by))
		for n := range 20_000 {
			// The quotient by the odd part has e+1 bits before the point, and so 52-e behind: if it is shifted so far
			// to the left that these are an integer, what remains is half of the divisor, but for a half.
			e := rnd.IntN(bits.Len64(uint64(most / odd)))
			remains := uint64(odd/2 + int64(n%2))
			for range 52 - e {
				if remains%2 == 1 {
					remains += uint64(odd)
				}
				remains /= 2
			}
			d := (int64(1)<<e+rnd.Int64N(int64(1)<<e))*odd + int64(remains)
			if d < most {
				check(d)
			}
		}
	}
	if used < 35 {
		t.Errorf("%d of %d divisors have an inverse", used, len(divisors))
	}
}

// TestBound compares the bound of a column's integers with the greatest of them.
func TestBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	for range 10_000 {
		var room [Max]uint64
		w := room[:3+rnd.IntN(Max-2)]
		width := rnd.IntN(20)
		s := shape{
			kind: rnd.IntN(3), scale: 1 + rnd.Uint64N(1000), most: math.Ldexp(1, width),
			base: uint64(rnd.Int64N(1000) - 500), origin: uint64(rnd.Int64N(1e6) - 5e5),
			first: [2]uint64{uint64(rnd.Int64N(1e6) - 5e5), uint64(rnd.Int64N(2000) - 1000)},
		}
		greatest := rnd.IntN(2) == 0
		for i := range w {
			w[i] = rnd.Uint64N(1 << width)
			if greatest {
				w[i] = 1<<width - 1
			}
		}
		s.rebuild(w)
		bound := s.bound(len(w))
		for i, x := range w {
			if m := math.Abs(float64(int64(x))); m > bound {
				t.Fatalf("integer %d of %+v is %d, the bound %v", i, s, int64(x), bound)
			}
		}
	}
}
