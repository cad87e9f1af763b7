package eliasfano

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, FrameLen).Draw(t, "values")
		scale := rapid.IntRange(0, 63).Draw(t, "scale")
		base := rapid.Uint64().Draw(t, "base")
		values := make([]uint64, n)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		at := base
		for i := range values {
			gap := rng.Uint64N(1 << scale)
			if rng.IntN(4) == 0 {
				gap = rng.Uint64N(1 << rng.IntN(scale+1))
			}
			if gap > math.MaxUint64-at {
				gap = 0
			}
			at += gap
			values[i] = at
		}
		low, size := shape(at-base, n)
		for other := range uint(maxLow) {
			if u := at - base; u>>other <= 255 && sizeOf(int(u>>other), n, other) < size-1 {
				t.Fatalf("%d low bits make %d bytes, %d only %d", low, size, other, sizeOf(int(u>>other), n, other))
			}
		}
		data := make([]byte, size+Slack)
		if wrote := Write(data, base, values); wrote != size {
			t.Fatalf("frame has %d bytes, expected %d", wrote, size)
		}
		if tail := data[size:]; !slices.Equal(tail, make([]byte, Slack)) {
			t.Fatalf("the bytes after the frame became %v", tail)
		}
		got := make([]uint64, n)
		if read, err := Read(data, base, got); err != nil || read != size {
			t.Fatalf("read %d bytes of %d, error %v", read, size, err)
		}
		if !slices.Equal(got, values) {
			t.Fatalf("frame holds %v, expected %v", got, values)
		}
		if _, err := Read(data[:size+Slack-1], base, got); err == nil {
			t.Fatal("a truncated frame is read")
		}
	})
}

// FuzzRead reads whatever bytes: there may be an error, never a panic; and what
// can be read can be written.
func FuzzRead(f *testing.F) {
	f.Add(make([]byte, 20), uint64(0), uint8(1))
	f.Add([]byte{3, 2, 5, 4, 3, 2, 1, 0, 9, 9, 9, 9, 9, 9}, uint64(7), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, base uint64, n uint8) {
		values := make([]uint64, n)
		size, err := Read(data, base, values)
		if err != nil {
			return
		}
		if size+Slack > len(data) {
			t.Fatalf("read %d bytes and slack of %d", size, len(data))
		}
		if !slices.IsSorted(values) || values[0] < base {
			return
		}
		again := make([]byte, MaxSize+Slack)
		got := make([]uint64, n)
		wrote := Write(again, base, values)
		if read, err := Read(again, base, got); err != nil || read != wrote || !slices.Equal(got, values) {
			t.Fatalf("read %v back as %v (%d bytes of %d, error %v)", values, got, read, wrote, err)
		}
	})
}
