package rows

import (
	"slices"
	"testing"
)

func three() *Batch {
	return &Batch{
		Names: []string{"a t=1", "b t=1"}, Base: 4,
		Series: []uint32{0, 1, 0}, Times: []int64{1, 2, 3},
		Width: 2, Values: []float64{1, 2, 3, 4, 5, 6}, Texts: []string{"x", "y", "z"},
	}
}

func TestAccess(t *testing.T) {
	b := three()
	if b.Len() != 3 || b.Name(1) != "b t=1" || b.Number(1) != 5 || !slices.Equal(b.Row(2), []float64{5, 6}) || b.Full() != 3 {
		t.Fatalf("wrong answers about %+v", b)
	}
	if b.Gaps(1) != 0 {
		t.Fatal("a gap where none is")
	}
	b.SetGaps(1, 0)
	if len(b.Missing) != 0 {
		t.Fatal("a column of gaps for no gap")
	}
	b.SetGaps(1, 2)
	if b.Gaps(0) != 0 || b.Gaps(1) != 2 || b.Gaps(2) != 0 {
		t.Fatalf("gaps %v", b.Missing)
	}
}

func TestMoveAndSlice(t *testing.T) {
	b := three()
	b.SetGaps(2, 1)
	b.Move(0, 2)
	b.Move(1, 1)
	b.Slice(0, 2)
	want := &Batch{
		Series: []uint32{0, 1}, Times: []int64{3, 2}, Values: []float64{5, 6, 3, 4},
		Missing: []uint64{1, 0}, Texts: []string{"z", "y"},
	}
	if !slices.Equal(b.Series, want.Series) || !slices.Equal(b.Times, want.Times) || !slices.Equal(b.Values, want.Values) ||
		!slices.Equal(b.Missing, want.Missing) || !slices.Equal(b.Texts, want.Texts) {
		t.Fatalf("got %+v, want %+v", b, want)
	}
	b.Slice(1, 2)
	if b.Len() != 1 || b.Times[0] != 2 || b.Row(0)[1] != 4 {
		t.Fatalf("got %+v", b)
	}
	b.Clear()
	if b.Len() != 0 || len(b.Values) != 0 || b.Width != 2 || b.Names != nil || b.Base != 0 {
		t.Fatalf("not empty: %+v", b)
	}
}
