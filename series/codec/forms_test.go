package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// force encodes values by a form, whether or not it is a good one for them; it returns false where
// the form has none. choice is up to the form.
type force func(e *encoder, vs []float64, choice byte) bool

func forceConstant(e *encoder, vs []float64, _ byte) bool {
	e.form = Constant
	return !slices.ContainsFunc(vs, func(v float64) bool { return math.Float64bits(v) != math.Float64bits(vs[0]) })
}

func forceRepeat(e *encoder, vs []float64, choice byte) bool {
	e.form = Repeat
	e.repeats.split(vs)
	e.repeats.plan(len(vs), choice%2 == 1)
	e.changed.plan(e.repeats.values[:e.repeats.changes], new(Hint))
	return true
}

func forceDecimal(e *encoder, vs []float64, choice byte) bool {
	e.form, e.decimal = Decimal, &e.decimals[0]
	e.decimal.plan(vs, choice%byte(len(divisors)), choice > 127)
	return true
}

func forceOrdered(e *encoder, vs []float64, choice byte) bool {
	e.form = Ordered
	e.ordered.plan(vs, choice%2 == 1)
	return true
}

func forceDict(e *encoder, vs []float64, choice byte) bool {
	e.form = Dict
	if !e.dict.find(vs) {
		return false
	}
	e.dict.plan(vs, choice%2 == 1)
	e.table.plan(e.dict.values[:e.dict.distinct], new(Hint))
	return true
}

func forceFront(e *encoder, vs []float64, choice byte) bool {
	e.form = Front
	e.fronts.plan(vs, leastRight+uint(choice)%(mostRight-leastRight+1))
	return true
}

func forceXOR(e *encoder, _ []float64, _ byte) bool  { e.form = XOR; return true }
func forceDFCM(e *encoder, _ []float64, _ byte) bool { e.form = DFCM; return true }
func forceRaw(e *encoder, _ []float64, _ byte) bool  { e.form = Raw; return true }

var forces = [forms]force{forceConstant, forceRepeat, forceDecimal, forceOrdered, forceDict, forceFront, forceXOR, forceDFCM, forceRaw}

// fuzzForm takes bytes for values, which must come back from the form, and for its body, which must not
// do harm.
func fuzzForm(f *testing.F, form Form) {
	for kind := range 10 {
		vs := generate(kind, 60, 9)
		e := encoders.New().(*encoder)
		if forces[form](e, vs, 2) {
			f.Add(e.append(nil, vs), uint16(60), byte(2))
		}
		var text []byte
		for _, w := range words(vs) {
			text = binary.LittleEndian.AppendUint64(text, w)
		}
		f.Add(text, uint16(60), byte(kind))
	}
	var odd []byte
	for _, s := range specials {
		odd = binary.LittleEndian.AppendUint64(odd, s)
	}
	f.Add(odd, uint16(len(specials)), byte(1))
	f.Add(make([]byte, 8*40), uint16(512), byte(0))
	e := encoders.New().(*encoder)
	f.Fuzz(func(t *testing.T, src []byte, n uint16, choice byte) {
		back := func(vs []float64) {
			if !forces[form](e, vs, choice) {
				return
			}
			body := e.append(nil, vs)
			got := make([]float64, len(vs))
			if rest, err := decodeForm(got, body, form, 0); err != nil || len(rest) != 0 || !sameBits(got, vs) {
				t.Fatalf("%v: %x came back as %x, with %d bytes left: %v", form, words(vs), words(got), len(rest), err)
			}
		}
		vs := make([]float64, int(n)%Max+1)
		rest, err := decodeForm(vs, src, form, 0)
		if err == nil {
			if len(rest) > len(src) {
				t.Fatalf("%d bytes are left of %d", len(rest), len(src))
			}
			back(vs)
		} else if !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		vs = vs[:0]
		for len(src) >= 8 && len(vs) < Max {
			vs = append(vs, math.Float64frombits(binary.LittleEndian.Uint64(src)))
			src = src[8:]
		}
		if len(vs) > 0 {
			back(vs)
		}
	})
}

func FuzzConstant(f *testing.F) { fuzzForm(f, Constant) }
func FuzzRepeat(f *testing.F)   { fuzzForm(f, Repeat) }
func FuzzDecimal(f *testing.F)  { fuzzForm(f, Decimal) }
func FuzzOrdered(f *testing.F)  { fuzzForm(f, Ordered) }
func FuzzDict(f *testing.F)     { fuzzForm(f, Dict) }
func FuzzFront(f *testing.F)    { fuzzForm(f, Front) }
func FuzzXOR(f *testing.F)      { fuzzForm(f, XOR) }
func FuzzDFCM(f *testing.F)     { fuzzForm(f, DFCM) }
func FuzzRaw(f *testing.F)      { fuzzForm(f, Raw) }

