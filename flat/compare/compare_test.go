// Package compare measures flat beside encoding/gob, msgpack and CBOR, on the
// batches that flat is for. Run it in this directory:
//
//	go test -bench . -benchtime 200ms
//
// The rates are of payload, the same for every codec: the bytes of the numbers and of the strings,
// without lengths and names. wire-bytes is what a codec makes of a batch.
package compare

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"reflect"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"

	"weir/flat"
)

const batch = 1 << 12

type record struct {
	A uint64
	S string
}

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

// codec encodes to a buffer it may use again, and decodes to fresh values.
type codec[T any] struct {
	name   string
	encode func([]T) ([]byte, error)
	decode func([]byte) ([]T, error)
}

func codecs[T any]() []codec[T] {
	var dst []byte
	var buf bytes.Buffer
	return []codec[T]{
		{"flat",
			func(xs []T) ([]byte, error) { dst = flat.Append(dst[:0], xs); return dst, nil },
			func(b []byte) ([]T, error) { xs, _, err := flat.Decode[T](b); return xs, err }},
		{"msgpack",
			func(xs []T) ([]byte, error) {
				buf.Reset()
				err := msgpack.NewEncoder(&buf).Encode(xs)
				return buf.Bytes(), err
			},
			func(b []byte) (xs []T, err error) { err = msgpack.Unmarshal(b, &xs); return xs, err }},
		{"cbor",
			func(xs []T) ([]byte, error) {
				buf.Reset()
				err := cbor.MarshalToBuffer(xs, &buf)
				return buf.Bytes(), err
			},
			func(b []byte) (xs []T, err error) { err = cbor.Unmarshal(b, &xs); return xs, err }},
		{"gob",
			func(xs []T) ([]byte, error) {
				buf.Reset()
				err := gob.NewEncoder(&buf).Encode(xs)
				return buf.Bytes(), err
			},
			func(b []byte) (xs []T, err error) {
				err = gob.NewDecoder(bytes.NewReader(b)).Decode(&xs)
				return xs, err
			}},
	}
}

func TestAllAgree(t *testing.T) {
	agree(t, numbers())
	agree(t, words())
	agree(t, nested())
}

func agree[T any](t *testing.T, xs []T) {
	for _, c := range codecs[T]() {
		b, err := c.encode(xs)
		if err != nil {
			t.Fatal(c.name, err)
		}
		ys, err := c.decode(b)
		if err != nil || !reflect.DeepEqual(xs, ys) {
			t.Errorf("%s: %T does not come back: %v", c.name, xs, err)
		}
	}
}

func Benchmark(b *testing.B) {
	bench(b, "uint64", numbers(), 8*batch)
	bench(b, "string", words(), 10*batch)
	bench(b, "nested", nested(), 18*batch)
}

func bench[T any](b *testing.B, name string, xs []T, payload int64) {
	for _, c := range codecs[T]() {
		frame, err := c.encode(xs)
		if err != nil {
			b.Fatal(err)
		}
		frame = bytes.Clone(frame)
		b.Run(name+"/encode/"+c.name, func(b *testing.B) {
			b.SetBytes(payload)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.encode(xs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(frame)), "wire-bytes")
		})
		b.Run(name+"/decode/"+c.name, func(b *testing.B) {
			b.SetBytes(payload)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.decode(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
