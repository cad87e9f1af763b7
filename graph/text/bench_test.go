package text

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// benchText is m lines of edges among n vertices, written by line.
func benchText(m, n int, line func(b []byte, s, t int) []byte) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for range m {
		// The square makes some vertices much more frequent than others.
		s, t := int(float64(n)*rnd.Float64()*rnd.Float64()), rnd.IntN(n)
		b = line(b, s, t)
	}
	return b
}

func plainLine(b []byte, s, t int) []byte {
	b = strconv.AppendInt(b, int64(s), 10)
	b = append(b, '\t')
	return append(strconv.AppendInt(b, int64(t), 10), '\n')
}

func BenchmarkRead(b *testing.B) {
	const m, n = 1 << 20, 1 << 20
	for _, c := range []struct {
		name string
		line func(b []byte, s, t int) []byte
		opt  Options
	}{
		{"integers", plainLine, Options{}},
		{"kept", plainLine, Options{KeepIDs: true}},
		{"weights", func(b []byte, s, t int) []byte { return fmt.Appendf(b, "%d %d %d\n", s, t, s%1000) }, Options{}},
		{"decimals", func(b []byte, s, t int) []byte { return fmt.Appendf(b, "%d %d %d.25\n", s, t, s%1000) }, Options{}},
		{"CSV", func(b []byte, s, t int) []byte { return fmt.Appendf(b, "%d, %d\r\n", s, t) }, Options{}},
		{"wide", func(b []byte, s, t int) []byte { return fmt.Appendf(b, "%d %d\n", int64(s)+1<<40, int64(t)+1<<40) }, Options{}},
		{"strings", func(b []byte, s, t int) []byte { return fmt.Appendf(b, "n%d n%d\n", s, t) }, Options{}},
	} {
		text := benchText(m, n, c.line)
		path := b.TempDir() + "/g"
		if err := os.WriteFile(path, text, 0o644); err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) { benchRead(b, path, c.opt, m, len(text)) })
	}
}

// benchRead reads on one thread.
func benchRead(b *testing.B, path string, opt Options, edges, size int) {
	opt.Threads = 1
	b.SetBytes(int64(size))
	for b.Loop() {
		in, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		res, err := Read(context.Background(), in, opt, func(c Chunk) error { c.Release(); return nil })
		if err != nil || res.Edges != int64(edges) {
			b.Fatal(res, err)
		}
		in.Close()
	}
	b.ReportMetric(float64(edges)*float64(b.N)/1e6/b.Elapsed().Seconds(), "Medges/s")
}

// BenchmarkReadFile reads the file that WEIR_BENCH_TEXT names, on all threads.
func BenchmarkReadFile(b *testing.B) {
	path := os.Getenv("WEIR_BENCH_TEXT")
	if path == "" {
		b.Skip("WEIR_BENCH_TEXT names no file")
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, chunk := range []int{256 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprintf("chunk=%dKiB", chunk>>10), func(b *testing.B) {
			b.SetBytes(info.Size())
			var edges int64
			for b.Loop() {
				in, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				res, err := Read(context.Background(), in, Options{ChunkSize: chunk}, func(c Chunk) error { c.Release(); return nil })
				if err != nil {
					b.Fatal(err)
				}
				edges = res.Edges
				in.Close()
			}
			b.ReportMetric(float64(edges)*float64(b.N)/1e6/b.Elapsed().Seconds(), "Medges/s")
		})
	}
}
