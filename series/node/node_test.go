package node_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"weir/series/codec"
	"weir/series/names"
	"weir/series/node"
)

func header(t *rapid.T, kinds ...node.Kind) node.Header {
	return node.Header{
		Kind:    rapid.SampledFrom(kinds).Draw(t, "kind"),
		Series:  names.ID(rapid.Uint32().Draw(t, "series")),
		Lane:    rapid.Uint32().Draw(t, "lane"),
		Ordinal: rapid.Uint64().Draw(t, "ordinal"),
		Late:    rapid.Uint64().Draw(t, "late"),

		More:      rapid.Bool().Draw(t, "more"),
		Continued: rapid.Bool().Draw(t, "continued"),
	}
}

func ref(t *rapid.T) node.Ref {
	var r node.Ref
	r.Count, r.NaNs = rapid.Uint64().Draw(t, "count"), rapid.Uint64().Draw(t, "NaNs")
	r.FirstTime, r.LastTime = rapid.Int64().Draw(t, "first time"), rapid.Int64().Draw(t, "last time")
	r.MinTime, r.MaxTime = rapid.Int64().Draw(t, "min time"), rapid.Int64().Draw(t, "max time")
	value := rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN()), rapid.Just(math.Inf(-1)))
	r.First, r.Last, r.Min = value.Draw(t, "first"), value.Draw(t, "last"), value.Draw(t, "min")
	r.Max, r.Sum, r.Drops = value.Draw(t, "max"), value.Draw(t, "sum"), value.Draw(t, "drops")
	r.At, r.Oldest = rapid.Uint64().Draw(t, "at"), rapid.Uint64().Draw(t, "oldest")
	r.Length, r.Level = rapid.Uint32Max(1<<31-1).Draw(t, "length"), rapid.Uint32Max(9).Draw(t, "level")
	return r
}

func TestInnerComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := header(t, node.Inner)
		refs := rapid.SliceOfN(rapid.Custom(ref), 1, node.MaxFanout).Draw(t, "refs")
		got, body, err := node.DecodeHeader(node.AppendInner(nil, h, refs))
		if err != nil || got != h {
			t.Fatalf("header %+v, %v; want %+v", got, err, h)
		}
		back, err := node.DecodeInner(nil, body)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(back) != fmt.Sprint(refs) { // text, since NaN is not equal to itself
			t.Fatalf("got %v, want %v", back, refs)
		}
	})
}

// vector encodes points one second apart.
func vector(first int64, values []float64) node.Vector {
	times := make([]int64, len(values))
	for i := range times {
		times[i] = first + int64(i)*1e9
	}
	return node.Vector{FirstTime: first, Bytes: codec.AppendValues(codec.AppendTimes(nil, nil, times), nil, values)}
}

func TestLeafComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := header(t, node.Leaf)
		want := rapid.SliceOfN(rapid.SliceOfN(rapid.Float64(), 1, 20), 1, 5).Draw(t, "values")
		var vectors []node.Vector
		var texts []byte
		for i, values := range want {
			vectors = append(vectors, vector(int64(i)*1e12, values))
			texts = node.AppendText(texts, []byte(fmt.Sprint(values)))
		}
		got, body, err := node.DecodeHeader(node.AppendLeaf(nil, h, vectors, texts))
		if err != nil || got != h {
			t.Fatalf("header %+v, %v; want %+v", got, err, h)
		}
		vectors, texts, err = node.DecodeLeaf(nil, body)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range vectors {
			times, values, err := v.Decode(nil, nil)
			if err != nil || fmt.Sprint(values) != fmt.Sprint(want[i]) || times[0] != v.FirstTime || times[0] != int64(i)*1e12 {
				t.Fatalf("vector %d: %v at %v, %v; want %v", i, values, times, err, want[i])
			}
			var text []byte
			text, texts, err = node.NextText(texts)
			if err != nil || string(text) != fmt.Sprint(want[i]) {
				t.Fatalf("text %d: %q, %v", i, text, err)
			}
		}
		if len(texts) != 0 {
			t.Fatalf("%d bytes behind the texts", len(texts))
		}
	})
}

func TestDeletionComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := header(t, node.Deletion)
		from := rapid.Int64().Draw(t, "from")
		to := rapid.Int64Min(from).Draw(t, "to")
		got, body, err := node.DecodeHeader(node.AppendDeletion(nil, h, from, to))
		if err != nil || got != h {
			t.Fatalf("header %+v, %v; want %+v", got, err, h)
		}
		if a, b, err := node.DecodeDeletion(body); a != from || b != to || err != nil {
			t.Fatalf("from %d to %d, %v; want from %d to %d", a, b, err, from, to)
		}
	})
}

func TestReplacementComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := header(t, node.Replacement)
		want := node.Replaced{
			Below:  rapid.Uint64().Draw(t, "below"),
			Events: rapid.Bool().Draw(t, "events"),
			Leaves: rapid.Uint32().Draw(t, "leaves"),
			Small:  rapid.Uint32().Draw(t, "small"),
			Refs:   rapid.SliceOfN(rapid.Custom(ref), 0, 200).Draw(t, "refs"),
		}
		got, body, err := node.DecodeHeader(node.AppendReplacement(nil, h, &want))
		if err != nil || got != h {
			t.Fatalf("header %+v, %v; want %+v", got, err, h)
		}
		back, err := node.DecodeReplacement(body)
		if err != nil {
			t.Fatal(err)
		}
		if len(want.Refs) == 0 {
			want.Refs, back.Refs = nil, nil
		}
		if fmt.Sprint(back) != fmt.Sprint(want) {
			t.Fatalf("got %v, want %v", back, want)
		}
	})
}