// FuzzDecodeValues reads anything as a vector.
func FuzzDecodeValues(f *testing.F) {
	for kind := range 10 {
		f.Add(AppendValues(nil, nil, generate(kind, 100, 5)))
		f.Add(AppendValues(nil, nil, generate(kind, Max, 5)))
		f.Add(AppendValues(nil, &Hint{Dense: true}, generate(kind, 200, 5)))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		vs, rest, err := DecodeValues(nil, src)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) || len(vs) > 0 {
				t.Fatalf("%d values, %v", len(vs), err)
			}
			return
		}
		if len(vs) < 1 || len(vs) > Max || len(rest) >= len(src) {
			t.Fatalf("%d values of %d bytes, %d left", len(vs), len(src), len(rest))
		}
		check(t, nil, vs)
		check(t, &Hint{Dense: true}, vs)
	})
}

// FuzzColumn reads anything as a column of integers, and writes any integers as one.
func FuzzColumn(f *testing.F) {
	column := func(vs []int64) []byte {
		c := planColumn(vs, false)
		body := c.append(nil, vs)
		if len(body) != c.size {
			f.Fatalf("%d bytes, planned %d", len(body), c.size)
		}
		return body
	}
	f.Add(column([]int64{1, 2, 3, 4, 1000000, 6, 7}), uint16(7))
	f.Add(column([]int64{0, 4096, 8192, 4096 * 77, 0, 0, 4096}), uint16(7))
	f.Add(column([]int64{math.MinInt64, math.MaxInt64, 0, -1, 1}), uint16(5))
	f.Add(column(slices.Repeat([]int64{7, 7, 7, -1 << 40, 7, 7, 7, 1 << 60}, 8)), uint16(64))
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		back := func(vs []int64) {
			planned := slices.Clone(vs)
			c := planColumn(planned, n/Max%2 == 1)
			body := c.append(nil, planned)
			if len(body) != c.size || c.size > 1+8*len(vs) {
				t.Fatalf("%d integers take %d bytes, planned %d", len(vs), len(body), c.size)
			}
			got := make([]int64, len(vs))
			if rest, err := decodeColumn(unsigned(got), body); err != nil || len(rest) != 0 || !slices.Equal(got, vs) {
				t.Fatalf("%d came back as %d, with %d bytes left: %v", vs, got, len(rest), err)
			}
		}
		vs := make([]int64, int(n)%Max+1)
		if _, err := decodeColumn(unsigned(vs), src); err == nil {
			back(vs)
		} else if !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		vs = vs[:0]
		for len(src) >= 8 && len(vs) < Max {
			vs = append(vs, int64(binary.LittleEndian.Uint64(src)))
			src = src[8:]
		}
		if len(vs) > 0 {
			back(vs)
		}
	})
}

// BenchmarkForms encodes and decodes what each form is good for, by it.
func BenchmarkForms(b *testing.B) {
	kinds := [forms]int{4, 4, 0, 6, 5, 2, 7, 7, 3}
	for form := range forms {
		vs := generate(kinds[form], Max, 7)
		if form == Constant {
			vs = slices.Repeat(vs[:1], Max)
		}
		benchmark(b, form.String(), vs, func(e *encoder, dst []byte) []byte {
			forces[form](e, vs, 2)
			return e.append(dst, vs)
		}, func(dst []float64, src []byte) error {
			_, err := decodeForm(dst, src, form, 0)
			return err
		})
	}
}

// BenchmarkValues encodes and decodes kinds of values by the best form.
func BenchmarkValues(b *testing.B) {
	for kind, name := range [...]string{"walk", "counter", "noise", "bits", "states", "roots", "float32", "sums", "outliers", "rates"} {
		var hint Hint
		vs := generate(kind, Max, 7)
		benchmark(b, name, vs, func(_ *encoder, dst []byte) []byte {
			return AppendValues(dst, &hint, vs)
		}, func(dst []float64, src []byte) error {
			_, _, err := DecodeValues(dst[:0], src)
			return err
		})
	}
}

func benchmark(b *testing.B, name string, vs []float64, encode func(e *encoder, dst []byte) []byte, decode func(dst []float64, src []byte) error) {
	e := encoders.New().(*encoder)
	packed := encode(e, make([]byte, 0, 2*Bound(Max)))
	rate := func(b *testing.B) {
		b.ReportMetric(float64(b.N)*float64(len(vs))/1e6/b.Elapsed().Seconds(), "Mvalues/s")
	}
	b.Run(fmt.Sprintf("%s/encode", name), func(b *testing.B) {
		b.SetBytes(int64(8 * len(vs)))
		for b.Loop() {
			encode(e, packed[:0])
		}
		rate(b)
		b.ReportMetric(float64(len(packed))*8/float64(len(vs)), "bits/value")
	})
	b.Run(fmt.Sprintf("%s/decode", name), func(b *testing.B) {
		dst, src := slices.Clone(vs), append(packed, make([]byte, 8)...)
		b.SetBytes(int64(8 * len(vs)))
		for b.Loop() {
			if err := decode(dst, src); err != nil {
				b.Fatal(err)
			}
		}
		rate(b)
	})
}
