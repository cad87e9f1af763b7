package flat_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
	"weir/flat"
)

// The types that the tests go through. Each has something the others lack.
type (
	edge   struct{ Src, Dst uint32 }
	update struct {
		Time [4]uint64
		Data edge
		Diff int64
	}
	// padded has padding inside and at its end.
	padded struct {
		A uint8
		B uint64
		C bool
		D uint16
		_ [3]byte
		E [2]struct {
			F int32
			G bool
		}
	}
	record struct {
		A uint64
		S string
	}
	mixed struct {
		B   bool
		S   string
		I8  int8
		Raw []byte
		F   float32
		N   [][]uint16
		P   *padded
		Q   *record
		PP  **string
		Arr [3]string
		Rec [2]record
		E   struct{}
		Z   []struct{}
		C   complex128
		Any [0]func()
		Fl  []bool
	}
	tree2 struct {
		Name string
		Kids []struct {
			Name string
			Kids []record
		}
	}
	number int16
)

// subject is a type under test, behind an interface that forgets which.
type subject interface {
	name() string
	// roundTrip draws values and checks all that must hold for them.
	roundTrip(t *rapid.T)
	// survive decodes bytes of any origin.
	survive(t *testing.T, src []byte)
	// seeds returns frames to start fuzzing from.
	seeds() [][]byte
	// hammer round-trips the same values from several goroutines.
	hammer(t *testing.T)
}

type of[T any] struct{ gen *rapid.Generator[T] }

var subjects = []subject{
	of[uint64]{rapid.Uint64()},
	of[int8]{rapid.Int8()},
	of[number]{rapid.Map(rapid.Int16(), func(i int16) number { return number(i) })},
	of[bool]{rapid.Bool()},
	of[float64]{rapid.Float64()},
	of[[4]uint64]{rapid.Make[[4]uint64]()},
	of[[3]bool]{rapid.Make[[3]bool]()},
	of[struct{}]{rapid.Just(struct{}{})},
	of[[0]string]{rapid.Just([0]string{})},
	of[edge]{rapid.Make[edge]()},
	of[update]{rapid.Make[update]()},
	of[padded]{genPadded()},
	of[string]{genString()},
	of[*string]{rapid.Ptr(genString(), true)},
	of[*uint32]{rapid.Ptr(rapid.Uint32(), true)},
	of[[]byte]{genSlice(rapid.Byte())},
	of[[]uint64]{genSlice(rapid.Uint64())},
	of[[]struct{}]{genSlice(rapid.Just(struct{}{}))},
	of[[][]string]{genSlice(genSlice(genString()))},
	of[[2][2]string]{rapid.Custom(func(t *rapid.T) (x [2][2]string) {
		for i := range 4 {
			x[i/2][i%2] = genString().Draw(t, "s")
		}
		return x
	})},
	of[record]{genRecord()},
	of[[]record]{genSlice(genRecord())},
	of[mixed]{genMixed()},
	of[tree2]{genTree()},
}

func genString() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string { return string(b) })
}

// genSlice draws nil, empty and other slices.
func genSlice[T any](elem *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.Just([]T(nil)), rapid.Just([]T{}), rapid.SliceOfN(elem, 1, 6))
}

func genPadded() *rapid.Generator[padded] {
	return rapid.Custom(func(t *rapid.T) padded {
		var p padded
		p.A, p.B, p.C = rapid.Byte().Draw(t, "A"), rapid.Uint64().Draw(t, "B"), rapid.Bool().Draw(t, "C")
		p.D = rapid.Uint16().Draw(t, "D")
		for i := range p.E {
			p.E[i].F, p.E[i].G = rapid.Int32().Draw(t, "F"), rapid.Bool().Draw(t, "G")
		}
		return p
	})
}

func genRecord() *rapid.Generator[record] {
	return rapid.Custom(func(t *rapid.T) record {
		return record{rapid.Uint64().Draw(t, "A"), genString().Draw(t, "S")}
	})
}

func genMixed() *rapid.Generator[mixed] {
	return rapid.Custom(func(t *rapid.T) mixed {
		m := mixed{
			B: rapid.Bool().Draw(t, "B"), S: genString().Draw(t, "S"), I8: rapid.Int8().Draw(t, "I8"),
			Raw: genSlice(rapid.Byte()).Draw(t, "Raw"), F: rapid.Float32().Draw(t, "F"),
			N: genSlice(genSlice(rapid.Uint16())).Draw(t, "N"),
			P: rapid.Ptr(genPadded(), true).Draw(t, "P"), Q: rapid.Ptr(genRecord(), true).Draw(t, "Q"),
			PP: rapid.Ptr(rapid.Ptr(genString(), true), true).Draw(t, "PP"),
			Z:  genSlice(rapid.Just(struct{}{})).Draw(t, "Z"),
			C:  complex(rapid.Float64().Draw(t, "re"), rapid.Float64().Draw(t, "im")),
			Fl: genSlice(rapid.Bool()).Draw(t, "Fl"),
		}
		for i := range m.Arr {
			m.Arr[i] = genString().Draw(t, "Arr")
		}
		for i := range m.Rec {
			m.Rec[i] = genRecord().Draw(t, "Rec")
		}
		return m
	})
}