// The largest replacement fits a node, whatever its references are.
func TestReplacementFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := node.Replaced{Below: 1<<64 - 1, Leaves: 1<<32 - 1, Small: 1<<32 - 1}
		seeds := rapid.SliceOfN(rapid.Custom(ref), 20, 20).Draw(t, "refs")
		for i := range node.MaxReplaced {
			x := seeds[i%len(seeds)]
			x.At ^= uint64(i) * 0x9e3779b97f4a7c15
			x.FirstTime ^= int64(x.At)
			x.Sum = math.Float64frombits(math.Float64bits(x.Sum) ^ x.At>>7)
			x.Last = math.Float64frombits(math.Float64bits(x.Last) ^ x.At>>3)
			r.Refs = append(r.Refs, x)
		}
		if n := len(node.AppendReplacement(nil, header(t, node.Replacement), &r)); n > 64<<10 {
			t.Fatalf("%d bytes", n)
		}
	})
}

// The bytes of one node of each shape, as docs/formats-series.md describes them.
func TestGolden(t *testing.T) {
	r := node.Ref{At: 1 << 40, Oldest: 1<<40 - 5, Length: 77, Level: 1}
	r.Add([]int64{10, 20}, []float64{1.5, 0.5})
	inner := node.AppendInner(nil, node.Header{Kind: node.Inner, Series: 300, Lane: 1, Ordinal: 0}, []node.Ref{r})
	leaf := node.AppendLeaf(nil, node.Header{Kind: node.Leaf, Series: 7, Ordinal: 3, Late: 2, More: true}, []node.Vector{vector(5, []float64{2, 2, 2})}, nil)
	if got, want := fmt.Sprintf("%x", leaf), goldenLeaf; got != want {
		t.Errorf("leaf\n%s, want\n%s", got, want)
	}
	if got, want := fmt.Sprintf("%x", inner), goldenInner; got != want {
		t.Errorf("inner\n%s, want\n%s", got, want)
	}
	replacement := node.AppendReplacement(nil, node.Header{Kind: node.Replacement, Series: 300, Ordinal: 9, Late: 2},
		&node.Replaced{Below: 1<<40 + 700, Events: true, Leaves: 40, Small: 3, Refs: []node.Ref{r}})
	if got, want := fmt.Sprintf("%x", replacement), goldenReplacement; got != want {
		t.Errorf("replacement\n%s, want\n%s", got, want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(node.AppendLeaf(nil, node.Header{Kind: node.Leaf, Series: 7, Ordinal: 3}, []node.Vector{vector(5, []float64{1, 2})}, node.AppendText(nil, []byte("x"))))
	f.Add(node.AppendDeletion(nil, node.Header{Kind: node.Deletion, Series: 7}, -5, 5))
	f.Add(node.AppendInner(nil, node.Header{Kind: node.Inner, Series: 7}, make([]node.Ref, 3)))
	f.Add(node.AppendReplacement(nil, node.Header{Kind: node.Replacement, Series: 7}, &node.Replaced{Below: 5, Refs: make([]node.Ref, 3)}))
	f.Fuzz(func(t *testing.T, src []byte) {
		h, body, err := node.DecodeHeader(src)
		if err != nil {
			return
		}
		if h.Kind == node.Deletion {
			if from, to, err := node.DecodeDeletion(body); err == nil && from > to {
				t.Fatalf("a deletion from %d to %d", from, to)
			}
			return
		}
		if h.Kind == node.Replacement {
			x, err := node.DecodeReplacement(body)
			if err != nil {
				return
			}
			_, body, err = node.DecodeHeader(node.AppendReplacement(nil, h, &x))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := node.DecodeReplacement(body); err != nil || fmt.Sprint(again) != fmt.Sprint(x) {
				t.Fatalf("read %v, written and read again %v, %v", x, again, err)
			}
			return
		}
		if h.Kind == node.Leaf || h.Kind == node.DetachedLeaf {
			vectors, texts, err := node.DecodeLeaf(nil, body)
			if err != nil {
				return
			}
			for _, v := range vectors {
				if times, values, err := v.Decode(nil, nil); err == nil && len(times) != len(values) {
					t.Fatalf("%d times, %d values", len(times), len(values))
				}
			}
			for len(texts) > 0 {
				if _, texts, err = node.NextText(texts); err != nil {
					break
				}
			}
			return
		}
		refs, err := node.DecodeInner(nil, body)
		if err != nil {
			return
		}
		_, body, err = node.DecodeHeader(node.AppendInner(nil, h, refs))
		if err != nil {
			t.Fatal(err)
		}
		again, err := node.DecodeInner(nil, body)
		if err != nil || !bytes.Equal([]byte(fmt.Sprint(again)), []byte(fmt.Sprint(refs))) {
			t.Fatalf("read %v, written and read again %v, %v", refs, again, err)
		}
	})
}

func BenchmarkInner(b *testing.B) {
	refs := make([]node.Ref, 32)
	for i := range refs {
		times, values := []int64{int64(i) * 5120e9, int64(i)*5120e9 + 5110e9}, []float64{float64(i) / 100, float64(i*7) / 100}
		refs[i].Add(times, values)
		refs[i].At, refs[i].Oldest, refs[i].Length = uint64(i*4000), uint64(i*4000), uint32(1000+i)
	}
	bytes := node.AppendInner(nil, node.Header{Kind: node.Inner}, refs)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			bytes = node.AppendInner(bytes[:0], node.Header{Kind: node.Inner}, refs)
		}
		b.ReportMetric(float64(len(bytes))/32, "bytes/ref")
	})
	b.Run("decode", func(b *testing.B) {
		_, body, _ := node.DecodeHeader(bytes)
		for b.Loop() {
			refs, _ = node.DecodeInner(refs[:0], body)
		}
	})
}
