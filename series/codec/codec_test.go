package codec

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// specials are bit patterns that arithmetic does not keep.
var specials = []uint64{
	0, 1 << 63, 1, 1<<63 | 1, 0x000fffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff8000000000001, 0x7ff0000000000002,
	0xfff8000000000000, 0xffffffffffffffff, 0x7fefffffffffffff, 0xffefffffffffffff, 0x0010000000000000, math.Float64bits(0.1), math.Float64bits(0.1 + 0.2), math.Float64bits(1 << 53), math.Float64bits(-1 << 53),
	math.Float64bits(1<<51 - 1), math.Float64bits(1 << 51), math.Float64bits(-1 << 51), math.Float64bits(44.833999999999996),
}

// vector draws values of one of many kinds, some of them mixed with specials.
func vector(t *rapid.T) []float64 {
	n := rapid.OneOf(rapid.IntRange(1, 20), rapid.IntRange(1, Max), rapid.Just(Max)).Draw(t, "n")
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	seed := rapid.Uint64().Draw(t, "seed")
	vs := generate(kind, n, seed)
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 5, 100}).Draw(t, "specials") {
		vs[rapid.IntRange(0, n-1).Draw(t, "at")] = math.Float64frombits(rapid.SampledFrom(specials).Draw(t, "special"))
	}
	return vs
}

// generate makes values of a kind; what it makes of seeds is no matter of any format.
func generate(kind, n int, seed uint64) []float64 {
	next := func() uint64 { // SplitMix64
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	vs := make([]float64, n)
	at := float64(next() % 1000)
	for i := range vs {
		x := next()
		switch kind {
		case 0: // a walk of two decimals
			at += float64(int64(x%51)-25) / 100
			vs[i] = math.Round(at*100) / 100
		case 1: // a counter
			at += float64(x % 5000)
			vs[i] = at
		case 2: // noise around 1.5 and -1.5
			vs[i] = math.Copysign(1+float64(x>>12)/(1<<52), float64(int64(x<<60)))
		case 3: // any bits
			vs[i] = math.Float64frombits(x)
		case 4: // few values, repeated
			if x%7 == 0 {
				at = float64(x % 4)
			}
			vs[i] = at
		case 5: // few values of many bits
			vs[i] = math.Sqrt(float64(x % 90))
		case 6: // float32
			vs[i] = float64(float32(x>>40) / 3e5)
		case 7: // sums of decimals
			at += 0.1
			vs[i] = at
		case 8: // a counter with outliers
			at += 16
			vs[i] = at
			if x%50 == 0 {
				vs[i] = float64(int64(x) >> 20)
			}
		default: // rates
			vs[i] = float64(x%100000) / 15
		}
	}
	return vs
}

// sameBits compares bit patterns.
func sameBits(a, b []float64) bool { return slices.Equal(words(a), words(b)) }

// check encodes and decodes values, between other bytes.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, hint *Hint, vs []float64) []byte {
	t.Helper()
	packed := AppendValues([]byte("head"), hint, vs)
	if string(packed[:4]) != "head" || len(packed)-4 > Bound(len(vs)) {
		t.Fatalf("%d values take %d bytes, and begin with %q", len(vs), len(packed)-4, packed[:4])
	}
	for _, behind := range []string{"", "behind, there is more of the page"} {
		got, rest, err := DecodeValues([]float64{42}, append(slices.Clip(packed[4:]), behind...))
		if err != nil {
			t.Fatalf("%v; packed % x", err, packed[4:])
		}
		if string(rest) != behind || got[0] != 42 || !sameBits(got[1:], vs) {
			t.Fatalf("values %x came back as %x, and %q is left; packed % x", words(vs), words(got[1:]), rest, packed[4:])
		}
	}
	return packed[4:]
}

func TestValuesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hint := Hint{Dense: rapid.Bool().Draw(t, "dense")}
		for range rapid.IntRange(1, 4).Draw(t, "vectors") {
			check(t, &hint, vector(t))
		}
	})
}

// TestPlannedSizes holds what the encoder expects a form to take against what it takes, whatever form is best.
func TestPlannedSizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := vector(t)
		e := encoders.New().(*encoder)
		hint := &Hint{Dense: rapid.Bool().Draw(t, "dense")}
		e.plan(vs, hint)
		if got := len(e.append(nil, vs)); got != e.size {
			t.Fatalf("%v takes %d bytes, planned %d", e.form, got, e.size)
		}
		forced := func(form Form, size int) {
			e.form = form
			body := e.append(nil, vs)
			if len(body) != size {
				t.Fatalf("%v takes %d bytes, planned %d", form, len(body), size)
			}
			got := make([]float64, len(vs))
			rest, err := decodeForm(got, body, form, 0)
			if err != nil || len(rest) != 0 || !sameBits(got, vs) {
				t.Fatalf("%v does not come back: %v, %d bytes left", form, err, len(rest))
			}
		}
		e.repeats.split(vs)
		e.repeats.plan(len(vs), hint.Dense)
		e.changed.plan(e.repeats.values[:e.repeats.changes], new(Hint))
		forced(Repeat, e.repeats.size+1+e.changed.size)
		for divisor := range divisors {
			e.decimal = &e.decimals[0]
			e.decimal.plan(vs, byte(divisor), hint.Dense)
			forced(Decimal, e.decimal.size)
		}
		e.ordered.plan(vs, hint.Dense)
		forced(Ordered, e.ordered.size)
		e.fronts.plan(vs, 0)
		forced(Front, e.fronts.size)
		if e.dict.find(vs) {
			e.dict.plan(vs, hint.Dense)
			e.table.plan(e.dict.values[:e.dict.distinct], new(Hint))
			forced(Dict, e.dict.size+1+e.table.size)
		}
	})
}

