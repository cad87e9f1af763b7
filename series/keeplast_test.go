package series

import (
	"context"
	"errors"
	"math"
	"testing"

	"weir/series/disk/faulty"
)

// Of points of one time the last one counts, in memory, in volumes and late, in a store that was made so.
func TestKeepLast(t *testing.T) {
	ctx := context.Background()
	o := Options{FS: faulty.New(), Reserve: -1, KeepLast: true}
	s := mustOpen(t, "db", o)
	want := map[int64]float64{}
	for round := range 4 {
		w := s.Writer()
		id, err := w.Series("m a=b")
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(3000) {
			at := i / 2 * int64(1+round%2)
			value := float64(round*10_000) + float64(i)
			want[at] = value
			if err := w.Add(id, at, value); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, v := range want {
			total += v
		}
		for range 2 {
			a, err := s.Aggregate(ctx, id, math.MinInt64, math.MaxInt64)
			if err != nil || int(a.Count) != len(want) || a.Sum != total {
				t.Fatalf("round %d: %d points, their sum is %v, want %d, %v; %v", round, a.Count, a.Sum, len(want), total, err)
			}
			if err := s.Compact(ctx, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		o.KeepLast = false // nobody need say it again
		s = mustOpen(t, "db", o)
	}
	if st, err := s.Stats(ctx); err != nil || !st.KeepLast {
		t.Errorf("%+v, %v", st, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, "plain", o)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o.KeepLast = true
	if _, err := Open(ctx, "plain", o); !errors.Is(err, ErrKeepsAll) {
		t.Errorf("%v, want %v", err, ErrKeepsAll)
	}
}
