package order_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"weir/graph/generate"
	"weir/graph/order"
	"weir/graph/text"
	"weir/internal/eliasfano"
	"weir/internal/sharedata"
)

// A layout is a way to store ascending positions, to compare with the one chosen.
// Decode fills out and may read eight bytes past the end of what encode made.
type layout struct {
	name   string
	encode func(positions []uint64) []byte
	decode func(data []byte, out []uint64)
}

var layouts = []layout{
	{"leb128", encodeLEB128, decodeLEB128},
	{"group-varint", encodeGroups, decodeGroups},
	{"packed-128", encodePacked, decodePacked},
	{"rice-128", encodeRice, decodeRice},
	{"elias-fano-128", encodeFrames, decodeFrames},
}

func encodeLEB128(positions []uint64) (data []byte) {
	last := uint64(0)
	for _, p := range positions {
		data = binary.AppendUvarint(data, p-last)
		last = p
	}
	return data
}

func decodeLEB128(data []byte, out []uint64) {
	last, at := uint64(0), 0
	for i := range out {
		gap := uint64(0)
		for shift := uint(0); ; shift += 7 {
			b := data[at]
			at++
			gap |= uint64(b&0x7f) << (shift & 63)
			if b < 0x80 {
				break
			}
		}
		last += gap
		out[i] = last
	}
}

// encodeGroups puts four gaps of 1, 2, 4 or 8 bytes behind a byte with their
// lengths; all such bytes come first.
func encodeGroups(positions []uint64) []byte {
	control := make([]byte, (len(positions)+3)/4)
	var data []byte
	last := uint64(0)
	for i, p := range positions {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], p-last)
		code := groupCode(p - last)
		control[i/4] |= code << (i % 4 * 2)
		data = append(data, b[:1<<code]...)
		last = p
	}
	return append(control, data...)
}

func groupCode(gap uint64) byte {
	return byte(bits.Len(uint(max(bits.Len64(gap)+7, 8)/8) - 1))
}

func decodeGroups(data []byte, out []uint64) {
	control, at := data, (len(out)+3)/4
	last := uint64(0)
	masks := [4]uint64{1<<8 - 1, 1<<16 - 1, 1<<32 - 1, ^uint64(0)}
	for i := range out {
		code := control[i/4] >> (i % 4 * 2) & 3
		last += binary.LittleEndian.Uint64(data[at:]) & masks[code]
		at += 1 << code
		out[i] = last
	}
}

// encodePacked stores the gaps of each frame with as many bits as the largest.
func encodePacked(positions []uint64) (data []byte) {
	last := uint64(0)
	for frame := range slices.Chunk(positions, 128) {
		var gaps [128]uint64
		width := 0
		for i, p := range frame {
			gaps[i] = p - last
			last = p
			width = max(width, bits.Len64(gaps[i]))
		}
		data = append(data, byte(width))
		w := bitWriter{data: data}
		for _, gap := range gaps[:len(frame)] {
			w.put(gap, uint(width))
		}
		data = w.data
	}
	return data
}

func decodePacked(data []byte, out []uint64) {
	last := uint64(0)
	for len(out) > 0 {
		n := min(len(out), 128)
		width := uint(data[0])
		mask := uint64(1)<<width - 1
		in := data[1:]
		if width > 56 {
			panic("the benchmark's graphs have no gaps this wide")
		}
		at := uint(0)
		for i := range out[:n] {
			last += binary.LittleEndian.Uint64(in[at>>3:]) >> (at & 7) & mask
			at += width
			out[i] = last
		}
		data, out = in[(at+7)/8:], out[n:]
	}
}

// encodeRice stores gap>>low in unary and low bits as they are, low being chosen
// for each frame.
func encodeRice(positions []uint64) (data []byte) {
	last := uint64(0)
	for frame := range slices.Chunk(positions, 128) {
		var gaps [128]uint64
		for i, p := range frame {
			gaps[i] = p - last
			last = p
		}
		best, low := uint64(1<<63), uint(0)
		for l := range uint(48) {
			size := uint64(0)
			for _, gap := range gaps[:len(frame)] {
				size += gap>>l + 1 + uint64(l)
			}
			if size < best {
				best, low = size, l
			}
		}
		data = append(data, byte(low))
		w := bitWriter{data: data}
		for _, gap := range gaps[:len(frame)] {
			for range gap >> low {
				w.put(0, 1)
			}
			w.put(1, 1)
			w.put(gap&(1<<low-1), low)
		}
		data = w.data
	}
	return data
}

func decodeRice(data []byte, out []uint64) {
	last := uint64(0)
	for len(out) > 0 {
		n := min(len(out), 128)
		low := uint(data[0])
		mask := uint64(1)<<low - 1
		in := data[1:]
		at := uint(0)
		for i := range out[:n] {
			zeros := uint(0)
			for {
				w := binary.LittleEndian.Uint64(in[at>>3:]) >> (at & 7)
				if w != 0 {
					k := uint(bits.TrailingZeros64(w))
					zeros += k
					at += k + 1
					break
				}
				zeros += 64 - at&7
				at += 64 - at&7
			}
			last += uint64(zeros)<<low + binary.LittleEndian.Uint64(in[at>>3:])>>(at&7)&mask
			at += low
			out[i] = last
		}
		data, out = in[(at+7)/8:], out[n:]
	}
}

