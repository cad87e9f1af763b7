package order

import (
	"testing"

	"pgregory.net/rapid"
)

// bitPosition is the definition: level by level, with the coordinates below
// changed as the quadrant says.
func bitPosition(x, y uint32) (position uint64) {
	for level := 31; level >= 0; level-- {
		a, b := x>>level&1, y>>level&1
		position = position<<2 | uint64(3*a^b)
		if b == 0 {
			if a == 1 {
				x, y = ^x, ^y
			}
			x, y = y, x
		}
	}
	return position
}

func TestPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Uint32().Draw(t, "x"), rapid.Uint32().Draw(t, "y")
		got, want := Position(x, y), bitPosition(x, y)
		if got != want {
			t.Fatalf("position of (%d, %d) is %#x, expected %#x", x, y, got, want)
		}
		if bx, by := Point(got); bx != x || by != y {
			t.Fatalf("point at %#x is (%d, %d), expected (%d, %d)", got, bx, by, x, y)
		}
		p := rapid.Uint64().Draw(t, "p")
		if x, y := Point(p); Position(x, y) != p {
			t.Fatalf("position of the point at %#x is %#x", p, Position(x, y))
		}
	})
}

// TestNeighbours follows the curve, each step of which must go to a neighbour.
func TestNeighbours(t *testing.T) {
	for _, start := range []uint64{0, 0x1234_5678_0000_0000, 1<<32 - 1<<15, ^uint64(0) - 1<<16} {
		x, y := Point(start)
		for p := start + 1; p < start+1<<16; p++ {
			nx, ny := Point(p)
			if dx, dy := nx-x, ny-y; dx*dx+dy*dy != 1 {
				t.Fatalf("step to %#x goes from (%d, %d) to (%d, %d)", p, x, y, nx, ny)
			}
			x, y = nx, ny
		}
	}
}

func BenchmarkCurve(b *testing.B) {
	const n = 1 << 12
	positions, pairs := make([]uint64, n), make([]Pair, n)
	for i := range positions {
		positions[i] = uint64(i) * 0x9E3779B1
	}
	b.Run("enter", func(b *testing.B) {
		for b.Loop() {
			enterPairs(1, 1, pairs, positions[:0])
		}
		perEdge(b, n)
	})
	b.Run("leave", func(b *testing.B) {
		for b.Loop() {
			leavePairs(1, positions, pairs)
		}
		perEdge(b, n)
	})
}
