package order

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/internal/eliasfano"
)

// counter counts edges, and fails at one that is out of range.
type counter struct {
	t     testing.TB
	n     int
	edges int64
}

func (c *counter) Rows(r Rows) { c.t.Fatal("rows from squares") }

func (c *counter) Square(s Square) {
	c.edges += int64(len(s.Pairs))
	for _, p := range s.Pairs {
		if x, y := int(s.X)|int(p.X), int(s.Y)|int(p.Y); x >= c.n || y >= c.n {
			c.t.Fatalf("edge from %d to %d of %d vertices", x, y, c.n)
		}
	}
}

func sampleCompressed(t testing.TB, edges int) *Compressed {
	n := 3<<16 + 100
	rng := rand.New(rand.NewPCG(1, 2))
	chunk := make([]uint64, edges)
	for i := range chunk {
		chunk[i] = Pack(rng.Uint32N(uint32(n)), rng.Uint32N(uint32(n)))
		if i%2 == 0 {
			chunk[i] = Pack(uint32(i), uint32(i/2))
		}
	}
	chunk[1] = Pack(uint32(n-1), uint32(n-1))
	c, _, err := Build(context.Background(), n, [][]uint64{chunk}, nil, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := BuildHilbert(context.Background(), c, 1)
	if err != nil {
		t.Fatal(err)
	}
	z, err := Compress(context.Background(), h, 1)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestCompressedRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*Compressed)
		want   string
	}{
		{"truncated", func(z *Compressed) { z.Data = z.Data[:len(z.Data)-1] }, "compressed block 0: bytes 0 to"},
		{"offset", func(z *Compressed) { z.Blocks[0].Offset = math.MaxUint64 }, "compressed block 0: bytes 18446744073709551615 to"},
		{"no edges", func(z *Compressed) { z.Blocks[0].Count = 0 }, "0 edges, expected 1 to 65536"},
		{"edges", func(z *Compressed) { z.Blocks[0].Count = 1<<16 + 1 }, "65537 edges, expected 1 to 65536"},
		{"fewer edges", func(z *Compressed) { z.Blocks[0].Count -= 128 }, "bytes after the frames, expected 8"},
		{"more edges", func(z *Compressed) { z.Blocks[0].Count += 128 }, "not a frame of ascending integers"},
		{"fewer vertices", func(z *Compressed) { z.N = 3 << 16 }, "expected vertices below 196608"},
		{"a few fewer vertices", func(z *Compressed) { z.N = 3<<16 - 100 }, "expected vertices below 196508"},
		{"low bits", func(z *Compressed) { z.Data[0] = 57 }, "not a frame of ascending integers"},
		{"ones", func(z *Compressed) { z.Data[2] ^= 1 }, "not a frame of ascending integers"},
		{"first", func(z *Compressed) { z.Blocks[0].First = math.MaxUint64 }, "expected vertices below 196708"},
		{"guard", func(z *Compressed) { z.Guard = refusal{} }, "compressed block 0 at byte 0: refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := sampleCompressed(t, 8*eliasfano.FrameLen)
			c.damage(z)
			err := z.Run(context.Background(), &counter{t: t, n: z.N})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, expected %q", err, c.want)
			}
		})
	}
}

type refusal struct{}

func (refusal) Error() string               { return "refused" }
func (r refusal) Check(lo, hi uint64) error { return r }

// FuzzCompressed runs whatever bytes as a block: there may be an error, never a
// panic, and never an edge out of range.
func FuzzCompressed(f *testing.F) {
	// Small, since the fuzzer takes long to make inputs smaller.
	for _, edges := range []int{2, 20, eliasfano.FrameLen + 1} {
		z := sampleCompressed(f, edges)
		f.Add(z.Data, z.Blocks[0].First, z.Blocks[0].Count, uint32(z.N))
	}
	f.Add(binary.LittleEndian.AppendUint64([]byte{0, 0, 1}, 0), uint64(0), uint32(1), uint32(1))
	f.Fuzz(func(t *testing.T, data []byte, first uint64, count, n uint32) {
		z := &Compressed{N: int(n), M: int64(count), Data: data, Blocks: []CompressedBlock{
			{First: first, Size: uint32(len(data)), Count: count},
		}}
		k := &counter{t: t, n: z.N}
		if err := z.Run(context.Background(), k); err == nil && k.edges != z.M {
			t.Fatalf("%d edges, expected %d", k.edges, z.M)
		}
	})
}

func BenchmarkCompressed(b *testing.B) {
	n, chunks := rmatChunks(20)
	ctx := context.Background()
	c, _, err := Build(ctx, n, chunks, nil, BuildOptions{})
	if err != nil {
		b.Fatal(err)
	}
	h, err := BuildHilbert(ctx, c, 0)
	if err != nil {
		b.Fatal(err)
	}
	z, err := Compress(ctx, h, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("compress", func(b *testing.B) {
		for b.Loop() {
			if _, err := Compress(ctx, h, 1); err != nil {
				b.Fatal(err)
			}
		}
		perEdge(b, c.Edges())
	})
	for _, e := range []EdgeMap{h, z} {
		name := map[bool]string{false: "run", true: "run-uncompressed"}[e == EdgeMap(h)]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := e.Run(ctx, &summer{}); err != nil {
					b.Fatal(err)
				}
			}
			perEdge(b, c.Edges())
			b.ReportMetric(z.BitsPerEdge(), "bits/edge")
		})
	}
}

// summer is a kernel that does next to nothing.
type summer struct{ sum uint64 }

func (s *summer) Rows(r Rows) { s.sum += uint64(len(r.Offsets)) }

func (s *summer) Square(q Square) {
	sum := uint64(0)
	for _, p := range q.Pairs {
		sum += uint64(p.X ^ p.Y)
	}
	s.sum += sum
}

// Edges out of order would be gaps below zero.
func TestCompressRefusesDisorder(t *testing.T) {
	const edges = CompressedBlockEdges + 1000
	for _, c := range []struct {
		name    string
		disturb func(h *Hilbert)
	}{
		{"within a frame", func(h *Hilbert) { h.Pairs[10], h.Pairs[20] = h.Pairs[20], h.Pairs[10] }},
		{"at the end of a frame", func(h *Hilbert) { h.Pairs[0], h.Pairs[127] = h.Pairs[127], h.Pairs[0] }},
		{"at the end of a block", func(h *Hilbert) {
			const last = CompressedBlockEdges - 1
			h.Pairs[last], h.Pairs[last+1] = h.Pairs[last+1], h.Pairs[last]
		}},
		{"squares", func(h *Hilbert) {
			slices.Reverse(h.Squares)
			for i, s := range h.Squares {
				h.Starts[i+1] = h.Starts[i] + uint64(s.Count)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var keys []uint64
			for i := range uint32(edges) {
				keys = append(keys, Pack(i%300, i/300))
			}
			keys = append(keys, Pack(1<<16, 1))
			rows, _, err := Build(t.Context(), 1<<17, [][]uint64{keys}, nil, BuildOptions{})
			if err != nil {
				t.Fatal(err)
			}
			h, err := BuildHilbert(t.Context(), rows, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Compress(t.Context(), h, 2); err != nil {
				t.Fatalf("in order: %v", err)
			}
			c.disturb(h)
			if _, err := Compress(t.Context(), h, 2); err == nil || !strings.Contains(err.Error(), "expected edges along it") {
				t.Errorf("error is %v", err)
			}
		})
	}
}
