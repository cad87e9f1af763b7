package word_test

import (
	"fmt"
	"testing"
	"time"

	"weir/differential/word"
)

type (
	pair32 struct{ A, B uint32 }
	pair48 struct {
		A uint32
		B uint16
	}
	triple struct {
		A int32
		B uint8
		C uint16
	}
	wide  struct{ A, B uint64 }
	named struct {
		Name string
		N    int
	}
)

// benchmark measures words and values of 1,024 records, a mix of old acquaintances.
func benchmark[T comparable](b *testing.B, of func(i int) T) {
	var lexicons word.Lexicons
	c, err := word.New[T](&lexicons)
	if err != nil {
		b.Fatal(err)
	}
	xs := make([]T, 1024)
	for i := range xs {
		xs[i] = of(i * 7919 % len(xs))
	}
	ws, hashes := make([]uint64, len(xs)), make([]uint64, len(xs))
	for i, x := range xs {
		ws[i] = c.Word(x)
	}
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(xs)), "ns/record")
		})
	}
	run("Word", func() {
		for i, x := range xs {
			ws[i] = c.Word(x)
		}
	})
	run("Value", func() {
		for i, w := range ws {
			xs[i] = c.Value(w)
		}
	})
	run("Hash", func() {
		for i, x := range xs {
			hashes[i] = c.Hash(x)
		}
	})
}

func BenchmarkUint8(b *testing.B)   { benchmark(b, func(i int) uint8 { return uint8(i) }) }
func BenchmarkUint32(b *testing.B)  { benchmark(b, func(i int) uint32 { return uint32(i) }) }
func BenchmarkUint64(b *testing.B)  { benchmark(b, func(i int) uint64 { return uint64(i) }) }
func BenchmarkInt(b *testing.B)     { benchmark(b, func(i int) int { return -i }) }
func BenchmarkFloat64(b *testing.B) { benchmark(b, func(i int) float64 { return float64(-i) }) }
func BenchmarkArray32(b *testing.B) {
	benchmark(b, func(i int) [2]uint32 { return [2]uint32{uint32(i), uint32(i)} })
}
func BenchmarkPair32(b *testing.B) { benchmark(b, func(i int) pair32 { return pair32{uint32(i), 1} }) }
func BenchmarkPair48(b *testing.B) { benchmark(b, func(i int) pair48 { return pair48{uint32(i), 1} }) }
func BenchmarkTriple(b *testing.B) {
	benchmark(b, func(i int) triple { return triple{int32(i), 1, 2} })
}
func BenchmarkBytes8(b *testing.B) {
	benchmark(b, func(i int) [8]byte { return [8]byte{byte(i), byte(i >> 8)} })
}
func BenchmarkWide(b *testing.B) { benchmark(b, func(i int) wide { return wide{uint64(i), 1} }) }
func BenchmarkString(b *testing.B) {
	benchmark(b, func(i int) string { return fmt.Sprint("user-", i) })
}
func BenchmarkNamed(b *testing.B) {
	benchmark(b, func(i int) named { return named{fmt.Sprint("user-", i), i} })
}

// BenchmarkChurn interns strings of which the last 2^20 are held.
func BenchmarkChurn(b *testing.B) {
	const window, batch = 1 << 20, 1 << 10
	var l word.Lexicons
	c := codec[string](b, &l)
	ring := make([][]uint64, window/batch)
	defer c.HoldColumns(func(to [][]uint64) [][]uint64 { return append(to, ring...) })()
	names := make([]string, batch)
	next := 0
	var tidying, worst time.Duration
	round := func() {
		for i := range names {
			names[i] = fmt.Sprintf("user-%09d", next+i)
		}
		b.StartTimer()
		words := make([]uint64, batch)
		for i, name := range names {
			words[i] = c.Word(name)
		}
		ring[next/batch%len(ring)] = words
		start := time.Now()
		l.Tidy()
		took := time.Since(start)
		b.StopTimer()
		tidying += took
		worst = max(worst, took)
		next += batch
	}
	for next < 3*window {
		round()
	}
	tidying, worst = 0, 0
	b.ResetTimer()
	for range b.N {
		round()
	}
	values, size := l.Size()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/value")
	b.ReportMetric(float64(tidying.Nanoseconds())/float64(b.N)/batch, "tidy-ns/value")
	b.ReportMetric(float64(worst.Microseconds()), "worst-tidy-µs")
	b.ReportMetric(float64(size)/float64(values), "B/value")
	b.ReportMetric(float64(values)/window, "known/held")
}
