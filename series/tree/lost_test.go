package tree_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"weir/series/disk/faulty"
	"weir/series/node"
	"weir/series/tree"
	"weir/series/volume"
)

// grow makes a series with late points, folds and inner nodes, in which no time comes twice, and forgets old points. It
// returns all times, and from which one on they were not forgotten.
func grow(t *rapid.T, f *tree.Forest, points int64) (all []int64, from int64) {
	from = math.MinInt64
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	late, trims := rnd.IntN(2) == 0, rnd.IntN(2) == 0
	var x *tree.Fold
	var err error
	for i := range points {
		times := []int64{4 * i}
		if late && i%4 == 0 {
			times = append(times, 2*i+1, -i-1) // late ones, in order and in the opposite order
		}
		for _, time := range times {
			_, err = f.Append(0, time, math.Float64frombits(rnd.Uint64()), 1)
			must(err)
		}
		all = append(all, times...)
		switch rnd.IntN(2000) {
		case 0:
			must(f.Close(0))
		case 1:
			if x == nil {
				x, err = f.BeginFold(0, tree.FoldOptions{Keep: rnd.IntN(2) == 0})
				must(err)
			}
		case 2:
			if x != nil {
				must(x.Run(context.Background()))
				_, err = f.EndFold(x)
				must(err)
				x = nil
			}
		case 3:
			if trims && x == nil {
				from = max(from, 2*i)
				_, err = f.Trim(0, from)
				must(err)
			}
		}
	}
	if x != nil {
		_, err = f.EndFold(x)
		must(err)
	}
	must(f.Flush(0))
	slices.Sort(all)
	return all, from
}

// since is the times from one on.
func since(times []int64, from int64) []int64 {
	at, _ := slices.BinarySearch(times, from)
	return times[at:]
}

// A Forest that is made of nodes of which some are lost has no point twice, and all of them if no leaf is lost.
func TestLostNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, err := volume.Open(faulty.New(), "v", volume.Options{Reserve: -1})
		if err != nil {
			t.Fatal(err)
		}
		limits := tree.Limits{Tail: 4, Leaf: 1, Late: 5}
		f := tree.New(v, 0, 1, limits)
		defer f.Release()
		want, from := grow(t, f, rapid.Int64Range(10, 6000).Draw(t, "points"))
		g := tree.New(v, 0, 1, limits)
		defer g.Release()
		odds := rapid.SampledFrom([]int{3, 30, 300}).Draw(t, "one of so many is lost")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		leaves := 0
		_, err = v.Scan(0, func(at uint64, length int, payload []byte) error {
			h, _, err := node.DecodeHeader(payload)
			if err != nil {
				return err
			}
			if h.Kind != node.Replacement && rnd.IntN(odds) == 0 {
				if h.Kind == node.Leaf {
					leaves++
				}
				return nil
			}
			return g.Restore(at, length, payload)
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := all(t, g, 0)
		k := 0
		for i, time := range got {
			for k < len(want) && want[k] != time {
				k++
			}
			if k == len(want) {
				t.Fatalf("point %d of %d, at %d, is there twice, in another order, or never was: %d", i, len(got), time, got[max(i-5, 0):min(i+5, len(got))])
			}
			k++
		}
		if got, want := since(got, from), since(want, from); leaves == 0 && len(got) != len(want) {
			t.Fatalf("%d points, want %d: only inner nodes were lost", len(got), len(want))
		}
	})
}

// In a ring, a Forest that is made of the nodes that are left reads as the one that wrote them.
func TestRing(t *testing.T) {
	most := int64(30_000)
	if testing.Short() {
		most = 8_000 // enough for a ring to be full, and less for the race detector, which finds nothing in one goroutine
	}
	rapid.Check(t, func(t *rapid.T) {
		v, err := volume.Open(faulty.New(), "v", volume.Options{Size: volume.MinSize, Count: 2, Buffer: 1 << 17, Reserve: -1})
		if err != nil {
			t.Fatal(err)
		}
		limits := tree.Limits{Tail: 4, Leaf: 1, Late: 5} // leaves of 4 points, so that little fills a volume
		f := tree.New(v, 0, 1, limits)
		defer f.Release()
		_, from := grow(t, f, rapid.Int64Range(10, most).Draw(t, "points"))
		g := tree.New(v, 0, 1, limits)
		defer g.Release()
		if _, err = v.Scan(0, g.Restore, nil); err != nil {
			t.Fatal(err)
		}
		want, _ := all(t, f, 0)
		got, _ := all(t, g, 0)
		if !slices.IsSorted(got) {
			t.Fatal("times go back")
		}
		if got, want := since(got, from), since(want, from); !slices.Equal(got, want) {
			t.Fatalf("%d points, want %d", len(got), len(want))
		}
	})
}

// Whatever bytes a node has, making it part of a tree is an error at worst.
func FuzzRestore(f *testing.F) {
	v, err := volume.Open(faulty.New(), "v", volume.Options{Reserve: -1})
	if err != nil {
		f.Fatal(err)
	}
	forest := tree.New(v, 0, 1, tree.Limits{Tail: 4, Leaf: 1, Late: 4})
	fragments(f, forest, 0, 300)
	foldAll(f, forest, 0, tree.FoldOptions{})
	if _, _, err := forest.Delete(0, 5, 9); err != nil {
		f.Fatal(err)
	}
	if err := forest.Release(); err != nil {
		f.Fatal(err)
	}
	type known struct {
		at      uint64
		length  int
		payload []byte
	}
	var nodes []known
	_, err = v.Scan(0, func(at uint64, length int, payload []byte) error {
		nodes = append(nodes, known{at, length, append([]byte(nil), payload...)})
		return nil
	}, nil)
	if err != nil {
		f.Fatal(err)
	}
	seen := map[byte]bool{}
	for _, n := range nodes {
		if !seen[n.payload[0]] {
			seen[n.payload[0]] = true
			f.Add(n.payload, uint8(20))
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte, others uint8) {
		g := tree.New(v, 0, 1, tree.DefaultLimits)
		defer g.Release()
		if h, _, err := node.DecodeHeader(payload); err == nil && h.Series > 1000 {
			return // a Forest has room for all series up to the highest
		}
		for _, n := range nodes[:min(int(others), len(nodes))] {
			if err := g.Restore(n.at, n.length, n.payload); err != nil {
				t.Fatal(err)
			}
		}
		_ = g.Restore(v.End(), 20, payload)
		_, _ = g.View(0, -1<<40, 1<<40).Aggregate()
		_ = g.Fragmented(0)
	})
}
