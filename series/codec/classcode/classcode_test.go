package classcode

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// column draws integers of a normal distribution, and a few that are larger.
func column(n int, spread float64) []uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	vs := make([]uint64, n)
	for i := range vs {
		vs[i] = uint64(math.Abs(spread * r.NormFloat64()))
		if i%97 == 0 {
			vs[i] = r.Uint64() >> (64 - most + i%30)
		}
	}
	return vs
}

func TestClasses(t *testing.T) {
	for _, v := range []uint64{0, 1, 3, 4, 5, 6, 7, 8, 11, 12, 15, 16, 1000, 1<<most - 1} {
		class, rest := classOf(v)
		least, open := base(class)
		if class >= classes || rest != open || v < least || v-least >= 1<<open {
			t.Errorf("%d is in class %d, which begins with %d and leaves %d bits open", v, class, least, open)
		}
	}
}

func check(t *testing.T, vs []uint64) {
	t.Helper()
	packed, ok := Append([]byte("head"), vs)
	size, planned := Size(vs)
	if ok != planned {
		t.Fatalf("integers are coded: %v, planned: %v", ok, planned)
	}
	if !ok {
		if string(packed) != "head" {
			t.Fatalf("integers that are not coded take %d bytes", len(packed)-4)
		}
		return
	}
	if len(packed)-4 != size {
		t.Fatalf("%d bytes, planned %d", len(packed)-4, size)
	}
	for _, behind := range []string{"", "behind the integers"} {
		got := make([]uint64, len(vs))
		rest, err := Decode(got, append(slices.Clip(packed[4:]), behind...))
		if err != nil || string(rest) != behind || !slices.Equal(got, vs) {
			t.Fatalf("%d came back as %d, with %q left: %v", vs, got, rest, err)
		}
	}
}

func TestComesBack(t *testing.T) {
	for _, spread := range []float64{0.3, 1, 10, 1000, 1e9} {
		for _, n := range []int{2, 3, 10, 512, 3000} {
			check(t, column(n, spread))
		}
	}
	// Counts like Fibonacci's numbers make the longest codes.
	var deep []uint64
	for v, a, b := 0, 1, 1; v < 16; v, a, b = v+1, b, a+b {
		deep = append(deep, slices.Repeat([]uint64{1 << v}, a)...)
	}
	check(t, deep)
	for _, none := range [][]uint64{nil, {1, 1, 1}, {1, 1 << most}} {
		if _, ok := Append(nil, none); ok {
			t.Errorf("%d is coded", none)
		}
	}
}

// TestNearEntropy holds the size against the entropy of what is coded.
func TestNearEntropy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	vs := make([]uint64, 1<<15)
	counts := map[uint64]int{}
	for i := range vs {
		vs[i] = uint64(math.Abs(math.Round(25 * r.NormFloat64())))
		counts[vs[i]]++
	}
	entropy := 0.0
	for _, n := range counts {
		p := float64(n) / float64(len(vs))
		entropy -= p * math.Log2(p)
	}
	size, _ := Size(vs)
	if got := float64(size) * 8 / float64(len(vs)); got > entropy+0.1 {
		t.Errorf("%.3f bits an integer, where the entropy is %.3f", got, entropy)
	}
}

func FuzzDecode(f *testing.F) {
	for _, spread := range []float64{1, 1000} {
		packed, _ := Append(nil, column(100, spread))
		f.Add(packed, uint16(100))
	}
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		vs := make([]uint64, n%600)
		if _, err := Decode(vs, src); err == nil {
			check(t, vs)
		} else if !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
		vs = vs[:0]
		for len(src) >= 2 {
			vs = append(vs, uint64(binary.LittleEndian.Uint16(src)))
			src = src[2:]
		}
		check(t, vs)
	})
}

func BenchmarkClasscode(b *testing.B) {
	vs := column(512, 40)
	packed, _ := Append(nil, vs)
	rate := func(b *testing.B) {
		b.ReportMetric(float64(b.N)*float64(len(vs))/1e6/b.Elapsed().Seconds(), "Mvalues/s")
	}
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(8 * len(vs)))
		for b.Loop() {
			packed, _ = Append(packed[:0], vs)
		}
		rate(b)
	})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(8 * len(vs)))
		for b.Loop() {
			if _, err := Decode(vs, packed); err != nil {
				b.Fatal(err)
			}
		}
		rate(b)
	})
}