func genTree() *rapid.Generator[tree2] {
	return rapid.Custom(func(t *rapid.T) tree2 {
		x := tree2{Name: genString().Draw(t, "Name")}
		for range rapid.IntRange(0, 3).Draw(t, "kids") {
			x.Kids = append(x.Kids, struct {
				Name string
				Kids []record
			}{genString().Draw(t, "Name"), genSlice(genRecord()).Draw(t, "Kids")})
		}
		return x
	})
}

func (of[T]) name() string { return reflect.TypeFor[T]().String() }

// aligned returns n bytes that begin at a multiple of 8, plus skew.
func aligned(n, skew int) []byte {
	words := make([]uint64, n/8+3)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
	return b[skew : skew+n : skew+n]
}

// place copies b to where it is skew bytes off a multiple of 8.
func place(b []byte, skew int) []byte {
	at := aligned(len(b), skew)
	copy(at, b)
	return at
}

func (o of[T]) roundTrip(t *rapid.T) {
	xs := genSlice(o.gen).Draw(t, "xs")
	prefix := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "prefix")
	b := flat.Append(slices.Clone(prefix), xs)
	if string(b[:len(prefix)]) != string(prefix) {
		t.Fatal("what dst held has changed")
	}
	frame := b[len(prefix):]
	if len(frame) != flat.Size(xs) {
		t.Fatalf("Append added %d bytes, Size said %d", len(frame), flat.Size(xs))
	}
	if again := flat.Append(nil, xs); string(again) != string(frame) {
		t.Fatalf("two frames of the same values differ:\n% x\n% x", again, frame)
	}
	if len(frame)%8 != 0 {
		t.Fatalf("a frame of %d bytes", len(frame))
	}
	skew := rapid.IntRange(0, 7).Draw(t, "skew")
	tail := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "tail")
	src := place(append(slices.Clone(frame), tail...), skew)
	before := slices.Clone(src)
	ys, n, err := flat.Decode[T](src)
	if err != nil {
		t.Fatalf("%v\n% x", err, frame)
	}
	if n != len(frame) {
		t.Fatalf("consumed %d bytes of %d", n, len(frame))
	}
	if !equal(reflect.ValueOf(xs), reflect.ValueOf(ys)) {
		t.Fatalf("got  %+v\nwant %+v", ys, xs)
	}
	if cap(ys) != len(ys) {
		t.Fatalf("capacity %d for %d elements", cap(ys), len(ys))
	}
	if string(src) != string(before) {
		t.Fatal("Decode changed its input")
	}
	// The same behind other values, in memory that has been in use.
	zs := append(rapid.SliceOfN(o.gen, 1, 3).Draw(t, "before"), ys...)
	want := append(slices.Clone(zs), xs...)
	zs = append(zs, zs...)[:len(zs)]
	zs, n, err = flat.DecodeAppend(zs, place(frame, skew))
	if err != nil || n != len(frame) || !equal(reflect.ValueOf(want), reflect.ValueOf(zs)) {
		t.Fatalf("appended: got  %+v\nwant %+v (%v)", zs, want, err)
	}
	// Any shorter frame is short; its type and length are in the header.
	cut := rapid.IntRange(0, len(frame)-1).Draw(t, "cut")
	if _, _, err := flat.Decode[T](frame[:cut]); err == nil {
		t.Fatalf("decoded a frame of %d bytes from %d", len(frame), cut)
	}
}

// equal is reflect.DeepEqual, but NaNs of the same bits are equal.
func equal(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case reflect.Slice:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		fallthrough
	case reflect.Array:
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equal(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Name != "_" && !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// survive checks that src is refused, or else holds values that can be read
// and round-trip.
func (o of[T]) survive(t *testing.T, src []byte) {
	for _, skew := range []int{0, 3} {
		xs, n, err := flat.Decode[T](place(src, skew))
		if zs, m, err2 := flat.DecodeAppend[T](nil, src); m != n || len(zs) != len(xs) || (err == nil) != (err2 == nil) {
			t.Fatalf("Decode: %d elements, %d bytes, %v; DecodeAppend: %d, %d, %v", len(xs), n, err, len(zs), m, err2)
		}
		if err != nil {
			if xs != nil || n != 0 {
				t.Fatalf("%v, and yet %d elements from %d bytes", err, len(xs), n)
			}
			continue
		}
		if n > len(src) || len(xs) > n {
			t.Fatalf("%d elements from %d bytes of %d", len(xs), n, len(src))
		}
		_ = fmt.Sprint(xs) // reads all of it
		again := flat.Append(nil, xs)
		ys, _, err := flat.Decode[T](again)
		if err != nil {
			t.Fatalf("decoded values do not decode again: %v", err)
		}
		if third := flat.Append(nil, ys); string(third) != string(again) {
			t.Fatalf("decoded values change:\n% x\n% x", again, third)
		}
	}
}

func (o of[T]) seeds() [][]byte {
	all := [][]byte{flat.Append[T](nil, nil), flat.Append(nil, []T{})}
	for seed := range 4 {
		xs := rapid.SliceOfN(o.gen, 1, 4).Example(seed)
		all = append(all, flat.Append(nil, xs))
	}
	return all
}
