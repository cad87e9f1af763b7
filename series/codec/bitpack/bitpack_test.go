package bitpack

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// model is the column bit by bit.
func model(vs []uint64, width uint) []byte {
	packed := make([]byte, Size(len(vs), width))
	for i, v := range vs {
		for b := range width {
			at := uint(i)*width + b
			packed[at/8] |= byte(v>>b&1) << (at % 8)
		}
	}
	return packed
}

func column(n int, width uint, r *rand.Rand) []uint64 {
	vs := make([]uint64, n)
	for i := range vs {
		if vs[i] = r.Uint64(); width < 64 {
			vs[i] &= 1<<width - 1
		}
	}
	return vs
}

func TestAllWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for width := range uint(65) {
		for _, n := range []int{0, 1, 7, 8, 9, 63, 64, 65, 511, 512} {
			vs := column(n, width, r)
			packed := Append(nil, vs, width)
			if want := model(vs, width); !slices.Equal(packed, want) {
				t.Fatalf("%d values of %d bits are packed as %x, expected %x", n, width, packed, want)
			}
			for _, behind := range []int{0, 1, 9, 100} {
				got := make([]uint64, n)
				src := slices.Grow(slices.Clone(packed), behind)
				if err := Unpack(got, append(src, slices.Repeat([]byte{0xff}, behind)...), width); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, vs) {
					t.Fatalf("%d values of %d bits with %d bytes behind: %x, expected %x", n, width, behind, got, vs)
				}
			}
			if size := len(packed); size > 0 {
				if err := Unpack(make([]uint64, n), packed[:size-1], width); err == nil {
					t.Fatalf("%d values of %d bits are read from a byte too few", n, width)
				}
			}
		}
	}
	if err := Unpack(nil, nil, 65); err == nil {
		t.Error("a width of 65 bits is accepted")
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, uint8(7), uint16(13))
	f.Add([]byte{0xff}, uint8(64), uint16(1))
	f.Fuzz(func(t *testing.T, src []byte, width uint8, n uint16) {
		vs := make([]uint64, n%600)
		if Unpack(vs, src, uint(width)) != nil {
			return
		}
		again := make([]uint64, len(vs))
		if err := Unpack(again, Append(nil, vs, uint(width)), uint(width)); err != nil || !slices.Equal(again, vs) {
			t.Errorf("%x of %d bits became %x, %v", vs, width, again, err)
		}
	})
}

func BenchmarkUnpack(b *testing.B) {
	for _, width := range []uint{3, 7, 12, 20, 33, 52, 64} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			vs := column(512, width, rand.New(rand.NewPCG(1, 2)))
			packed := append(Append(nil, vs, width), make([]byte, 8)...)
			b.SetBytes(512 * 8)
			for b.Loop() {
				if err := Unpack(vs, packed, width); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*512/1e6/b.Elapsed().Seconds(), "Mvalues/s")
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, width := range []uint{7, 20, 52} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			vs := column(512, width, rand.New(rand.NewPCG(1, 2)))
			packed := make([]byte, 0, 512*8)
			b.SetBytes(512 * 8)
			for b.Loop() {
				packed = Append(packed[:0], vs, width)
			}
			b.ReportMetric(float64(b.N)*512/1e6/b.Elapsed().Seconds(), "Mvalues/s")
		})
	}
}
