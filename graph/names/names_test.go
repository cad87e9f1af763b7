package names

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// tables is one table of each kind and width.
func tables() map[string]*Table {
	long := &Strings{}
	for _, s := range []string{"AMS", "", "São Paulo", "AMS2"} {
		long.Add([]byte(s))
	}
	ints := &Ints{}
	for _, k := range []uint64{5, math.MaxUint64, 0} {
		ints.Add(k)
	}
	return map[string]*Table{
		"identity":    nil,
		"shifted":     Offset(1, 3),
		"increasing":  Ascending([]uint64{0, 30, 1412}),
		"increasing8": Ascending([]uint64{3, 1 << 40, math.MaxUint64}),
		"nobody":      Ascending(nil),
		"listed":      ints.Table(),
		"strings":     long.Table(),
		"strings8":    Of("x", "yy"),
		"no strings":  Of(),
	}
}

func TestTableNamesAndFinds(t *testing.T) {
	want := map[string][]string{
		"shifted":     {"1", "2", "3"},
		"increasing":  {"0", "30", "1412"},
		"increasing8": {"3", "1099511627776", "18446744073709551615"},
		"listed":      {"5", "18446744073709551615", "0"},
		"strings":     {"AMS", "", "São Paulo", "AMS2"},
		"strings8":    {"x", "yy"},
		"nobody":      {},
		"no strings":  {},
		"identity":    {},
	}
	for name, tab := range tables() {
		if tab.Len() != len(want[name]) {
			t.Errorf("%s: %d names, want %d", name, tab.Len(), len(want[name]))
		}
		for v, s := range want[name] {
			if got := tab.Name(uint32(v)); got != s {
				t.Errorf("%s: vertex %d is called %q, want %q", name, v, got, s)
			}
			if got, ok := tab.Find(s); !ok || got != uint32(v) {
				t.Errorf("%s: Find(%q) = %d, %v, want %d", name, s, got, ok, v)
			}
		}
		for _, s := range []string{"LHR", "-1", "7777", "18446744073709551616", "4294967326"} {
			if v, ok := tab.Find(s); ok && (name != "identity" || s != "7777" || v != 7777) {
				t.Errorf("%s: Find(%q) found %d", name, s, v)
			}
		}
		if got := tab.Name(99); got != "99" {
			t.Errorf("%s: a vertex beyond the table is called %q", name, got)
		}
	}
	if Offset(0, 4) != nil {
		t.Error("Offset(0, 4) is not the identity")
	}
	if v, ok := (*Table)(nil).Find("4294967296"); ok {
		t.Errorf("identity found %d for 2^32", v)
	}
}

func TestCodecRoundTrip(t *testing.T) {
	for name, tab := range tables() {
		for _, skew := range []int{0, 1, 4} { // misaligned data is copied
			data, err := tab.AppendBinary(make([]byte, skew, 1000))
			if err != nil {
				t.Fatal(err)
			}
			data = data[skew:]
			if int64(len(data)) != tab.Size() || len(data)%8 != 0 {
				t.Errorf("%s: %d bytes, Size says %d", name, len(data), tab.Size())
			}
			back, err := Unmarshal(append(data, "what follows"...))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if back.Kind() != tab.Kind() || back.Len() != tab.Len() {
				t.Errorf("%s: came back as %d names of kind %v", name, back.Len(), back.Kind())
			}
			for v := range uint32(tab.Len()) {
				if back.Name(v) != tab.Name(v) {
					t.Errorf("%s: vertex %d came back as %q, want %q", name, v, back.Name(v), tab.Name(v))
				}
			}
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	edit := func(name string, at int, b ...byte) []byte {
		data, err := tables()[name].AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		copy(data[at:], b)
		return data
	}
	cases := map[string][]byte{
		"nothing":            nil,
		"short":              edit("listed", 0)[:31],
		"magic":              edit("listed", 0, 'W'),
		"kind":               edit("listed", 8, 9),
		"width":              edit("strings", 12, 3),
		"narrow list":        edit("listed", 12, 4),
		"too many":           edit("shifted", 16, 1, 0, 0, 0, 1),
		"more than there is": edit("listed", 16, 100),
		"past 2^64":          edit("shifted", 24, 255, 255, 255, 255, 255, 255, 255, 255),
		"falling":            edit("increasing", 36, 0),
		"equal wide":         edit("increasing8", 47, 255),
		"starts fall":        edit("strings", 36, 200),
		"arena":              edit("strings", 24, 200),
		"arena cut":          edit("strings", 24, 2),
		"identity of 3":      edit("identity", 16, 3),
	}
	cases["equal wide"] = edit("increasing8", 32, bytes.Repeat([]byte{255}, 8)...)
	for name, data := range cases {
		if tab, err := Unmarshal(data); !errors.Is(err, ErrFormat) || tab != nil {
			t.Errorf("%s: got %v, %v", name, tab, err)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, tab := range tables() {
		data, err := tab.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tab, err := Unmarshal(data)
		if err != nil {
			return
		}
		for v := range uint32(min(tab.Len()+1, 1000)) {
			tab.Find(tab.Name(v))
		}
		again, err := tab.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Unmarshal(again)
		if err != nil || back.Len() != tab.Len() || back.Kind() != tab.Kind() {
			t.Fatalf("%v of %d names came back as %v of %d: %v", tab.Kind(), tab.Len(), back.Kind(), back.Len(), err)
		}
	})
}

func TestDictionariesAgreeWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(0, 50), rapid.Uint64()), -1, 200).Draw(t, "keys")
		ints, strs := &Ints{}, &Strings{}
		model := map[uint64]uint32{}
		for round := range 2 { // the second round after Reset
			clear(model)
			for _, k := range keys {
				want, ok := model[k]
				if !ok {
					want = uint32(len(model))
					model[k] = want
				}
				if got := ints.Add(k); got != want {
					t.Fatalf("round %d: Ints.Add(%d) = %d, want %d", round, k, got, want)
				}
				if got := strs.Add([]byte(strconv.FormatUint(k, 36))); got != want {
					t.Fatalf("round %d: Strings.Add(%d) = %d, want %d", round, k, got, want)
				}
			}
			if round == 0 {
				ints.Reset()
				strs.Reset()
			}
		}
		// All at once gives the same numbers, after some of them are there.
		half := len(keys) / 2
		moreInts, moreStrs := &Ints{}, &Strings{}
		for _, k := range keys[:half] {
			moreInts.Add(k)
			moreStrs.Add([]byte(strconv.FormatUint(k, 36)))
		}
		for v, got := range moreInts.AddAll(ints.Keys(), nil) {
			if got != uint32(v) {
				t.Fatalf("Ints.AddAll gave %d to key %d", got, v)
			}
		}
		for v, got := range moreStrs.AddAll(strs, nil) {
			if got != uint32(v) {
				t.Fatalf("Strings.AddAll gave %d to string %d", got, v)
			}
		}
		it, st := moreInts.Table(), moreStrs.Table()
		for k, want := range model {
			if got, ok := it.Find(strconv.FormatUint(k, 10)); !ok || got != want {
				t.Fatalf("integer %d found at %d, %v, want %d", k, got, ok, want)
			}
			if got, ok := st.Find(strconv.FormatUint(k, 36)); !ok || got != want {
				t.Fatalf("string of %d found at %d, %v, want %d", k, got, ok, want)
			}
		}
	})
}

func TestRankAgreesWithSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.Uint32Range(0, 200), rapid.Uint32Range(65000, 66000), rapid.Uint32())
		ids := rapid.SliceOf(id).Draw(t, "ids")
		cut := rapid.IntRange(0, len(ids)).Draw(t, "cut")
		a, b := NewSet(), NewSet()
		for _, x := range ids[:cut] {
			a.Add(x)
		}
		for _, x := range ids[cut:] {
			b.Add(x)
		}
		a.Or(b)
		slices.Sort(ids)
		ids = slices.Compact(ids)
		if got := a.AppendTo(nil); !slices.Equal(got, ids) || a.Len() != len(ids) {
			t.Fatalf("set of %d holds %v, want %v", a.Len(), got, ids)
		}
		r := a.Rank()
		dense := len(ids) == 0 || int(ids[len(ids)-1]) == len(ids)-1
		if r.Len() != len(ids) || r.Identity() != dense {
			t.Fatalf("rank of %d ids, identity %v", r.Len(), r.Identity())
		}
		var edges, want []uint64
		for i, x := range ids {
			if r.Of(x) != uint32(i) || !a.Has(x) {
				t.Fatalf("rank of %d is %d, want %d", x, r.Of(x), i)
			}
			edges = append(edges, uint64(x)<<32|uint64(ids[0]))
			want = append(want, uint64(i)<<32)
		}
		r.Apply(edges)
		if !slices.Equal(edges, want) {
			t.Fatalf("edges became %x, want %x", edges, want)
		}
	})
}

func TestSetIsSparse(t *testing.T) {
	s := NewSet()
	for _, id := range []uint32{0, math.MaxUint32, 1 << 31} {
		if !s.Add(id) || s.Add(id) {
			t.Errorf("%d is not new once", id)
		}
	}
	if last, ok := s.Max(); !ok || last != math.MaxUint32 {
		t.Errorf("largest id %d, %v", last, ok)
	}
	if s.Has(1) || nothing != (page{}) {
		t.Error("the shared empty page was written")
	}
	// An id that is not in the set has no rank, but must not hurt.
	small := NewSet()
	small.Add(3)
	if got := small.Rank().Of(math.MaxUint32); got != 1 {
		t.Errorf("rank of a stranger is %d", got)
	}
}

func BenchmarkIntsAdd(b *testing.B) {
	d := &Ints{}
	x := uint64(1)
	for b.Loop() {
		x = x*6364136223846793005 + 1442695040888963407
		d.Add(x >> 44) // a million distinct keys
	}
}

func BenchmarkRankApply(b *testing.B) {
	s := NewSet()
	edges := make([]uint64, 1<<16)
	x := uint64(1)
	next := func() uint64 {
		x = x*6364136223846793005 + 1442695040888963407
		return x >> 42
	}
	for range 2 << 20 {
		s.Add(uint32(next()))
	}
	for i := range edges {
		edges[i] = next()<<32 | next()
	}
	r, work := s.Rank(), make([]uint64, len(edges))
	b.SetBytes(int64(8 * len(edges)))
	for b.Loop() {
		copy(work, edges)
		r.Apply(work)
	}
}
