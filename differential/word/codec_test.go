package word_test

import (
	"bytes"
	"cmp"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"weir/differential/word"
	"weir/timely"
)

type (
	id     uint32
	nested struct {
		A struct {
			X uint8
			Y int32
		}
		B [3]bool
	}
	spread struct {
		A uint8
		B uint32
		C uint8
	}
	blanks struct {
		_ uint32
		A uint16
		_ string
		B int16
		_ uint64
	}
	nothing struct {
		_ [4]int
		E struct{}
		Z [0]*int
	}
	holes struct {
		A uint8
		B uint64
		C uint16
		D float64
	}
	deep struct {
		A [2]struct {
			S string
			X int8
		}
		B named
		_ uint32
		C float32
		D struct{ S, T string }
	}
	onlyText struct {
		_ uint64
		S [1]string
	}
)

func TestWords(t *testing.T) {
	packed, interned := true, false
	check[bool](t, packed)
	check[uint8](t, packed)
	check[uint16](t, packed)
	check[uint32](t, packed)
	check[uint64](t, packed)
	check[uint](t, packed)
	check[uintptr](t, packed)
	check[int8](t, packed)
	check[int16](t, packed)
	check[int32](t, packed)
	check[int64](t, packed)
	check[int](t, packed)
	check[float32](t, packed)
	check[float64](t, packed)
	check[complex64](t, packed)
	check[id](t, packed)
	check[time.Duration](t, packed)
	check[struct{}](t, packed)
	check[nothing](t, packed)
	check[[0]string](t, packed)
	check[[2]uint32](t, packed)
	check[[2]int32](t, packed)
	check[[3]int16](t, packed)
	check[[8]byte](t, packed)
	check[[7]int8](t, packed)
	check[[1][1]int64](t, packed)
	check[[2]float32](t, packed)
	check[struct{ A, B uint32 }](t, packed)
	check[struct{ A, B int32 }](t, packed)
	check[struct {
		A int32
		B uint32
	}](t, packed)
	check[pair48](t, packed)
	check[struct {
		A int32
		B int16
	}](t, packed)
	check[struct {
		A uint16
		B uint32
	}](t, packed)
	check[struct {
		A uint32
		B bool
	}](t, packed)
	check[struct{ A, B uint16 }](t, packed)
	check[struct{ A, B int8 }](t, packed)
	check[struct {
		_ uint32
		A int32
	}](t, packed)
	check[struct {
		A int64
		_ [3]byte
	}](t, packed)
	check[triple](t, packed)
	check[nested](t, packed)
	check[spread](t, packed)
	check[blanks](t, packed)

	check[string](t, interned)
	check[complex128](t, interned)
	check[[9]byte](t, interned)
	check[[20]byte](t, interned)
	check[[2]string](t, interned)
	check[[0x300]uint16](t, interned)
	check[wide](t, interned)
	check[holes](t, interned)
	check[named](t, interned)
	check[deep](t, interned)
	check[onlyText](t, interned)
	check[struct {
		A string
		B struct{}
	}](t, interned)
}

// check holds the words of a type against the model of its values.
func check[T comparable](t *testing.T, packed bool) {
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			here, there := codec[T](t, new(word.Lexicons)), codec[T](t, new(word.Lexicons))
			if here.Packed() != packed || here.Ordered() != packed {
				t.Fatalf("packed %v and ordered %v, want %v", here.Packed(), here.Ordered(), packed)
			}
			var xs []T
			for range rapid.IntRange(1, 6).Draw(t, "values") {
				x := arbitrary[T](t)
				if len(xs) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
					x = xs[0]
				}
				xs = append(xs, x)
			}
			ws := make([]uint64, len(xs))
			for i, x := range xs {
				ws[i] = here.Word(x)
			}
			for i := range xs {
				there.Word(xs[len(xs)-1-i]) // gives other words, if it does
			}
			for i, x := range xs {
				back := here.Value(ws[i])
				if !bytes.Equal(model(back), model(x)) {
					t.Fatalf("%#v has word %#x, whose value is %#v", x, ws[i], back)
				}
				if again := here.Word(back); again != ws[i] {
					t.Fatalf("%#v has words %#x and %#x", x, ws[i], again)
				}
				if here.Hash(x) != there.Hash(back) {
					t.Fatalf("%#v has two hashes", x)
				}
				if packed && here.Hash(x) != timely.HashUint64(ws[i]) {
					t.Fatalf("the hash of %#v is not that of its word", x)
				}
				for j, y := range xs {
					order := bytes.Compare(model(x), model(y))
					if got := cmp.Compare(ws[i], ws[j]); packed && got != order || (got == 0) != (order == 0) {
						t.Fatalf("%#v and %#v compare %d, their words %#x and %#x %d", x, y, order, ws[i], ws[j], got)
					}
					if got := here.Compare(ws[i], ws[j]); got != order {
						t.Fatalf("%#v and %#v compare %d, not %d", x, y, got, order)
					}
					if x == y && order != 0 && !strings.Contains(t.Name(), "float") && !strings.Contains(t.Name(), "complex") &&
						!hasFloats(reflect.TypeFor[T]()) {
						t.Fatalf("%#v and %#v are equal, but not in the model", x, y)
					}
				}
			}
		})
	})
}

func hasFloats(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return hasFloats(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if hasFloats(f.Type) {
				return true
			}
		}
	}
	return false
}

