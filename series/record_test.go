package series

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"weir/series/names"
	"weir/series/tree"
)

func drawEntry(t *rapid.T, now int64) entry {
	e := entry{id: names.ID(rapid.IntRange(0, 20).Draw(t, "slot")*shardCount + 3), time: now + rapid.Int64Range(-3, 3).Draw(t, "time")}
	e.place = tree.Place{Ordinal: rapid.Uint64Range(0, 5).Draw(t, "ordinal"), Late: rapid.Bool().Draw(t, "late")}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		e.text = []byte(rapid.StringN(0, 20, 20).Draw(t, "text"))
	case 1:
		return entry{id: e.id, deletion: &tree.Deletion{From: rapid.Int64().Draw(t, "from"), To: rapid.Int64().Draw(t, "to"), Ordinal: rapid.Uint64().Draw(t, "ordinal"), Late: rapid.Uint64().Draw(t, "late")}}
	case 2:
		e.place.Ordinal, e.time = rapid.Uint64().Draw(t, "ordinal"), rapid.Int64().Draw(t, "time")
		e.id = names.ID(rapid.Uint32().Draw(t, "id"))
	}
	if e.text == nil {
		e.value = float64(rapid.IntRange(0, 9).Draw(t, "value"))
	}
	return e
}

func encode(entries []entry) []byte {
	var e encoder
	e.reset(shardCount)
	for _, x := range entries {
		if x.deletion != nil {
			e.deletion(x.id, *x.deletion)
		} else {
			e.point(x.id, x.time, x.value, x.text, x.place)
		}
	}
	return e.buf
}

func decode(frame []byte) (entries []entry, err error) {
	err = decodeFrame(frame, func(e entry) error {
		if e.text != nil {
			e.text = append([]byte{}, e.text...)
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []entry
		for i := range rapid.IntRange(1, 50).Draw(t, "entries") {
			want = append(want, drawEntry(t, int64(i)))
		}
		got, err := decode(encode(want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\n%+v, want\n%+v", err, got, want)
		}
	})
}

// A row of series that are written side by side takes nine bytes a point, and so does a series that is written alone.
func TestFramesAreSmall(t *testing.T) {
	var e encoder
	e.reset(shardCount)
	const n = 100
	for i := range n {
		e.point(names.ID(i*shardCount), 1e18, 1, nil, tree.Place{Ordinal: 1e6})
	}
	row := len(e.buf)
	e.reset(shardCount)
	for i := range n {
		e.point(5, 1e18+int64(i)*1e9, 1, nil, tree.Place{Ordinal: 1e6 + uint64(i)})
	}
	if alone := len(e.buf); row > 9*n+30 || alone > 9*n+40 {
		t.Errorf("%d points take %d bytes in a row, %d of one series", n, row, alone)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(encode([]entry{{id: 16, time: 5, value: 1}, {id: 32, time: 5, text: []byte("x"), place: tree.Place{Ordinal: 3, Late: true}}, {id: 32, deletion: &tree.Deletion{From: 1, To: 2}}}))
	f.Fuzz(func(t *testing.T, frame []byte) {
		entries, err := decode(frame)
		if err != nil {
			return
		}
		again, err := decode(encode(entries))
		if err != nil || !sameEntries(again, entries) {
			t.Fatalf("%v: %+v, want %+v", err, again, entries)
		}
	})
}

func sameEntries(a, b []entry) bool {
	return string(encode(a)) == string(encode(b)) && len(a) == len(b)
}
