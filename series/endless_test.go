package series

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"weir/series/disk/faulty"
	"weir/series/names"
)

// Numbers of which each takes 8 bytes.
func TestEndlessCompactNumbers(t *testing.T) {
	for _, share := range []int{1, 2, 4} {
		d := faulty.New()
		s := mustOpen(t, "db", Options{FS: d, Reserve: -1, VolumeSize: 1 << 20, NoLog: true})
		w := s.Writer()
		rnd := rand.New(rand.NewPCG(1, 1))
		for i := range int64(150_000) {
			for k := range 4 {
				if i%int64(1+k*share) == 0 {
					id, _ := w.Series(fmt.Sprintf("m host=%d", k))
					w.Add(id, i*1000+rnd.Int64N(900), rnd.Float64())
				}
			}
		}
		w.Commit(context.Background())
		s.toVolumes(context.Background())
		before := s.volumes.Stats().AppendBytes
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
		err := s.Compact(ctx, nil)
		cancel()
		t.Logf("share %d: Compact ends with %v; %d bytes before it, %d written by it", share, err, before, s.volumes.Stats().AppendBytes-before)
		if err != nil {
			t.Errorf("Compact does not end")
		}
		s.Close()
	}
}

// A damaged inner node of one series, and the retention of another.
func TestRetentionBesideDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes millions of points, which takes long with the race detector; nothing in it runs at once")
	}
	ctx := context.Background()
	d := faulty.New()
	o := Options{FS: d, Reserve: -1, VolumeSize: 1 << 20, Retention: []Retention{{nil, time.Hour}}, Memory: 100 << 10}
	s := mustOpen(t, "db", o)
	w := s.Writer()
	begin := time.Now().Add(-10 * time.Hour)
	rnd := rand.New(rand.NewPCG(1, 1))
	for k := range 2 {
		id, _ := w.Series(fmt.Sprintf("m host=%d", k))
		for i := range int64(36_000) {
			w.Add(id, begin.Add(time.Duration(i)*time.Second).UnixNano(), rnd.Float64())
		}
	}
	w.Close()
	s.Close()
	// Damage every node that is the root of series 0.
	s = mustOpen(t, "db", o)
	refs := s.shardOf(0).forest
	_ = refs
	end := s.volumes.End()
	s.Close()
	_ = end
	b, _ := readFile(d, "db/volumes/volume-00000001.wsv", 1<<20)
	hit := ""
	for off := len(b) - 5; off > 4096; off -= 300 {
		c := d.Kill()
		c.Flip("db/volumes/volume-00000001.wsv", int64(off), 1)
		o.FS = c
		s := mustOpen(t, "db", Options{FS: c, Reserve: -1, VolumeSize: 1 << 20, OnProblem: func(error) {}})
		s.o.Retention = o.Retention
		err := retainNow(ctx, s)
		var left []uint64
		for id := range names.ID(2) {
			a, _ := s.Aggregate(ctx, id, math.MinInt64, math.MaxInt64)
			left = append(left, a.Count)
		}
		if err != nil && hit == "" {
			hit = fmt.Sprintf("%v; left: %v", strings.TrimSpace(err.Error()), left)
			if err := retainNow(ctx, s); err != nil {
				hit += " and again: " + err.Error()
			}
		}
		s.Close()
	}
	if hit != "" {
		t.Error(hit)
	}
}

func retainNow(ctx context.Context, s *Store) error {
	s.compacting.Lock()
	defer s.compacting.Unlock()
	return s.retain(ctx, time.Now())
}
