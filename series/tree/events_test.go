package tree_test

import (
	"math"
	"testing"

	"weir/series/disk/faulty"
	"weir/series/tree"
	"weir/series/volume"
)

// Late events are written in leaves of one vector, however short their texts are.
func TestManyLateEvents(t *testing.T) {
	v, err := volume.Open(faulty.New(), "v", volume.Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	f := tree.New(v, 0, 1, tree.DefaultLimits)
	defer f.Release()
	const n = 3000
	for i := range int64(n) {
		if _, err := f.AppendEvent(0, 1_000_000-i, []byte{'a' + byte(i%7)}, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Flush(0); err != nil {
		t.Fatal(err)
	}
	times, texts := make([]int64, n+1), make([][]byte, n+1)
	got, err := f.View(0, math.MinInt64, math.MaxInt64).Points(false, nil).NextText(times, texts)
	if err != nil || got != n {
		t.Fatalf("%d events, %v; want %d", got, err, n)
	}
	for i := range n {
		if times[i] != 1_000_001-n+int64(i) || texts[i][0] != 'a'+byte((n-1-i)%7) {
			t.Fatalf("event %d: %q at %d", i, texts[i], times[i])
		}
	}
}