// TestColumnsComeBack draws integers in clusters, so that every number of them is an outlier on either side.
func TestColumnsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := make([]int64, rapid.IntRange(1, Max).Draw(t, "n"))
		var at [3]int64
		var reach [3]uint64
		for i := range at {
			at[i] = rapid.Int64().Draw(t, "at") >> rapid.IntRange(0, 63).Draw(t, "shift")
			reach[i] = 1<<rapid.IntRange(0, 40).Draw(t, "reach") - 1
		}
		often := rapid.Uint64Range(1, 100).Draw(t, "often")
		seed := rapid.Uint64().Draw(t, "seed")
		sums := rapid.Bool().Draw(t, "sums")
		sum := int64(0)
		for i, v := range generate(3, len(vs), seed) {
			x := math.Float64bits(v)
			cluster := 0
			if x%100 < often {
				cluster = 1 + int(x>>8%2)
			}
			vs[i] = at[cluster] + int64(x>>10&reach[cluster])
			if sum += vs[i]; sums {
				vs[i] = sum
			}
		}
		planned := slices.Clone(vs)
		c := planColumn(planned, rapid.Bool().Draw(t, "dense"))
		body := c.append(nil, planned)
		got := make([]int64, len(vs))
		if rest, err := decodeColumn(unsigned(got), body); err != nil || len(rest) != 0 || !slices.Equal(got, vs) || len(body) != c.size || c.size > 1+8*len(vs) {
			t.Fatalf("%d came back as %d in %d bytes, planned %d: %v", vs, got, len(body), c.size, err)
		}
	})
}

// TestDense makes sure that vectors are denser on request, and no form is missed by it.
func TestDense(t *testing.T) {
	for kind := range 10 {
		vs := generate(kind, Max, 7)
		usual, dense := len(check(t, nil, vs)), len(check(t, &Hint{Dense: true}, vs))
		if dense > usual+usual/50 {
			t.Errorf("kind %d takes %d bytes, and %d if it shall be dense", kind, usual, dense)
		}
	}
	normal := make([]float64, Max)
	for i, w := range words(generate(3, Max, 7)) {
		normal[i] = float64(bits.OnesCount64(w)) / 10
	}
	if usual, dense := len(check(t, nil, normal)), len(check(t, &Hint{Dense: true}, normal)); dense*100 > usual*96 {
		t.Errorf("a binomial distribution takes %d bytes, and %d if it shall be dense", usual, dense)
	}
}

// TestForms makes sure that each form is the best of something.
func TestForms(t *testing.T) {
	for _, want := range []struct {
		form Form
		kind int
		bits float64 // a value, at most
	}{{Decimal, 0, 8}, {Decimal, 1, 14}, {Front, 2, 53.2}, {Raw, 3, 64.5}, {Repeat, 4, 2}, {Dict, 5, 17}, {Ordered, 6, 29}, {Decimal, 9, 18}} {
		packed := check(t, nil, generate(want.kind, Max, 7))
		form, err := FormOf(packed)
		if err != nil || form != want.form {
			t.Errorf("kind %d takes form %v, %v; expected %v", want.kind, form, err, want.form)
		}
		if bits := float64(len(packed)) * 8 / Max; bits > want.bits {
			t.Errorf("kind %d takes %.2f bits a value, expected at most %v", want.kind, bits, want.bits)
		}
	}
	if packed := check(t, nil, slices.Repeat([]float64{21.5}, Max)); len(packed) != 4 {
		t.Errorf("a constant takes %d bytes: % x", len(packed), packed)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	var packed []byte
	vs := generate(0, Max, 1)
	packed = AppendValues(packed, nil, vs)
	room := make([]float64, 0, Max)
	if n := testing.AllocsPerRun(20, func() {
		if _, _, err := DecodeValues(room, packed); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("decoding allocates %v times", n)
	}
	if raceEnabled {
		return // the pool of encoders forgets some on purpose
	}
	dst := make([]byte, 0, Bound(Max))
	for _, hint := range []Hint{{}, {Dense: true}} {
		for kind := range 10 {
			vs := generate(kind, Max, 1)
			if n := testing.AllocsPerRun(20, func() { AppendValues(dst, &hint, vs) }); n != 0 {
				t.Errorf("encoding kind %d allocates %v times (dense: %v)", kind, n, hint.Dense)
			}
		}
		for _, c := range timeKinds {
			ts := c.generate(Max)
			back := make([]int64, 0, Max)
			if n := testing.AllocsPerRun(20, func() {
				if _, _, err := DecodeTimes(back, AppendTimes(dst, &hint, ts)); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("times %s allocate %v times (dense: %v)", c.name, n, hint.Dense)
			}
		}
	}
}

// TestTruncated cuts vectors short.
func TestTruncated(t *testing.T) {
	for kind := range 10 {
		packed := AppendValues(nil, nil, generate(kind, 100, 3))
		for n := range packed {
			if got, _, err := DecodeValues(nil, packed[:n:n]); !errors.Is(err, ErrCorrupt) || len(got) != 0 {
				t.Fatalf("kind %d: %d bytes of %d are read as %d values, %v", kind, n, len(packed), len(got), err)
			}
		}
	}
}

func TestWrongNumbersOfPointsPanic(t *testing.T) {
	for _, n := range []int{0, Max + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d points are accepted", n)
				}
			}()
			AppendValues(nil, nil, make([]float64, n))
		}()
	}
}
