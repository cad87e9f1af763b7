package tree_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"weir/series/disk/faulty"
	"weir/series/names"
	"weir/series/tree"
	"weir/series/volume"
)

// After the power was lost, what the nodes say is there is there, once; and with the rest from a log everything is, as
// often as it happens again.
func TestPowerLoss(t *testing.T) {
	options := volume.Options{Size: volume.MinSize, Buffer: 1 << 17, Reserve: -1}
	rapid.Check(t, func(t *rapid.T) {
		d := faulty.New()
		opened, err := volume.Open(d, "v", options)
		if err != nil {
			t.Fatal(err)
		}
		v := &dropping{Volumes: opened}
		limits := tree.Limits{Tail: 8, Leaf: 50, Late: 10}
		f := tree.New(v, 0, 1, limits)
		var log []entry
		var now int64
		durable := volume.Address(1)
		folds := map[names.ID]*tree.Fold{}
		for range rapid.IntRange(1, 4).Draw(t, "crashes") {
			for range rapid.IntRange(0, 3000).Draw(t, "points") {
				id := names.ID(len(log) % 3)
				now++
				at := now
				if len(log)%7 == 0 {
					at -= rapid.Int64Range(0, 200).Draw(t, "late")
				}
				place, err := f.Append(id, at, float64(at), 1)
				if err != nil {
					t.Fatal(err)
				}
				log = append(log, entry{id: id, point: point{time: at, place: place}})
				switch rapid.IntRange(0, 200).Draw(t, "then") {
				case 0:
					oldest := f.OldestNode()
					if durable, err = v.Sync(); err != nil {
						t.Fatal(err)
					}
					v.oldest = oldest
				case 1:
					if err := f.Close(id); err != nil {
						t.Fatal(err)
					}
				case 2:
					if err := v.Flush(); err != nil {
						t.Fatal(err)
					}
				case 3:
					from := now - rapid.Int64Range(0, 300).Draw(t, "from")
					d, ok, err := f.Delete(id, from, from+50)
					if err != nil {
						t.Fatalf("deleting: %v", err)
					}
					if !ok {
						continue // there was nothing
					}
					for i := range log {
						if e := &log[i]; e.id == id && from <= e.point.time && e.point.time <= from+50 {
							e.point.gone = true
						}
					}
					log = append(log, entry{id: id, deletion: &d})
				case 4:
					if folds[id] == nil {
						if folds[id], err = f.BeginFold(id, tree.FoldOptions{Keep: len(log)%2 == 0}); err != nil {
							t.Fatal(err)
						}
					}
				case 5, 6:
					if x := folds[id]; x != nil {
						if err := x.Run(context.Background()); err != nil {
							t.Fatal(err)
						}
					}
				case 7, 8:
					if x := folds[id]; x != nil {
						delete(folds, id)
						if _, err := f.EndFold(x); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			clear(folds)
			d = d.Crash(rapid.Uint64().Draw(t, "seed"))
			if opened, err = volume.Open(d, "v", options); err != nil {
				t.Fatal(err)
			}
			v = &dropping{opened, v.oldest}
			if err := f.Release(); err != nil {
				t.Fatal(err)
			}
			f = tree.New(v, 0, 1, limits)
			_, err := v.Recover(0, durable, func(at uint64, length int, payload []byte) error {
				if at < v.oldest {
					return nil
				}
				return f.Restore(at, length, payload)
			}, func(err *volume.CorruptError) { t.Fatal(err) })
			if err != nil {
				t.Fatal(err)
			}
			deletions := slices.ContainsFunc(log, func(e entry) bool { return e.deletion != nil })
			compare(t, f, log, !deletions, func(e entry) bool {
				ordinal, late := f.Known(e.id)
				return e.point.place.Late && e.point.place.Ordinal < late || !e.point.place.Late && e.point.place.Ordinal < ordinal
			})
			for _, e := range log {
				if e.deletion != nil {
					if err := f.DeleteAgain(e.id, *e.deletion); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if _, err := f.Again(e.id, e.point.time, float64(e.point.time), nil, e.point.place, 1); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, f, log, true, func(e entry) bool { return !e.point.gone })
		}
		if err := f.Release(); err != nil {
			t.Fatal(err)
		}
	})
}

// compare fails if the series have other points than those of the log that are wanted, or, unless they must all be
// equal, more than these.
func compare(t *rapid.T, f *tree.Forest, log []entry, equal bool, wanted func(entry) bool) {
	t.Helper()
	for id := range names.ID(3) {
		var want []int64
		for _, e := range log {
			if e.id == id && e.deletion == nil && wanted(e) {
				want = append(want, e.point.time)
			}
		}
		slices.SortFunc(want, cmp.Compare)
		got, values := make([]int64, len(want)+1), make([]float64, len(want)+1)
		n, err := f.View(id, math.MinInt64, math.MaxInt64).Points(false, nil).Next(got, values)
		if err != nil || equal && !slices.Equal(got[:n], want) || n > len(want) {
			t.Fatalf("series %d has points at %s, %v; want %s", id, brief(got[:n]), err, brief(want))
		}
	}
}

func brief(times []int64) string {
	if len(times) > 60 {
		return fmt.Sprintf("%v ... (%d)", times[:60], len(times))
	}
	return fmt.Sprint(times)
}
