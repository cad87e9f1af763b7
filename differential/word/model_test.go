package word_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// draw fills v with anything, of the kinds of values that are easily got wrong.
func draw(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int")) // cut to size
	case reflect.Float32, reflect.Float64:
		v.SetFloat(drawFloat(t))
		if v.Kind() == reflect.Float32 { // SetFloat makes NaNs of one kind
			*(*uint32)(v.Addr().UnsafePointer()) = uint32(drawBits(t, math.Float32bits(float32(v.Float()))))
		}
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(drawFloat(t), drawFloat(t)))
	case reflect.String:
		v.SetString(drawString(t))
	case reflect.Array:
		for i := range v.Len() {
			draw(t, v.Index(i))
		}
	case reflect.Struct:
		for f, x := range v.Fields() {
			if f.Name != "_" {
				draw(t, x)
			}
		}
	default:
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	}
}

func drawFloat(t *rapid.T) float64 {
	negativeNaN := math.Float64frombits(0xfff8000000000001)
	return rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Uint64(), math.Float64frombits),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), negativeNaN, 1, -1})).Draw(t, "float")
}

// drawBits sometimes makes bits those of a NaN.
func drawBits(t *rapid.T, bits uint32) uint32 {
	return bits | rapid.SampledFrom([]uint32{0, 0, 0, 0x7fc00001, 0xff800010}).Draw(t, "NaN")
}

func drawString(t *rapid.T) string {
	s := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00", "a", "ab"})).Draw(t, "string")
	return strings.Repeat(s, rapid.SampledFrom([]int{1, 1, 1, 1, 1, 7, 130, 20_000}).Draw(t, "times"))
}

// arbitrary draws a value with garbage in its padding and blank fields.
func arbitrary[T comparable](t *rapid.T) T {
	var box [1]T
	v := reflect.ValueOf(&box[0]).Elem()
	size := int(unsafe.Sizeof(box))
	if !strings.Contains(layout(v.Type()), "s") && size > 0 { // no pointers are made of garbage
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&box)), size), rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "garbage"))
	}
	draw(t, v)
	return box[0]
}

// layout names the kinds of the parts of a type: s for strings, . for others.
func layout(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "s"
	case reflect.Array:
		return strings.Repeat(layout(t.Elem()), t.Len())
	case reflect.Struct:
		all := ""
		for f := range t.Fields() {
			all += layout(f.Type)
		}
		return all
	}
	return "."
}

// bitsOf is the model of what a value is: its parts, one behind the other, each such that
// they compare as bytes in the order that is promised.
func bitsOf(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.BigEndian.AppendUint64(b, uint64(v.Int())-math.MaxInt64-1)
	case reflect.Float32:
		return append32(b, math.Float32bits(*(*float32)(v.Addr().UnsafePointer())))
	case reflect.Float64:
		return append64(b, math.Float64bits(v.Float()))
	case reflect.Complex64:
		for _, x := range *(*[2]float32)(v.Addr().UnsafePointer()) {
			b = append32(b, math.Float32bits(x))
		}
		return b
	case reflect.Complex128:
		return append64(append64(b, math.Float64bits(real(v.Complex()))), math.Float64bits(imag(v.Complex())))
	case reflect.String:
		return append(append(b, strings.ReplaceAll(v.String(), "\x00", "\x00\xff")...), "\x00\x00"...) // prefixes come first
	case reflect.Array:
		for i := range v.Len() {
			b = bitsOf(b, v.Index(i))
		}
		return b
	case reflect.Struct:
		for f, x := range v.Fields() {
			if f.Name != "_" {
				b = bitsOf(b, x)
			}
		}
		return b
	}
	return binary.BigEndian.AppendUint64(b, v.Uint())
}

// appendTotal appends the rank of a float among those of its size, whose bits are a sign
// and a magnitude: 0 has two ranks.
func appendTotal(b []byte, negative bool, magnitude int64) []byte {
	rank := magnitude
	if negative {
		rank = -1 - magnitude
	}
	return binary.BigEndian.AppendUint64(b, uint64(rank)-math.MaxInt64-1)
}

func append32(b []byte, bits uint32) []byte {
	return appendTotal(b, bits>>31 != 0, int64(bits<<1>>1))
}

func append64(b []byte, bits uint64) []byte {
	return appendTotal(b, bits>>63 != 0, int64(bits<<1>>1))
}

// model returns bitsOf x.
func model[T comparable](x T) []byte { return bitsOf(nil, reflect.ValueOf(&x).Elem()) }

func TestModelOrdersFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawFloat(t), drawFloat(t)
		if x != x || y != y {
			return
		}
		if c := bytes.Compare(model(x), model(y)); x != y && c != cmp.Compare(x, y) {
			t.Fatalf("the model says %d of %v and %v", c, x, y)
		}
		a, b := float32(x), float32(y)
		if c := bytes.Compare(model(a), model(b)); a != b && c != cmp.Compare(a, b) {
			t.Fatalf("the model says %d of %v and %v", c, a, b)
		}
	})
}
