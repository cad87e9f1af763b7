package series

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"weir/series/disk/faulty"
	"weir/series/names"
)

// What was deleted gives its space back, and what was written late is brought together with the rest.
func TestCompact(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	noise := rand.New(rand.NewPCG(1, 2))
	var sum [10]float64
	for i := range int64(60_000) {
		for k := range sum {
			id, err := w.Series(fmt.Sprintf("m host=%d", k))
			if err != nil {
				t.Fatal(err)
			}
			at := i * 10
			if i%100 > 80 {
				at -= noise.Int64N(100_000)
			}
			v := noise.Float64()
			sum[k] += v
			if err := w.Add(id, at, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	before := len(s.volumes.List())
	if _, err := s.DropSeries(ctx, []names.Match{names.Tag("host", "5", "6", "7", "8", "9")}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(ctx, []names.Match{names.Tag("host", "1", "2", "3", "4")}, math.MinInt64, 590_000); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(ctx, nil); err != nil {
		t.Fatal(err)
	}
	after := len(s.volumes.List())
	if after > before/2 {
		t.Errorf("%d volumes of %d are left", after, before)
	}
	check := func() {
		t.Helper()
		for k := range names.ID(5) {
			// A deletion may be in the log still, and is carried out again.
			if x := s.shardOf(k).forest.Fragmented(k); x.Lanes > 0 || x.Deletions > 0 && s.Recovery().Entries == 0 {
				t.Errorf("series %d is not folded: %+v", k, x)
			}
		}
		a, err := s.Aggregate(ctx, 0, math.MinInt64, math.MaxInt64)
		if err != nil || a.Count != 60_000 || math.Abs(a.Sum-sum[0]) > 1e-6 {
			t.Errorf("%d points, their sum is %v, want %v; %v", a.Count, a.Sum, sum[0], err)
		}
	}
	check()
	killed := d.Kill()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, disk := range []*faulty.Disk{killed, d} {
		r, err := Verify(ctx, "db", VerifyOptions{FS: disk})
		if err != nil || !r.OK() {
			t.Fatalf("%+v, %v", r, err)
		}
		o.FS = disk
		s = mustOpen(t, "db", o)
		check()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Points that are too old go, and their volumes with them; those of other series stay.
func TestRetention(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20, Retention: []Retention{{[]names.Match{names.Metric("short")}, time.Hour}}}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	noise := rand.New(rand.NewPCG(1, 2))
	begin := time.Now().Add(-100 * time.Hour)
	for i := range 100 * 3600 {
		at := begin.Add(time.Duration(i) * time.Second).UnixNano()
		for _, name := range []string{"short host=a", "short host=b"} {
			id, err := w.Series(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Add(id, at, noise.Float64()); err != nil {
				t.Fatal(err)
			}
		}
		if i%3600 == 0 {
			id, err := w.Series("long host=a")
			if err == nil {
				err = w.Add(id, at, 1)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	before := len(s.volumes.List())
	if err := s.Compact(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if after := len(s.volumes.List()); after > 2 {
		t.Errorf("%d volumes of %d are left", after, before)
	}
	for k, want := range []uint64{3600, 3600, 100} {
		a, err := s.Aggregate(ctx, names.ID(k), math.MinInt64, math.MaxInt64)
		if err != nil || a.Count < want || a.Count > want+5000 {
			t.Errorf("series %q has %d points, want %d at least; %v", s.Names().Name(names.ID(k)), a.Count, want, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A ring of volumes holds what came last, and is never larger.
func TestRing(t *testing.T) {
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20, Volumes: 3}
	s := mustOpen(t, "db", o)
	noise := rand.New(rand.NewPCG(1, 2))
	written := uint64(0)
	for round := range 6 {
		w := s.Writer()
		for range 50_000 {
			id, err := w.Series("m host=a")
			if err == nil {
				err = w.Add(id, int64(written), noise.Float64())
			}
			if err != nil {
				t.Fatal(err)
			}
			written++
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		a, err := s.Aggregate(ctx, 0, math.MinInt64, math.MaxInt64)
		if err != nil || a.Count < 200_000 && a.Count < written || a.LastTime != int64(written)-1 {
			t.Errorf("%d points of %d, the last one at %d; %v", a.Count, written, a.LastTime, err)
		}
		if n := len(s.volumes.List()); n > 3 {
			t.Errorf("%d volumes", n)
		}
		if round%2 == 1 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = mustOpen(t, "db", o)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(ctx, "db", VerifyOptions{FS: d})
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
}
