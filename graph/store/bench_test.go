package store

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"weir/graph/order"
)

// benchRows is a graph of 2^18 vertices, which is not a power of two less one
// only to keep the check of ids honest, and 2^24 edges: 66 MB.
func benchRows() *order.CSR {
	const n, degree = 1<<18 - 7, 64
	rng := rand.New(rand.NewPCG(3, 4))
	c := &order.CSR{Offsets: make([]uint64, n+1), Targets: make([]uint32, n*degree)}
	for v := range n + 1 {
		c.Offsets[v] = uint64(v * degree)
	}
	for i := range c.Targets {
		c.Targets[i] = rng.Uint32N(n)
	}
	return c
}

func writeRows(b *testing.B, path string, c *order.CSR) {
	w, err := Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Abort()
	w.Meta.Vertices, w.Meta.Edges = int64(c.Vertices()), c.Edges()
	if err := w.WriteCSR(context.Background(), c); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkWrite is the rate at which rows are written, with the flush to the
// disk that Close waits for.
func BenchmarkWrite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "g.weir")
	c := benchRows()
	writeRows(b, path, c)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		writeRows(b, path, c)
	}
}

// BenchmarkVerify is the rate at which one goroutine verifies a file that is in
// the page cache: mapped anew each time, and mapped before.
func BenchmarkVerify(b *testing.B) {
	path := filepath.Join(b.TempDir(), "g.weir")
	writeRows(b, path, benchRows())
	verify := func(b *testing.B, f *File) {
		if err := f.Verify(context.Background(), 1); err != nil {
			b.Fatal(err)
		}
	}
	open := func(b *testing.B) *File {
		f, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(f.Size())
		return f
	}
	b.Run("fresh", func(b *testing.B) {
		for b.Loop() {
			f := open(b)
			verify(b, f)
			f.Close()
		}
	})
	b.Run("mapped", func(b *testing.B) {
		f := open(b)
		defer f.Close()
		for b.Loop() {
			verify(b, f)
		}
	})
}

// BenchmarkTouch is what a Guard costs where everything was checked before.
func BenchmarkTouch(b *testing.B) {
	path := filepath.Join(b.TempDir(), "g.weir")
	writeRows(b, path, benchRows())
	f, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	c, err := f.Out()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Verify(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := c.Guard.Check(1000, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
