package flat_test

import (
	"fmt"
	"testing"

	"weir/flat"
)

const batch = 1 << 12

func numbers() []uint64 {
	xs := make([]uint64, batch)
	for i := range xs {
		xs[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	return xs
}

func words() []string {
	xs := make([]string, batch)
	for i := range xs {
		xs[i] = fmt.Sprintf("word%06d", i)
	}
	return xs
}

func nested() [][]record {
	xs := make([][]record, batch/4)
	for i := range xs {
		for k := range 4 {
			xs[i] = append(xs[i], record{uint64(i), fmt.Sprintf("word%06d", i+k)})
		}
	}
	return xs
}

// wide has the shape of a row: an owned field between plain ones.
func wide() []record {
	xs := make([]record, batch)
	for i := range xs {
		xs[i] = record{uint64(i), fmt.Sprintf("word%06d", i)}
	}
	return xs
}

func updates() []update { return make([]update, batch) }

// Rates are of bytes of the frame.
func BenchmarkFlat(b *testing.B) {
	bench(b, "uint64", numbers())
	bench(b, "update", updates())
	bench(b, "padded", make([]padded, batch))
	bench(b, "bool", make([]bool, batch*8))
	bench(b, "string", words())
	bench(b, "record", wide())
	bench(b, "nested", nested())
	bench(b, "one", []uint64{1})
}

func bench[T any](b *testing.B, name string, xs []T) {
	frame := place(flat.Append(nil, xs), 0)
	dst := make([]byte, 0, len(frame))
	b.Run(name+"/encode", func(b *testing.B) {
		b.SetBytes(int64(len(frame)))
		b.ReportAllocs()
		for b.Loop() {
			flat.Append(dst, xs)
		}
	})
	b.Run(name+"/decode", func(b *testing.B) {
		b.SetBytes(int64(len(frame)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := flat.Decode[T](frame); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(name+"/append", func(b *testing.B) {
		b.SetBytes(int64(len(frame)))
		b.ReportAllocs()
		var into []T
		for b.Loop() {
			var err error
			if into, _, err = flat.DecodeAppend(into[:0], frame); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCopy is what encoding numbers is measured against.
func BenchmarkCopy(b *testing.B) {
	src := flat.Append(nil, numbers())
	dst := make([]byte, len(src))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		copy(dst, src)
	}
}

// BenchmarkMake is what decoding strings cannot be faster than.
func BenchmarkMake(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		made = make([]string, batch)
	}
}

var made []string
