package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"weir/series/codec"
	"weir/series/codec/dfcm"
	"weir/series/codec/xor"
)

// scheme is a way to compress values: it appends a series to dst, and reads it back.
type scheme struct {
	name   string
	encode func(dst []byte, vs []float64) []byte
	decode func(dst []float64, src []byte, n int) ([]float64, error)
}

// published is how many values the schemes that were published may look back on: the leaves of their stores hold
// about as many.
const published = 2048

var schemes = []scheme{
	vectors("weir", false),
	vectors("dense", true),
	chunked("DFCM", dfcm.Append, dfcm.Decode),
	chunked("XOR", xor.Append, xor.Decode),
}

// vectors is our scheme.
func vectors(name string, dense bool) scheme {
	return scheme{name, func(dst []byte, vs []float64) []byte {
		hint := codec.Hint{Dense: dense}
		for v := range slices.Chunk(vs, codec.Max) {
			dst = codec.AppendValues(dst, &hint, v)
		}
		return dst
	}, func(dst []float64, src []byte, _ int) ([]float64, error) {
		var err error
		for len(src) > 0 && err == nil {
			dst, src, err = codec.DecodeValues(dst, src)
		}
		return dst, err
	}}
}

// chunked is a scheme that begins anew after so many values.
func chunked(name string, encode func([]byte, []float64) []byte, decode func([]float64, []byte) ([]byte, error)) scheme {
	return scheme{name, func(dst []byte, vs []float64) []byte {
		for v := range slices.Chunk(vs, published) {
			dst = encode(dst, v)
		}
		return dst
	}, func(dst []float64, src []byte, n int) ([]float64, error) {
		dst = dst[:n]
		var err error
		for v := range slices.Chunk(dst, published) {
			if src, err = decode(v, src); err != nil {
				break
			}
		}
		return dst, err
	}}
}

// figures are what was measured of a scheme on a set.
type figures struct {
	bits           float64 // a value
	encode, decode float64 // values a second
}

// row is a set and the figures of all schemes.
type row struct {
	set     set
	figures []figures
}

// measure encodes and decodes a set by all schemes, in turns.
func measure(ctx context.Context, s set, opt options) (row, error) {
	r := row{set: s, figures: make([]figures, len(schemes))}
	for range opt.repetitions {
		for i, scheme := range schemes {
			if err := ctx.Err(); err != nil {
				return r, err
			}
			bits, encode, decode, err := scheme.measure(s, opt.length)
			if err != nil {
				return r, fmt.Errorf("%s of %s: %w", scheme.name, s.name, err)
			}
			f := &r.figures[i]
			f.bits, f.encode, f.decode = bits, max(f.encode, encode), max(f.decode, decode)
		}
	}
	return r, nil
}

// measure takes about as long as it is told for each direction, and checks that all bits come back.
func (c scheme) measure(s set, length time.Duration) (bits, encode, decode float64, err error) {
	var packed [][]byte
	total, size := 0, 0
	for _, vs := range s.series {
		p := c.encode(nil, vs)
		packed = append(packed, p)
		total += len(vs)
		size += len(p)
		got, err := c.decode(make([]float64, 0, len(vs)), p, len(vs))
		if err != nil {
			return 0, 0, 0, err
		}
		if !slices.EqualFunc(got, vs, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			return 0, 0, 0, errors.New("the values do not come back")
		}
	}
	longest := slices.MaxFunc(s.series, func(a, b []float64) int { return len(a) - len(b) })
	room, back := make([]byte, 0, 10*len(longest)+16), make([]float64, 0, len(longest))
	encode = rate(total, length, func() error {
		for _, vs := range s.series {
			c.encode(room, vs)
		}
		return nil
	}, &err)
	decode = rate(total, length, func() error {
		for i, vs := range s.series {
			if _, err := c.decode(back, packed[i], len(vs)); err != nil {
				return err
			}
		}
		return nil
	}, &err)
	return float64(size) * 8 / float64(total), encode, decode, err
}

// rate is how many of n things a second are done, by doing them again and again for so long: in the
// quickest of all rounds, since others use the machine too.
func rate(n int, length time.Duration, do func() error, err *error) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(math.MaxInt64)
	for start := now(); ; {
		round := now()
		if e := do(); e != nil {
			*err = e
			return 0
		}
		best = min(best, max(now()-round, 1))
		if now()-start >= length {
			return float64(n) / best.Seconds()
		}
	}
}

// measureTimes encodes and decodes times.
func measureTimes(ts []int64, dense bool, opt options) (f figures, err error) {
	hint := codec.Hint{Dense: dense}
	encode := func(dst []byte) []byte {
		for v := range slices.Chunk(ts, codec.Max) {
			dst = codec.AppendTimes(dst, &hint, v)
		}
		return dst
	}
	decode := func(dst []int64, src []byte) ([]int64, error) {
		var err error
		for len(src) > 0 && err == nil {
			dst, src, err = codec.DecodeTimes(dst, src)
		}
		return dst, err
	}
	packed := encode(nil)
	back, err := decode(make([]int64, 0, len(ts)), packed)
	if err != nil {
		return f, err
	}
	if !slices.Equal(back, ts) {
		return f, errors.New("the times do not come back")
	}
	room := make([]byte, 0, 10*len(ts)+16)
	f.bits = float64(len(packed)) * 8 / float64(len(ts))
	for range opt.repetitions {
		f.encode = max(f.encode, rate(len(ts), opt.length, func() error { encode(room); return nil }, &err))
		f.decode = max(f.decode, rate(len(ts), opt.length, func() error { _, err := decode(back[:0], packed); return err }, &err))
	}
	return f, err
}
