package codec

import (
	"encoding/hex"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever the range of the residuals, pairs of them come back, from a column as short as was planned.
func TestPairs(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	noise := rand.New(rand.NewPCG(seed, 1))
	paired := 0
	for r := int64(1); r < 300; r++ {
		for _, n := range []int{1, 2, 3, 17, 100, Max - 1, Max} {
			want := make([]int64, n)
			for i := range want {
				want[i] = noise.Int64N(r) - 7
			}
			vs := slices.Clone(want)
			c := planColumn(vs, false)
			packed := c.append(nil, vs)
			if len(packed) != c.size {
				t.Fatalf("%d integers below %d take %d bytes, planned %d", n, r, len(packed), c.size)
			}
			if c.pairs > 0 {
				paired++
				if plain := 4 + (n*bits.Len64(uint64(r-1))+7)/8; len(packed) >= plain {
					t.Fatalf("%d integers below %d take %d bytes as pairs, not %d", n, r, len(packed), plain)
				}
			}
			got := make([]uint64, n)
			if rest, err := decodeColumn(got, packed); err != nil || len(rest) > 0 {
				t.Fatalf("%d integers below %d: %d bytes left, %v", n, r, len(rest), err)
			}
			for i := range want {
				if int64(got[i]) != want[i] {
					t.Fatalf("integer %d of %d below %d is read as %d, want %d", i, n, r, int64(got[i]), want[i])
				}
			}
		}
	}
	if paired < 200 {
		t.Errorf("%d columns are pairs, want most of those whose range is no power of two", paired)
	}
}

// Bytes that are no pairs are read as something, or refused, and do no harm.
func TestPairsOfAnything(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	for r := range 256 {
		packed := []byte{flagPaired, byte(r), 0}
		for range 2 * Max {
			packed = append(packed, byte(noise.Uint32()))
		}
		got := make([]uint64, 101)
		_, err := decodeColumn(got, packed)
		if (err != nil) != (r < 2) {
			t.Errorf("pairs below %d: %v", r, err)
		}
		for _, v := range got {
			if err == nil && v >= 1<<16 {
				t.Errorf("pairs below %d are read as %d", r, v)
			}
		}
	}
	for _, head := range []byte{flagPaired | flagPatched, flagPaired | flagClassed, 2 * flagPaired} {
		if _, err := decodeColumn(make([]uint64, 9), append([]byte{head, 11, 0}, make([]byte, 99)...)); err == nil {
			t.Errorf("a column that begins with %#x is read", head)
		}
	}
}

// The example of docs/formats-series.md.
func TestPairsGolden(t *testing.T) {
	want := []int64{10, 3, 0, 9, 5, 10, 2}
	vs := slices.Clone(want)
	c := column{kind: kindValues, scale: 1, pairs: 11}
	packed := c.append(nil, vs)
	if got := hex.EncodeToString(packed); got != "200b00abf15c00" {
		t.Errorf("written as %s", got)
	}
	got := make([]uint64, len(want))
	if _, err := decodeColumn(got, packed); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if int64(got[i]) != w {
			t.Errorf("integer %d is %d, want %d", i, got[i], w)
		}
	}
}