// A bitWriter appends bits, from the lowest of each byte.
type bitWriter struct {
	data []byte
	free uint // bits of the last byte
}

func (w *bitWriter) put(v uint64, width uint) {
	for width > 0 {
		if w.free == 0 {
			w.data, w.free = append(w.data, 0), 8
		}
		n := min(width, w.free)
		w.data[len(w.data)-1] |= byte(v&(1<<n-1)) << (8 - w.free)
		v >>= n
		width -= n
		w.free -= n
	}
}

func encodeFrames(positions []uint64) (data []byte) {
	last := uint64(0)
	for frame := range slices.Chunk(positions, eliasfano.FrameLen) {
		buf := make([]byte, eliasfano.MaxSize+eliasfano.Slack)
		data = append(data, buf[:eliasfano.Write(buf, last, frame)]...)
		last = frame[len(frame)-1]
	}
	return data
}

func decodeFrames(data []byte, out []uint64) {
	last := uint64(0)
	for len(out) > 0 {
		n := min(len(out), eliasfano.FrameLen)
		size, err := eliasfano.Read(data, last, out[:n])
		if err != nil {
			panic(err)
		}
		last, data, out = out[n-1], data[size:], out[n:]
	}
}

// sampleGraph is a graph to measure sizes on.
func sampleGraph(t testing.TB, name string) *order.CSR {
	ctx := context.Background()
	var chunks [][]uint64
	n := 0
	if name == "rmat" {
		spec := generate.Spec{Kind: generate.RMAT, Scale: 18, Seed: 1}
		vertices, _, err := spec.Size()
		if err == nil {
			n = int(vertices)
			err = generate.Generate(ctx, spec, 0, func(edges []uint64, _ []float32) error {
				chunks = append(chunks, slices.Clone(edges))
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	} else {
		in, err := text.Open(sharedata.Path(t, "graphs/"+name))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var raw []bool
		found, err := text.Read(ctx, in, text.Options{}, func(c text.Chunk) error {
			chunks, raw = append(chunks, slices.Clone(c.Edges)), append(raw, c.Raw)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range chunks {
			if raw[i] {
				found.Rank.Apply(chunks[i])
			}
		}
		n = found.Vertices
	}
	c, _, err := order.Build(ctx, n, chunks, nil, order.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// BenchmarkLayouts compares ways to store curve positions by speed of decoding
// and by size, and these with vertex order as it is (a 64-bit offset a vertex and
// 32 bits an edge) and compressed by general means.
func BenchmarkLayouts(b *testing.B) {
	for _, graph := range []string{"rmat", "uk-2007-05-100000.el.gz", "soc-Slashdot0902.txt.gz", "cit-HepTh.el.gz", "wiki-Vote.txt.gz"} {
		b.Run(graph, func(b *testing.B) {
			c := sampleGraph(b, graph)
			h, err := order.BuildHilbert(context.Background(), c, 0)
			if err != nil {
				b.Fatal(err)
			}
			var positions []uint64
			for i, s := range h.Squares {
				for _, p := range h.Pairs[h.Starts[i]:h.Starts[i+1]] {
					positions = append(positions, order.Position(uint32(s.X)<<16|uint32(p.X), uint32(s.Y)<<16|uint32(p.Y)))
				}
			}
			for _, l := range layouts {
				data := l.encode(positions)
				padded := append(slices.Clone(data), make([]byte, 8)...)
				out := make([]uint64, len(positions))
				b.Run(l.name, func(b *testing.B) {
					for b.Loop() {
						l.decode(padded, out)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(out)), "ns/edge")
					b.ReportMetric(8*float64(len(data))/float64(len(out)), "bits/edge")
					if !slices.Equal(out, positions) {
						b.Fatal("it decodes other positions than were encoded")
					}
				})
			}
			raw := append(bytesOf(c.Offsets), bytesOf(c.Targets)...)
			b.Run("csr", func(b *testing.B) {
				for b.Loop() {
				}
				b.ReportMetric(8*float64(len(raw))/float64(c.Edges()), "bits/edge")
			})
			b.Run("csr-gzip", func(b *testing.B) {
				var packed bytes.Buffer
				for b.Loop() {
					packed.Reset()
					w := gzip.NewWriter(&packed)
					w.Write(raw)
					w.Close()
				}
				b.ReportMetric(8*float64(packed.Len())/float64(c.Edges()), "bits/edge")
			})
			b.Run("csr-zstd", func(b *testing.B) {
				w, err := zstd.NewWriter(nil)
				if err != nil {
					b.Fatal(err)
				}
				size := 0
				for b.Loop() {
					size = len(w.EncodeAll(raw, nil))
				}
				b.ReportMetric(8*float64(size)/float64(c.Edges()), "bits/edge")
			})
		})
	}
}

func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// TestLayouts makes sure that the benchmark compares what works.
func TestLayouts(t *testing.T) {
	positions := []uint64{0, 0, 1, 5, 300, 70_000, 1 << 33, 1<<33 + 1}
	for i := range uint64(300) {
		positions = append(positions, 1<<34+i*i*i)
	}
	for _, l := range layouts {
		out := make([]uint64, len(positions))
		l.decode(append(l.encode(positions), make([]byte, 8)...), out)
		if !slices.Equal(out, positions) {
			t.Errorf("%s decodes %v, expected %v", l.name, out, positions)
		}
	}
}