// fataler is a *testing.T, a *testing.B or a *rapid.T.
type fataler interface{ Fatal(args ...any) }

func codec[T comparable](t fataler, l *word.Lexicons) *word.Codec[T] {
	c, err := word.New[T](l)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSmallValuesHaveSmallWords(t *testing.T) {
	if w := codec[uint8](t, nil).Word(200); w != 200 {
		t.Errorf("the word of uint8(200) is %d", w)
	}
	if w := codec[pair48](t, nil).Word(pair48{1, 2}); w != 1<<16|2 {
		t.Errorf("the word of {1, 2} is %#x", w)
	}
	if w := codec[int8](t, nil).Word(math.MinInt8); w != 0 {
		t.Errorf("the word of int8(-128) is %d", w)
	}
	var l word.Lexicons
	s := codec[string](t, &l)
	for i, x := range []string{"a", "", "b"} {
		if w := s.Word(x); w != uint64(i+1) {
			t.Errorf("the word of %q is %d, want %d", x, w, i+1)
		}
	}
}

func TestArrayOfNothing(t *testing.T) {
	c := codec[[1 << 30]struct{}](t, nil)
	if w := c.Word([1 << 30]struct{}{}); w != 0 || !c.Packed() {
		t.Errorf("the word of nothing is %d", w)
	}
}

func TestZerosAndNaNsAreToldApart(t *testing.T) {
	c := codec[float64](t, nil)
	zero := math.Copysign(0, -1)
	if c.Word(zero) >= c.Word(0) || !math.Signbit(c.Value(c.Word(zero))) {
		t.Errorf("the words of -0 and 0 are %#x and %#x", c.Word(zero), c.Word(0))
	}
	a, b := math.Float64frombits(0x7ff8000000000001), math.Float64frombits(0x7ff8000000000002)
	if c.Word(a) == c.Word(b) || math.Float64bits(c.Value(c.Word(b))) != math.Float64bits(b) {
		t.Errorf("the words of two NaNs are %#x and %#x", c.Word(a), c.Word(b))
	}
	var l word.Lexicons
	p := codec[holes](t, &l)
	if p.Word(holes{D: zero}) == p.Word(holes{}) || p.Hash(holes{D: zero}) != p.Hash(holes{}) {
		t.Error("interned -0 and 0: the words must differ and the hashes agree")
	}
}

func TestOneTypeHasOneLexicon(t *testing.T) {
	var l, other word.Lexicons
	a, b, c := codec[string](t, &l), codec[string](t, &l), codec[string](t, &other)
	a.Word("x")
	w := a.Word("y")
	if b.Word("y") != w || b.Value(w) != "y" {
		t.Error("codecs of one type disagree")
	}
	if c.Word("y") != 1 {
		t.Error("lexicons of two workers are not apart")
	}
	type text string
	if d := codec[text](t, &l); d.Word("y") != 1 {
		t.Error("lexicons of two types are not apart")
	}
	if values, size := l.Size(); values != 3 || size <= 0 {
		t.Errorf("the lexicons hold %d values in %d bytes", values, size)
	}
}

func TestTypesWithoutWords(t *testing.T) {
	refuse[*int](t, "*int is a ptr")
	refuse[any](t, "interface {} is a interface")
	refuse[chan int](t, "chan int is a chan")
	refuse[time.Time](t, "time.Time.loc is a ptr (*time.Location)")
	type inner struct {
		A int
		P [2]error
	}
	refuse[struct {
		X int
		I inner
	}](t, ".I.P[] is a interface (error)")
	if _, err := word.New[string](nil); err == nil || !strings.Contains(err.Error(), "no lexicons") {
		t.Errorf("a string without lexicons: %v", err)
	}
}

func refuse[T comparable](t *testing.T, want string) {
	t.Helper()
	if _, err := word.New[T](new(word.Lexicons)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error for %v is %v, want %q in it", reflect.TypeFor[T](), err, want)
	}
}

func TestForgottenWord(t *testing.T) {
	var l word.Lexicons
	c := codec[string](t, &l)
	w := c.Word("a")
	l.Sweep()
	for _, w := range []uint64{0, w, 2, math.MaxUint64} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(r.(string), "the word of no value") {
					t.Errorf("the value of %d: %v", w, r)
				}
			}()
			c.Value(w)
		}()
	}
}

func TestNoAllocations(t *testing.T) {
	noAllocations(t, uint32(7))
	noAllocations(t, 7)
	noAllocations(t, 7.5)
	noAllocations(t, pair32{1, 2})
	noAllocations(t, triple{1, 2, 3})
	noAllocations(t, [8]byte{1})
	noAllocations(t, wide{1, 2})
	noAllocations(t, holes{1, 2, 3, 4})
	noAllocations(t, "a string")
	noAllocations(t, strings.Repeat("a long string", 10_000))
	noAllocations(t, named{"a name", 1})
	noAllocations(t, deep{B: named{"a name", 1}})
}

func noAllocations[T comparable](t *testing.T, x T) {
	t.Helper()
	var l word.Lexicons
	c := codec[T](t, &l)
	c.Word(x)
	var sum uint64
	if n := testing.AllocsPerRun(100, func() {
		w := c.Word(x)
		if y := c.Value(w); y != x {
			t.Errorf("%v came back as %v", x, y)
		}
		sum += w + c.Hash(x)
		l.Tidy()
	}); n != 0 {
		t.Errorf("%T: %v allocations a record", x, n)
	}
}
